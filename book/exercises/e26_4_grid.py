"""Extend: weights on a grid.

A model has to run on a chip whose weights are multiples of a step, such as
0.25. Rounding has a slope of 0 wherever it has one, so a model that rounds
its weights never learns. The *straight-through* rule pretends that rounding
does nothing.

Write `make_on_grid()`. It returns `on_grid(w, step)`, the multiples of `step`
that are nearest to `w`. Give a rule to the rounding of numbers to integers,
and to nothing else, so that both modes and all transformations work. Then
`on_grid` needs no rule of its own, and the step can be learned, too. Before
you run it, predict the slope with respect to the step.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'A number on the grid is `step` times an integer. Which integer is '
    'nearest to `w / step`?',
    'The function with the rule is `np.round`, and its tangent is the '
    'tangent of its argument. `defjvps` is enough.',
    'Multiplication and division have rules already. The result is `step * '
    'n`, and the tangent of `n` is the tangent of `w / step`.',
)


def make_on_grid():
    """Return `on_grid(w, step)`, which learns straight through."""
    raise NotImplementedError('exercise e26_4: write the function and rule')
