"""The order has three derivatives, and all suspects are in it. It should say
675, which is 3 * 3 * 3 * 5 * 5.

Each derivative brings a 3 if `f` still has its rule at that moment, and a 2
if it doesn't. If `vmap` opens the call, the rule is gone before the first
derivative, and the answer is 2 * 2 * 2. If `record` opens it, the first
derivative was earlier and has its 3, so the answer is 3 * 2 * 2. Without a
derivative between the two, we couldn't tell them apart.

The other suspects only touch calls on tangents, so `f` keeps its rule and all
three 3s are there. Each derivative leaves a call of `g` behind, and the next
derivative turns it into a 5. Partial evaluation opens the calls that `grad`
and `linearize` leave, so there's no 5, and the answer is 27. Transposition
loses the rule of the one that `grad` leaves. But `linearize` doesn't
transpose, so its 5 survives, and the answer is 135. The `jvp` at the end is
there because the last derivative's own loss wouldn't show.

It's the book's trick. Make the rule lie, then take transformations away, one
at a time, until the lie shows. Here you don't even have to take them away.
Each derivative multiplies the number by what it found, and primes don't mix,
so the factors also tell you what every shorter order would have said.
"""

from contextlib import nullcontext
from unittest.mock import patch

import numpy as np

from autodiff_mini.draft import (
    custom_jvp, grad, jaxpr, jvp, linearize, make_jaxpr, transpose, vmap)
from autodiff_mini.draft.calls import custom_jvp_call_p
from autodiff_mini.draft.jaxpr import JaxprTrace, stage_call
from autodiff_mini.draft.jvp import instantiate
from autodiff_mini.draft.partial_eval import PartialEvalTrace
from autodiff_mini.draft.transpose import backward_pass
from autodiff_mini.draft.vmap import vmap_rules, vmap_with

process_primitive = PartialEvalTrace.process_primitive


def batching(axis, *xs, fun, rule):
    """Batch the function in a call, and drop the call."""
    return vmap_with(axis, fun)(*xs)


def staging(trace, primitive, args, params):
    """Record the function in a call, unless partial evaluation asks."""
    if type(trace) is JaxprTrace:
        return params['fun'](*args)
    return stage_call(trace, primitive, args, params)


def partial_evaluation(trace, primitive, args, params):
    """Open a call that has an unknown operand."""
    if primitive.is_call and any(map(trace.owns, args)):
        return params['fun'](*args)
    return process_primitive(trace, primitive, args, params)


def transposition(linear, n, xs, x_dots):
    """Return the result of a backward pass, and its derivative."""
    return jvp(lambda *xs: backward_pass(linear, xs[:n], xs[n:]),
               xs, list(map(instantiate, xs, x_dots)))


# `with SYSTEMS['staging']():` replaces a method of the draft. The end of the
# block puts it back, even if there was an error.
SYSTEMS = {
    'none': nullcontext,
    'batching': lambda: patch.dict(
        vmap_rules, {custom_jvp_call_p: batching}),
    'staging': lambda: patch.object(jaxpr, 'stage_call', staging),
    'partial evaluation': lambda: patch.object(
        PartialEvalTrace, 'process_primitive', partial_evaluation),
    'transposition': lambda: patch.object(
        transpose, 'pull_rule', transposition)}

TRANSFORMATIONS = {
    'vmap': lambda f: lambda x: vmap(f)(x * np.ones(2))[1],
    'record': lambda f: lambda x: make_jaxpr(f)(x)(x)[0],
    'jvp': lambda f: lambda x: jvp(f, (x,), (1.0,))[1],
    'linearize': lambda f: lambda x: linearize(f, x)[1](1.0),
    'grad': grad}


f = custom_jvp(lambda x: np.exp(2 * x))
g = custom_jvp(lambda t: t)
f.defjvp(lambda primals, tangents: (
    f(*primals), g(3 * f(*primals) * tangents[0])))
g.defjvp(lambda primals, tangents: (g(*primals), 5 * tangents[0]))


def system(name):
    """Return a function that asks one of the systems."""
    def ask(*order):
        transformed = f
        for transformation in order:
            transformed = TRANSFORMATIONS[transformation](transformed)
        with SYSTEMS[name]():
            return round(float(transformed(0.0)))
    return ask


def culprit(ask):
    """Return 'batching', 'staging', 'partial evaluation', 'transposition', or
    'none'."""
    number = ask('vmap', 'grad', 'record', 'linearize', 'jvp')
    return {2 * 2 * 2: 'batching',
            3 * 2 * 2: 'staging',
            3 * 3 * 3: 'partial evaluation',
            3 * 3 * 3 * 5: 'transposition',
            3 * 3 * 3 * 5 * 5: 'none'}[number]
