"""The laws of the draft: what becomes of a rule, for each row and column.

The rows are the primitives that carry functions or programs, and the columns
are the interpreters.  Each cell is an equation that a test runs.  An appendix
prints the equations, and the postcard of chapter 19 has seven of them.

This file and test_draft_laws.py import only pytest, NumPy, and the draft, so
they can be copied with the draft.

The dye is a function whose rule says 3 where the function says 2: it is
f(x) = exp(2x), so f(0) = 1.  After d derivatives at 0, a kept rule says
3 ** d, and a lost one shows a factor of 2.  The rule of the inner dye applies
a linear function with a rule to the tangent: the derivatives are 1, 2, 6 if
that rule is kept, and 1, 2, 4 if it is lost.
"""

import numpy as np

from autodiff_mini.draft import (
    checkpoint, cond, custom_jvp, custom_vjp, jit, jvp, linearize,
    make_jaxpr, scan, vjp, vmap, while_loop)
from autodiff_mini.draft.calls import call_p
from autodiff_mini.draft.jit import compiled, jit_p
from autodiff_mini.draft.loops import scan_p
from autodiff_mini.draft.programs import (
    linear_p, linearize_jaxpr, transpose_jaxpr)


def dyed(fun, rule):
    """Return a function with a rule that is also passed the function."""
    f = custom_jvp(fun)
    f.defjvp(lambda primals, tangents: rule(f, *primals, *tangents))
    return f


def tangent(f):
    return lambda x, t: jvp(f, (x,), (t,))[1]


def cotangent(f):
    return lambda x, ct: vjp(f, x)[1](ct)[0]


def staged(f):
    return lambda x: make_jaxpr(f)(x)(x)[0]


def lowered(f):
    return lambda x: compiled(make_jaxpr(f)(0.0))(x)[0]


def plain(x):
    return np.exp(2 * x)


dye = dyed(plain, lambda f, x, t: (f(x), 3 * f(x) * t))
double = dyed(lambda x: 2 * x, lambda f, x, t: (f(x), 3 * t))


def inner_with(wrap):
    return dyed(plain, lambda f, x, t: (f(x), wrap(double)(plain(x) * t)))


inner = inner_with(lambda f: f)


# The rows, as wrappers: each calls `f` once.

def call(f):
    return lambda x: call_p.bind(x, fun=f)


def custom(f):
    return dyed(f, lambda g, x, t: (g(x), tangent(f)(x, t)))


def reverse(f):
    g = custom_vjp(f)
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (cotangent(f)(x, ct),))
    return g


def loop(f):
    return lambda x: scan(lambda c, _: (f(c), None), x, None, length=1)[0]


def branch(f):
    return lambda x: cond(x > -1, f, lambda x: 0 * x, x)


def repeat(f):
    return lambda x: while_loop(
        lambda s: s[1] < 1, lambda s: (f(s[0]), s[1] + 1), (x, 0 * x))[0]


def linear_half(f):
    """Apply the operation that chapter 14 makes for the derivative of jit."""
    return lambda *xs: linear_p.bind(*xs, fun=make_jaxpr(f)(*xs))[0]


ROWS = {'call': call, 'custom_jvp': custom, 'custom_vjp': reverse,
        'jit': jit, 'linear': linear_half, 'scan': loop, 'cond': branch,
        'while': repeat, 'checkpoint': checkpoint}


# The columns, as functions of a function.

def forward(f):
    return lambda x: jvp(f, (x,), (1.0,))


def linear(f):
    """Return the output, and the result of the linear program at 1."""
    def at(x):
        y, f_jvp = linearize(f, x)
        return y, f_jvp(1.0)
    return at


def backward(f):
    def at(x):
        y, pullback = vjp(f, x)
        return y, pullback(1.0)[0]
    return at


COLUMNS = {'evaluate': lambda f: f, 'jvp': forward, 'vmap': vmap,
           'stage': staged, 'pe': linear, 'transpose': backward,
           'lower': lowered}


# The right-hand sides.

def cut(known_p, linear_p, **loop):
    """Run the known half, and then the linear half at 1."""
    def run_both(x):
        known, linear = linearize_jaxpr(make_jaxpr(dye)(x))
        *residuals, y = known_p.bind(x, fun=known, **loop)
        return y, linear_p.bind(*residuals, 1.0, fun=linear, **loop)[0]
    return run_both


ONE_STEP = {'num_carry': 1, 'length': 1, 'reverse': False}
forwards = cut(scan_p, scan_p, **ONE_STEP)


def backwards(x):
    known, linear = linearize_jaxpr(make_jaxpr(dye)(x))
    *residuals, y = scan_p.bind(x, fun=known, **ONE_STEP)
    return y, scan_p.bind(
        *residuals, 1.0, fun=transpose_jaxpr(linear, len(residuals)),
        **ONE_STEP | {'reverse': True})[0]


def after(row, g):
    """Return what the row returns, and `g` of the point and 1."""
    return lambda x: (row(dye)(x), g(x, 1.0))


def repeated_jvp(x):
    return while_loop(
        lambda s: s[2] < 1,
        lambda s: (dye(s[0]), tangent(dye)(s[0], s[1]), s[2] + 1),
        (x, 1.0, 0.0))[:2]


# A law is an equation and its right-hand side, which is None if the equation
# says that the left-hand side raises.
LAWS = {
    'evaluate': {
        'call': ('call(f) = f', dye),
        'custom_jvp': ('custom_jvp(f, rule) = f', plain),
        'custom_vjp': ('custom_vjp(f, fwd, bwd) = f', dye),
        'jit': ('jit(f) = lower(stage(f))', lowered(dye)),
        'linear': ('linear(f) = lower(stage(f))', lowered(dye)),
        'scan': ('scan(f) = loop(lower(stage(f)))', lowered(dye)),
        'cond': ('cond(f, g) = lower(stage(f)) or lower(stage(g))',
                 lowered(dye)),
        'while': ('while(f) = loop(lower(stage(f)))', lowered(dye)),
        'checkpoint': ('checkpoint(f) = lower(stage(f))', lowered(dye))},
    'jvp': {
        'call': ('jvp(call(f)) = call(jvp(f))', call(forward(dye))),
        'custom_jvp': ('jvp(custom_jvp(f, rule)) = rule',
                       lambda x: dye.rule((x,), (1.0,))),
        'custom_vjp': ('jvp(custom_vjp(f, fwd, bwd)) raises', None),
        'jit': ('jvp(jit(f)) = jit(known(f)), linear(linear(f))',
                cut(jit_p, linear_p)),
        'linear': ('jvp(linear(f)) = linear(f), linear(jvp(f))',
                   after(linear_half, linear_half(tangent(dye)))),
        'scan': ('jvp(scan(f)) = scan(known(f)), scan(linear(f))', forwards),
        'cond': ('jvp(cond(f, g)) = cond(f, g), cond(jvp(f), jvp(g))', after(
            branch, lambda x, t: cond(
                x > -1, tangent(dye), lambda x, t: 0 * t, x, t))),
        'while': ('jvp(while(f)) = while(jvp(f))', repeated_jvp),
        'checkpoint': (
            'jvp(checkpoint(f)) = checkpoint(f), checkpoint(jvp(f))',
            after(checkpoint, checkpoint(tangent(dye))))},
    'vmap': {
        'call': ('vmap(call(f)) = call(vmap(f))', call(vmap(dye))),
        'custom_jvp': (
            'vmap(custom_jvp(f, rule)) = custom_jvp(vmap(f), vmap(rule))',
            custom(vmap(dye))),
        'custom_vjp': (
            'vmap(custom_vjp(f, fwd, bwd)) = custom_vjp(vmap of all three)',
            reverse(vmap(dye))),
        'jit': ('vmap(jit(f)) = jit(vmap(f))', jit(vmap(dye))),
        'linear': ('vmap(linear(f)) = linear(vmap(f))',
                   linear_half(vmap(dye))),
        'scan': ('vmap(scan(f)) = scan(vmap(f))', loop(vmap(dye))),
        'cond': ('vmap(cond(f, g)) = scan(cond(f, g))', lambda xs: scan(
            lambda c, x: (c, branch(dye)(x)), 0.0, xs)[1]),
        'while': ('vmap(while(f)) raises', None),
        'checkpoint': ('vmap(checkpoint(f)) = checkpoint(vmap(f))',
                       checkpoint(vmap(dye)))},
    'stage': {
        'call': ('stage(call(f)) = call(stage(f))', call(staged(dye))),
        'custom_jvp': (
            'stage(custom_jvp(f, rule)) = custom_jvp(stage(f), rule)', dye),
        'custom_vjp': (
            'stage(custom_vjp(f, fwd, bwd)) = custom_vjp(stage(f), fwd, bwd)',
            reverse(dye)),
        'jit': ('stage(jit(f)) = jit(stage(f))', jit(staged(dye))),
        'linear': ('stage(linear(f)) = linear(stage(f))',
                   linear_half(staged(dye))),
        'scan': ('stage(scan(f)) = scan(stage(f))', loop(staged(dye))),
        'cond': ('stage(cond(f, g)) = cond(stage(f), stage(g))',
                 branch(staged(dye))),
        'while': ('stage(while(f)) = while(stage(f))', repeat(staged(dye))),
        'checkpoint': ('stage(checkpoint(f)) = checkpoint(stage(f))',
                       checkpoint(staged(dye)))},
    'pe': {
        'call': ('pe(call(f)) = pe(f)', linear(dye)),
        'custom_jvp': (
            'pe(custom_jvp(linear, rule)) = custom_jvp(linear, rule)',
            lambda x: (inner(x), double(plain(x)))),
        'custom_vjp': ('pe(promise) = promise, which raises', None),
        'jit': ('pe(jit(linear)) = pe(linear)', linear(inner)),
        'linear': ('pe(linear(f)) = linear(f)',
                   after(linear_half, linear_half(tangent(dye)))),
        'scan': ('pe(scan(linear)) = scan(linear)', forwards),
        'cond': ('pe(cond(linear)) = cond(linear)',
                 after(branch, checkpoint(tangent(dye)))),
        'while': ('pe(while(jvp(f))) = while(jvp(f))', forward(dye)),
        'checkpoint': ('pe(checkpoint(linear)) = checkpoint(linear)',
                       after(checkpoint, checkpoint(tangent(dye))))},
    'transpose': {
        'call': ('T(pe(call(f))) = T(pe(f))', backward(dye)),
        'custom_jvp': (
            'T(custom_jvp(linear, rule)) = custom_jvp(T(linear), T(rule))',
            lambda x: (inner(x), double(plain(x)))),
        'custom_vjp': ('T(promise) = bwd',
                       lambda x: (dye(x), cotangent(dye)(x, 1.0))),
        'jit': ('T(pe(jit(linear))) = T(pe(linear))', backward(inner)),
        'linear': ('T(linear(f)) = linear(T(f))',
                   after(linear_half, linear_half(cotangent(dye)))),
        'scan': ('T(scan(linear)) = reversed scan(T(linear))',
                 backwards),
        'cond': ('T(cond(linear)) = cond(T(linear))', after(
            branch, lambda x, ct: cond(
                x > -1, cotangent(dye), lambda x, ct: 0 * ct, x, ct))),
        'while': ('T(while(jvp(f))) raises', None),
        'checkpoint': ('T(checkpoint(linear)) = checkpoint(T(linear))',
                       after(checkpoint, checkpoint(cotangent(dye))))},
    'lower': {
        'call': ('lower(call(f)) = call(lower(f))', call(lowered(dye))),
        'custom_jvp': ('lower(custom_jvp(f, rule)) = call(lower(f))',
                       call(plain)),
        'custom_vjp': ('lower(custom_vjp(f, fwd, bwd)) = call(lower(f))',
                       call(lowered(dye))),
        'jit': ('lower(jit(f)) = call(lower(f))', call(lowered(dye))),
        'linear': ('lower(linear(f)) = linear(lower(f))', call(lowered(dye))),
        'scan': ('lower(scan(f)) = scan(lower(f))', lowered(dye)),
        'cond': ('lower(cond(f, g)) = cond(lower(f), lower(g))',
                 lowered(dye)),
        'while': ('lower(while(f)) = while(lower(f))', lowered(dye)),
        'checkpoint': ('lower(checkpoint(f)) = checkpoint(lower(f))',
                       lowered(dye))}}


# The left-hand sides.

def left_side(column, row):
    if column in ('pe', 'transpose') and row in ('custom_jvp', 'jit'):
        return COLUMNS[column](inner if row == 'custom_jvp'
                               else inner_with(jit))
    if row == 'custom_jvp':
        return COLUMNS[column](dye)
    return COLUMNS[column](ROWS[row](dye))


REASONS = 'no rule for while_loop|only a reverse rule'
