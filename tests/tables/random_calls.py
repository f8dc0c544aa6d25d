"""Random nests of calls in calls, differentiated to second order.

A program is a tree of tuples. Its leaves are small smooth functions, most of
which have rules that lie, some with another lie for each mode. Its wrappers
are all kinds of calls, two or three deep. The expected result is that of the
same program without its wrappers, where a loop is unrolled and no `fwd` is
optimized, under the same derivatives. If a leaf lies the same in both modes,
`jvp` alone has to give this result too.
"""

import random

import numpy as np

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from tests.tables.random_rules import (
    both_on_tangent, lying, on_tangent, reverse_on_tangent, two_outputs,
    with_jvp)
from tests.tables.rule_laws import FORWARD, WHILE, staged


def same(f):
    return f


def tangent(f):
    """Return a function of a point and its tangent."""
    return lambda x, t: ad.jvp(f, (x,), (t,))[1]


def cotangent(f):
    return lambda x, ct: ad.vjp(f, x)[1](ct)[0]


# The leaves: each is passed a lie, and whether the program has its wrappers.

def pulled(lie, wrapped, **options):
    """Its fwd calls the function, so a second derivative lies again."""
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), (x, np.cos(x))),
             lambda r, ct: (lie * ct * r[1],), **options)
    return f


def remat(lie, wrapped):
    return pulled(lie, wrapped, optimize_remat=wrapped)


def remat_written_out(lie, wrapped):
    """Its fwd computes the output itself, so that is differentiated."""
    f = ad.custom_vjp(lambda x: np.tanh(x))

    def fwd(x):
        y = np.tanh(x.value)
        return y, 1 - y * y
    f.defvjp(fwd, lambda r, ct: (lie * ct * r,), symbolic_zeros=True,
             optimize_remat=wrapped)
    return f


def remat_both(lie, wrapped):
    """The rule for forward mode tells another lie."""
    f = ad.custom_vjp(lambda x: np.cos(x))
    f.defvjp(lambda x: (f(x), -np.sin(x)), lambda r, ct: (lie * ct * r,),
             optimize_remat=wrapped)
    f.defjvp(lambda p, t: (f(*p), -4 * np.sin(p[0]) * t[0]))
    return f


def remat_in_remat(lie, wrapped):
    """A fwd that calls another function with such a rule."""
    inner = remat(lie, wrapped)
    f = ad.custom_vjp(lambda x: inner(x) + inner(0.5 * x))

    def fwd(x):
        y, pullback = ad.vjp(lambda x: inner(x) + inner(0.5 * x), x)
        return y, pullback
    f.defvjp(fwd, lambda pullback, ct: (2 * pullback(ct)[0],),
             optimize_remat=wrapped)
    return f


def primitive(lie, wrapped, by='jvp'):
    p = ad.Primitive('lie')
    p.def_impl(lambda x: np.sin(x))
    p.def_abstract_eval(lambda x: x)
    p.def_vmap(lambda xs, dims: (p.bind(*xs), dims[0]))
    if by == 'jvp':
        p.def_jvp(lambda xs, ts: (
            p.bind(*xs), lie * np.cos(xs[0]) * ad.instantiate_zeros(ts[0])))
    else:
        p.def_vjp(lambda x: (p.bind(x), x),
                  lambda x, ct: (lie * np.cos(x) * ct,))
    return p.bind


def solved(lie, wrapped):
    """The x with x == lie / 9 * sin(x) + a."""
    return lambda a: ad.fixed_point(
        lambda a, x: lie / 9 * np.sin(x) + a, a, 0.0 * a)


def by_rule(leaf):
    return lambda lie, wrapped: leaf(lie, same)


LEAVES = {
    'sine': lambda lie, wrapped: lambda x: np.sin(x) + x / 2,
    'square': lambda lie, wrapped: lambda x: x * x / 2 + lie * x,
    'pulled': pulled, 'remat': remat, 'remat_both': remat_both,
    'remat_written_out': remat_written_out,
    'remat_in_remat': remat_in_remat, 'primitive': primitive,
    'primitive_vjp': lambda *args: primitive(*args, by='vjp'),
    'solved': solved, 'lying': by_rule(lying),
    'two_outputs': by_rule(two_outputs), 'on_tangent': by_rule(on_tangent),
    'both_on_tangent': by_rule(both_on_tangent),
    'reverse_on_tangent': by_rule(reverse_on_tangent)}
BACKWARD = {'pulled', 'remat', 'remat_written_out', 'remat_in_remat',
            'primitive_vjp', 'reverse_on_tangent'}
ONE_LIE = {'sine', 'square', 'lying', 'two_outputs', 'on_tangent',
           'both_on_tangent', 'primitive', 'solved'}
WRITTEN_OUT = {'remat_written_out', 'remat_in_remat'}
REMAT = [name for name in LEAVES if name.startswith('remat')]
# A program with a rule on a tangent is run backwards by transposing its
# derivative.  So each bwd must be a linear program, and inside custom_vmap
# it must say what the other rule says.
NOT_WITH_TANGENTS = {'solved', 'remat_both'}


# The wrappers: calls that change nothing, each a function of a function.

def with_jvp_rule(f):
    return with_jvp(f, lambda g, x, t: (g(x), tangent(f)(x, t)))


def with_vjp_rule(f, **options):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (cotangent(f)(x, ct),),
             **options)
    return g


def with_both_rules(f):
    g = with_vjp_rule(f, optimize_remat=True)
    g.defjvp(lambda p, t: (g(*p), tangent(f)(*p, *t)))
    return g


def with_vmap_rule(f):
    g = ad.custom_vmap(f)
    g.def_vmap(lambda size, mapped, x: (ad.vmap(f)(x), True))
    return g


def checkpointed(policy):
    return lambda f: ad.checkpoint(lambda x: f(x), policy=policy)


def last_of_two(f):
    return lambda x: ad.vmap(f)(np.stack([0.5 * x, x]))[1]


def sines(primitive, *avals, **params):
    return str(primitive) in ('sin', 'cos')


POLICIES = ad.checkpoint_policies
WRAPPERS = {
    'call': lambda f: lambda x: call(f, x), 'stage': staged,
    'jit': lambda f: ad.jit(lambda x: f(x)),
    'closing jit': lambda f: lambda x: ad.jit(lambda y: f(x) + 0 * y)(2.0),
    'checkpoint': checkpointed(None),
    'closing checkpoint': lambda f: lambda x: ad.checkpoint(
        lambda y: f(x) + 0 * y)(2.0),
    'saving all': checkpointed(POLICIES.everything_saveable),
    'saving sines': checkpointed(sines),
    'custom_jvp': with_jvp_rule, 'custom_vjp': with_vjp_rule,
    'remat': lambda f: with_vjp_rule(f, optimize_remat=True),
    'both rules': with_both_rules, 'custom_vmap': with_vmap_rule,
    'sequential_vmap': lambda f: ad.sequential_vmap(f), 'vmap': last_of_two,
    'scan': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, None, 1)[0],
    'rows': lambda f: lambda x: ad.scan(
        lambda c, x: (c, f(x)), 0.0, np.stack([x, 0.5 * x]))[1][0],
    'constant': lambda f: lambda x: ad.scan(
        lambda c, _: (c, f(x)), 0.0, None, 2)[1][1],
    'zero carry': lambda f: lambda x: ad.fori_loop(
        0, 2, lambda i, c: c / 2 + f(x) * i, 0 * x),
    'fori_loop': lambda f: lambda x: ad.fori_loop(
        0, 1, lambda i, c: f(c), x),
    'cond': lambda f: lambda x: ad.cond(
        np.sum(x) > -100, f, lambda x: 0 * x, x),
    'closing cond': lambda f: lambda x: ad.cond(
        np.sum(x) > -100, lambda: f(x), lambda: 0 * x),
    'while': lambda f: lambda x: ad.while_loop(
        lambda s: s[1] < 1, lambda s: (f(s[0]), s[1] + 1), (x, 0))[0]}
OWN_BWD = 'custom_vjp', 'remat', 'both rules'
# The value of these is that of the function, and not of the fwd inside.
OWN_VALUE = *OWN_BWD, 'custom_jvp', 'custom_vmap', 'sequential_vmap'
TWICE = {   # a loop of two steps, and the same unrolled
    'scan twice': (
        lambda f: lambda x: ad.scan(
            lambda c, _: (f(c), None), x, None, 2)[0],
        lambda f: lambda x: f(f(x))),
    'and rows': (
        lambda f: lambda x: np.sum(ad.scan(
            lambda c, k: (f(c), k * c), x, np.array([2.0, 3.0]))[1], 0),
        lambda f: lambda x: 2 * x + 3 * f(x)),
    'powers': (
        lambda f: lambda x: ad.fori_loop(0, 2, lambda i, c: c * f(x), x),
        lambda f: lambda x: x * f(x) * f(x))}


def lying_jvp(f, wrapped):
    return with_jvp(f, lambda g, x, t: (g(x), 3 * tangent(f)(x, t)))


def lying_vjp(f, wrapped, **options):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (-2 * cotangent(f)(x, ct),),
             **options)
    return g


def lying_remat(f, wrapped):
    return lying_vjp(f, wrapped, optimize_remat=wrapped)


def lying_vmap(f, wrapped):
    """It has a rule for vmap, which is true, and a rule that lies."""
    g = lying_remat(f, wrapped)
    g.def_vmap(lambda size, mapped, x: (ad.vmap(f)(x), True))
    return g


LIARS = {   # the expected program has them, too
    'lying custom_jvp': lying_jvp, 'lying custom_vjp': lying_vjp,
    'lying remat': lying_remat, 'lying custom_vmap': lying_vmap}
NODES = {'after': lambda f, g: lambda x: f(g(x)),
         'times': lambda f, g: lambda x: f(x) * g(x),
         'plus': lambda f, g: lambda x: f(x) + g(x)}


def random_program(rng, depth, leaves):
    if depth == 0:
        return 'leaf', rng.choice(leaves), rng.choice([-2, 0.5, 1, 3])
    if rng.random() < 0.25:
        return rng.choice([*NODES]), *[
            random_program(rng, rng.randrange(depth), leaves)
            for _ in range(2)]
    wrap = rng.choice([*WRAPPERS, *TWICE, *LIARS])
    if wrap in OWN_VALUE:
        leaves = [name for name in leaves if name not in WRITTEN_OUT]
    if wrap in OWN_BWD:
        # In a bwd, a lie about a tangent is one about a cotangent.
        leaves = [name for name in leaves if 'tangent' not in name]
    return 'wrap', wrap, random_program(rng, depth - 1, leaves)


def build(program, wrapped=True):
    """Return the function of a program; without wrappers, the expected one.
    """
    kind, *parts = program
    if kind == 'leaf':
        return LEAVES[parts[0]](parts[1], wrapped)
    if kind in NODES:
        return NODES[kind](*[build(part, wrapped) for part in parts])
    name, f = parts[0], build(parts[1], wrapped)
    if name in LIARS:
        return LIARS[name](f, wrapped)
    if name in TWICE:
        return TWICE[name][0 if wrapped else 1](f)
    return WRAPPERS[name](f) if wrapped else f


def names_in(program):
    kind, *parts = program
    if kind == 'leaf':
        return {parts[0]}
    if kind == 'wrap':
        return {parts[0], *names_in(parts[1])}
    return {name for part in parts for name in names_in(part)}


# The derivatives of functions that treat each element alike.

def total(f):
    return lambda *xs: np.sum(f(*xs))


def ones(x):
    return np.ones(np.shape(x))[()]


def forward(f):
    return lambda x: tangent(f)(x, ones(x))


def backward(f):
    return ad.grad(total(f))


def by_vjp(f):
    return lambda x: cotangent(f)(x, ones(x))


def by_linearize(f):
    return lambda x: ad.linearize(f, x)[1](ones(x))


def value_of_grad(f):
    """Return the value that `grad` computes beside the gradient."""
    return lambda x: ad.value_and_grad(
        lambda x: (np.sum(f(x)), f(x)), has_aux=True)(x)[0][1]


def hessian(f):
    return lambda x: np.sum(ad.hessian(total(f))(x), axis=tuple(
        range(np.ndim(x))))


def jacobian(f):
    return lambda x: np.sum(ad.jacrev(f)(x), axis=tuple(range(np.ndim(x))))


def mapped(f):
    return lambda x: ad.vmap(f)(np.stack([0.5 * x, x]))[1]


FIRST = {'grad': backward, 'jvp': forward, 'linearize': by_linearize,
         'vjp': by_vjp, 'jacrev': jacobian,
         'value': lambda f: backward(value_of_grad(f))}
ORDERS = {
    (): same, **{(name,): f for name, f in FIRST.items()},
    **{(a, b): (lambda f, a=a, b=b: FIRST[a](FIRST[b](f)))
       for a in FIRST for b in FIRST},
    ('hessian',): hessian,
    ('hessian', 'grad'): lambda f: hessian(backward(f))}
LENGTH = {'hessian': 2}
REVERSE, PUSHED = {'grad', 'vjp', 'jacrev', 'value'}, {'jvp', 'linearize'}
OUTSIDE = {'nothing': same, 'jit': ad.jit, 'vmap': mapped,
           'jit of vmap': lambda f: ad.jit(mapped(f)),
           'vmap of jit': lambda f: mapped(ad.jit(f)),
           'checkpoint': ad.checkpoint}


def choose(rng, leaves):
    """Return a random program, derivatives, what is around them, a point."""
    apart = rng.random() < 0.5
    leaves = [name for name in leaves if not (
        name in NOT_WITH_TANGENTS if apart else 'tangent' in name)]
    program = random_program(rng, rng.choice([2, 3]), leaves)
    names, orders = names_in(program), [*ORDERS]
    if names & {*BACKWARD, *OWN_BWD, *LIARS} - {'lying custom_jvp'}:
        orders = [order for order in ORDERS if {*order} <= REVERSE]
    elif 'while' in names:
        orders = [order for order in ORDERS if {*order} <= PUSHED]
    order, outside = rng.choice(orders), rng.choice([*OUTSIDE])
    x = 0.3 if rng.random() < 0.6 else np.array([0.3, 0.7])
    return program, order, outside, x


def check(seed, leaves=tuple(LEAVES)):
    """Compare a random program; return 'right', 'refused', or the mistake."""
    program, order, outside, x = choose(random.Random(seed), leaves)
    names = names_in(program)
    f = OUTSIDE[outside](ORDERS[order](build(program)))
    oracle = ORDERS[order](build(program, False))
    try:
        expected = oracle(x)
    except TypeError as error:
        if FORWARD not in str(error) or not names & {*BACKWARD, *LIARS}:
            return f'the expected one raises {error}'
        expected = None
    try:
        actual = f(x)
    except Exception as error:
        one_way = names & {*BACKWARD, *OWN_BWD, *LIARS, 'while'}
        if one_way and isinstance(error, TypeError) and (
                FORWARD in str(error) or WHILE in str(error)):
            return 'refused'
        return f'{type(error).__name__}: {error}'
    if expected is None:    # the refused value was not needed
        return 'refused'
    if names & {*LEAVES, *LIARS} <= ONE_LIE:
        alone = build(program, False)
        for _ in range(sum(LENGTH.get(name, 1) for name in order)):
            alone = forward(alone)
        if not np.allclose(alone(x), expected, 1e-7, 1e-9):
            return f'{expected} without wrappers, but {alone(x)} by jvp'
    if np.allclose(actual, expected, 1e-7, 1e-9):
        return 'right'
    return f'{actual} for {expected}'
