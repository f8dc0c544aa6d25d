"""Values on the tape, whose operators reach a prepared operation at once.

`x * y`, `-x`, and `np.sin(x)` ask the trace directly, if it is the current
one.  If it has no answer, they are bound as always.  Chapter 32.
"""

import numpy as np

from autodiff_mini.core.trace import Primitive, Tracer, ufunc_table
from autodiff_mini.core.types import NUMBERS, array_type
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters.jaxpr import JaxprTracer
from autodiff_mini.interpreters.jvp import JVPTracer
from autodiff_mini.primitives.elementwise import (
    add_p, div_p, mul_p, neg_p, sub_p)


def operator(special, primitive):
    """Return the method of an operator: unary, binary, or mirrored."""
    usual = getattr(Tracer, special)

    def unary(self):
        y = self._trace.at_once(primitive, (self,))
        return usual(self) if y is None else y

    def binary(self, other):
        y = self._trace.at_once(primitive, (self, other))
        return usual(self, other) if y is None else y

    def mirrored(self, other):
        y = self._trace.at_once(primitive, (other, self))
        return usual(self, other) if y is None else y
    if special == '__neg__':
        return unary
    return mirrored if special.startswith('__r') else binary


class TapeTracer(JVPTracer):
    """A value, and the variable of its tangent in the linear program."""

    __slots__ = ('primal', 'name', 'aval')

    def __init__(self, trace, primal, name, aval, line):
        self._trace = trace
        self.primal = primal
        self.name = name    # None, if the tangent is zero
        self.aval = aval
        self.line = line

    @property
    def tangent(self):
        if self.name is None:
            return Zero(self.primal)
        return JaxprTracer(self._trace.parent, self.name, self.line)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        primitive = getattr(ufunc_table.get(ufunc), '__self__', None)
        if type(primitive) is Primitive and method == '__call__' and (
                not kwargs):
            y = self._trace.at_once(primitive, inputs)
            if y is not None:
                return y
        return super().__array_ufunc__(ufunc, method, *inputs, **kwargs)

    __neg__ = operator('__neg__', neg_p)
    __add__ = operator('__add__', add_p)
    __radd__ = operator('__radd__', add_p)
    __sub__ = operator('__sub__', sub_p)
    __rsub__ = operator('__rsub__', sub_p)
    __mul__ = operator('__mul__', mul_p)
    __rmul__ = operator('__rmul__', mul_p)
    __truediv__ = operator('__truediv__', div_p)
    __rtruediv__ = operator('__rtruediv__', div_p)


# The name that users see.
TapeTracer.__name__ = TapeTracer.__qualname__ = JVPTracer.__name__


def float_type(x):
    """Return the type of a float or an array of floats, None for others."""
    aval = (array_type(x.shape, x.dtype) if type(x) is np.ndarray
            and x.dtype.kind == 'f' else NUMBERS.get(type(x)))
    return aval if aval and aval.dtype.kind == 'f' else None
