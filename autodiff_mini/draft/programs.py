"""Transform a program: run it under an interpreter, and stage the result."""

from functools import cache, partial

from .calls import halves
from .core import Primitive, current_trace
from .jaxpr import JaxprTrace, Var, build, stage
from .jvp import instantiate, jvp, jvp_rules
from .partial_eval import PartialEvalTrace, linearize_at
from .transpose import pull, transpose_rules
from .vmap import Axis, rows_type, vmap_with


# 12a. One program for primals, and one for tangents.
@cache
def linearize_jaxpr(jaxpr):
    """Return a program from primals to residuals and outputs, and one from
    residuals and tangents to the tangents of the outputs."""
    with JaxprTrace(current_trace(), object()) as trace:
        primals = list(map(trace.new, jaxpr.invars))
        ys, linear, residuals = linearize_at(jaxpr, primals)
        known, _ = build(trace, primals, residuals + ys)
    return known, linear


@cache
def tangent_jaxpr(jaxpr):
    """Return a program from primals and tangents to output tangents."""
    return stage(lambda *args: jvp(jaxpr, *halves(args))[1],
                 jaxpr.invars * 2)[0]


# 12b. From cotangents of the outputs to cotangents of the inputs.
@cache
def transpose_jaxpr(jaxpr, n):
    """Return a program from `n` arguments, and cotangents of the outputs,
    to cotangents of the other arguments, in which `jaxpr` is linear."""
    def transposed(*args):
        linear, residuals, _ = stage(lambda *ts: jaxpr(*args[:n], *ts),
                                     jaxpr.invars[n:], PartialEvalTrace)
        return pull(linear, residuals, args[n:])
    return stage(transposed, jaxpr.invars[:n] + jaxpr.outvars)[0]


def count_known(operands):
    """Return how many known operands precede the first variable."""
    return [type(x) is Var for x in operands].index(True)


# 12c. From elements to batches.
@cache
def vmap_jaxpr(jaxpr, size):
    """Return a program for batches."""
    avals = [rows_type(v, size) for v in jaxpr.invars]
    return stage(vmap_with(Axis(size), jaxpr), avals)[0]


# 12d. An operation whose tangent recomputes what it needs.
def defrecomputing(name, impl):
    """Return a primitive whose parameters are programs."""
    primitive = Primitive(name, impl)
    jvp_rules[primitive] = partial(recomputing_jvp, primitive)
    transpose_rules[primitive] = partial(recomputing_transpose, primitive)
    return primitive


def recomputing_jvp(primitive, tag, primals, tangents, **programs):
    """Keep the primals as the only residuals."""
    return primitive.bind(*primals, **programs), primitive.bind(
        *primals, *map(instantiate, primals, tangents), **{
            name: tangent_jaxpr(jaxpr) for name, jaxpr in programs.items()})


def recomputing_transpose(primitive, cts, *operands, **programs):
    n = count_known(operands)
    return [None] * n + primitive.bind(*operands[:n], *cts, **{
        name: transpose_jaxpr(jaxpr, n) for name, jaxpr in programs.items()})
