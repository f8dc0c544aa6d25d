"""The gradient is a program, and `tangent_jaxpr` takes any program, so no new
rule is needed. Programs compose as functions do, and `stage` turns the
composition into a program again.

`make_jaxpr(grad(...))` inside would have worked, too, because a program is a
function. Forward mode over reverse mode is the cheap order. Reverse over
forward is right, too, and reverse over reverse keeps residuals twice.
"""

from autodiff_mini.draft.jaxpr import stage
from autodiff_mini.draft.programs import (
    linearize_jaxpr, tangent_jaxpr, transpose_jaxpr)


def curvature_jaxpr(jaxpr):
    """Return a program from `x` and a direction to H(x) @ direction.

    Args:
        jaxpr: a program of one argument that returns one number.
    """
    known, linear = linearize_jaxpr(jaxpr)
    backward = transpose_jaxpr(linear, len(known.outvars) - 1)

    def gradient(x):
        *residuals, y = known(x)
        return backward(*residuals, 1.0)
    return tangent_jaxpr(stage(gradient, jaxpr.invars)[0])
