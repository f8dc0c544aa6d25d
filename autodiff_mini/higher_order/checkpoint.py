"""`checkpoint`: forget on purpose, and compute again.

Its one idea: what reverse mode would have to remember is a function of the
arguments.  So remember the arguments, and on the way back run the function
once more.  Chapter 16.
"""

from functools import partial, wraps

from autodiff_mini.core import Primitive, TraceTag
from autodiff_mini.errors import fun_name
from autodiff_mini.higher_order.custom_vjp import is_written_down
from autodiff_mini.higher_order.jit import (
    program_for_outputs, program_jvp, program_transpose, program_vmap,
    run_compiled)
from autodiff_mini.higher_order.programs import (
    close, interleave, jvp_jaxpr, known_jaxpr, nothing, others, without)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import stage_tree
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import vmap_rules
from autodiff_mini.jaxprs import dead_rules
from autodiff_mini.pytree import tree_leaves
from autodiff_mini.zeros import Zero, pack, unpack

checkpoint_p = Primitive('checkpoint', run_compiled, multiple_results=True)
vmap_rules[checkpoint_p] = partial(program_vmap, checkpoint_p)
transpose_rules[checkpoint_p] = partial(program_transpose, checkpoint_p)
abstract_rules[checkpoint_p] = lambda *avals, jaxpr, name: jaxpr.out_avals


def checkpoint_lowering(emitter, *names, jaxpr, name):
    """It stays a function: nobody is to find that both do the same."""
    return f'{emitter.nested("checkpoint", jaxpr)}({", ".join(names)})'


lowering_rules[checkpoint_p] = checkpoint_lowering


def checkpoint_jvp(primals, tangents, jaxpr, name):
    """The outputs are computed now, and what their tangents need again.

    So the program itself runs now, and no rule's fwd: nobody would keep its
    residuals.
    """
    if not any(map(is_written_down, tangents)):
        return program_jvp(checkpoint_p, primals, tangents, jaxpr, name)
    ys = checkpoint_p.bind(*primals, jaxpr=jaxpr, name=name)
    moving = tuple(type(t) is not Zero for t in tangents)
    program, out_moving = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
    is_primal = tuple(i < len(ys) for i in range(len(program.outvars)))
    program = without(program, (False,) * len(program.invars), is_primal)
    y_dots = checkpoint_p.bind(*pack(primals, tangents), jaxpr=program,
                               name=name)
    return unpack([*ys, *y_dots], [not moves for moves in out_moving])


jvp_rules[checkpoint_p] = checkpoint_jvp


def checkpoint_partial_eval(trace, args, jaxpr, name):
    """What depends on unknown arguments is done later, from the start."""
    unknown = tuple(map(trace.is_unknown, args))
    if not any(unknown):
        return trace.compute(checkpoint_p, args,
                             {'jaxpr': jaxpr, 'name': name})
    now, out_unknown = known_jaxpr(jaxpr, unknown, nothing(jaxpr))
    later = without(jaxpr, (False,) * len(args),
                    tuple(not later for later in out_unknown))
    late = trace.record(checkpoint_p, args, {'jaxpr': later, 'name': name})
    if all(out_unknown):
        return late
    outs = trace.compute(checkpoint_p, others(args, unknown),
                         {'jaxpr': now, 'name': name})
    return interleave(out_unknown, late, outs)


partial_eval_rules[checkpoint_p] = checkpoint_partial_eval


dead_rules[checkpoint_p] = program_for_outputs


def checkpoint(f):
    """Returns `f`, which remembers its arguments and nothing else.

    Reverse mode then runs it once more, on the way back.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
            It is written down.

    Returns:
        A function of the same arguments, with the same result.

    Raises:
        TypeError: when it is called, as jit.

    Source: `jax.checkpoint`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> f = checkpoint(lambda x: np.sin(np.sin(x)))
        >>> ad.grad(f)(0.0)
        1.0
    """
    tag = TraceTag('checkpoint', f)

    @wraps(f, updated=())
    def f_checkpointed(*args, **kwargs):
        jaxpr, out_tree = stage_tree(f, args, kwargs, tag)
        jaxpr, traced = close(jaxpr)
        outs = checkpoint_p.bind(*traced, *tree_leaves((args, kwargs)),
                                 jaxpr=jaxpr, name=fun_name(f))
        return out_tree.unflatten(outs)
    return f_checkpointed
