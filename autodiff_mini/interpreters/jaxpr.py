"""Staging: record a program as a jaxpr, and evaluate a jaxpr.

An interpreter that computes nothing records each operation.  The record can
be read, checked, and run again under any other interpreter.  Chapter 7.
"""

from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Literal, Values, Var, check_counts)
from autodiff_mini.core.lines import user_line
from autodiff_mini.core.memory import ARGUMENT, CLOSED_OVER, Snapshot, to_read
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Trace, Tracer, at_lines_of, current_trace
from autodiff_mini.core.types import (
    PYTHON_NUMBERS, array_type, check_alive, typeof)
from autodiff_mini.interpreters import abstract


@dataclass(slots=True, eq=False, repr=False)
class JaxprTracer(Tracer):
    """A value whose type and name are known, but not its content."""

    _trace: Trace
    name: Var
    line: tuple | None = None
    aval = property(attrgetter('name.aval'))


class JaxprTrace(Trace):
    """Record each operation as an equation, and compute nothing."""

    subok = False   # whether a constant keeps its class

    def __init__(self, parent, tag):
        self.parent, self.tag = parent, tag
        self.eqns, self.constvars, self.consts = [], [], []
        self.known = {}     # by id of a constant: its name
        self.snapshot = Snapshot(self.subok)

    def __exit__(self, *error):
        """Release the record, because a rule in it can hold tracers."""
        super().__exit__(*error)
        self.parent, self.eqns, self.consts = None, [], []
        self.snapshot.copies = {}

    def process_primitive(self, primitive, args, params):
        if primitive in rules:
            return rules[primitive](self, args, **params)
        return self.record(primitive, args, params)

    def owns(self, x):
        """Return whether `x` is a tracer of this trace, so it is unknown."""
        return type(x) is JaxprTracer and x._trace is self

    def record(self, primitive, args, params):
        """Append an equation, and return tracers for its results."""
        invars = []
        for x in args:
            mine = type(x) is JaxprTracer and x._trace is self
            invars.append(x.name if mine else self.var(x))
        out = abstract.rules[primitive](*map(type_of, invars), **params)
        line = self.line or user_line(3)
        if primitive.multiple_results:
            outs = [JaxprTracer(self, Var(aval), line) for aval in out]
            outvars = [x.name for x in outs]
        else:
            outs = JaxprTracer(self, Var(out), line)
            outvars = [outs.name]
        self.eqns.append(Equation(primitive, invars, params, outvars, line))
        if len(self.eqns) % seams.LONG_LOOP == 0:
            seams.count_lines(self)
        return outs

    def var(self, x):
        """Return the Var or Literal for `x` in an equation."""
        if self.owns(x):
            return x.name
        if type(x) in PYTHON_NUMBERS or isinstance(x, np.generic):
            return Literal(x)
        return self.constant(self.snapshot(x))

    def constant(self, x):
        """Return the name of a value that the program closes over."""
        if id(x) in self.known:
            return self.known[id(x)]
        if isinstance(x, Tracer) and x._trace is not self.parent:
            check_alive(x, self.parent)
        var = Var(array_type(x.shape, x.dtype) if type(x) is np.ndarray
                  else typeof(x))
        self.constvars.append(var)
        self.consts.append(x)
        self.known[id(x)] = var
        return var

    def input(self, aval):
        """Return a tracer for a new argument of this type."""
        x = JaxprTracer(self, Var(aval))
        x.memory = ARGUMENT     # it belongs to the caller, so it is read-only
        return x

    def jaxpr(self, inputs, outs):
        """Return the program with these inputs and outputs."""
        outvars = list(map(self.var, outs))
        return Jaxpr(self.constvars, list(map(name_of, inputs)), self.eqns,
                     outvars, self.consts)

    def box(self, x):
        return JaxprTracer(self, self.var(x))

    def lift(self, x):
        return to_read(self.box(x), CLOSED_OVER)

    def keep(self, x):
        return self.snapshot(x)


type_of, name_of = attrgetter('aval'), attrgetter('name')
rules = {}
seams.stage.define(JaxprTrace)


def stage_flat(f, avals, tag, new_trace=seams.stage):
    """Record `f`, a function of arrays of these types, as a jaxpr.

    Args:
        f: takes arrays, returns a list of them.
        avals: the types of its arguments.
        tag: the application of the transformation.
        new_trace: the class of the trace that records.
    """
    with new_trace(current_trace(), tag) as trace:
        inputs = list(map(trace.input, avals))
        return trace.jaxpr(inputs, f(*inputs))


@public
def eval_jaxpr(jaxpr, consts, *args) -> list:
    """Run a program and return the list of its outputs.

    Args:
        jaxpr: the program.
        consts: the arrays for its `constvars`; usually `jaxpr.consts`.
        args: an array for each of its `invars`.

    Raises:
        TypeError: there are too many or too few arguments or constants.

    Source: `eval_jaxpr` in JAX's `jax/_src/core.py`.

    Examples:
        >>> from autodiff_mini import make_jaxpr
        >>> jaxpr = make_jaxpr(lambda x: x * 2)(1.0)
        >>> eval_jaxpr(jaxpr, jaxpr.consts, 3.0)
        [6.0]
    """
    check_counts(jaxpr, consts, args)
    env = Values(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]))
    read = env.__getitem__
    with at_lines_of(jaxpr.eqns) as eqns:
        for eqn in eqns:
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
            env.update(zip(eqn.outvars, outs, strict=True))
    return list(map(read, jaxpr.outvars))
