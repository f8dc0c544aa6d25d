"""A row whose parameters are programs runs them under the column, as `scan`
does. Reverse mode needed no row, because the gradient of a cond is a cond.

Running both branches is safe here, because an interval has no side effects
and `where` ignores the branch that is not possible. To save work, you could
run a single branch if both ends of `which` are the same plain truth value.

The row of `checkpoint`, which runs one program, is a single line, `lambda
*intervals, fun: map(list, zip(*bounds(fun)(*intervals)))`. It's also the row
of `linear`, the second half of a `jit` in reverse mode.
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
    branches = [bounds(program)(which, *intervals)
                for program in (true, false)]
    pairs = [where(which, x, y) for x, y in zip(*branches)]
    return [low for low, high in pairs], [high for low, high in pairs]


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
