"""An interpreter, and no part of the system had to be told about it. `ends`
and `pack` say what a tracer carries, the table says what each operation does
with that, and the first lines of `process_primitive` say what becomes of a
function inside an operation.

The rule for the sine uses only that its slope is between -1 and 1. Whenever
you know a bound on a slope, you have such a rule. It's never wrong, and the
smaller the interval, the better it gets.
"""

from functools import reduce

import numpy as np

from autodiff_mini.draft.core import (
    Table, Trace, Tracer, current_trace, typeof)
from autodiff_mini.draft.primitives import (
    add_p, div_p, exp_p, max_p, min_p, mul_p, neg_p, sin_p, structural,
    sub_p, tanh_p)
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


def keep_order(primitive):
    """Return the rule of an operation that never decreases."""
    return lambda *intervals, **params: [
        primitive.bind(*ends, **params) for ends in zip(*intervals)]


def product(x, y):
    corners = [corner(a, b) for a in x for b in y]
    return reduce(np.minimum, corners), reduce(np.maximum, corners)


def corner(a, b):
    """Multiply two ends; zero times an infinite one is zero."""
    return np.where(b != 0, a, finite(a)) * np.where(a != 0, b, finite(b))


def finite(x):
    return np.clip(x, -1e300, 1e300)


def reciprocal(x):
    safe = np.maximum(x[0], -x[1]) > 0      # all of x is on one side of 0
    low, high = 1 / np.where(safe, x[1], 1.0), 1 / np.where(safe, x[0], 1.0)
    return np.where(safe, low, -np.inf), np.where(safe, high, np.inf)


def sine(x):
    low, high = map(finite, x)      # infinite ends have no middle
    middle, radius = (low + high) / 2, (high - low) / 2
    y = np.sin(middle)
    return np.maximum(y - radius, -1.0), np.minimum(y + radius, 1.0)


bounds_rules = Table(
    {p: keep_order(p) for p in [add_p, max_p, min_p, exp_p, tanh_p,
                                *structural]})
bounds_rules.update({
    neg_p: lambda x: (-x[1], -x[0]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    mul_p: product,
    div_p: lambda x, y: product(x, reciprocal(y)),
    sin_p: sine})


def bounds(f):
    """Return a function from intervals, pairs of ends, to intervals."""
    def bounded(*intervals):
        with BoundsTrace(current_trace(), object()) as trace:
            out = f(*[trace.pack(*ends) for ends in intervals])
        return tree_map(trace.ends, out)
    return bounded
