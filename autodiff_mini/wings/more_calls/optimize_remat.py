"""`optimize_remat`: in a checkpoint, call the function and not its `fwd`.

An operation carries two programs, one for `fwd` and one for the function.
If dead code is dropped and no residual is used, it becomes an operation that
runs the function.  Its derivative is still the derivative of `fwd`, where
calls have their rules.  Chapter 17.
"""

from dataclasses import replace
from functools import partial

from autodiff_mini.calls.call import Store
from autodiff_mini.calls.jit import jit_p, run_compiled
from autodiff_mini.calls.loops import either
from autodiff_mini.calls.programs import (
    close, for_arguments, for_outputs, prune_equation, vmap_jaxpr)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import dead_rules
from autodiff_mini.core.names import TraceTag, own_name
from autodiff_mini.core.trace import Primitive, Tracer
from autodiff_mini.core.types import typeof
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import stage_flat


@seams.call_if_unused.take
class RematForward:
    """A `fwd` that becomes the call's function if no residual is used.

    Args:
        fun: the function, with its batching rule.
        forward: the user's `fwd`, a FlatForward.
    """

    def __init__(self, fun, forward):
        self.__qualname__ = own_name(forward)
        self.fun = fun
        self.forward = forward

    def __str__(self):
        return str(self.forward)

    def __call__(self, operands, perturbed):
        if not any(isinstance(x, Tracer) for x in operands):
            return self.forward(operands, perturbed)    # it runs now
        found = Store()

        def both(*operands):
            outs = self.fun(*operands)
            ys, residuals, bwd = self.forward(operands, perturbed)
            return [*outs, *ys, *residuals], (len(ys), bwd)

        jaxpr, traced = close(stage_flat(
            found.keep(both, self), list(map(typeof, operands)),
            TraceTag('custom_vjp', self)))
        n, bwd = found.value
        rest = len(jaxpr.outvars) - n
        fun, _ = for_outputs(jaxpr, (True,) * n + (False,) * rest)
        fwd, _ = for_outputs(jaxpr, (False,) * n + (True,) * rest)
        outs = forward_p.bind(*traced, *operands, jaxpr=fwd, fun=fun,
                              name=own_name(self))
        return outs[:n], outs[n:], bwd


# `forward` runs `jaxpr`, the program of `fwd`.  `output` runs only `fun`.
# All their other rules are those of `jaxpr`, under jit.
forward_p = Primitive('forward', run_compiled, multiple_results=True)
output_p = Primitive('output', lambda *xs, fun, jaxpr, **params: (
    run_compiled(*xs, jaxpr=fun, **params)), multiple_results=True)


def as_jit(rule):
    """Adapt a rule of `jit` to an operation that also has a `fun`."""
    return lambda *args, fun, **params: rule(*args, **params)


for rules in jvp.rules, transpose.rules, abstract.rules:
    rules[forward_p] = rules[output_p] = as_jit(rules[jit_p])
lowering.inline_rules[forward_p] = lambda *avals, jaxpr, **params: jaxpr
lowering.inline_rules[output_p] = lambda *avals, fun, **params: fun


def map_both(primitive, axis, vals, dims, jaxpr, fun, name):
    mapped = tuple(dim is not None for dim in dims)
    jaxpr, fun = [
        vmap_jaxpr(program, mapped, (True,) * len(program.outvars), axis.size)
        [0] for program in (jaxpr, fun)]
    outs = primitive.bind(*vals, jaxpr=jaxpr, fun=fun, name=name)
    return outs, [0] * len(outs)


vmap.rules[forward_p] = partial(map_both, forward_p)
vmap.rules[output_p] = partial(map_both, output_p)


def forward_for_outputs(eqn, used):
    """Return an equation that runs the function if no residual is used."""
    n = len(eqn.params['fun'].outvars)
    if any(used[n:]):
        return eqn
    return output_for_outputs(replace(eqn, primitive=output_p), used)


def output_for_outputs(eqn, used):
    """Return an equation for some outputs of both programs."""
    fun, jaxpr = eqn.params['fun'], eqn.params['jaxpr']
    used = used[:len(fun.outvars)]
    fun, read_by_fun = for_outputs(fun, used)
    rest = (False,) * (len(jaxpr.outvars) - len(used))
    jaxpr, read_by_jaxpr = for_outputs(jaxpr, used + rest)
    matter = either(read_by_fun, read_by_jaxpr)
    return prune_equation(
        eqn, matter, used + rest, fun=for_arguments(fun, matter),
        jaxpr=for_arguments(jaxpr, matter))


dead_rules[forward_p] = forward_for_outputs
dead_rules[output_p] = output_for_outputs
