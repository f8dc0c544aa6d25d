"""`optimize_remat`: in a checkpoint, call the function and not its `fwd`.

An operation carries two programs, one for `fwd` and one for the function.
If dead code is dropped and no residual is used, it becomes a call of the
function.  Chapter 15.
"""

from autodiff_mini import seams
from autodiff_mini.core import Primitive, TraceTag, Tracer, fun_name, typeof
from autodiff_mini.higher_order.call import Store
from autodiff_mini.higher_order.jit import jit_p, run_compiled
from autodiff_mini.higher_order.programs import (
    close, for_outputs, program_for_outputs, vmap_jaxpr)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import stage_flat
from autodiff_mini.jaxprs import Equation, dead_rules


@seams.call_if_unused.take
class RematForward:
    """A `fwd` that becomes the call's function if no residual is used.

    Args:
        call: the function.
        forward: the user's `fwd`, a FlatForward.
    """

    def __init__(self, call, forward):
        self.__qualname__ = fun_name(forward)
        self.call = call
        self.forward = forward

    def __str__(self):
        return str(self.forward)

    def __call__(self, operands, perturbed):
        if not any(isinstance(x, Tracer) for x in operands):
            return self.forward(operands, perturbed)    # it runs now
        found = Store()

        def both(*operands):
            outs = self.call(*operands)
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
                              name=fun_name(self))
        return outs[:n], outs[n:], bwd


forward_p = Primitive('forward', run_compiled, multiple_results=True)


def as_jit(rule):
    """Adapt a rule of `jit` to `forward`, which also has a `fun`."""
    return lambda *args, fun, **params: rule(*args, **params)


for rules in (jvp.rules, transpose.rules, abstract.rules,
              lowering.inline_rules):
    rules[forward_p] = as_jit(rules[jit_p])


def forward_vmap(axis, vals, dims, jaxpr, fun, name):
    mapped = tuple(dim == 0 for dim in dims)
    jaxpr, fun = [
        vmap_jaxpr(program, mapped, (True,) * len(program.outvars), axis.size)
        [0] for program in (jaxpr, fun)]
    outs = forward_p.bind(*vals, jaxpr=jaxpr, fun=fun, name=name)
    return outs, [0] * len(outs)


vmap.rules[forward_p] = forward_vmap


def forward_for_outputs(eqn, used):
    """Return a call of the function if no residual is used."""
    fun = eqn.params['fun']
    n = len(fun.outvars)
    if any(used[n:]):
        return eqn
    return program_for_outputs(Equation(
        jit_p, eqn.invars, {'jaxpr': fun, 'name': eqn.params['name']},
        eqn.outvars[:n], eqn.line), used[:n])


dead_rules[forward_p] = forward_for_outputs
