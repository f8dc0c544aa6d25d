"""Staged calls: how the rules of a call survive in a jaxpr.

The equation of a call holds the call's parameters.  Its function is staged
right away, but its rules stay Python functions, which run when needed.
Chapter 8.
"""

from autodiff_mini.calls.programs import interleave, others, picked
from autodiff_mini.core.errors import UnexpectedTracerError
from autodiff_mini.core.jaxprs import Jaxpr, Var, drop_dead
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.types import ShapedArray, typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters.jaxpr import (
    JaxprTracer, eval_jaxpr, stage_flat)
from autodiff_mini.interpreters.partial_eval import linear_flat


class StagedFunction:
    """A function that was staged, to be called again."""

    def __init__(self, fun, jaxpr):
        self.__qualname__ = own_name(fun)
        self.jaxpr = jaxpr

    def __call__(self, *xs):
        return eval_jaxpr(self.jaxpr, [], *xs)


def stage_function(fun, args):
    """Stage `fun`, and return it with the values that it closes over.

    The values become its first arguments.
    """
    jaxpr = stage_flat(fun, list(map(typeof, args)), TraceTag('call', fun))
    return open_program(fun, jaxpr, jaxpr.invars)


def open_program(fun, jaxpr, invars):
    """Return the function of a program, and the values it closes over."""
    program = Jaxpr([], [*jaxpr.constvars, *invars], jaxpr.eqns,
                    jaxpr.outvars, [])
    return StagedFunction(fun, program), jaxpr.consts


def linear_program(transform, fun, args, unknown):
    """Return `fun` as a program that is linear in the unknown arguments."""
    fixed = others(args, unknown)
    return linear_flat(
        lambda *ts: fun(*interleave(unknown, ts, fixed)),
        [x.aval for x in picked(args, unknown)], TraceTag(transform, fun))


def stage_linear(fun, args, unknown):
    """Stage `fun`, linear in the unknown arguments; return its residuals too.

    The residuals, which depend only on known arguments, are computed now and
    become its first arguments.
    """
    jaxpr = drop_dead(linear_program('call', fun, args, unknown))
    known = [Var(typeof(x)) for x in others(args, unknown)]
    return open_program(fun, jaxpr, interleave(unknown, jaxpr.invars, known))


def stage_call(primitive, trace, args, fun, **rules):
    """Record a call with its function staged, and its rules kept."""
    fun, consts = stage_function(fun, args)
    return trace.record(primitive, [*consts, *args], {
        'fun': fun, **stage_rules(primitive, fun, rules, len(consts))})


def stage_rules(primitive, fun, rules, num_consts, residuals=False):
    """Return the rules of a call, by name, each as a StagedRule or None."""
    return {name: rule and StagedRule(primitive, fun, rule, num_consts,
                                      residuals)
            for name, rule in rules.items()}


class StagedRule:
    """A rule to call later, with the values that its function closed over.

    Args:
        primitive: the primitive of the call.
        fun: the function, staged.
        rule: takes operands, and a mark for each: a tangent, or whether it is
            perturbed or mapped (then the axis size follows).  It returns the
            outputs, and other results.
        num_consts: how many of the first operands the rule does not take.
        residuals: whether these were computed from the others, so that the
            rule covers their derivatives.  Otherwise the function closed
            over them, and the rule does not cover them.
    """

    def __init__(self, primitive, fun, rule, num_consts, residuals):
        self.__qualname__ = own_name(rule)
        self.primitive = primitive
        self.fun = fun
        self.rule = rule
        self.num_consts = num_consts
        self.residuals = residuals

    def __call__(self, xs, marks, *size):
        n = self.num_consts
        if not (self.residuals or all(
                type(mark) is Zero or mark is False for mark in marks[:n])):
            raise closed_over(self.fun, self.primitive, bool(size))
        ys, *more = call_late(self.fun, self.rule, xs[n:], marks[n:], *size)
        types = list(map(typeof, ys))
        if size:
            types = [element_type(aval, 0 if is_mapped else None)
                     for aval, is_mapped in zip(types, *more)]
        check_outputs(self.fun, self.rule, types)
        return ys, *more


def element_type(aval, dim):
    """Return the type of one element of a batch."""
    return aval if dim is None else ShapedArray(aval.shape[1:], aval.dtype)


def call_late(fun, rule, *args):
    """Call a rule, and explain the error if it runs too late."""
    try:
        return rule(*args)
    except UnexpectedTracerError as error:
        tracer = error.tracer
        if type(tracer) is not JaxprTracer or tracer._trace.thread:
            raise
        raise TypeError(
            f'The rule of {fun_name(fun)} closes over {tracer.describe()}, '
            f'but it was called after {tracer._trace.tag} had returned. Pass '
            'the value to the function as an argument.') from None


def check_outputs(fun, rule, have):
    """Raise a TypeError unless a rule's outputs have the types of `fun`'s."""
    want = fun.jaxpr.out_avals
    if [(y.shape, y.dtype) for y in have] != [
            (y.shape, y.dtype) for y in want]:
        raise TypeError(
            f'{rule} must produce primal outputs equal to those of the '
            f'function, but it returns {", ".join(map(str, have))}, and the '
            f'function returns {", ".join(map(str, want))}')


def staged_types(*avals, fun, **rules):
    """Return the output types of a call whose function is staged."""
    return fun.jaxpr.out_avals


def inline_call(*avals, fun, **rules):
    """Return the program of a call's function, without its rules."""
    return fun.jaxpr


def closed_over(fun, primitive, is_mapped=False):
    """Return the error for a call whose rules do not cover some value.

    Args:
        fun: the function that is called, which closes over the value.
        primitive: the primitive of the call, or the kind of function.
        is_mapped: whether the value is mapped, rather than differentiated.
    """
    what, way, cure = (
        ('batching', 'mapped', 'extend the rule') if is_mapped else
        ('differentiation', 'differentiated',
         'let the rule return its derivative'))
    return TypeError(
        f'Detected {what} of a {str(primitive).removesuffix("_call")} '
        f'function with respect to a closed-over value: {fun_name(fun)}, or '
        f'its rule, uses a value that is being {way} and is not one of its '
        f'arguments. Pass the value as an argument, and {cure}.')
