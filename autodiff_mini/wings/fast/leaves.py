"""Short roads for leaves: arrays and numbers in, one of them out.

Most calls of `jvp` and `vmap` are like that, and then they need no trees.  If
the function returns another value, the general road takes that value over, so
the function never runs twice.  See the page *How fast is it?*.
"""

from itertools import repeat

import numpy as np

from autodiff_mini.api.forward import (
    jvp_of_trees, results_of_jvp, results_of_vmap, vmap_of_trees)
from autodiff_mini.core import seams
from autodiff_mini.core.memory import (
    ARGUMENT, Loan, mark_as_arguments, own_memory)
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Tracer, current_trace
from autodiff_mini.core.trees import LEAF, FlatFunction
from autodiff_mini.interpreters.jvp import JVPTrace, JVPTracer
from autodiff_mini.interpreters.vmap import Axis, BatchTrace, BatchTracer
from autodiff_mini.wings.fast.tape_tracer import float_type


@seams.jvp.take
def short_jvp(f, primals, tangents, has_aux):
    """Return what `jvp` returns, directly if arguments and result are plain.
    """
    if not type(primals) is type(tangents) is tuple:
        return jvp_of_trees(f, primals, tangents, has_aux)
    avals = list(map(float_type, primals))
    if None in avals or avals != list(map(float_type, tangents)):
        return jvp_of_trees(f, primals, tangents, has_aux)
    inputs = [*primals, *tangents]
    with JVPTrace(current_trace(), TraceTag('jvp', f)) as trace:
        xs = list(map(JVPTracer, repeat(trace), primals, tangents))
        for x in xs:
            x.memory = ARGUMENT
        out = f(*xs)
        if type(out) is JVPTracer and out._trace is trace and not has_aux:
            y, y_dot = out.primal, out.tangent
            if out.aval == float_type(y_dot):
                return tuple(own_memory([y, y_dot], inputs))
        flat_f = FlatFunction(f, LEAF, has_aux)
        outs, y_dots = trace.unpack(flat_f.flatten(out))
    return results_of_jvp(flat_f, outs, y_dots, inputs)


@seams.vmap.take
def short_vmap(f, in_axes, out_axes, axis_size, args, kwargs):
    """Return what `vmap(f)` returns, directly for arrays along axis 0."""
    axes = in_axes if type(in_axes) is tuple else (in_axes,) * len(args)
    mapped = [x for x, axis in zip(args, axes) if axis is not None]
    if kwargs or axis_size is not None or len(axes) != len(args) or not (
            all(map(is_in_front, axes)) and is_batch(mapped)):
        return vmap_of_trees(f, in_axes, out_axes, axis_size, args, kwargs)
    axis, loan = Axis(len(mapped[0]), TraceTag('vmap', f)), Loan(f)
    with BatchTrace(current_trace(), axis) as trace:
        xs = [loan.lend(x) if axis is None else BatchTracer(trace, x, 0)
              for x, axis in zip(args, axes)]
        out = loan.call(*mark_as_arguments(trace, xs))
        if type(out) is BatchTracer and out._trace is trace and (
                out.dim is not None and out_axes is not None
                and is_in_front(out_axes)
                and (isinstance(out.val, Tracer) or is_batch([out.val]))):
            return own_memory([out.val], mapped)[0]
        flat_f = FlatFunction(f, LEAF)
        outs, dims = trace.unpack(flat_f.flatten(out))
    return results_of_vmap(flat_f, axis, outs, dims, out_axes, mapped)


def is_in_front(axis) -> bool:
    """Return whether an axis is the first one, or None."""
    return axis is None or type(axis) is int and axis == 0


def is_batch(xs) -> bool:
    """Return whether the values are plain arrays of equal length."""
    if {*map(type, xs)} != {np.ndarray}:
        return False
    return all(x.ndim and x.dtype.kind in 'biufc' and len(x) == len(xs[0])
               for x in xs)
