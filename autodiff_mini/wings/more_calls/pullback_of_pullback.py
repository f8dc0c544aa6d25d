"""The reverse rule of a linear program that was run backwards.

Its calls have rules for both modes, which reverse mode over a pullback uses.
Chapter 22.
"""

from dataclasses import replace
from functools import partial

from autodiff_mini.calls.custom_vjp import (
    PullBothWays, custom_lin_p, custom_vjp_call_p)
from autodiff_mini.calls.programs import interleave, others, picked
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Jaxpr
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.types import float0, typeof
from autodiff_mini.core.zeros import Zero, instantiate_zeros
from autodiff_mini.interpreters import partial_eval, transpose
from autodiff_mini.interpreters.jaxpr import eval_jaxpr


@seams.bind_both_ways.take
def bind_both_ways(pull, *operands):
    """Bind the call of a program run backwards, with rules for both modes."""
    def fwd(operands, perturbed):
        return pull.bind(*operands), list(operands), partial(bwd, pull)
    return custom_vjp_call_p.bind(
        *operands, fun=pull, fwd=fwd, jvp=pull.jvp)


def bwd(pull, operands, x_bar_bars):
    """Return the cotangents of the operands.

    If the program maps `s` to `linear(r, s)` for residuals `r`, and its
    transpose maps `ct` to `x_bar`, then `s * x_bar == linear(r, s) * ct`.  So
    for a given `s`, differentiating the program gives both cotangents.
    """
    residuals, cts = pull.split(operands)
    still = others(pull.jaxpr.invars, pull.moves)
    ts = interleave(pull.moves, map(instantiate_zeros, x_bar_bars), [
        instantiate_zeros(Zero(v.aval)) for v in still])
    ct_bars, program = partial_eval.linearize_flat(
        lambda *rs: eval_jaxpr(runnable(pull.jaxpr), rs, *ts), residuals,
        TraceTag('vjp', Jaxpr))
    r_bars = picked(transpose.pull(program, program.consts, cts),
                    pull.traced)
    bars = [*r_bars, *picked(ct_bars, pull.given)]
    return [None if type(bar) is Zero else bar for bar in bars]


def runnable(jaxpr):
    """Return a linear program whose promises can be run forwards.

    A promise runs the transpose of its `bwd`.  If that is refused, as for
    the `bwd` of `odeint`, it runs its rule for forward mode.
    """
    def runnable_param(x):
        if type(x) is tuple:
            return tuple(map(runnable_param, x))
        return runnable(x) if type(x) is Jaxpr else x

    def runnable_equation(eqn):
        params = {k: runnable_param(x) for k, x in eqn.params.items()}
        if eqn.primitive is custom_lin_p:
            params['jvp'] = partial(run_promise, **params)
        return replace(eqn, params=params)
    return replace(jaxpr, eqns=list(map(runnable_equation, jaxpr.eqns)),
                   cache={})


def run_promise(*operands, name, jvp, bwd, n, out_avals, is_pulled=False):
    """Run a promise forwards, with the rule for reverse mode if possible."""
    try:
        return transpose_of_bwd(operands, bwd, n, out_avals)
    except (TypeError, NotImplementedError):
        # The JVP rule of a promise that holds a pullback can raise an error.
        if jvp is None or name == PullBothWays.__qualname__:
            raise
        return jvp(*operands)


def transpose_of_bwd(operands, bwd, n, out_avals):
    def backwards(*cts):
        cts = [Zero(aval) if aval.dtype == float0 else ct
               for aval, ct in zip(out_avals, cts)]
        return [Zero(typeof(t)) if x_bar is None else x_bar
                for t, x_bar in zip(operands[n:], bwd(operands[:n], cts))]
    program = partial_eval.linear_flat(
        backwards, out_avals, TraceTag('transpose', Jaxpr))
    return list(map(instantiate_zeros, transpose.pull(
        program, program.consts, operands[n:])))
