"""The core: primitives, and the interpreters that are asked about them.

One idea: every operation on a traced value comes to one door, `bind`, and the
door asks the *current trace* what the operation means.  To change what a
program means, make another trace current and run it.  Chapter 1.
"""

from dataclasses import dataclass
from functools import lru_cache
from threading import get_ident

import numpy as np

from autodiff_mini import seams
from autodiff_mini.copying import primitive_place
from autodiff_mini.errors import NumPyTable, Refusals, fun_name, trace_at_work


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
        """Returns what the operation means here and now."""
        return current_trace().process_primitive(self, args, params)

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

    __slots__ = ('primitives', 'definitions')

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
        """Defines something for each of them; may be used as a decorator."""
        self.definitions.append(define)
        for primitive in self.primitives:
            define(primitive)
        return define


elementwise = Kind()


class Trace:
    """An interpreter at work; current inside its `with` block.

    It says what a primitive means, in terms of primitives that its parent
    will be asked about.  `Trace.base`, where parents end, computes.

    Args:
        parent: the trace that was current before.
        tag: which application of a transformation this is.
    """

    base: 'Trace'
    outermost_started = outermost_ended = staticmethod(lambda trace: None)
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
        set_current_trace(self)
        if self.parent is Trace.base:
            Trace.outermost_started(self)
        return self

    def __exit__(self, *error):
        self.thread = None
        set_current_trace(self.parent)
        if self.parent is Trace.base:
            Trace.outermost_ended(self)

    def process_primitive(self, primitive, args, params):
        """Returns the result, or results, of `primitive` on `args`."""
        raise NotImplementedError(
            f'{type(self).__name__} does not define process_primitive')

    def process_function(self, function, args, kwargs):
        """Returns what a function of NumPy's, made of primitives, does."""
        return function_table[function](*args, **kwargs)

    def lift(self, x):
        """Returns the plain array `x` as this trace sees it."""
        return self.parent.lift(x)

    def box(self, x):
        """Returns `x`, of an outer trace or none, as a tracer of this one."""
        return self.parent.box(x)

    def keep(self, x):
        """Returns the plain array `x`, or a copy if it must not change."""
        return self.parent.keep(x)


set_current_trace = trace_at_work.set


def current_trace() -> Trace:
    """Returns the trace that is asked about the next operation."""
    return trace_at_work.get(None) or Trace.base


unwrap_as = {}  # by class of array: a function, see `unwrapped`


def unwrapped(x, to_write=False):
    """Return what the library sees of an array, to read it or to write."""
    kind = type(x)
    return unwrap_as[kind](x, to_write) if kind in unwrap_as else x


class TraceTag:
    """One application of a transformation: it tells whose a tracer is."""

    def __init__(self, transform, function):
        self.transform = transform
        self.function = function

    def __str__(self):
        return f'{self.transform} of {fun_name(self.function)}'


class Tracer(Refusals):
    """A value that a trace is watching, in the place of an array.

    A subclass says what is known of it, its `aval`.  When NumPy asks about
    it, a table names the primitive.  Asked to become a plain number, it
    refuses.
    """

    __slots__ = ('_trace', 'line', 'memory', 'made_in', '__weakref__')

    aval: 'ShapedArray'
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if kwargs or method != '__call__':
            return unusual(ufunc, method, inputs, **kwargs)
        return ufunc_table[ufunc](*inputs)

    def __array_function__(self, function, types, args, kwargs):
        if len(types) > 1 and not unwrap_as.keys().isdisjoint(types):
            return NotImplemented   # such an array answers
        if 'out' in kwargs:
            return in_the_place_of(function, args, **kwargs)
        return current_trace().process_function(function, args, kwargs)

    def __repr__(self):
        return f'{type(self).__name__}<{self.aval}>'


def unusual(ufunc, method, inputs, out=None, **kwargs):
    """Returns what a ufunc makes that is told where to write, or how."""
    where, key = True, (ufunc, method)
    if method == '__call__':
        kwargs = {k: x for k, x in kwargs.items() if x is not None}
        where = kwargs.pop('where', True) if out else True
        key = key if kwargs else ufunc
    elif out and method != 'outer' and ufunc in (np.add, np.multiply):
        kwargs = computed_for(out[0], inputs, kwargs)
    result = ufunc_table[key](*inputs, **kwargs)
    if not out:
        return result
    several = isinstance(result, tuple)
    results = result if several else (result,)
    check_arrays(ufunc, *out)
    if method in ('__call__', 'outer'):
        results = write_each(results, out, where, core_axes(ufunc, inputs))
    elif out[0] is not None:
        check_place(f'{ufunc.__name__}.{method}', result, out[0], method,
                    kwargs.get('axis', 0))
        np.copyto(out[0], result, casting='unsafe')
        results = out
    return tuple(results) if several else results[0]


def check_arrays(function, *out):
    """Raise a TypeError if one of `out` is not an array."""
    for place in out:
        if place is not None and not hasattr(place, 'shape'):
            raise TypeError(f'numpy.{function.__name__}: out= must be an '
                            f'array, and is a {type(place).__name__}')


def core_axes(ufunc, inputs):
    """Return how many last axes of a result the ufunc does not loop over."""
    if ufunc is np.matmul:
        return sum(np.ndim(x) > 1 for x in inputs)
    return 0 if ufunc.signature in (None, '(n),(n)->()') else 1


def write_each(results, out, where=True, core=0):
    """Write results into arrays of one shape, and broadcast them to it."""
    places = [place for place in out if place is not None]
    if not places:
        return results
    shape = np.broadcast_shapes(
        np.shape(where), *map(np.shape, (*results, *places)))
    written = []
    for result, place in zip(results, out):
        ends = [x.shape[x.ndim - core:] for x in (result, place) if core]
        if place is None:
            place = np.copy(np.broadcast_to(result, shape))
        elif place.shape != shape or len(set(ends)) > 1:
            raise ValueError(
                f'the result has the shape {np.shape(result)}, which needs '
                f'{shape}, but out= has {place.shape}')
        else:
            np.copyto(place, result, where=where)
        written.append(place)
    return written


def computed_for(place, args, kwargs):
    """Return the keywords of a sum, with the dtype to compute it in.

    That is the dtype of the array it is written into, if this one is wider.
    """
    dtype = getattr(place, 'dtype', None)
    if dtype is None or dtype.kind not in 'fc' or (
            kwargs.get('dtype') is not None or not np.can_cast(
                typeof(args[0]).dtype, dtype)):
        return kwargs
    return kwargs | {'dtype': dtype}


def check_place(name, result, place, method='reduce', axis=0):
    """Raise an error if a result does not fit the array to write into."""
    have, want = place.shape, np.shape(result)
    if have == want:
        return
    if method != 'reduce':
        broadcast = len(have) == len(want) > 1 and all(
            n in (1, m) for n, m in zip(want, have))
        if broadcast and axis is not None and have[axis] == want[axis]:
            return
        if broadcast or method == 'reduceat' and len(have) != len(want):
            raise NotImplementedError(
                f'numpy.{name}: out= has the shape {have}, of which NumPy '
                f'would fill a part. Give it the shape of the result, {want}')
    kind = TypeError if name == 'choose' else ValueError
    raise kind(f'numpy.{name}: the result has the shape {want}, but out= has '
               f'{have}')


def in_the_place_of(function, args, out=None, **kwargs):
    """Returns what a function makes that is told where to write."""
    if out is None:
        return function_table[function](*args, **kwargs)
    check_arrays(function, out)
    if function in SUMS:
        kwargs = computed_for(out, args, kwargs)
    result = function_table[function](*args, **kwargs)
    if function in AS_UFUNCS:
        return write_each([result], [out])[0]
    method = 'accumulate' if function in TOTALS else 'reduce'
    check_place(function.__name__, result, out, method, None)
    of_ufunc = function.__module__ == 'numpy.fft'
    casting = OUT_CASTING.get(function, 'same_kind' if of_ufunc else 'unsafe')
    if casting == 'no' and out.dtype != typeof(result).dtype:
        raise ValueError(f'numpy.{function.__name__}: the result is '
                         f'{typeof(result)}, but out= is {typeof(out)}')
    np.copyto(out, result, casting=casting)
    return out


SUMS = {np.sum, np.prod, np.cumsum, np.cumprod, np.mean, np.nansum,
        np.nanprod, np.nanmean, np.trace}
TOTALS = {np.cumsum, np.cumprod, np.nancumsum, np.nancumprod}
AS_UFUNCS = {np.clip, np.outer, np.fix, np.isneginf, np.isposinf,
             np.percentile, np.quantile, np.nanpercentile, np.nanquantile,
             np.nanmedian}
OUT_CASTING = {np.round: 'same_kind', np.around: 'same_kind',
               np.concatenate: 'same_kind', np.stack: 'same_kind',
               np.std: 'same_kind', np.nanstd: 'same_kind',
               np.argmax: 'equiv', np.argmin: 'equiv', np.dot: 'no',
               np.linalg.multi_dot: 'no', np.einsum: 'safe'}


ufunc_table = NumPyTable()
function_table = NumPyTable()


@dataclass(frozen=True, slots=True, repr=False)
class ShapedArray:
    """The type of an array: its shape and dtype, without its values.

    Args:
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

    def __hash__(self):
        return hash(self.shape)     # quick, and seldom ambiguous

    def __str__(self):
        return f'{self.dtype}[{",".join(map(str, self.shape))}]'

    def __repr__(self):
        weak = ', weak_type=True' if self.weak_type else ''
        return f'ShapedArray({self}{weak})'


def typeof(x) -> ShapedArray:
    """Returns the type of `x`: its shape, its dtype, whether it is weak.

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
    """Returns whether `x` is an array, of any library that speaks NEP 18."""
    if isinstance(x, (Tracer, np.matrix, np.ma.MaskedArray)):
        return False
    return isinstance(x, np.generic) or (
        hasattr(x, '__array_function__') and hasattr(x, 'shape'))


float0 = np.dtype([('float0', np.void, 0)])


@lru_cache(maxsize=4096)
def array_type(shape, dtype):
    """Returns the type of an array: the same object each time."""
    if dtype.kind not in 'biufc' and dtype != float0:
        raise TypeError(f'an array of dtype {dtype} cannot be traced: it '
                        'must be boolean, integer, float or complex')
    return ShapedArray(shape, dtype)


PYTHON_NUMBERS = {kind: ShapedArray((), np.dtype(kind), weak_type=True)
                  for kind in (bool, int, float, complex)}
NUMBERS = PYTHON_NUMBERS | {
    np.dtype(code).type: array_type((), np.dtype(code))
    for code in '?' + np.typecodes['AllInteger'] + np.typecodes['AllFloat']}
