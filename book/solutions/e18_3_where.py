"""The row of a comparison returns an interval like any other row, and False
is less than True, so the column needs no new kind of answer.

The bounds of the rectifier itself on [-1, 2] are (-1, 2), and not (0, 2). The
row of `np.where` does not know that its operand `x` is what was compared.
"""

import numpy as np

from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, exp_p, gt_p, max_p, min_p, neg_p, structural, sub_p, tanh_p,
    where_p)
from autodiff_mini.draft.trees import tree_map


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
    certain, possible = c
    low = np.where(possible, np.minimum(x[0], y[0]), y[0])
    high = np.where(possible, np.maximum(x[1], y[1]), y[1])
    return np.where(certain, x[0], low), np.where(certain, x[1], high)


bounds_rules = Table(
    {p: keep_order(p) for p in [add_p, max_p, min_p, exp_p, tanh_p,
                                *structural]})
bounds_rules.update({
    neg_p: lambda x: (-x[1], -x[0]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    gt_p: greater,
    where_p: where})
