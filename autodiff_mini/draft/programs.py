"""Transform a program: run it under an interpreter, and stage the result."""

from functools import cache, partial

from .calls import halves
from .core import Primitive, current_trace
from .jaxpr import JaxprTrace, Var, build, make_jaxpr, stage
from .jit import jit_p, run
from .jvp import instantiate, jvp, jvp_rules
from .partial_eval import PartialEvalTrace, linearize_at
from .transpose import pull, transpose_rules
from .vmap import Axis, rows_type, vmap_rules, vmap_with


# 14a. One program for primals, and one for tangents.
@cache
def linearize_jaxpr(jaxpr):
    """Return a program from primals to residuals and outputs, and one from
    residuals and tangents to the tangents of the outputs."""
    with JaxprTrace(current_trace(), object()) as trace:
        primals = list(map(trace.new, jaxpr.invars))
        ys, linear, residuals = linearize_at(jaxpr, primals)
        known, _ = build(trace, primals, residuals + ys)
    return known, linear


# 14b. From cotangents of the outputs to cotangents of the inputs.
@cache
def transpose_jaxpr(jaxpr, n):
    """Return a program from `n` arguments, and cotangents of the outputs,
    to cotangents of the other arguments, in which `jaxpr` is linear."""
    def transposed(*args):
        known, cts = args[:n], args[n:]
        linear, residuals, _ = stage(
            partial(jaxpr, *known), jaxpr.invars[n:], PartialEvalTrace)
        return pull(linear, residuals, cts)
    return make_jaxpr(transposed)(*jaxpr.invars[:n], *jaxpr.outvars)


# 14c. The derivative of an operation that holds a program is two operations.
def cut_jvp(known_p, linear_p, tag, primals, tangents, fun, **params):
    """Keep the residuals of the program, and pass them to its tangents."""
    known, linear = linearize_jaxpr(fun)
    outs = known_p.bind(*primals, fun=known, **params)
    n = len(outs) - len(fun.outvars)
    residuals, ys = outs[:n], outs[n:]
    tangents = map(instantiate, primals, tangents)
    return ys, linear_p.bind(*residuals, *tangents, fun=linear, **params)


# 14d. From primals and tangents to tangents; nothing is kept.
@cache
def tangent_jaxpr(jaxpr):
    """Return a program from primals and tangents to output tangents."""
    def tangents_of(*args):
        primals, tangents = halves(args)
        return jvp(jaxpr, primals, tangents)[1]
    return make_jaxpr(tangents_of)(*jaxpr.invars, *jaxpr.invars)


# 14e. An operation whose tangent recomputes what it needs.
def recomputing_jvp(primitive, tag, primals, tangents, **programs):
    """Keep the primals as the only residuals."""
    tangents = map(instantiate, primals, tangents)
    derivatives = {name: tangent_jaxpr(jaxpr)
                   for name, jaxpr in programs.items()}
    outs = primitive.bind(*primals, **programs)
    return outs, primitive.bind(*primals, *tangents, **derivatives)


def count_known(operands):
    """Return how many known operands precede the first variable."""
    unknown = [type(x) is Var for x in operands]
    return unknown.index(True) if True in unknown else len(operands)


def recomputing_transpose(primitive, cts, *operands, **programs):
    n = count_known(operands)
    transposed = {name: transpose_jaxpr(jaxpr, n)
                  for name, jaxpr in programs.items()}
    in_cts = primitive.bind(*operands[:n], *cts, **transposed)
    return [None] * n + in_cts


def defrecomputing(name, impl):
    """Return a primitive whose parameters are programs."""
    primitive = Primitive(name, impl)
    jvp_rules[primitive] = partial(recomputing_jvp, primitive)
    transpose_rules[primitive] = partial(recomputing_transpose, primitive)
    return primitive


# 14f. The second half of `jit`.  It is not a call, so partial evaluation
# records it and does not open it.
linear_p = defrecomputing('linear', lambda *xs, fun: run(fun, *xs))
jvp_rules[jit_p] = partial(cut_jvp, jit_p, linear_p)


# 14g. A batch of an operation that holds a program.
@cache
def vmap_jaxpr(jaxpr, size):
    """Return a program for batches."""
    avals = [rows_type(v, size) for v in jaxpr.invars]
    return make_jaxpr(vmap_with(Axis(size), jaxpr))(*avals)


def program_vmap(primitive, axis, *xs, fun):
    """Vectorize an operation that holds a program: it holds another."""
    return primitive.bind(*xs, fun=vmap_jaxpr(fun, axis.size))


for primitive in jit_p, linear_p:
    vmap_rules[primitive] = partial(program_vmap, primitive)
