"""Extend: an interpreter that never says too much.

If `x` lies between 1 and 2, where does `expit(x)` lie? This interpreter
answers. Its tracers carry two numbers, a lower and an upper bound, and each
primitive has a rule that takes pairs and returns one. The rule for the
product is missing. Any number of the first interval may meet any number of
the second, and signs may differ.

When it works, ask for the bounds of `x * x` with `x` between -1 and 2. Why
is the answer true, and not the best one?
"""

import numpy as np

from autodiff_mini.core import PYTHON_NUMBERS, Trace, Tracer, current_trace
from autodiff_mini.primitives.arithmetic import (
    add_p, div_p, mul_p, neg_p, sub_p)
from autodiff_mini.primitives.elementwise import exp_p

HINTS = (
    'A product is extreme where both factors are at an end of their '
    'interval. How many such pairs are there?',
    'Four products; the bounds are the least and the greatest of them. To '
    'the tracer, the two factors of `x * x` are two numbers that have '
    'nothing to do with each other.',
)


class IntervalTracer(Tracer):
    aval = PYTHON_NUMBERS[float]

    def __init__(self, trace, low, high):
        self._trace, self.low, self.high = trace, low, high
        self.line = None


def mul(x, y):
    raise NotImplementedError('exercise e01_3: write the bounds here')


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
