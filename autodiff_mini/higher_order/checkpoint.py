"""`checkpoint`: forget on purpose, and compute again.

Its one idea: what reverse mode would have to remember is a function of the
arguments.  So remember the arguments, and on the way back run the function
once more.  Chapter 15.
"""

from dataclasses import replace
from functools import partial

from autodiff_mini.core import Primitive, TraceTag
from autodiff_mini.errors import fun_name, public
from autodiff_mini.higher_order.custom_vjp import is_written_down
from autodiff_mini.higher_order.jit import (
    jit_p, program_for_outputs, program_jvp, program_transpose, program_vmap,
    run_compiled)
from autodiff_mini.higher_order.programs import (
    close_once_more, for_outputs, interleave, jvp_jaxpr, known_jaxpr, nothing,
    others, partial_eval_jaxpr, remembered, run, stage_program)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import stage_tree
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import (
    inline, inline_rules, lowering_rules)
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import linear_parts, transpose_rules
from autodiff_mini.interpreters.vmap import vmap_rules
from autodiff_mini.jaxprs import Jaxpr, dead_rules, drop_dead
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.pytree import tree_leaves
from autodiff_mini.signature import (
    argument_positions, hold_arguments, named_after, names_of)
from autodiff_mini.zeros import Zero, pack, unpack

checkpoint_p = Primitive('checkpoint', run_compiled, multiple_results=True)
vmap_rules[checkpoint_p] = partial(program_vmap, checkpoint_p)
transpose_rules[checkpoint_p] = partial(program_transpose, checkpoint_p)
abstract_rules[checkpoint_p] = lambda *avals, jaxpr, **params: jaxpr.out_avals


def checkpoint_lowering(emitter, *names, jaxpr, **params):
    """It stays a function: nobody is to find that both do the same."""
    return f'{emitter.nested("checkpoint", jaxpr)}({", ".join(names)})'


lowering_rules[checkpoint_p] = checkpoint_lowering


def checkpoint_jvp(primals, tangents, jaxpr, policy, **params):
    """The outputs are computed now, and what their tangents need again.

    So, if nothing is saved, no residuals are computed now: nobody would keep
    them.
    """
    params = {'policy': policy, **params}
    if not any(map(is_written_down, tangents)):
        return program_jvp(checkpoint_p, primals, tangents, jaxpr, **params)
    moving = tuple(type(t) is not Zero for t in tangents)
    (now, again), out_moving = two_programs(jaxpr, moving, policy)
    n = len(jaxpr.outvars)
    outs = checkpoint_p.bind(*primals, jaxpr=now, **params)
    y_dots = checkpoint_p.bind(*pack(primals, tangents), *outs[n:],
                               jaxpr=again, **params)
    return unpack([*outs[:n], *y_dots], [not moves for moves in out_moving])


jvp_rules[checkpoint_p] = checkpoint_jvp


@remembered
def two_programs(jaxpr, moving, policy):
    """Returns what runs now, and what runs again, and which outputs move.

    Args:
        jaxpr: a program.
        moving: for each argument, whether it has a tangent.
        policy: says which results may be saved, or is None.

    Returns:
        `(now, again), out_moving`.  The program `now` is from the arguments
        to the outputs, and what is saved.  The program `again` is from
        arguments, tangents, and what is saved, to the tangents of the
        outputs that move.
    """
    program, out_moving = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
    n, m = len(jaxpr.invars), len(jaxpr.outvars)
    end = len(program.invars)
    moves = tuple(i >= n for i in range(end))
    is_slope = tuple(i >= m for i in range(len(program.outvars)))
    if policy:
        known, later, _ = partial_eval_jaxpr(program, moves, is_slope)
        known = inline(known, {jit_p: inline_rules[jit_p]})
        saved, rest = save(known, m, policy)
        if saved:
            def again(*args):
                xs, x_dots, kept = args[:n], args[n:end], args[end:]
                return run(later, *run(rest, *xs, *kept), *x_dots)

            avals = [v.aval for v in [*program.invars, *saved]]
            now = replace(known, outvars=known.outvars[:m] + saved, cache={})
            tag = TraceTag('checkpoint', Jaxpr)
            return ((drop_dead(now), stage_program(again, avals, tag)),
                    out_moving)
    now, _ = known_jaxpr(program, moves, is_slope)
    again, _ = for_outputs(program, is_slope)
    return (now, again), out_moving


def save(known, m, policy):
    """Returns what is saved, and a program that computes the rest with it.

    Args:
        known: a program; behind its first `m` outputs stand residuals.
        m: a number.
        policy: says which results may be saved.

    Returns:
        A list of variables, and a program from the arguments, and what is
        saved, to the residuals.
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


def checkpoint_partial_eval(trace, args, jaxpr, **params):
    """What depends on unknown arguments is done later, from the start."""
    unknown = tuple(map(trace.is_unknown, args))
    if not any(unknown):
        return trace.compute(checkpoint_p, args, {'jaxpr': jaxpr, **params})
    now, out_unknown = known_jaxpr(jaxpr, unknown, nothing(jaxpr))
    later, _ = for_outputs(jaxpr, tuple(out_unknown))
    late = trace.record(checkpoint_p, args, {'jaxpr': later, **params})
    if all(out_unknown):
        return late
    outs = trace.compute(checkpoint_p, others(args, unknown),
                         {'jaxpr': now, **params})
    return interleave(out_unknown, late, outs)


partial_eval_rules[checkpoint_p] = checkpoint_partial_eval


def checkpoint_parts(marks, jaxpr, **params):
    """Yield what depends on linear operands; the rest is run again."""
    _, later, _ = partial_eval_jaxpr(jaxpr, tuple(marks), nothing(jaxpr))
    count = len(later.invars) - sum(marks)
    yield later, [i >= count for i in range(len(later.invars))]


linear_parts[checkpoint_p] = checkpoint_parts
dead_rules[checkpoint_p] = program_for_outputs


@public
def checkpoint(f, *, prevent_cse=True, policy=None, static_argnums=()):
    """Returns `f`, which remembers its arguments and nothing else.

    Reverse mode then runs it once more, on the way back.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
            It is written down.
        prevent_cse: for JAX's sake, and changes nothing: common
            subexpressions of the two runs are never computed together, since
            in a compiled program each run is a function of its own.
        policy: which results are remembered, if they are needed on the way
            back: `policy(primitive, *avals, **params)` returns whether that
            of such an operation is.  By default none is.  A loop or a branch
            is one operation; a jit is opened.  It may be asked once for many
            calls.  See checkpoint_policies.
        static_argnums: the positions of arguments that are not traced, and
            may be anything.

    Returns:
        A function of the same arguments, with the same result.

    Raises:
        TypeError: the policy is no function; or, when it is called, as jit.
        ValueError: there is no such argument.

    Source: `jax.checkpoint`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> f = checkpoint(lambda x: np.sin(np.sin(x)))
        >>> ad.grad(f)(0.0)
        1.0
    """
    tag = TraceTag('checkpoint', f)
    if policy is not None and not callable(policy):
        raise TypeError(
            f'{tag}: policy must be a function (primitive, *avals, **params) '
            '-> bool, such as checkpoint_policies.dots_saveable, but got '
            f'{policy!r}')
    static = argument_positions(f, static_argnums, ())
    held = {*static, *names_of(f, static)}

    @public
    @named_after(f)
    def f_checkpointed(*args, **kwargs):
        args, kwargs, g, _ = hold_arguments(f, args, kwargs, held)
        jaxpr, out_tree = stage_tree(g, args, kwargs, tag)
        jaxpr, traced = close_once_more(jaxpr)
        outs = checkpoint_p.bind(
            *traced, *tree_leaves((args, kwargs)), jaxpr=jaxpr,
            name=fun_name(f), policy=policy)
        return out_tree.unflatten(outs)
    return f_checkpointed


class checkpoint_policies:
    """What a checkpoint may remember: policies for `checkpoint`.

    Source: `jax.checkpoint_policies`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> dots = checkpoint_policies.dots_saveable
        >>> f = checkpoint(lambda w, x: np.sin(w @ x).sum(), policy=dots)
        >>> ad.grad(f)(np.zeros((1, 2)), np.ones(2))
        array([[1., 1.]])
    """

    @staticmethod
    def everything_saveable(primitive, *avals, **params):
        """Remember all that is needed, as if there were no checkpoint."""
        return True

    @staticmethod
    def nothing_saveable(primitive, *avals, **params):
        """Remember the arguments alone, as without a policy."""
        return False

    @staticmethod
    def dots_saveable(primitive, *avals, **params):
        """Remember products of matrices: long to compute, small to keep."""
        return primitive is matmul_p
