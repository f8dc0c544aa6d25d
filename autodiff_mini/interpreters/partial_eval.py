"""Partial evaluation: do now what can be done now, write down the rest.

Its one idea: a value is known, and then it is an array, or unknown, and then
it is a tracer.  What has no unknown operand is computed; all else is written
down.  Of a JVP with known primals and unknown tangents, a linear program is
left.  Chapter 8.
"""

import numpy as np

from autodiff_mini.core import (
    Tracer, current_trace, float0, set_current_trace, typeof)
from autodiff_mini.interpreters.jaxpr import JaxprTrace, JaxprTracer
from autodiff_mini.interpreters.jvp import jvp_flat
from autodiff_mini.jaxprs import Literal
from autodiff_mini.memory import lent, made_in, owner_of
from autodiff_mini.zeros import Zero, tangent_type


class PartialEvalTrace(JaxprTrace):
    """Computes with what is known, and writes down what is not."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.foreign = {}   # by id: arrays that may be changed later
        self.snapshot.subok = True    # residuals are as they were
        self.has_boxes = False

    def keep(self, x):
        """Returns `x`; it will be copied if it becomes a residual."""
        owner = owner_of(x)
        self.foreign[id(owner)] = owner
        return x

    def box(self, x):
        """Returns a tracer for what is known, until it is written into."""
        self.has_boxes = True
        return JaxprTracer(self, Literal(x))

    def opened(self, x):
        """Returns what is known, out of its box."""
        if type(x) is JaxprTracer and x._trace is self and (
                type(x.name) is Literal):
            return x.name.val
        return x

    def process_primitive(self, primitive, args, params):
        if self.has_boxes:
            args = list(map(self.opened, args))
        if primitive in partial_eval_rules:
            return partial_eval_rules[primitive](self, args, **params)
        for x in args:
            if type(x) is JaxprTracer and x._trace is self:
                return self.record(primitive, args, params)
        if primitive.is_call:
            return self.compute(primitive, args, params)
        try:
            self.parent.line = self.line
            return made_in(self, self.parent.process_primitive(
                primitive, args, params))
        finally:
            self.parent.line = None
            set_current_trace(self)

    def is_unknown(self, x):
        return type(x) is JaxprTracer and x._trace is self

    def is_lent(self, x):
        """Returns whether somebody else may hold the array `x`.

        So do users' rules, which run without a rule of ours above them.
        """
        return isinstance(x, np.ndarray) and (
            self.line is None or id(owner_of(x)) in self.foreign)

    def compute(self, primitive, args, params):
        """Lets the parent do what has no unknown operand."""
        try:
            set_current_trace(self.parent)
            self.parent.line = self.line
            return primitive.bind(*args, **params)
        finally:
            self.parent.line = None
            set_current_trace(self)

    def var(self, x):
        """Returns what stands for `x`; what is known becomes a residual."""
        x = self.opened(x)
        if self.is_unknown(x):
            return x.name
        if isinstance(x, Tracer) or self.is_lent(x):
            x = self.snapshot(x)
        return Literal(x) if type(x) is Zero else self.constant(x)

    def lift(self, x):
        return self.parent.lift(x)


rules = partial_eval_rules = {}


def linear_flat(f, avals, tag):
    """Returns the linear function `f`, of arrays of these types, as a jaxpr.

    Args:
        f: takes arrays, returns a list of them.
        avals: the types of its arguments.
        tag: which application of which transformation this is.
    """
    with PartialEvalTrace(current_trace(), tag) as trace:
        inputs = lent(trace, list(map(trace.input, avals)))
        return trace.jaxpr(inputs, f(*inputs))


def linearize_flat(f, primals, tag):
    """Returns the outputs of `f`, and its derivative there as a jaxpr.

    Args:
        f: takes arrays, returns a list of them.
        primals: the arrays at which to evaluate it.
        tag: which application of which transformation this is.
    """
    ys = []

    def jvp_at_primals(*tangents):
        for x in primals:
            if isinstance(x, np.ndarray):
                current_trace().keep(x)
        tangents = [Zero(x) if t.dtype == float0 else t
                    for x, t in zip(primals, tangents, strict=True)]
        outs, y_dots = jvp_flat(f, primals, tangents, tag)
        ys[:] = map(current_trace().opened, outs)
        return y_dots

    types = [tangent_type(typeof(x)) for x in primals]
    return ys, linear_flat(jvp_at_primals, types, tag)
