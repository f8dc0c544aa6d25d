"""Calls, written down: how a rule gets through a jaxpr.

Its one idea: the equation of a call holds the parameters that the call had.
Its function is written down at once, its rule stays a Python function, and is
run when it is needed.  Chapter 7.
"""

from autodiff_mini.core import TraceTag, typeof
from autodiff_mini.errors import UnexpectedTracerError, closed_over, fun_name
from autodiff_mini.higher_order.programs import interleave, stage_program
from autodiff_mini.interpreters.jaxpr import (
    JaxprTracer, eval_jaxpr, stage_flat)
from autodiff_mini.interpreters.partial_eval import linear_flat
from autodiff_mini.jaxprs import Jaxpr, Var, drop_dead
from autodiff_mini.zeros import which_zero


class StagedFunction:
    """A function that was written down, to be called as before."""

    def __init__(self, fun, jaxpr):
        self.__qualname__ = fun_name(fun)
        self.jaxpr = jaxpr

    def __call__(self, *xs):
        return eval_jaxpr(self.jaxpr, [], *xs)


def stage_function(fun, args):
    """Returns `fun`, written down, and the values that it closes over.

    They become its first arguments, so that it closes over nothing.
    """
    avals = list(map(typeof, args))
    jaxpr = stage_flat(fun, avals, TraceTag('call', fun))
    invars = [*jaxpr.constvars, *jaxpr.invars]
    closed = Jaxpr([], invars, jaxpr.eqns, jaxpr.outvars, [])
    return StagedFunction(fun, closed), jaxpr.consts


def stage_call(primitive, trace, args, fun, **rules):
    """Record a call with its function written down, and its rules kept."""
    fun, consts = stage_function(fun, args)
    return trace.record(primitive, [*consts, *args], {
        'fun': fun, **stage_rules(fun, rules, len(consts))})


def stage_rules(fun, rules, num_consts, residuals=False):
    """Return the rules of a call, by name, each as a LateRule or None."""
    return {name: rule and staged_kinds[name](fun, rule, num_consts,
                                              residuals)
            for name, rule in rules.items()}


class LateRule:
    """A rule, to be called later, with the values its function closed over.

    Args:
        fun: the function, written down.
        rule: the rule, as it was.
        num_consts: how many of the arguments are none of the rule's.
        residuals: whether they are made of the others, whose tangents say
            all, and are not closed over.
    """

    def __init__(self, fun, rule, num_consts, residuals=False):
        self.__qualname__ = fun_name(rule)
        self.fun = fun
        self.rule = rule
        self.num_consts = num_consts
        self.residuals = residuals


class StagedRule(LateRule):
    """A `LateRule` for forward mode."""

    def __call__(self, xs, x_dots):
        n = self.num_consts
        if not (self.residuals or all(which_zero(x_dots[:n]))):
            raise closed_over(self.fun, 'custom_jvp')
        ys, y_dots = call_late(self.fun, self.rule, xs[n:], x_dots[n:])
        check_outputs(self.fun, self.rule, ys)
        return ys, y_dots


staged_kinds: dict = {'jvp': StagedRule}   # by the name of the rule


def call_late(fun, rule, *args):
    """Returns what a rule returns; explains it if the time is over."""
    try:
        return rule(*args)
    except UnexpectedTracerError as error:
        tracer = error.tracer
        if type(tracer) is not JaxprTracer or tracer._trace.thread:
            raise
        raise TypeError(
            f'The rule of {fun_name(fun)} closes over {tracer.describe()}. '
            'It was written down in a jaxpr, and is called after '
            f'{tracer._trace.tag} has returned: pass the value to the '
            'function as an argument.') from None


def check_outputs(fun, rule, ys):
    """Raises a TypeError if the rule returns not what `fun` does."""
    have = [(y.shape, y.dtype) for y in map(typeof, ys)]
    want = [(y.shape, y.dtype) for y in fun.jaxpr.out_avals]
    if have != want:
        raise TypeError(
            f'{rule} must produce primal outputs equal to those of the '
            f'function, but they are {", ".join(map(str, map(typeof, ys)))}, '
            'and the function returns '
            f'{", ".join(map(str, fun.jaxpr.out_avals))}')


def staged_types(*avals, fun, **params):
    """Returns the types of the results of a call that was written down."""
    return fun.jaxpr.out_avals


class LinearCall:
    """A function that is linear in some operands, and its types."""

    def __init__(self, fun, args, unknown):
        self.__qualname__ = fun_name(fun)
        self.fun = fun
        avals = [typeof(x) for x, here in zip(args, unknown) if here]
        known = [x for x, here in zip(args, unknown) if not here]
        self.jaxpr = linear_flat(
            lambda *ts: fun(*interleave(unknown, ts, known)), avals,
            TraceTag('call', fun))

    def __call__(self, *xs):
        return self.fun(*xs)


def stage_linear(fun, args, unknown):
    """Returns `fun`, linear in the unknown arguments, and its residuals.

    These become its first arguments: what depends on known ones is computed.
    """
    jaxpr = LinearCall(fun, args, unknown).jaxpr
    known = [Var(typeof(x)) for x, here in zip(args, unknown) if not here]
    invars = [*jaxpr.constvars, *interleave(unknown, jaxpr.invars, known)]
    closed = drop_dead(Jaxpr([], invars, jaxpr.eqns, jaxpr.outvars, []))
    return StagedFunction(fun, closed), jaxpr.consts


def inline_call(*avals, fun, **rules):
    """Returns what a call does; its rules are forgotten here."""
    if type(fun) is StagedFunction:
        return fun.jaxpr
    return stage_program(fun, avals, TraceTag('jit', fun))
