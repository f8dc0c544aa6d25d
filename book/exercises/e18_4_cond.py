"""Add a row: both branches.

`cond` runs one of two programs, and a comparison says which. On an interval,
the comparison might not be decided. Then the result can be what either branch
returns, so its bounds have to contain both.

Write the row of `cond`. It's handed an interval for each operand, the first
of which is the answer to the comparison (certain, possible), and the programs
of the two branches, `true` and `false`. A program is a function from arrays
to a list of arrays, and each of them takes *all* operands. `where`,
from the last exercise, is solved here.
"""

from functools import reduce

import numpy as np

from autodiff_mini.draft.branches import cond_p
from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, exp_p, gt_p, max_p, min_p, mul_p, neg_p, structural, sub_p,
    tanh_p, where_p)
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'A program is a function, so `bounds(true)` is one, too. It takes the '
    'same intervals as the rule does.',
    '`bounds(true)(which, *intervals)` is a list of pairs, one for each '
    'output. `where` chooses between a pair of one branch and a pair of the '
    'other.',
    'At the end, take the pairs apart: the rule returns a list of the low '
    'ends and a list of the high ends.',
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


def product(x, y):
    corners = [corner(a, b) for a in x for b in y]
    return reduce(np.minimum, corners), reduce(np.maximum, corners)


def corner(a, b):
    """Multiply two ends; zero times an infinite one is zero."""
    return np.where(b != 0, a, finite(a)) * np.where(a != 0, b, finite(b))


def finite(x):
    return np.clip(x, -1e300, 1e300)


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


def cond_bounds(which, *intervals, true, false):
    """Return two lists: the low ends of the outputs, and the high ends."""
    raise NotImplementedError('exercise e18_4: write the bounds here')


bounds_rules = Table(
    {p: keep_order(p) for p in [add_p, max_p, min_p, exp_p, tanh_p,
                                *structural]})
bounds_rules.update({
    neg_p: lambda x: (-x[1], -x[0]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    mul_p: product,
    gt_p: greater,
    where_p: where,
    cond_p: cond_bounds})
