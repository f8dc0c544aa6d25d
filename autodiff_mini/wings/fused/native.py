"""What numba compiles, and how it reports floating-point errors.

NumPy clears the processor's floating-point flags before an operation and
reads them afterwards, to warn or to raise an error.  A kernel clears them,
too, and returns them.  Numba is imported when the first kernel is compiled.
"""

import ctypes
import os
from contextvars import Context
from functools import cache
from importlib import import_module
from threading import local
from types import FunctionType

import numpy as np

from autodiff_mini.core import seams

# The names that kernels use: functions of C, numba's intrinsics, and others.
WORDS = {'ALL', 'LOUD', 'bits', 'choose', 'clear', 'cos', 'float32',
         'float64', 'floor', 'inf', 'nan', 'power', 'raised', 'sin', 'sqrt'}
EVERY = 63      # the flags of every processor are among these bits


@cache
def scope() -> dict:
    """Return the globals of kernels, except the flags that they return.

    LLVM replaces calls that it knows, such as pow(x, 2), by other operations.
    So kernels call functions of C by their addresses.
    """
    library = ctypes.CDLL('ucrtbase' if os.name == 'nt' else None)

    def of_c(name, result, *arguments):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
        return function
    number, integer = ctypes.c_double, ctypes.c_int
    intrinsic = import_module('numba.extending').intrinsic
    return {
        'clear': of_c('feclearexcept', integer, integer),
        # C ignores the second argument, but a kernel has to compute it before
        # this call.  So LLVM cannot leave out what it depends on.
        'raised': of_c('fetestexcept', integer, integer, ctypes.c_int64),
        'sin': of_c('sin', number, number),
        'cos': of_c('cos', number, number),
        'power': of_c('pow', number, number, number),
        'bits': intrinsic(bits), 'choose': intrinsic(choose),
        'float32': np.float32, 'float64': np.float64, 'floor': np.floor,
        'sqrt': np.sqrt, 'inf': np.inf, 'nan': np.nan, 'ALL': EVERY}


def choose(_, condition, x, y):
    """Return `x if condition else y`, computing both."""
    boolean = import_module('numba').types.boolean
    return (x(boolean, x, x),
            lambda context, builder, signature, args: builder.select(*args))


def bits(_, x):
    """Return a number's bits as an integer."""
    word = import_module('numba').types.Integer.from_bitwidth(x.bitwidth)
    return (word(x), lambda context, builder, signature, args:
            builder.bitcast(args[0], context.get_value_type(word)))


def kernel(ins, outs=''):
    """Return a decorator that compiles a function of vectors with numba.

    Args:
        ins, outs: the characters of the dtypes of its arguments, first of
            those that it only reads.
    """
    def decorate(function):
        known = flags()
        return compiled(
            function.__code__.replace(
                co_name='kernel', co_qualname='kernel', co_firstlineno=1),
            ins, outs, ALL=sum(known.values()),
            LOUD=sum(known.values()) - known['under'])
    return decorate


@cache
def compiled(code, ins, outs, **masks):
    """Return a kernel; equal code is compiled once.

    Args:
        code: the code of a function.
        ins, outs: as for `kernel`.
        masks: the flags that it can return, by name.
    """
    seams.report(None, 'compiling a kernel with numba')
    numba = import_module('numba')
    arguments = [
        numba.types.Array(numba.from_dtype(np.dtype(char)), 1, 'C',
                          readonly=i < len(ins), aligned=False)
        for i, char in enumerate(ins + outs)]
    compiler = numba.njit([numba.int64(*arguments)], error_model='numpy')
    return compiler(FunctionType(code, scope() | masks))


@cache
def flags() -> dict:
    """Return the processor's flag of each event, by name in `np.errstate`.

    Raises:
        NotImplementedError: the flags cannot be read on this machine.
    """
    def divide(x, y):
        clear(ALL)                  # noqa: F821
        y[0] = x[0] / x[1]
        return raised(ALL, 0)       # noqa: F821

    run = compiled(divide.__code__, 'd', 'd')

    def after(x, y):
        return run(np.array([x, y], float), np.empty(1))
    inexact = after(1, 3)
    found = {'divide': after(1, 0) & ~inexact,
             'over': after(1e300, 1e-300) & ~inexact,
             'under': after(1e-300, 1e300) & ~inexact,
             'invalid': after(0, 0) & ~inexact}
    if not all(found.values()):
        raise NotImplementedError(
            "The backend 'fused' cannot read the floating-point flags of "
            "this machine, so warnings would be lost. Use the backend "
            "'numpy'.")
    return found


# NumPy's own flags, which it passes to a callback.
NUMPYS = {'divide': 1, 'over': 2, 'under': 4, 'invalid': 8}


class Watch(local):
    """Run kernels and NumPy's functions, and note floating-point errors.

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
        """Run a function that returns flags, and the usual one if it must.

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
            found & flags()[event] or seen & NUMPYS[event])
            for event, mode in np.geterr().items())


watch = Watch()


class Scratch(list):
    """Arrays for pieces, which later calls of a program use again.

    Args:
        size: the number of elements.
        dtypes: the dtype of each array.
    """

    def __init__(self, size, dtypes):
        self.size, self.dtypes = size, dtypes

    def take(self):
        """Return arrays that no other call uses now."""
        return self.pop() if self else [
            np.empty(self.size, dtype) for dtype in self.dtypes]
