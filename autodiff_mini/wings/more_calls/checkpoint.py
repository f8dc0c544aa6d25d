"""`checkpoint`: compute residuals again instead of keeping them.

All residuals are functions of the arguments.  So keep only the arguments, and
run the function again in the reverse pass.  Chapter 17.
"""

from autodiff_mini.calls.custom_vjp import is_recorded
from autodiff_mini.calls.jit import run_compiled
from autodiff_mini.calls.programs import (
    close_and_dedupe, defpartial, defprogram, for_outputs, interleave,
    jvp_jaxpr, known_jaxpr, nothing, others, partial_eval_jaxpr, program_jvp,
    remembered, stage_tree)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import linear_parts
from autodiff_mini.core.names import TraceTag, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import (
    argument_positions, hold_arguments, named_after, names_of)
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.trees import tree_leaves
from autodiff_mini.core.zeros import (
    leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import jvp, lowering
from autodiff_mini.wings.more_calls.policies import save

checkpoint_p = Primitive('checkpoint', run_compiled, multiple_results=True)
defprogram(checkpoint_p)


def checkpoint_jvp(primals, tangents, jaxpr, policy, name):
    """Compute the outputs now, and the residuals again for the tangents.

    No residuals are computed now unless some are saved.
    """
    params = {'policy': policy, 'name': name}
    if not any(map(is_recorded, tangents)):
        return program_jvp(checkpoint_p, primals, tangents, jaxpr=jaxpr,
                           **params)
    now, again, out_moving = two_programs(jaxpr, perturbed(tangents), policy)
    n = len(jaxpr.outvars)
    outs = checkpoint_p.bind(*primals, jaxpr=now, **params)
    y_dots = checkpoint_p.bind(*leave_zeros_out(primals, tangents), *outs[n:],
                               jaxpr=again, **params)
    return put_zeros_back([*outs[:n], *y_dots], out_moving)


jvp.rules[checkpoint_p] = checkpoint_jvp


@remembered
def two_programs(jaxpr, moving, policy):
    """Return the programs that run now and again.

    Args:
        jaxpr: a program.
        moving: for each argument, whether it has a tangent.
        policy: a function that says which results are saved, or None.

    Returns:
        `(now, again, out_moving)`.  The program `now` maps the arguments to
        the outputs and the saved results.  The program `again` maps
        arguments, tangents, and saved results to the tangents of the
        outputs that have one, which `out_moving` marks.
    """
    program, out_moving = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
    is_tangent = (False,) * len(jaxpr.invars) + (True,) * sum(moving)
    is_slope = (False,) * len(jaxpr.outvars) + (True,) * sum(out_moving)
    saving = policy and save(program, is_tangent, is_slope, policy)
    if saving:
        return *saving, out_moving
    now, _ = known_jaxpr(program, is_tangent, is_slope)
    again, _ = for_outputs(program, is_slope)
    return now, again, out_moving


def checkpoint_partial_eval(trace, args, unknown, jaxpr, **params):
    """Leave for later all computation that the unknown outputs need."""
    now, out_unknown = known_jaxpr(jaxpr, unknown, nothing(jaxpr))
    later, _ = for_outputs(jaxpr, tuple(out_unknown))
    late = trace.record(checkpoint_p, args, {'jaxpr': later, **params})
    if all(out_unknown):
        return late
    outs = trace.compute(checkpoint_p, others(args, unknown),
                         {'jaxpr': now, **params})
    return interleave(out_unknown, late, outs)


defpartial(checkpoint_p, checkpoint_partial_eval)


def checkpoint_parts(marks, jaxpr, **params):
    """Yield the program linear in the marked operands; rerun the rest."""
    _, later, _ = partial_eval_jaxpr(jaxpr, tuple(marks), nothing(jaxpr))
    count = len(later.invars) - sum(marks)
    yield later, [i >= count for i in range(len(later.invars))]


linear_parts[checkpoint_p] = checkpoint_parts


def checkpoint_lowering(emitter, *names, jaxpr, **params):
    """Return a call: if inlined, both runs could be merged into one."""
    return f'{emitter.nested("checkpoint", jaxpr)}({", ".join(names)})'


lowering.rules[checkpoint_p] = checkpoint_lowering


@public(takes_function=True)
def checkpoint(f, *, prevent_cse=True, policy=None, static_argnums=()):
    """Return a version of `f` whose derivative keeps no residuals.

    It keeps the arguments of `f` and the values that `f` captures.  Reverse
    mode runs the program of `f` again to compute the residuals.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
            It is recorded as a program.
        prevent_cse: accepted for compatibility with JAX, but has no effect.
            Common subexpressions of the two runs are never merged, because
            each run is a function of its own in a compiled program.
        policy: which results are kept if the reverse pass needs them.
            `policy(primitive, *avals, **params)` returns whether to keep the
            results of an operation.  By default, none are kept.  A loop, a
            branch, or a call of a function with a rule is one operation, but
            a `jit` is opened.  An answer can be reused in later calls.  See
            `checkpoint_policies`.
        static_argnums: the positions of arguments that are not traced and
            can be anything.

    Returns:
        A function that takes the same arguments and returns the same result.

    Raises:
        TypeError: the policy is not a function, or `jit` refuses a call.
        ValueError: a static argument does not exist.

    Source: `jax.checkpoint`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> f = checkpoint(lambda x: np.sin(np.sin(x)))
        >>> ad.grad(f)(0.0)
        1.0
    """
    tag = TraceTag('checkpoint', f)
    seams.check('policy', tag, policy)
    static = argument_positions(f, static_argnums, ())
    held = {*static, *names_of(f, static)}

    @public
    @named_after(f)
    def f_checkpointed(*args, **kwargs):
        args, kwargs, g, _ = hold_arguments(f, args, kwargs, held)
        jaxpr, out_tree = stage_tree(g, args, kwargs, tag)
        jaxpr, traced = close_and_dedupe(jaxpr)
        outs = checkpoint_p.bind(
            *traced, *tree_leaves((args, kwargs) if kwargs else args),
            jaxpr=jaxpr, name=own_name(f), policy=policy)
        return out_tree.unflatten(outs)
    return f_checkpointed
