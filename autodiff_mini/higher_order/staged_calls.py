"""Calls, written down: how a rule gets through a jaxpr.

Its one idea: the equation of a call holds the parameters that the call had.
Its function is written down at once, its rule stays a Python function, and is
run when it is needed.  Chapter 8.
"""

import operator
from itertools import repeat

from autodiff_mini.core import TraceTag, Tracer, typeof
from autodiff_mini.errors import UnexpectedTracerError, fun_name
from autodiff_mini.higher_order.call import call_p, which_zero
from autodiff_mini.higher_order.custom_jvp import (
    closed_over, custom_jvp_call_p)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import (
    Jaxpr, JaxprTracer, Var, eval_jaxpr, stage_flat, staging_rules)
from autodiff_mini.interpreters.jvp import (
    Zero, instantiate_all, instantiate_zeros)
from autodiff_mini.interpreters.partial_eval import (
    linear_flat, partial_eval_rules)
from autodiff_mini.interpreters.transpose import (
    backward_pass, transpose_rules)
from autodiff_mini.numpy_api import foreign_one


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


def call_staging(trace, args, fun):
    fun, consts = stage_function(fun, args)
    return trace.record(call_p, [*consts, *args], {'fun': fun})


def custom_jvp_staging(trace, args, fun, jvp):
    fun, consts = stage_function(fun, args)
    jvp = StagedRule(fun, jvp, len(consts))
    return trace.record(custom_jvp_call_p, [*consts, *args],
                        {'fun': fun, 'jvp': jvp})


class StagedRule:
    """A rule, to be called later, with the values its function closed over.

    Args:
        fun: the function, written down.
        jvp: the rule, as it was.
        num_consts: how many of the arguments were closed over.
    """

    def __init__(self, fun, jvp, num_consts):
        self.__qualname__ = fun_name(jvp)
        self.fun = fun
        self.jvp = jvp
        self.num_consts = num_consts

    def __call__(self, xs, x_dots):
        n = self.num_consts
        if not all(which_zero(x_dots[:n])):
            raise closed_over(self.fun, 'custom_jvp')
        ys, y_dots = call_late(self.fun, self.jvp, xs[n:], x_dots[n:])
        check_outputs(self.fun, self.jvp, ys)
        return ys, y_dots


def call_late(fun, rule, *args):
    """Returns what a rule returns; explains it if the time is over."""
    try:
        return rule(*args)
    except UnexpectedTracerError as error:
        tracer = error.tracer
        if type(tracer) is not JaxprTracer or tracer.trace.thread:
            raise
        raise TypeError(
            f'The rule of {fun_name(fun)} closes over {tracer.describe()}. '
            'It was written down in a jaxpr, and is called after '
            f'{tracer.trace.tag} has returned: pass the value to the '
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


staging_rules[call_p] = call_staging
staging_rules[custom_jvp_call_p] = custom_jvp_staging


def staged_types(*avals, fun, **params):
    """Returns the types of the results of a call that was written down."""
    return fun.jaxpr.out_avals


abstract_rules[call_p] = staged_types
abstract_rules[custom_jvp_call_p] = staged_types


def call_partial_eval(trace, args, fun):
    return fun(*args)


def custom_jvp_partial_eval(trace, args, fun, jvp):
    unknown = list(map(trace.is_unknown, args))
    params = {'fun': fun, 'jvp': jvp}
    if not any(unknown):
        return trace.compute(custom_jvp_call_p, args, params)
    if any(isinstance(x, Tracer) and not trace.is_unknown(x) for x in args):
        params['fun'] = linear = LinearCall(fun, args, unknown)
        if not any(map(trace.is_unknown, linear.jaxpr.consts)):
            return trace.record(custom_jvp_call_p, args, params)
    return fun(*args)


partial_eval_rules[call_p] = call_partial_eval
partial_eval_rules[custom_jvp_call_p] = custom_jvp_partial_eval


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


def interleave(places, xs, others) -> list:
    """Returns the `xs` in these places, and the others in the others."""
    xs, others = iter(xs), iter(others)
    return [next(xs if here else others) for here in places]


def custom_jvp_transpose(cts, *operands, fun, jvp):
    """The transpose of a call has a rule too: the rule's transpose."""
    linear = [type(x) is Var for x in operands]
    avals = [x.aval for x in operands if type(x) is Var]
    known = [x for x in operands if type(x) is not Var]
    cts = instantiate_all(
        [Zero(aval) if ct is None else ct
         for ct, aval in zip(cts, fun.jaxpr.out_avals, strict=True)],
        foreign_one([*cts, *known]))
    n = len(cts)

    def backwards(f, cts):
        jaxpr = linear_flat(f, avals, TraceTag('transpose', fun))
        return list(map(instantiate_zeros,
                        backward_pass(jaxpr, jaxpr.consts, cts)))

    def fun_transpose(*xs):
        return backwards(
            lambda *ts: fun(*interleave(linear, ts, xs[n:])), xs[:n])

    def jvp_transpose(xs, x_dots):
        def moved(*ts):
            return jvp(interleave(linear, ts, xs[n:]),
                       interleave(linear, map(Zero, ts), x_dots[n:]))[1]
        ct_dots = map(instantiate_zeros, x_dots[:n])
        return fun_transpose(*xs), list(map(
            operator.add, fun_transpose(*ct_dots, *xs[n:]),
            backwards(moved, xs[:n])))

    x_bars = custom_jvp_call_p.bind(*cts, *known, fun=fun_transpose,
                                    jvp=jvp_transpose)
    return interleave(linear, x_bars, repeat(None))


transpose_rules[custom_jvp_call_p] = custom_jvp_transpose
