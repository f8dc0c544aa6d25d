"""What numba compiles, and how it reports floating-point errors.

NumPy clears the processor's floating-point flags before an operation and
reads them afterwards, to warn or to raise an error.  A kernel clears them,
too, and returns them.
"""

import ctypes
import os
from contextvars import Context
from functools import cache
from threading import local
from types import FunctionType

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from autodiff_mini import seams

LIBRARY = ctypes.CDLL('ucrtbase' if os.name == 'nt' else None)


def of_c(name, result, *arguments):
    """Return a function of the C library, which a kernel can call."""
    function = getattr(LIBRARY, name)
    function.restype, function.argtypes = result, arguments
    return function


NUMBER, INTEGER = ctypes.c_double, ctypes.c_int
clear = of_c('feclearexcept', INTEGER, INTEGER)
# C ignores the second argument, but a kernel has to compute it before this
# call.  So LLVM can neither leave out nor skip an operation that it needs.
raised = of_c('fetestexcept', INTEGER, INTEGER, ctypes.c_int64)
# LLVM replaces calls that it knows, such as pow(x, 2), by other operations.
sin, cos = of_c('sin', NUMBER, NUMBER), of_c('cos', NUMBER, NUMBER)
power = of_c('pow', NUMBER, NUMBER, NUMBER)


@intrinsic
def choose(_, condition, x, y):
    """Return `x if condition else y`, computing both."""
    return (x(types.boolean, x, x),
            lambda context, builder, signature, args: builder.select(*args))


@intrinsic
def bits(_, x):
    """Return a number's bits as an integer."""
    word = types.Integer.from_bitwidth(x.bitwidth)
    return (word(x), lambda context, builder, signature, args:
            builder.bitcast(args[0], context.get_value_type(word)))


EVERY = 63      # the flags of every processor are among these bits
GLOBALS = {'EVERY': EVERY, 'bits': bits, 'choose': choose, 'clear': clear,
           'cos': cos, 'float32': np.float32, 'float64': np.float64,
           'floor': np.floor, 'inf': np.inf, 'nan': np.nan, 'power': power,
           'raised': raised, 'sin': sin, 'sqrt': np.sqrt}


def kernel(ins, outs=''):
    """Return a decorator that compiles a function of vectors with numba.

    Args:
        ins, outs: the characters of the dtypes of its arguments, first of
            those that it only reads.
    """
    return lambda function: compiled(function.__code__.replace(
        co_name='kernel', co_qualname='kernel', co_firstlineno=1), ins, outs)


@cache
def compiled(code, ins, outs):
    """Return a kernel; equal code is compiled once."""
    seams.report(None, 'compiling a kernel with numba')
    arguments = [types.Array(numba.from_dtype(np.dtype(char)), 1, 'C',
                             readonly=i < len(ins), aligned=False)
                 for i, char in enumerate(ins + outs)]
    compiler = numba.njit([types.int64(*arguments)], error_model='numpy')
    return compiler(FunctionType(code, GLOBALS))


@kernel('d', 'd')
def divide(x, y):
    clear(EVERY)
    y[0] = x[0] / x[1]
    return raised(EVERY, 0)


def flags_of(x, y):
    """Return the flags that a division raises."""
    return divide(np.array([x, y], float), np.empty(1))


# By name in np.errstate: the processor's flag, and NumPy's in a callback.
inexact = flags_of(1, 3)
FLAGS = {'divide': (flags_of(1, 0) & ~inexact, 1),
         'over': (flags_of(1e300, 1e-300) & ~inexact, 2),
         'under': (flags_of(1e-300, 1e300) & ~inexact, 4),
         'invalid': (flags_of(0, 0) & ~inexact, 8)}
if not all(flag for flag, _ in FLAGS.values()):
    raise NotImplementedError(
        'The backend \'fused\' cannot read the floating-point flags of this '
        'machine, so it would lose warnings. Use the backend \'numpy\'.')
GLOBALS['ALL'] = sum(flag for flag, _ in FLAGS.values())
GLOBALS['LOUD'] = GLOBALS['ALL'] - FLAGS['under'][0]   # not ignored by default


class Watch(local):
    """Run a kernel and NumPy's functions, and note floating-point errors.

    They run in a context of their own, where NumPy calls `note` instead of
    warning.  Each thread has its own, because entering one twice is a
    RuntimeError.
    """

    def __init__(self):
        self.seen, self.context = 0, Context()
        self.context.run(np.seterrcall, self.note)
        self.context.run(np.seterr, all='call')

    def note(self, kind, flag):
        self.seen |= flag

    def run(self, fast, usual, *args):
        """Run a function that returns flags, or the usual one instead.

        Args:
            fast: returns the flags that its kernels have raised.
            usual: computes the same, and warns or raises as NumPy does.
            args: the arguments, among them the arrays that they fill.
        """
        self.seen = 0
        found = self.context.run(fast, *args)
        if (found or self.seen) and self.matters(found, self.seen):
            usual(*args)

    def matters(self, found, seen=0):
        """Return whether NumPy would warn or raise an error.

        Args:
            found: the flags that kernels have raised.
            seen: the flags that NumPy has passed to `note`.
        """
        return any(mode != 'ignore' and (
            found & FLAGS[event][0] or seen & FLAGS[event][1])
            for event, mode in np.geterr().items())


watch = Watch()


class Scratch(list):
    """Arrays for pieces, which the calls of a program use again.

    Args:
        size: the number of elements.
        dtypes: the dtype of each array.
    """

    def __init__(self, size, dtypes):
        self.size, self.dtypes = size, dtypes

    def take(self):
        """Return arrays that no other call uses."""
        return self.pop() if self else [
            np.empty(self.size, dtype) for dtype in self.dtypes]
