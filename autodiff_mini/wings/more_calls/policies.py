"""Policies for `checkpoint`: which results are saved, not recomputed.

The program for the forward pass returns the saved results, and the program
for the reverse pass takes them as arguments.  Chapter 17.
"""

from dataclasses import replace

from autodiff_mini.calls.jit import jit_p
from autodiff_mini.calls.programs import (
    evaluate, partial_eval_jaxpr, stage_program)
from autodiff_mini.core.jaxprs import Jaxpr, drop_dead
from autodiff_mini.core.names import TraceTag
from autodiff_mini.interpreters import lowering
from autodiff_mini.primitives.linalg import matmul_p


def save(program, is_tangent, is_slope, policy):
    """Return the programs that run now and again, given a policy.

    Args:
        program: maps arguments and tangents to outputs and their tangents.
        is_tangent: for each argument, whether it is a tangent.
        is_slope: for each output, whether it is a tangent.
        policy: a function that says which results to save.

    Returns:
        A program from arguments to outputs and saved results, and a program
        from arguments, tangents, and saved results to the output tangents.
        None if the reverse pass needs no result that the policy saves.
    """
    n, end, m = is_tangent.index(True), len(is_tangent), is_slope.count(False)
    known, later, _ = partial_eval_jaxpr(program, is_tangent, is_slope)
    known = lowering.inline(known, {jit_p: lowering.inline_rules[jit_p]})
    saved, rest = split_residuals(known, m, policy)
    if not saved:
        return None

    def again(*args):
        xs, x_dots, kept = args[:n], args[n:end], args[end:]
        return evaluate(later, *evaluate(rest, *xs, *kept), *x_dots)

    now = replace(known, outvars=known.outvars[:m] + saved, cache={})
    return drop_dead(now), stage_program(
        again, program.in_avals + [v.aval for v in saved],
        TraceTag('checkpoint', Jaxpr))


def split_residuals(known, m, policy):
    """Return the saved variables, and a program for all residuals.

    Args:
        known: a program whose outputs from index `m` on are residuals.
        m: the index of the first residual.
        policy: a function that says which results to save.

    Returns:
        A list of variables, and a program from the arguments and the saved
        values to the residuals.
    """
    saved, eqns = [], []
    for eqn in known.eqns:
        avals = [v.aval for v in eqn.invars]
        if policy(eqn.primitive, *avals, **eqn.params):
            saved += eqn.outvars
        else:
            eqns.append(eqn)
    rest = drop_dead(replace(known, eqns=eqns, outvars=known.outvars[m:],
                             cache={}))
    needed = {v for eqn in rest.eqns for v in eqn.invars} | {*rest.outvars}
    saved = [v for v in saved if v in needed]
    return saved, replace(rest, invars=known.invars + saved, cache={})


class checkpoint_policies:
    """Policies for `checkpoint`, which say what it saves.

    `everything_saveable` saves all residuals, `nothing_saveable` none, and
    `dots_saveable` only matrix products.

    Source: `jax.checkpoint_policies`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> dots = checkpoint_policies.dots_saveable
        >>> f = ad.checkpoint(lambda w, x: np.sin(w @ x).sum(), policy=dots)
        >>> ad.grad(f)(np.zeros((1, 2)), np.ones(2))
        array([[1., 1.]])
    """

    @staticmethod
    def everything_saveable(primitive, *avals, **params):
        """Save all residuals, as if there were no checkpoint."""
        return True

    @staticmethod
    def nothing_saveable(primitive, *avals, **params):
        """Save only the arguments, as without a policy."""
        return False

    @staticmethod
    def dots_saveable(primitive, *avals, **params):
        """Save matrix products, which are slow to compute and small."""
        return primitive is matmul_p
