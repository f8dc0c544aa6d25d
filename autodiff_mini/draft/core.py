"""Primitives, tracers, the stack of interpreters, and evaluation.

Every operation goes through `Primitive.bind`, which asks the interpreter on
top of the stack what to do.  The interpreter at the bottom evaluates.
"""

from dataclasses import dataclass
from operator import getitem

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin as Operators


# 1a. The type of a value.
@dataclass(frozen=True)
class ShapedArray:
    """An abstract value: the shape and dtype of an array."""
    shape: tuple
    dtype: np.dtype
    aval = property(lambda self: self)


def typeof(x):
    """Return the type of an array, or of a value that knows its own."""
    if hasattr(x, 'aval'):
        return x.aval
    return ShapedArray(np.shape(x), np.result_type(x))


# 1b. A tracer stands in for an array.
class Tracer(Operators):
    """A stand-in for an array: its trace, its type, and the trace's data."""
    shape = property(lambda self: self.aval.shape)
    __hash__ = object.__hash__      # Operators defines ==, and so loses it

    def __init__(self, trace, aval, **data):
        self.trace = trace
        self.aval = aval
        vars(self).update(data)     # each kind of trace has its own

    def __bool__(self):
        raise TypeError('this tracer has no value to branch on')


# 1c. NumPy's functions, applied to a tracer, are looked up in a table.
class Table(dict):
    """A table of functions, by primitive or by NumPy function."""

    def __missing__(self, key):
        raise TypeError(f'the draft has no rule for {key}')


numpy_table = Table()


def call_ufunc(x, ufunc, method, *args, **options):
    """Apply a ufunc to a tracer `x`, and to its other arguments."""
    if method != '__call__' or options:
        check_options(x, ufunc, method, **options)
    return numpy_table[ufunc](*args)


Tracer.__array_ufunc__ = call_ufunc
Tracer.__array_function__ = lambda x, function, types, args, kwargs: (
    numpy_table[function](*args, **kwargs))
Tracer.__getitem__ = lambda x, index: numpy_table[getitem](x, index)
Tracer.sum = lambda x, axis=None: np.sum(x, axis)
Tracer.__len__ = lambda x: x.shape[0]
Tracer.__iter__ = lambda x: iter([x[i] for i in range(len(x))])


# 1d. An operation has a name and a single entry point.
class Primitive:
    """An operation that every interpreter can look up a rule for."""

    def __init__(self, name, impl, is_call=False):
        self.name = name
        self.impl = impl
        self.is_call = is_call  # whether its parameters are functions

    def bind(self, *args, **params):
        """Apply the operation, as the current interpreter sees fit."""
        return current_trace().process_primitive(self, args, params)

    def __repr__(self):
        return self.name


# 1e. An interpreter at work.
class Trace:
    """An interpreter: it processes the operations in its `with` block."""

    def __init__(self, parent, tag):
        self.parent = parent
        self.tag = tag      # identifies one application of a transformation

    def __enter__(self):
        trace_stack.append(self)
        return self

    def __exit__(self, *error):
        trace_stack.pop()

    def owns(self, x):
        return isinstance(x, Tracer) and x.trace.tag is self.tag


# 1f. The interpreter at the bottom of the stack.
class EvalTrace(Trace):
    """The interpreter that has no parent: it computes."""

    def process_primitive(self, primitive, args, params):
        if any(isinstance(x, Tracer) for x in (*args, *params.values())):
            raise TypeError(f'{primitive}: tracer escaped its transformation')
        return primitive.impl(*args, **params)


trace_stack = [EvalTrace(None, None)]


def current_trace():
    return trace_stack[-1]


# 1j. A call with options is refused, except for `x += 1` with a number x.
def check_options(x, ufunc, method, out=(), **options):
    """Raise a TypeError unless `x` is a number that gets a new value."""
    if method != '__call__' or options:
        raise TypeError(f'{ufunc.__name__}: a tracer takes no options')
    for target in out:
        if target is not x or x.shape:
            raise TypeError(f'{ufunc.__name__}: a tracer cannot change in '
                            'place: write x = x + 1, not x += 1')
