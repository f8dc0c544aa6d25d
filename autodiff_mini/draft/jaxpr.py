"""Programs as data: record operations instead of computing them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .core import Primitive, Trace, Tracer, current_trace, typeof
from .trees import tree_leaves, tree_like, tree_map


# 7a. The parts of a program.
class Var:
    """A variable: the name of a value that is not known yet."""

    def __init__(self, aval):
        self.aval = aval


class Equation(NamedTuple):
    """One operation: outvars = primitive[params](invars)."""
    primitive: Primitive
    invars: list        # variables, and known values as they are
    params: dict
    outvars: Any        # a variable, or a list of them


# 7b. A program is a function from arrays to a list of arrays.
@dataclass(eq=False)
class Jaxpr:
    """A program: equations, in the order of their evaluation."""
    invars: list
    eqns: list
    outvars: list

    def __call__(self, *args):
        env = dict(zip(self.invars, args, strict=True))

        def read(v):
            return env[v] if type(v) is Var else v
        for eqn in self.eqns:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            env.update(zip(tree_leaves(eqn.outvars), tree_leaves(out)))
        return list(map(read, self.outvars))


# 7c. The type of a result.  Without a rule, NumPy computes with ones: that
# costs as much as the operation itself, but needs no table of shape rules.
abstract_rules = {}


def abstract_eval(primitive, avals, params):
    """Return the type of a result; a list, if there are several."""
    if primitive in abstract_rules:
        return abstract_rules[primitive](*avals, **params)
    for x in params.values():
        if type(x) is Jaxpr:
            return types(x.outvars)
    ones = [np.ones(aval.shape, aval.dtype) for aval in avals]
    return typeof(primitive.impl(*ones, **params))


def types(xs):
    return list(map(typeof, xs))


# 7d. The interpreter.
class JaxprTrace(Trace):
    """Record equations; compute types, but no values."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.eqns = []
        self.captured = {}      # tracers of other traces, and their variables

    def process_primitive(self, primitive, args, params):
        if primitive.is_call and type(params['fun']) is not Jaxpr:
            return stage_call(self, primitive, args, params)
        avals = abstract_eval(primitive, types(args), params)
        out = tree_map(self.new, avals)
        invars = [self.var(x) for x in args]
        self.eqns.append(Equation(
            primitive, invars, params, tree_map(self.var, out)))
        return out

    def new(self, x):
        return Tracer(self, typeof(x), var=Var(typeof(x)))


# 7e. How a value appears in an equation.
def var_for(trace, x):
    """Return a variable for a tracer; a constant as it is.

    An array is copied, and the copy is read-only, so changing the array later
    does not change the program, and changing the copy is an error.
    """
    if trace.owns(x):
        return x.var
    if isinstance(x, Tracer):
        return trace.captured.setdefault(x, Var(x.aval))
    if isinstance(x, (np.ndarray, list)):
        x = np.array(x, subok=True)
        x.flags.writeable = False
    return x


JaxprTrace.var = var_for


# 7f. From a function to a program.
def build(trace, inputs, out):
    """Return the program of a trace, and the tracers that it captures.

    The captured tracers are the first arguments of the program.
    """
    outvars = [trace.var(x) for x in tree_leaves(out)]
    invars = [x.var for x in tree_leaves(inputs)]
    program = Jaxpr([*trace.captured.values(), *invars], trace.eqns, outvars)
    return program, list(trace.captured)


def stage(f, args, trace_type=JaxprTrace):
    """Return a program for `f`, the tracers it captures, and its output."""
    with trace_type(current_trace(), object()) as trace:
        inputs = tree_map(trace.new, args)
        out = f(*inputs)
        program, captured = build(trace, inputs, out)
    return program, captured, out


def make_jaxpr(f):
    """Return a function that returns the program of `f`."""
    return lambda *args: stage(f, args)[0]


# 8a. A call is recorded with everything in it.
def stage_call(trace, primitive, args, params):
    """Record a call: its function as a program, its rules as they are."""
    fun, captured, out = stage(params['fun'], args)
    params = params | {'fun': fun}
    if captured and 'rule' in params:   # it does not know these operands
        params['rule'] = refuse_captured
    outs = trace.process_primitive(primitive, [*captured, *args], params)
    return tree_like(out, outs)


# 8b. The rule of a function that has captured a tracer.
def refuse_captured(xs, x_dots):
    raise TypeError('a function with a rule closes over a tracer: make it an '
                    'argument')
