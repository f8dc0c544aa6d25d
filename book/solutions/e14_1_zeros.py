"""`linearize_at` differentiates a function with respect to its arguments, and
whatever the function captures has no tangent. So we only choose what's an
argument and what's captured. Forward mode then sees `None` for all captured
primals and skips their operations, as it does in any program.

The first program takes every primal, whether it moves or not. JAX's rule for
`jit` passes on which tangents are zero in the same way.
"""

from functools import cache

from autodiff_mini.draft.core import current_trace
from autodiff_mini.draft.jaxpr import JaxprTrace, build
from autodiff_mini.draft.jit import jit_p
from autodiff_mini.draft.jvp import jvp_rules
from autodiff_mini.draft.partial_eval import linearize_at
from autodiff_mini.draft.programs import linear_p


@cache
def cut(jaxpr, moving):
    """Return a program from primals to residuals and outputs, and one from
    residuals and some tangents to the tangents of the outputs.

    Args:
        jaxpr: a program.
        moving: a tuple of bools that say which inputs have a tangent.
    """
    with JaxprTrace(current_trace(), object()) as trace:
        primals = list(map(trace.new, jaxpr.invars))

        def f(*xs):
            xs = iter(xs)
            return jaxpr(*[next(xs) if moves else x
                           for x, moves in zip(primals, moving)])
        ys, linear, residuals = linearize_at(
            f, [x for x, moves in zip(primals, moving) if moves])
        known, _ = build(trace, primals, residuals + ys)
    return known, linear


def jit_jvp(tag, primals, tangents, fun):
    """Return the outputs of a compiled program, and their tangents."""
    moving = tuple(x_dot is not None for x_dot in tangents)
    known, linear = cut(fun, moving)
    outs = jit_p.bind(*primals, fun=known)
    n = len(outs) - len(fun.outvars)
    x_dots = [x_dot for x_dot in tangents if x_dot is not None]
    return outs[n:], linear_p.bind(*outs[:n], *x_dots, fun=linear)


jvp_rules[jit_p] = jit_jvp
