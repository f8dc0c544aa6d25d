"""Random programs whose rules are wrong on purpose, differentiated.

A program is a tree of tuples. Its pieces are functions of a number, and most
have a rule that differs from their derivative. A rule runs inside a loop, a
branch, or a compiled function, and some rules apply a function with such a
rule to their tangents. The expected result is that of the same program
without its wrappers, under `jvp` alone, with each rule called by hand. So a
different result means that a rule was lost.
"""

import random

import numpy as np

import autodiff_mini as ad
from tests.tables.rule_laws import DERIVATIVES, FORWARD, WHILE, WRAPPERS


# Wrappers of a rule, which takes arrays and returns a tree of arrays.

def like(f, *xs):
    """Return zeros like what `f` returns."""
    return ad.tree_map(lambda y: np.zeros(y.shape, y.dtype)[()],
                       ad.eval_shape(f, *xs))


def by_slices(f):
    """The arguments are sliced, and the results are stacked."""
    def looped(*xs):
        _, ys = ad.scan(lambda c, xs: (c, f(*xs)), 0.0,
                        ad.tree_map(lambda x: np.stack([x, x]), xs))
        return ad.tree_map(lambda y: y[1], ys)
    return looped


def by_cond(f):
    return lambda *xs: ad.cond(
        xs[0] > -100.0, f, lambda *xs: ad.tree_map(lambda y: y * 0, f(*xs)),
        *xs)


INSIDE = {
    'nothing': lambda f: f, 'jit': lambda f: ad.jit(f),
    'jit of a closure': lambda f: lambda *xs: ad.jit(lambda: f(*xs))(),
    'checkpoint': lambda f: ad.checkpoint(f), 'slices': by_slices,
    'carry': lambda f: lambda *xs: ad.scan(
        lambda c, _: (f(*xs), None), like(f, *xs), None, 2)[0],
    'while': lambda f: lambda *xs: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, f(*xs)),
        (0, like(f, *xs)))[1],
    'cond': by_cond,
}


# The pieces: each is passed a lie and the wrapper of its rule.

def with_jvp(f, rule):
    """Return a function whose rule is passed it, a primal, and a tangent."""
    f = ad.custom_jvp(f)
    f.defjvp(lambda p, t: rule(f, *p, *t))
    return f


def with_vjp(f, bwd, inside, **options):
    f = ad.custom_vjp(f)
    f.defvjp(inside(lambda x: (f(x), x)), inside(bwd), **options)
    return f


def lying(lie, inside):
    return with_jvp(lambda x: np.sin(x), lambda f, *xs: inside(
        lambda x, t: (f(x), lie * np.cos(x) * t))(*xs))


def two_outputs(lie, inside):
    f = ad.custom_jvp(lambda x, y: (np.sin(x), y * 1.0))
    rule = inside(lambda x, y, x_dot, y_dot: (
        f(x, y), (lie * np.cos(x) * x_dot, 7 * y_dot)))
    f.defjvp(lambda p, t: rule(*p, *t))
    return lambda x: f(x, 0.5 * x)[0]


def on_tangent(lie, inside):
    """Its rule applies a function to the tangent, whose rule says `lie`."""
    g = with_jvp(lambda t: 2 * t, lambda g, x, t: (g(x), lie * t))
    return with_jvp(lambda x: np.exp(x / 2), lambda f, x, t: (
        f(x), inside(lambda x, t: g(t))(x, f(x) * t / 4)))


def on_tangent_and_point(lie, inside):
    """Its rule applies a function that is linear only in the tangent."""
    g = ad.custom_jvp(lambda t, y: (t * np.cos(y), np.tanh(y)))
    g.defjvp(lambda p, t: (g(*p), (
        g(t[0], p[1])[0] - lie * p[0] * np.sin(p[1]) * t[1], lie * t[1])))

    def rule(f, x, t):
        y_dot, z = g(t, x)
        return f(x), y_dot * (1 + z) / 2
    return with_jvp(lambda x: np.sin(x), rule)


def both_on_tangent(lie, inside):
    """Like `on_tangent`, with a function that has a rule for each mode."""
    g = ad.custom_vjp(lambda t, y: t * np.cos(y))
    g.defvjp(lambda t, y: (g(t, y), (t, y)), lambda r, ct: (
        g(ct, r[1]), -lie * r[0] * np.sin(r[1]) * ct))
    g.defjvp(lambda p, t: (
        g(*p), g(t[0], p[1]) - lie * p[0] * np.sin(p[1]) * t[1]))
    return with_jvp(lambda x: np.sin(x), lambda f, x, t: (f(x), g(t, x)))


def reverse_on_tangent(lie, inside):
    """Like `on_tangent`, with a function that has only a reverse rule."""
    g = with_vjp(lambda t: t, lambda _, ct: (lie * ct,), lambda f: f)
    return with_jvp(lambda x: np.sin(x), lambda f, x, t: (
        f(x), g(np.cos(x) * t)))


def two_ways(lie, inside):
    slope = lambda x: lie * (1 - np.tanh(x) ** 2)
    f = with_vjp(lambda x: np.tanh(x), lambda x, ct: (slope(x) * ct,), inside)
    f.defjvp(lambda p, t: inside(lambda x, t: (f(x), slope(x) * t))(*p, *t))
    return f


def one_way(lie, inside, **options):
    return with_vjp(lambda x: np.cos(x), lambda x, ct: (
        -lie * np.sin(x) * ct,), inside, **options)


LEAVES = {
    'sine': lambda lie, inside: lambda x: np.sin(x) + x / 2,
    'square': lambda lie, inside: lambda x: x * x / 2 + x,
    'lying': lying, 'two_outputs': two_outputs, 'on_tangent': on_tangent,
    'on_tangent_and_point': on_tangent_and_point,
    'both_on_tangent': both_on_tangent, 'two_ways': two_ways,
    'reverse_on_tangent': reverse_on_tangent, 'one_way': one_way}
ONE_WAY = {     # by name: a leaf with a rule for forward mode, and the same
    'one_way': lambda lie: with_jvp(lambda x: np.cos(x), lambda f, x, t: (
        f(x), -lie * np.sin(x) * t)),
    'reverse_on_tangent': lambda lie: with_jvp(
        lambda x: np.sin(x), lambda f, x, t: (f(x), with_jvp(
            lambda t: t, lambda g, x, t: (g(x), lie * t))(np.cos(x) * t)))}


NODES = {'after': lambda f, g: lambda x: f(g(x)),
         'times': lambda f, g: lambda x: f(x) * g(x),
         'plus': lambda f, g: lambda x: f(x) + g(x)}


def random_program(rng, depth, leaves=tuple(LEAVES)):
    if depth and rng.random() < 0.4:
        wrap = rng.choice(list(WRAPPERS))
        if wrap in ('custom_vjp', 'both rules'):
            # In a bwd, a lie about a tangent is one about a cotangent.
            leaves = [name for name in leaves if 'tangent' not in name]
        return 'wrap', wrap, random_program(rng, depth - 1, leaves)
    if depth:
        return (rng.choice(list(NODES)), *[
            random_program(rng, rng.randrange(depth), leaves)
            for _ in range(2)])
    return (rng.choice(leaves), rng.choice([-2, 0.5, 1, 3]),
            rng.choice(list(INSIDE)))


def build(program, wrapped=True):
    """Return the function of a program; without wrappers, the expected one.
    """
    kind, *parts = program
    if kind == 'wrap':
        f = build(parts[1], wrapped)
        return WRAPPERS[parts[0]](f) if wrapped else f
    if kind in NODES:
        return NODES[kind](*[build(part, wrapped) for part in parts])
    lie, inside = parts
    if not wrapped and kind in ONE_WAY:
        return ONE_WAY[kind](lie)
    return LEAVES[kind](lie, INSIDE[inside if wrapped else 'nothing'])


def names_in(program):
    kind, *parts = program
    if kind == 'wrap':
        return {parts[0], *names_in(parts[1])}
    if kind in NODES:
        return {name for part in parts for name in names_in(part)}
    return {kind, parts[1]}


OUTER = DERIVATIVES | {
    'jit': ad.jit, 'vmap': lambda f: lambda x: ad.vmap(f)(x * np.ones(2))[1]}


def random_order(rng):
    """Return one to three derivatives, and at most two others."""
    names = rng.choices(list(DERIVATIVES), k=rng.randint(1, 3))
    names += rng.choices(['jit', 'vmap'], k=rng.randrange(3))
    rng.shuffle(names)
    return names


def check(seed):
    """Compare a random program; return 'right', 'refused', or the mistake."""
    rng = random.Random(seed)
    program, order = random_program(rng, 3), random_order(rng)
    f, oracle, x = build(program), build(program, False), 0.3
    for name in order:
        f = OUTER[name](f)
        if name in DERIVATIVES:
            oracle = DERIVATIVES['jvp'](oracle)
    expected = oracle(x)
    names = names_in(program)
    try:
        actual = f(x)
    except Exception as error:
        may = names & {*ONE_WAY, 'while', 'custom_vjp'}
        if may and isinstance(error, TypeError) and (
                FORWARD in str(error) or WHILE in str(error)):
            return 'refused'
        return f'{type(error).__name__}: {error}'
    if np.allclose(actual, expected, 1e-8, 1e-10):
        return 'right'
    return f'{actual} for {expected}'
