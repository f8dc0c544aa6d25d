"""Cold case: which method lost the rule?

You get a system, and all you can do is ask it. It's the draft, either as you
wrote it or with one method replaced. Four methods are suspects. `batching`
opens the call, as in chapter 4. `staging` writes down the function and no
call. `partial evaluation` opens a call whose operands are unknown, as JAX
0.10.2 did. And `transposition` differentiates the backward pass, where no
call is left, as JAX 0.12.0.1 does.

There are two liars. `f` is exp(2x), whose slope has a factor of 2, but its
rule says 3. The rule applies `g` to the tangent. `g` returns its argument, so
its slope is 1, but its rule says 5.

`ask('vmap', 'grad')` transforms `f`, the innermost transformation first, and
returns what `grad(vmap(f))` says at 0, which should be a 3. `ask('grad',
'jvp')` is a second derivative and should be 45, which is 3 * 3 * 5. To ask a
system that you know, write `system('staging')('vmap', 'grad')`.

Write `culprit`, which returns the name of the method, or 'none'. Begin with
as many questions as you need. Then do it with a single one.
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

HINTS = (
    '`batching` and `staging` lose the rule of `f` if `vmap` or `record` is '
    'applied before a derivative. The others lose the rule of `g`, and only '
    'the next derivative asks for it. Which one it was, you can read off the '
    'numbers in this chapter. Each row said 3, 1, 1 in JAX 0.10.2, and 3, 1, '
    '3 in JAX 0.12.0.1.',
    'An order can be long, and you can factor the number that it returns. '
    "What does `ask('vmap', 'jvp', 'record', 'jvp')` say if `vmap` loses the "
    'rule? And if `record` does?',
    'You need `vmap`, `record`, `linearize`, and `grad` in one order, with a '
    'derivative between `vmap` and `record` and one more at the end, because '
    'a loss only shows in the next derivative.',
)


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
    raise NotImplementedError('exercise e33_1: ask one question here')
