"""The planet's rule.

A star's planet is at the angle *E* that solves *E* − *e* sin *E* = *M*.
`newton` finds it, one step after another, and chapter 29 shows what the
derivative of those steps is worth if the guess is good. There, `custom_root`
gave the solver a rule. Here you write the rule yourself.

`kepler` must have the right first and second derivatives with respect to `e`
and `M`, alone and in a batch, whatever the guess is. That includes the
solution itself. The guess has no influence on *E*, so its derivative is 0.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Take the tangents of both sides of the equation. `E_dot` is in two of '
    'the terms.',
    'E_dot * (1 - e * cos E) = M_dot + e_dot * sin E.',
    'The rule needs E. A second derivative differentiates the rule, so it '
    'also differentiates your E. Which function do you call to find it?',
)


def newton(e, M, guess):
    """Return the solution of Kepler's equation, found step by step."""
    return ad.while_loop(
        lambda E: np.abs(E - e * np.sin(E) - M) > 1e-10,
        lambda E: E - (E - e * np.sin(E) - M) / (1 - e * np.cos(E)), guess)


@ad.custom_jvp
def kepler(e, M, guess):
    return newton(e, M, guess)


@kepler.defjvp
def kepler_jvp(primals, tangents):
    raise NotImplementedError('exercise e29_1: write the rule here')
