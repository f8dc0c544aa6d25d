"""Extend: put rules on the tape.

This is the tape of chapter 32, for the draft. It prepares each operation
once, for each type of operands. For the draft, a function with a rule is a
call that has functions as parameters. They're Python code that can do
something else the next time, so a call must never be prepared.

Write `called`, which `TapingTrace` uses for calls. A rule is called in each
gradient, with the values of that gradient.
"""

import numpy as np

from autodiff_mini.draft.core import Trace, Tracer, current_trace, typeof
from autodiff_mini.draft.jaxpr import make_jaxpr
from autodiff_mini.draft.jit import compiled
from autodiff_mini.draft.partial_eval import linearize_at
from autodiff_mini.draft.transpose import backward_pass


HINTS = (
    'A rule has to be called with the values of this call. Which function of '
    'chapter 9 differentiates a function at given values, and returns the '
    'output, a linear program, and its residuals?',
    'The second half runs the linear program backwards. `prepare` has that '
    'line already.',
    "`make_jaxpr` has no place here. It gives a rule tracers in place of "
    "values, so the rule can't branch on a number.",
)


def prepare(operation, *xs):
    """Return the first and the second half of a gradient, as programs."""
    def first(*xs):
        nonlocal linear
        y, linear, residuals = linearize_at(operation, xs)
        return y, residuals

    def second(*xs):
        return backward_pass(linear, xs[:-1], xs[-1:])

    linear = None
    forward = make_jaxpr(first)(*xs)
    y, *residuals = forward(*xs)
    return forward, make_jaxpr(second)(*residuals, y)


def called(primitive, xs, params):
    """Return the output of a call, its residuals, and its second half.

    Args:
        primitive: the primitive of the call.
        xs: the values of its operands.
        params: its parameters, which are functions.

    Returns:
        The output, a list of residuals, and a function of the residuals and
        of the output's cotangent, which returns a list with a cotangent for
        each operand.
    """
    raise NotImplementedError('exercise e32_2: run the call')


class TapingTrace(Trace):
    def process_primitive(self, primitive, args, params):
        xs = [x.primal if self.owns(x) else x for x in args]
        with self.parent:
            if primitive.is_call:
                y, residuals, back = called(primitive, xs, params)
            else:
                y, residuals, back = run_prepared(primitive, xs, params)
        out = Tracer(self, typeof(y), primal=y)
        self.tape.append((back, residuals, args, out))
        return out


def run_prepared(primitive, xs, params):
    """Return what `called` returns, from a prepared operation."""
    key = primitive, *params.values(), *map(typeof, xs)
    if key not in prepared:
        prepared[key] = list(map(compiled, prepare(
            lambda *xs: primitive.bind(*xs, **params), *xs)))
    forward, back = prepared[key]
    y, *residuals = forward(*xs)
    return y, residuals, back


prepared = {}


def tape_grad(f):
    """Return the gradient of `f`, a function of one argument."""
    def gradient(x):
        with TapingTrace(current_trace(), object()) as trace:
            trace.tape = []
            x = Tracer(trace, typeof(x), primal=x)
            cts = {f(x): np.float64(1.0)}
        while trace.tape:
            back, residuals, args, y = trace.tape.pop()
            if y not in cts:
                continue        # nothing depends on it
            for v, ct in zip(args, back(*residuals, cts.pop(y))):
                if trace.owns(v):
                    cts[v] = cts[v] + ct if v in cts else ct
        return cts[x]
    return gradient
