"""Partial evaluation: compute what is known, and record the rest.

A known value is an array, and an unknown one is a tracer.  An operation whose
operands are all known is computed; any other is recorded.  A JVP with known
primals and unknown tangents leaves a linear program.  Chapter 9.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Literal
from autodiff_mini.core.memory import owner_of
from autodiff_mini.core.trace import Tracer, base, current_trace
from autodiff_mini.core.types import float0, tangent_type, typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters.jaxpr import (
    JaxprTrace, JaxprTracer, stage_flat)
from autodiff_mini.interpreters.jvp import jvp_flat


class PartialEvalTrace(JaxprTrace):
    """Compute operations on known values, and record all others."""

    subok = True        # a residual keeps its class
    has_boxes = False   # whether a known value can be in a tracer

    def process_primitive(self, primitive, args, params):
        if self.has_boxes:
            args = list(map(self.opened, args))
        if primitive in rules:
            return rules[primitive](self, args, params)
        for x in args:
            if type(x) is JaxprTracer and x._trace is self:
                return self.record(primitive, args, params)
        if self.parent is base and not seams.ask.taken:
            # `base` does not change the current trace.
            return base.process_primitive(primitive, args, params)
        return self.compute(primitive, args, params)

    def interpret(self, primitive, args, params):
        return primitive.bind(*args, **params)

    def var(self, x):
        """Return the Var or Literal for `x`; known values become residuals.

        An array is copied if other code can change it later.  A user's rule
        can, and while it runs, `line` is None.
        """
        if self.has_boxes:
            x = self.opened(x)
        if type(x) is JaxprTracer and x._trace is self:
            return x.name
        if isinstance(x, Tracer) or isinstance(x, np.ndarray) and (
                self.line is None
                or id(x if x.base is None else owner_of(x))
                in self.snapshot.foreign):
            x = self.snapshot(x)
        return Literal(x) if type(x) is Zero else self.constant(x)

    def box(self, x):
        """Return a tracer that holds a known value until it is written to."""
        self.has_boxes = True
        return JaxprTracer(self, Literal(x))

    def opened(self, x):
        """Return the known value in a box, or `x` itself."""
        is_box = self.owns(x) and type(x.name) is Literal
        return x.name.val if is_box else x

    def keep(self, x):
        """Return `x`, which will be copied if it becomes a residual."""
        self.snapshot.mark(x)
        return x

    def lift(self, x):
        return self.parent.lift(x)


rules = {}


def linear_flat(f, avals, tag):
    """Record `f`, a linear function of arrays of these types, as a jaxpr."""
    return stage_flat(f, avals, tag, PartialEvalTrace)


def linearize_flat(f, primals, tag):
    """Return the outputs of `f`, and its derivative there as a jaxpr.

    Args:
        f: takes arrays, returns a list of them.
        primals: the arrays at which to evaluate it.
        tag: the application of the transformation.
    """
    with PartialEvalTrace(current_trace(), tag) as trace:
        tangents, x_dots = [], []
        for x in primals:
            if isinstance(x, np.ndarray):
                trace.snapshot.mark(x)
            x_dot = trace.input(tangent_type(typeof(x)))
            tangents.append(x_dot)
            x_dots.append(Zero(x) if x_dot.aval.dtype == float0 else x_dot)
        ys, y_dots = jvp_flat(f, primals, x_dots, tag)
        if trace.has_boxes:
            ys = list(map(trace.opened, ys))
        return ys, trace.jaxpr(tangents, y_dots)
