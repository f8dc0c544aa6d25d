"""Your row, backwards, and golf: Lambert's W with a loop that stops.

This `newton` stops when the result is good enough. Its `while` looks at
numbers, and it calls NumPy functions that the draft doesn't know, so it only
works on plain arrays. `grad` can't look inside, but it doesn't have to know
how W was found.

Give it a rule for the backward pass. Par: for derivatives of any order, the
iteration runs once, on plain numbers, and one array is kept. The derivatives
have to be right at 0, too.
"""

import numpy as np

from autodiff_mini import draft as ad

HINTS = (
    'The slope is in exercise e03_3. It can be written in terms of `w` '
    'alone, so `w` is all that `bwd` needs.',
    '`fwd` needs `w`, and for a second derivative that `w` has to carry the '
    'rule. Which function returns such a `w`?',
    'If `bwd` asks for W again, the iteration runs again. Do the expensive '
    'work in the forward pass.',
)


def newton(x):
    """Return the solution `w` of `w * exp(w) = x`, for numbers x >= 0."""
    w, step = np.log1p(x), 1.0
    while np.any(np.abs(step) > 1e-12 * (1 + w)):
        step = (w - x * np.exp(-w)) / (1 + w)
        w = w - step
    return w


def with_rule():
    """Return `newton`, with a rule for the backward pass."""
    raise NotImplementedError('exercise e11_3: write fwd and bwd here')
