"""The first program returns the residuals and then the outputs, and the
second takes the residuals and then the tangents, so the two fit and you
only count `n`. A custom rule survives, because the call is in the first
program with its rule.

This does half the work. Partial evaluation still opens the second `jit`,
since it opens every call without a rule, so the reverse pass is compiled only
if there is a `jit` around the gradient. Chapter 15 does the same for a loop,
and there both halves stay loops.
"""

from autodiff_mini.draft.jit import jit_p
from autodiff_mini.draft.jvp import instantiate, jvp_rules
from autodiff_mini.draft.programs import linearize_jaxpr


def jit_jvp(tag, primals, tangents, fun):
    """Return the outputs of a compiled program, and their tangents."""
    known, linear = linearize_jaxpr(fun)
    outs = jit_p.bind(*primals, fun=known)
    n = len(outs) - len(fun.outvars)
    return outs[n:], jit_p.bind(
        *outs[:n], *map(instantiate, primals, tangents), fun=linear)


jvp_rules[jit_p] = jit_jvp
