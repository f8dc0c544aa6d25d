"""Extend: common subexpressions.

The program of a gradient often contains the same product in two places,
because two rules asked for it and neither knows about the other. `simplify`
sees that, among other things.

Write a pass that does only that, without looking at `simplify`. It takes a
jaxpr and returns a jaxpr. If an equation repeats an earlier one, it's left
out, and its results are read from the earlier one. This is called *common
subexpression elimination*.

All that matters about an equation is in its `primitive`, its `invars`, and
its `params`. There are no side effects, so it doesn't matter how often an
equation runs. You must not change the program that you are given.
"""

from autodiff_mini.core.jaxprs import Equation, Jaxpr, Literal

HINTS = (
    'Walk through the equations with two dicts. One says what has been '
    'computed, and which variables hold it. The other says which variable '
    'replaces another one.',
    'Replace the operands *before* you check whether an equation is a '
    'repeat, because two products are equal if their factors turn out to be. '
    'And the program can return a variable that you replaced.',
    'A `Literal` is made anew each time, so compare its `val`. But a dict '
    "takes 1, 1.0, and True for equal, and NumPy doesn't. "
    '`(type(x), repr(x))` tells them apart, and 0.0 from -0.0.',
    'A parameter can be anything, even a list, which has no hash. You can '
    'leave an equation alone if one of its parameters has no hash.',
)


def share(jaxpr):
    """Return a program that computes nothing twice."""
    raise NotImplementedError('exercise e31_1: write the pass here')
