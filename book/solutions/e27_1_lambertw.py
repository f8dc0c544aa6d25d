"""The equation says it all. The function whose root we want captures `x` and
whatever `g` captures, and `custom_root` finds both. So an exponent that `g`
captures gets its derivative without a line of yours.

The slope of an inverse function is one over the slope of the function, and
you won't find a line that says so. It comes from dividing by `slope(1.0)`.
"""

import numpy as np

import autodiff_mini as ad


def newton(f, guess):
    """Return a root of a function of a number."""
    def step(state):
        w, _ = state
        move = f(w) / ad.grad(f)(w)
        return w - move, np.abs(move)
    return ad.while_loop(lambda state: state[1] > 1e-9, step,
                         (guess, np.inf))[0]


def inverse(g, guess):
    """Return the inverse function of `g`.

    Args:
        g: a function of a number that returns a number.
        guess: where `newton` starts, for each `x`.
    """
    def inverse_of_g(x):
        return ad.custom_root(lambda w: g(w) - x, guess, newton,
                              lambda slope, y: y / slope(1.0))
    return inverse_of_g


def lambertw(x):
    return inverse(lambda w: w * np.exp(w), 0.5)(x)
