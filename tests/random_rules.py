"""Random programs with rules that lie, in every carrier, differentiated.

A program is a tree of tuples.  Its pieces are functions of a number; most have
rules that say something else than the function does, and some of those apply
a function with such a rule to their tangents.  The oracle is the same program
without its wrappers, under nothing but `jvp`: there each rule is asked by
hand.  So what differs has lost a rule on its way.
"""

import random

import numpy as np

import autodiff_mini as ad
from tests.rule_laws import DERIVATIVES, FORWARD, WHILE, WRAPPERS


def plain(f):
    return lambda lie: f


def lying(lie):
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), lie * np.cos(p[0]) * t[0]))
    return f


def on_tangent(lie):
    """Its rule applies a function to the tangent, which says `lie` times."""
    g = ad.custom_jvp(lambda t: 2 * t)
    g.defjvp(lambda p, t: (g(*p), lie * t[0]))
    f = ad.custom_jvp(lambda x: np.exp(x / 2))
    f.defjvp(lambda p, t: (f(*p), g(f(*p) * t[0] / 4)))
    return f


def on_tangent_and_point(lie):
    """The function that its rule applies is linear in the tangent alone."""
    g = ad.custom_jvp(lambda t, y: (t * np.cos(y), np.tanh(y)))
    g.defjvp(lambda p, t: (g(*p), (
        g(t[0], p[1])[0] - lie * p[0] * np.sin(p[1]) * t[1], lie * t[1])))
    f = ad.custom_jvp(lambda x: np.sin(x))

    def rule(primals, tangents):
        y_dot, z = g(*tangents, *primals)
        return f(*primals), y_dot * (1 + z) / 2
    f.defjvp(rule)
    return f


def both_on_tangent(lie):
    """As `on_tangent`, by a function with a rule for each mode."""
    g = ad.custom_vjp(lambda t, y: t * np.cos(y))
    g.defvjp(lambda t, y: (g(t, y), (t, y)), lambda r, ct: (
        g(ct, r[1]), -lie * r[0] * np.sin(r[1]) * ct))
    g.defjvp(lambda p, t: (
        g(*p), g(t[0], p[1]) - lie * p[0] * np.sin(p[1]) * t[1]))
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), g(*t, *p)))
    return f


def reverse_on_tangent(lie):
    """As `on_tangent`, by a function with a rule for reverse mode alone."""
    g = ad.custom_vjp(lambda t: t)
    g.defvjp(lambda t: (g(t), None), lambda _, ct: (lie * ct,))
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), g(np.cos(p[0]) * t[0])))
    return f


def two_ways(lie):
    f = ad.custom_vjp(lambda x: np.tanh(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (
        lie * (1 - f(x) ** 2) * ct,))
    f.defjvp(lambda p, t: (f(*p), lie * (1 - f(*p) ** 2) * t[0]))
    return f


def one_way(lie):
    f = ad.custom_vjp(lambda x: np.cos(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (-lie * np.sin(x) * ct,))
    return f


LEAVES = {
    'sine': plain(lambda x: np.sin(x) + x / 2),
    'square': plain(lambda x: x * x / 2 + x), 'lying': lying,
    'on_tangent': on_tangent, 'on_tangent_and_point': on_tangent_and_point,
    'both_on_tangent': both_on_tangent, 'two_ways': two_ways,
    'reverse_on_tangent': reverse_on_tangent, 'one_way': one_way}
ONE_WAY = {'reverse_on_tangent', 'one_way'}


def forwards(name, lie):
    """Return a leaf with a rule for forward mode that says the same."""
    if name == 'one_way':
        f = ad.custom_jvp(lambda x: np.cos(x))
        f.defjvp(lambda p, t: (f(*p), -lie * np.sin(p[0]) * t[0]))
        return f
    if name == 'reverse_on_tangent':
        g = ad.custom_jvp(lambda t: t)
        g.defjvp(lambda p, t: (g(*p), lie * t[0]))
        f = ad.custom_jvp(lambda x: np.sin(x))
        f.defjvp(lambda p, t: (f(*p), g(np.cos(p[0]) * t[0])))
        return f
    return LEAVES[name](lie)


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
    return rng.choice(leaves), rng.choice([-2, 0.5, 1, 3])


def build(program, wrapped=True):
    """Return the function of a program; without wrappers, the oracle's."""
    kind, *parts = program
    if kind == 'wrap':
        f = build(parts[1], wrapped)
        return WRAPPERS[parts[0]](f) if wrapped else f
    if kind in NODES:
        return NODES[kind](*[build(part, wrapped) for part in parts])
    return LEAVES[kind](*parts) if wrapped else forwards(kind, *parts)


def names_in(program):
    kind, *parts = program
    if kind == 'wrap':
        return {parts[0], *names_in(parts[1])}
    if kind in NODES:
        return {name for part in parts for name in names_in(part)}
    return {kind}


OUTER = DERIVATIVES | {
    'jit': ad.jit, 'vmap': lambda f: lambda x: ad.vmap(f)(x * np.ones(2))[1]}


def random_order(rng):
    """Return one to three derivatives, and at most two others."""
    names = rng.choices(list(DERIVATIVES), k=rng.randint(1, 3))
    names += rng.choices(['jit', 'vmap'], k=rng.randrange(3))
    rng.shuffle(names)
    return names


def check(seed):
    """Compare a random program; returns 'right', 'refused' or why not."""
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
        may = names & (ONE_WAY | {'while', 'custom_vjp'})
        if may and isinstance(error, TypeError) and (
                FORWARD in str(error) or WHILE in str(error)):
            return 'refused'
        return f'{type(error).__name__}: {error}'
    if np.allclose(actual, expected, 1e-8, 1e-10):
        return 'right'
    return f'{actual} for {expected}'


def describe(seed):
    """Return the program of a seed, and the order of its derivatives."""
    rng = random.Random(seed)
    return random_program(rng, 3), random_order(rng)
