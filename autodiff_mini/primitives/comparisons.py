"""Comparisons, logic, and the choice that is made with them.

What comes out of a comparison does not move when its operands do.  Chapters 1
and 2; most rows are in the appendix.
"""

import operator

import numpy as np

from autodiff_mini.core import Tracer, elementwise
from autodiff_mini.interpreters.jvp import defzero, jvp_rules, match
from autodiff_mini.interpreters.lowering import defwritten
from autodiff_mini.interpreters.transpose import deftranspose
from autodiff_mini.memory import handed_array
from autodiff_mini.numpy_api import implements, operand, operator_ufunc
from autodiff_mini.zeros import Zero

lt_p = elementwise('lt', operator.lt)
operator_ufunc(np.less, lt_p, '__lt__')
defzero(lt_p)
defwritten(lt_p, '{} < {}')

le_p = elementwise('le', operator.le)
operator_ufunc(np.less_equal, le_p, '__le__')
defzero(le_p)
defwritten(le_p, '{} <= {}')

gt_p = elementwise('gt', operator.gt)
operator_ufunc(np.greater, gt_p, '__gt__')
defzero(gt_p)
defwritten(gt_p, '{} > {}')

ge_p = elementwise('ge', operator.ge)
operator_ufunc(np.greater_equal, ge_p, '__ge__')
defzero(ge_p)
defwritten(ge_p, '{} >= {}')

eq_p = elementwise('eq', operator.eq)
operator_ufunc(np.equal, eq_p, '__eq__')
defzero(eq_p)
defwritten(eq_p, '{} == {}')

ne_p = elementwise('ne', operator.ne)
operator_ufunc(np.not_equal, ne_p, '__ne__')
defzero(ne_p)
defwritten(ne_p, '{} != {}')


def also_no_number(name, answer):
    """Lets `==` or `!=` answer as arrays do, if the other is no number."""
    method = getattr(Tracer, name)

    def compare(self, other):
        if other is None or isinstance(other, str):
            return np.full(self.shape, answer) if self.shape else answer
        return method(self, other)
    setattr(Tracer, name, compare)


also_no_number('__eq__', False)
also_no_number('__ne__', True)

and_p = elementwise('and', operator.and_)
operator_ufunc(np.bitwise_and, and_p, '__and__', '__rand__')
defzero(and_p)
defwritten(and_p, '{} & {}')

or_p = elementwise('or', operator.or_)
operator_ufunc(np.bitwise_or, or_p, '__or__', '__ror__')
defzero(or_p)
defwritten(or_p, '{} | {}')

xor_p = elementwise('xor', operator.xor)
operator_ufunc(np.bitwise_xor, xor_p, '__xor__', '__rxor__')
defzero(xor_p)
defwritten(xor_p, '{} ^ {}')

invert_p = elementwise('invert', operator.invert)
operator_ufunc(np.invert, invert_p, '__invert__')
defzero(invert_p)
defwritten(invert_p, '~{}')

left_shift_p = elementwise('left_shift', operator.lshift)
operator_ufunc(np.left_shift, left_shift_p, '__lshift__', '__rlshift__')
defzero(left_shift_p)
defwritten(left_shift_p, '{} << {}')

right_shift_p = elementwise('right_shift', operator.rshift)
operator_ufunc(np.right_shift, right_shift_p, '__rshift__', '__rrshift__')
defzero(right_shift_p)
defwritten(right_shift_p, '{} >> {}')

where_p = elementwise('where', np.where)


@implements(np.where, handed_array)
def numpy_where(condition, *choices):
    if not choices:
        raise NotImplementedError(
            'numpy.where(condition) of a traced value: how many indices it '
            'returns would depend on values. Use all three arguments, '
            'numpy.where(condition, x, y).')
    x, y = map(operand, choices)
    return where_p.bind(operand(condition), x, y)


def where_jvp(primals, tangents):
    condition, x, y = primals
    z = where_p.bind(condition, x, y)
    x_dot, y_dot = [0 if type(t) is Zero else t for t in tangents[1:]]
    if type(tangents[1]) is type(tangents[2]) is Zero:
        return z, Zero(z)
    return z, match(np.where(condition, x_dot, y_dot), z)


jvp_rules[where_p] = where_jvp
deftranspose(where_p, None, lambda ct, c, x, y: np.where(c, ct, 0),
                            lambda ct, c, x, y: np.where(c, 0, ct))
