"""Forward mode: every value carries a tangent.

A tracer holds a primal and a tangent, and every primitive has a rule that
computes the tangent of its result.  Chapter 2.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.lines import user_line
from autodiff_mini.core.memory import mark_as_arguments
from autodiff_mini.core.trace import Trace, Tracer, current_trace
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.core.zeros import Zero


@dataclass(slots=True, eq=False, repr=False)
class JVPTracer(Tracer):
    """A value of this interpreter: a primal and its tangent."""

    _trace: Trace
    primal: Any
    tangent: Any
    line: tuple | None = None

    @property
    def aval(self):
        return typeof(self.primal)

    def __bool__(self):
        return bool(self.primal)

    def __format__(self, spec):
        """Return the primal as text, which has no tangent."""
        return format(self.primal, spec) if spec else str(self)

    def __repr__(self):
        return f'JVPTracer(primal={self.primal}, tangent={self.tangent})'


class JVPTrace(Trace):
    """Compute a tangent for every value that depends on the input."""

    def interpret(self, primitive, args, params):
        primals, tangents = self.unpack(args)
        if primitive.is_call:
            y, y_dot = rules[primitive](
                self.tag, primals, tangents, **params)
        elif ONLY_ZEROS.issuperset(map(type, tangents)):
            return primitive.bind(*primals, **params)
        else:
            y, y_dot = rules[primitive](primals, tangents, **params)
        if primitive.multiple_results:
            return list(map(self.pack, y, y_dot))
        return self.pack(y, y_dot)

    def unpack(self, xs):
        """Return the primals and the tangents."""
        primals, tangents = [], []
        for x in xs:
            if isinstance(x, JVPTracer) and x._trace.tag is self.tag:
                primals.append(x.primal)
                tangents.append(x.tangent)
            else:
                if isinstance(x, np.ndarray):
                    x = self.parent.keep(x)
                primals.append(x)
                tangents.append(Zero(x))
        return primals, tangents

    def pack(self, primal, tangent):
        """Return a tracer of both, or the primal if it is unperturbed."""
        if type(tangent) is Zero:
            return primal
        return JVPTracer(self, primal, tangent)

    def box(self, x):
        [primal], [tangent] = self.unpack([x])
        return JVPTracer(self, primal, tangent, user_line(2))


ONLY_ZEROS = {Zero}
rules = RuleTable(
    'Differentiation rule', 'define jvp.rules[primitive]')


def jvp_flat(f, primals, tangents, tag):
    """Return two lists: the outputs of `f` and their tangents.

    Args:
        f: takes arrays, returns a list of them.
        primals: the arrays at which to evaluate it.
        tangents: for each of them, its tangent or a Zero.
        tag: the application of jvp.
    """
    with JVPTrace(current_trace(), tag) as trace:
        xs = map(trace.pack, primals, tangents)
        outs = f(*mark_as_arguments(trace, xs))
        return trace.unpack(outs)


def defjvp(primitive, *each):
    """Define how the tangent of each operand contributes to the output's.

    Args:
        each: for each operand `rule(x_dot, out, *operands, **params)`, which
            returns a tangent; None for an operand that the output does not
            depend on smoothly.  Without rules, the derivative is zero.
    """
    def unary_rule(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        return y, each[0](*tangents, y, *primals, **params)

    def jvp_rule(primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        terms = []
        for rule, x_dot in zip(each, tangents, strict=bool(each)):
            if rule and type(x_dot) is not Zero:
                term = rule(x_dot, y, *primals, **params)
                terms += [] if type(term) is Zero else [term]
        return y, reduce(add, terms) if terms else Zero(y)
    rules[primitive] = unary_rule if len(each) == 1 else jvp_rule


def match(x_dot, y):
    """Return `x_dot` with the shape and the dtype of `y`."""
    have, want = typeof(x_dot), typeof(y)
    if have is want:
        return x_dot
    if have.shape != want.shape:
        x_dot = np.broadcast_to(x_dot, want.shape)
    return convert(x_dot, want.dtype, want.weak_type)
