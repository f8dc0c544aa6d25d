"""The core: primitives, and the interpreters that are asked about them.

One idea: every operation on a traced value comes to one door, `bind`, and the
door asks the *current trace* what the operation means.  To change what a
program means, make another trace current and run it.  Chapter 1.
"""

import sys
from dataclasses import dataclass
from functools import lru_cache, partial, wraps
from operator import attrgetter
from threading import get_ident
from typing import NamedTuple

import numpy as np

from autodiff_mini import seams
from autodiff_mini.copying import primitive_place
from autodiff_mini.errors import (
    NumPyTable, Refusals, UnexpectedTracerError, is_alive, is_library,
    last_refusal, trace_at_work)


def user_line(depth):
    """Return where the user's program called the library.

    A frame would keep its variables alive; its code and position do not.
    """
    frame = sys._getframe(depth)
    while is_library[frame.f_code.co_filename] and frame.f_back:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


class Primitive:
    """An operation that every interpreter is asked about by name.

    Args:
        name: what errors and printed programs call it.
        impl: computes it on plain arrays, with NumPy's functions.
        multiple_results: whether it returns a list of results.
        is_call: whether it carries Python functions in its parameters.
            They may close over tracers, so an interpreter applies its rule
            even where no operand is its own, and tells the rule how to
            re-enter the transformation.

    Source: `Primitive` in JAX's `jax/_src/core.py`.
    """

    def __init__(self, name, impl=None, *, multiple_results=False,
                 is_call=False):
        self.name = name
        self.impl = impl
        self.multiple_results = multiple_results
        self.is_call = is_call

    def bind(self, *args, **params):
        """Return what the operation means here and now."""
        trace = current_trace()
        if seams.ask.taken:
            return seams.ask(trace, self, args, params)
        return trace.process_primitive(self, args, params)

    def __repr__(self):
        return self.name

    def __copy__(self, memo=None):
        return self     # its rules know it by its identity

    __deepcopy__ = __copy__
    __reduce__ = primitive_place


class Kind:
    """Primitives that are alike: what holds for one holds for all.

    Called with a name and an implementation, it makes another one.
    """

    def __init__(self):
        self.primitives = []
        self.definitions = []

    def __call__(self, name, impl):
        primitive = Primitive(name, impl)
        self.primitives.append(primitive)
        for define in self.definitions:
            define(primitive)
        return primitive

    def define(self, define):
        """Define something for each of them; use it as a decorator."""
        self.definitions.append(define)
        for primitive in self.primitives:
            define(primitive)
        return define


elementwise = Kind()


class Trace:
    """An interpreter at work; current inside its `with` block.

    It says what a primitive means, in terms of primitives that its parent
    will be asked about.  The trace that has no parent, `base`, computes.

    Args:
        parent: the trace that was current before.
        tag: which application of a transformation this is.
    """

    base: 'Trace'
    thread = None   # the one it runs in, for an error message
    line = None     # where the program is, if a trace inside has looked
    watcher = None  # looks at each result, and at those of traces inside

    def __init__(self, parent, tag):
        self.parent = parent
        self.tag = tag

    def __enter__(self):
        self.thread = get_ident()
        if self.parent.watcher:
            self.parent.watcher.watch(self)
        if seams.note.taken:
            seams.note(type(self))
        set_current_trace(self)
        if self.parent is Trace.base:
            seams.enter_outermost(self)
        return self

    def __exit__(self, *error):
        self.thread = None
        set_current_trace(self.parent)
        if self.parent is Trace.base:
            seams.leave_outermost(self)

    def process_primitive(self, primitive, args, params):
        """Return the result, or results, of `primitive` on `args`.

        What `interpret` does is done here around it for all interpreters:
        the parent is current, an operation has the line of the user's program
        that asked for it, and a result is the array of the program that runs
        inside, even if an outer trace made it.
        """
        parent, line = self.parent, self.line or user_line(2)
        try:
            set_current_trace(parent)
            parent.line = None if primitive.is_call else line
            out = self.interpret(primitive, args, params)
        finally:
            parent.line = None
            set_current_trace(self)
        if primitive.multiple_results:
            for y in out:
                if isinstance(y, Tracer) and y._trace is self:
                    y.line = line
        elif isinstance(out, Tracer):
            if out._trace is self:
                out.line = line
            else:
                out.made_in = self
        return out

    def interpret(self, primitive, args, params):
        """Return the result, while the parent is current."""
        raise NotImplementedError(
            f'{type(self).__name__} does not define interpret')

    def process_function(self, function, args, kwargs):
        """Return the result of a NumPy function composed of primitives."""
        return function_table[function](*args, **kwargs)

    def lift(self, x):
        """Return the plain array `x` as this trace sees it."""
        return self.parent.lift(x)

    def box(self, x):
        """Return `x`, of an outer trace or none, as a tracer of this one."""
        return self.parent.box(x)

    def keep(self, x):
        """Return the plain array `x`, or a copy if it must not change."""
        return self.parent.keep(x)


class EvalTrace(Trace):
    """The interpreter at the bottom: it computes.

    It has no parent, so a tracer that gets here has left its transformation.
    """

    def process_primitive(self, primitive, args, params):
        for x in args:
            if isinstance(x, Tracer):
                raise UnexpectedTracerError(x)
        return primitive.impl(*args, **params)

    def lift(self, x):
        return x

    keep = lift

    def box(self, x):
        if isinstance(x, Tracer):
            raise UnexpectedTracerError(x)
        return x


base = Trace.base = EvalTrace(parent=None, tag=None)
set_current_trace = trace_at_work.set


# The trace that is asked about the next operation.
current_trace = partial(trace_at_work.get, base)


def public(f):
    """Return `f`, whose errors show the user's part of the program.

    A parameter of `f` that is called as in FUNCTION_FIRST, behind `self` or
    in front, must be a function.
    """
    names = f.__code__.co_varnames[:f.__code__.co_argcount][:2]
    first = [i for i, name in enumerate(names) if name in FUNCTION_FIRST]

    @wraps(f)
    def public_f(*args, **kwargs):
        trace, before = current_trace(), last_refusal.get()
        try:
            for i in first:
                if not callable(args[i] if len(args) > i
                                else kwargs.get(names[i])):
                    seams.refuse_call(f, i, args, kwargs)
            out = f(*args, **kwargs)
        except BaseException as error:
            set_current_trace(trace)    # Ctrl-C can cut `__exit__` short
            if isinstance(error, Exception):
                seams.tell(error)
            raise   # as it is: `raise error` would add this frame again
        if last_refusal.get() is not before:
            seams.warn_of_lost_refusal()
        return out
    public_f.__wrapped__ = getattr(f, '__wrapped__', f)
    return public_f


FUNCTION_FIRST = 'f', 'fun', 'func', 'cond_fun'


unwrap_as = {}  # by class of array: a function, see `unwrapped`


def unwrapped(x, to_write=False):
    """Return what the library sees of an array, to read it or to write."""
    kind = type(x)
    return unwrap_as[kind](x, to_write) if kind in unwrap_as else x


@dataclass(eq=False)
class TraceTag:
    """One application of a transformation: it tells whose a tracer is."""

    transform: str
    function: object

    def __str__(self):
        return f'{self.transform} of {fun_name(self.function)}'


def fun_name(f) -> str:
    """Return what error messages call the function `f`."""
    f = f.func if isinstance(f, partial) else f
    return (getattr(f, '__qualname__', None) or getattr(f, '__name__', None)
            or type(f).__qualname__)


class Tracer(Refusals):
    """A value that a trace is watching; it takes the place of an array.

    A subclass says what is known of it, its `aval`.  When NumPy asks about
    it, a table names the primitive.  Asked to become a plain number, it
    refuses.
    """

    __slots__ = ('_trace', 'line', 'memory', 'made_in', '__weakref__')

    aval: 'ShapedArray'
    shape = property(attrgetter('aval.shape'))
    dtype = property(attrgetter('aval.dtype'))
    ndim = property(attrgetter('aval.ndim'))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        key = (ufunc, method) if kwargs or method != '__call__' else ufunc
        return ufunc_table[key](*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        if len(types) > 1 and not unwrap_as.keys().isdisjoint(types):
            return NotImplemented   # such an array answers
        if 'out' in kwargs and kwargs['out'] is None:
            del kwargs['out']
        if 'out' in kwargs:
            return function_table[function, 'out'](*args, **kwargs)
        return current_trace().process_function(function, args, kwargs)

    def __repr__(self):
        return f'{type(self).__name__}<{self.aval}>'


ufunc_table = NumPyTable()
function_table = NumPyTable()


class ShapedArray(NamedTuple):
    """The type of an array: its shape and dtype, without its values.

    Attributes:
        shape: the lengths of the axes, a tuple of ints.
        dtype: a NumPy dtype.
        weak_type: True for Python numbers, which take on the dtype of the
            array that they meet (NEP 50).

    Source: `ShapedArray` in JAX's `jax/_src/core.py`.

    Examples:
        >>> print(typeof(np.ones((2, 3), np.float32)))
        float32[2,3]
    """

    shape: tuple[int, ...]
    dtype: np.dtype
    weak_type: bool = False

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __str__(self):
        return f'{self.dtype}[{",".join(map(str, self.shape))}]'

    def __repr__(self):
        weak = ', weak_type=True' if self.weak_type else ''
        return f'ShapedArray({self}{weak})'


def typeof(x) -> ShapedArray:
    """Return the type of `x`: its shape, its dtype, whether it is weak.

    Args:
        x: a tracer, an array of any library that speaks NumPy's protocols,
            a NumPy scalar, a Python number, or a ShapedArray already.

    Raises:
        TypeError: `x` is nothing that can be traced.

    Examples:
        >>> typeof(2.0).weak_type, typeof(np.float64(2.0)).weak_type
        (True, False)
    """
    kind = type(x)
    if kind is np.ndarray:
        return array_type(x.shape, x.dtype)
    if kind in NUMBERS:
        return NUMBERS[kind]
    if isinstance(x, Tracer):
        return x.aval
    if is_array(x):
        return array_type(tuple(x.shape), x.dtype)
    if kind is ShapedArray:
        return x
    if isinstance(x, (int, float, complex)):    # a member of an IntEnum, say
        return array_type((), np.asarray(x).dtype)
    raise TypeError(f'a value of type {kind.__name__} cannot be traced: '
                    + seams.advise('register', 'pass an array or a number',
                                   kind))


def is_array(x) -> bool:
    """Return whether `x` is an array: NumPy's, or one of another library."""
    if isinstance(x, (Tracer, np.matrix, np.ma.MaskedArray)):
        return False
    return (isinstance(x, (np.ndarray, np.generic))
            or seams.library_of((x,)) is not None)


float0 = np.dtype([('float0', np.void, 0)])


@lru_cache(maxsize=4096)
def array_type(shape, dtype):
    """Return the type of an array: the same object each time."""
    if dtype.kind not in 'biufc' and dtype != float0:
        raise TypeError(f'an array of dtype {dtype} cannot be traced: it '
                        'must be boolean, integer, float or complex')
    return ShapedArray(shape, dtype)


PYTHON_NUMBERS = {kind: ShapedArray((), np.dtype(kind), weak_type=True)
                  for kind in (bool, int, float, complex)}
NUMBERS = PYTHON_NUMBERS | {
    np.dtype(code).type: array_type((), np.dtype(code))
    for code in '?' + np.typecodes['AllInteger'] + np.typecodes['AllFloat']}


def tangent_type(aval):
    """Return the type of the tangents of values of type `aval`.

    Integers and booleans cannot be perturbed: their tangents hold nothing.
    """
    if aval.dtype.kind in 'fc':
        return aval
    return ShapedArray(aval.shape, float0)


def typeof_result(x):
    """Return the type of a result, or raise if it has escaped."""
    if isinstance(x, str):
        raise TypeError('a value of type str cannot be traced: leave it out '
                        'of what is returned')
    if isinstance(x, Tracer) and x._trace.thread is None:
        check_alive(x, current_trace())
    return typeof(x)


def check_alive(tracer, trace):
    """Raise if a tracer belongs to no trace that this one runs in."""
    if not is_alive(tracer, trace):
        raise UnexpectedTracerError(tracer)
