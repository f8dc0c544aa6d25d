"""The rule is the equation's tangent, solved for `E_dot`.

The line that matters is the one that finds `E`. If it called `newton`, every
first derivative would be right, and the fit of chapter 29 would find its
planet. But the second derivative differentiates the rule. In there, `E` would
be the result of a loop again, and at a perfect guess that loop doesn't run,
so the Hessian would lose every term that `E` contributes. `kepler` has the
rule, so a rule that calls `kepler` is right as often as you differentiate it.

`custom_root` can't be used wrongly in this way, because its rule is written
for you, and it calls itself.
"""

import numpy as np

import autodiff_mini as ad


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
    (e, M, guess), (e_dot, M_dot, _) = primals, tangents
    E = kepler(e, M, guess)
    return E, (M_dot + e_dot * np.sin(E)) / (1 - e * np.cos(E))
