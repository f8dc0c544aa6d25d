"""A row can be tighter than the rows it could be written with, because it
knows more: here, that the factors are the same. That is also a reason to
have many primitives. A custom rule for `tanh` that says `1 - y ** 2` proves
that the cliff is never steeper than 1000, where `1 - y * y` proves 2000.
"""

from functools import reduce

import numpy as np

from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, exp_p, max_p, min_p, mul_p, neg_p, pow_p, structural, sub_p,
    tanh_p)
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


def power(x, n):
    """Return the bounds of x ** n; each operand is a pair of ends."""
    n = n[0]
    if n % 2:
        return x[0] ** n, x[1] ** n
    nearest = np.maximum(np.maximum(x[0], -x[1]), 0.0)
    farthest = np.maximum(-x[0], x[1])
    return nearest ** n, farthest ** n


bounds_rules = Table(
    {p: keep_order(p) for p in [add_p, max_p, min_p, exp_p, tanh_p,
                                *structural]})
bounds_rules.update({
    neg_p: lambda x: (-x[1], -x[0]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    mul_p: product,
    pow_p: power})
