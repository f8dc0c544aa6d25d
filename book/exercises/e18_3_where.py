"""Add a row: a comparison that can't be decided.

Is `x` greater than 0 if all we know is that `x` is between -1 and 1? The
column answers with an interval of truth values, from the one that is certain
to the one that is possible. It's (True, True) or (False, False) if the answer
is the same for all `x`, and (False, True) if it isn't.

Write the row of `np.where`, which is handed such an answer. If the condition
is decided, the other operand must not matter, even if it's infinite. When the
row is right, the slope of a rectifier, `np.where(x > 0, x, 0.0)`, is 0 on the
left, 1 on the right, and between 0 and 1 on an interval around zero.
"""

import numpy as np

from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, exp_p, gt_p, max_p, min_p, neg_p, structural, sub_p, tanh_p,
    where_p)
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'There are three cases: the condition certainly holds, it can hold, and '
    'it cannot hold. In the middle case, the result can be either operand.',
    'The smallest interval that contains both operands starts at the smaller '
    'of the two low ends and ends at the larger of the two high ends.',
    'Choose between the cases with `np.where`, and not with arithmetic: zero '
    'times infinity is nan.',
)


class BoundsTrace(Trace):
    """Compute a lower and an upper bound of every value."""

    def process_primitive(self, primitive, args, params):
        if primitive.is_call:
            return params['fun'](*args)
        with self.parent:
            if not any(map(self.owns, args)):
                return primitive.bind(*args, **params)
            rule = bounds_rules[primitive]
            low, high = rule(*map(self.ends, args), **params)
        return tree_map(self.pack, low, high)

    def ends(self, x):
        return (x.low, x.high) if self.owns(x) else (x, x)

    def pack(self, low, high):
        return Tracer(self, typeof(low), low=low, high=high)


def bounds(f):
    """Return a function from intervals, pairs of ends, to intervals."""
    def bounded(*intervals):
        with BoundsTrace(current_trace(), object()) as trace:
            out = f(*[trace.pack(*ends) for ends in intervals])
        return tree_map(trace.ends, out)
    return bounded


def keep_order(primitive):
    """Return the rule of an operation that never decreases."""
    return lambda *intervals, **params: [
        primitive.bind(*ends, **params) for ends in zip(*intervals)]


def greater(x, y):
    """Return whether x > y is certain, and whether it is possible."""
    return x[0] > y[1], x[1] > y[0]


def where(c, x, y):
    """Return the bounds of np.where(c, x, y).

    `c` is a pair: whether the condition certainly holds, and whether it can
    hold. `x` and `y` are pairs of ends.
    """
    raise NotImplementedError('exercise e18_3: write the bounds here')


bounds_rules = Table(
    {p: keep_order(p) for p in [add_p, max_p, min_p, exp_p, tanh_p,
                                *structural]})
bounds_rules.update({
    neg_p: lambda x: (-x[1], -x[0]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    gt_p: greater,
    where_p: where})
