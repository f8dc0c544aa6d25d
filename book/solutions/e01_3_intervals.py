"""A product is extreme where both factors are, so four products will do.
For `x * x` the answer is (-2, 4): it allows for -1 times 2, since the two
factors might be different numbers, for all that the rule knows. A rule sees
the operation, and not where its operands come from.
"""

import numpy as np

from autodiff_mini.core import PYTHON_NUMBERS, Trace, Tracer, current_trace
from autodiff_mini.primitives.arithmetic import (
    add_p, div_p, mul_p, neg_p, sub_p)
from autodiff_mini.primitives.elementwise import exp_p


class IntervalTracer(Tracer):
    aval = PYTHON_NUMBERS[float]

    def __init__(self, trace, low, high):
        self._trace, self.low, self.high = trace, low, high
        self.line = None


def mul(x, y):
    products = [a * b for a in x for b in y]
    return min(products), max(products)


def div(x, y):
    if y[0] <= 0 <= y[1]:
        return -np.inf, np.inf
    return mul(x, (1 / y[1], 1 / y[0]))


rules = {
    neg_p: lambda x: (-x[1], -x[0]),
    add_p: lambda x, y: (x[0] + y[0], x[1] + y[1]),
    sub_p: lambda x, y: (x[0] - y[1], x[1] - y[0]),
    exp_p: lambda x: (np.exp(x[0]), np.exp(x[1])),
    mul_p: mul,
    div_p: div,
}


class IntervalTrace(Trace):
    def process_primitive(self, primitive, args, params):
        pairs = [(x.low, x.high) if isinstance(x, IntervalTracer) else (x, x)
                 for x in args]
        return IntervalTracer(self, *rules[primitive](*pairs))


def bounds(f, low, high):
    """Returns bounds of `f(x)` for all `x` between `low` and `high`."""
    with IntervalTrace(current_trace(), f'bounds of {f}') as trace:
        out = f(IntervalTracer(trace, low, high))
    return out.low, out.high
