"""The table of programs with custom rules, in the form of programs.py.

Most rules are wrong on purpose, so a result shows whether its rule was used.
The `truth` of a program has the derivative that the rule claims at this
point.
"""

from importlib import import_module

import numpy

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from tests.tables.programs import Program, f32, f64

CUSTOM_PROGRAMS = []


def program(name, function, *args, **options):
    CUSTOM_PROGRAMS.append(Program(name, function, args, **options))


def system(np):
    """Return the library that belongs to `np`: ours, or JAX."""
    return ad if np is numpy else import_module('jax')


def custom(np, f, rule, *argnums, **options):
    """Return `f` with a rule that is also passed the function."""
    g = system(np).custom_jvp(f, nondiff_argnums=argnums)
    g.defjvp(lambda *args: rule(g, *args), **options)
    return g


X, Y, SINGLE = f64(3), f64(3), f32(3)


def lying_sin(np):
    return custom(np, lambda x: np.sin(x), lambda f, p, t: (
        f(*p), 3 * np.cos(p[0]) * t[0]))


for name, x in {'float': 0.7, 'array': X, 'single': SINGLE}.items():
    program(f'custom_sin_{name}', lambda np, x: lying_sin(np)(x), x,
            truth=lambda np, x: 3 * np.sin(x))
program('custom_sin_inside', lambda np, x: x * lying_sin(np)(x * x), X,
        truth=lambda np, x: x * np.sin(X * X) + X * 3 * np.sin(x * x))


def exp_of(np):
    return custom(np, lambda x: np.exp(x),
                  lambda f, p, t: (f(*p), 2 * f(*p) * t[0]))


program('custom_rule_calls_it', lambda np, x: exp_of(np)(x), X,
        truth=lambda np, x: 2 * np.exp(x))


def defjvps_product(np, x, y):
    f = system(np).custom_jvp(lambda x, y: x * y)
    f.defjvps(lambda t, out, x, y: 3 * t * y,
              lambda t, out, x, y: out * t)
    return f(x, y)


for name, y in {'arrays': Y, 'array_float': 1.5}.items():
    program(f'custom_defjvps_{name}', defjvps_product, X, y,
            truth=lambda np, x, y, b=y: 3 * x * b + X * b * y)


def trees(np, p, q):
    def f(p, q):
        return {'a': p['x'] * q, 'b': (p['y'], None)}

    def rule(f, primals, tangents):
        (p, q), (p_dot, q_dot) = primals, tangents
        return f(p, q), {'a': 3 * p_dot['x'] * q + p['x'] * q_dot,
                         'b': (7 * p_dot['y'], None)}

    out = custom(np, f, rule)(p, q)
    return out['a'] + out['b'][0]


program('custom_trees', lambda np, x, y, z: trees(np, {'x': x, 'y': y}, z),
        X, Y, 1.5, truth=lambda np, x, y, z: 3 * x * 1.5 + 7 * y + X * z)


def nondiff_function(np, x):
    def rule(f, g, n, primals, tangents):
        return f(g, *primals, n), 3 * n * tangents[0]

    f = custom(np, lambda g, x, n: g(x) * n, rule, 0, 2)
    return f(lambda x: np.cos(x), x, 4)


program('custom_nondiff', nondiff_function, X,
        truth=lambda np, x: 12 * x)


def symbolic(np, x, y):
    def rule(f, primals, tangents):
        terms = [k * t for k, t in zip((3, 5, 7), tangents)
                 if type(t).__name__ != 'SymbolicZero']
        return f(*primals), sum(terms)

    f = custom(np, lambda x, y, z: x + y + z, rule, symbolic_zeros=True)
    return f(x, 2 * x, np.ones(3)) * y


program('custom_symbolic_zeros', symbolic, X, Y,
        truth=lambda np, x, y: 13 * x * Y + (3 * X + 1) * y)


def rule_calls_jvp(np, x, y):
    g = lambda x, y: np.sin(x) * y
    f = custom(np, g, lambda f, p, t: system(np).jvp(g, p, t))
    return f(x, y)


program('custom_rule_calls_jvp', rule_calls_jvp, X, Y)


def keywords(np, x, y):
    def f(x, n=2.0, *, scale=1.0):
        return x * n * scale

    f = custom(np, f, lambda f, p, t: (f(*p), 3 * t[0] * p[1] + p[0] * t[1]))
    return f(n=y, x=x) + f(x)


program('custom_keywords', keywords, X, 1.5,
        truth=lambda np, x, y: 3 * x * 1.5 + X * y + 6 * x)
program('custom_integer_argument', lambda np, x, n: custom(
    np, lambda x, n: x ** n, lambda f, p, t: (
        f(*p), 3 * p[0] * t[0]))(x, n), X, 2,
    truth=lambda np, x, n: 1.5 * x * x)


def closes_over(np, x):
    c = np.arange(3.0)
    f = custom(np, lambda x: x * c, lambda f, p, t: (f(*p), 3 * c * t[0]))
    return f(x)


program('custom_closes_over', closes_over, X,
        truth=lambda np, x: 3 * np.arange(3.0) * x)


def constant(np, x):
    return lying_sin(np)(0.5) * x


program('custom_of_constant', constant, X)


def inner_jvp(np, x):
    """Hard case 10, in its JVP form."""
    jvp = system(np).jvp
    d = lambda f: lambda x: jvp(f, (x,), (np.ones(np.shape(x)),))[1]
    r = system(np).custom_jvp(lambda x, y: x * y)
    r.defjvps(lambda t, o, x, y: t * d(lambda z: z * y)(x),
              lambda t, o, x, y: t * x)
    return x * d(lambda y: r(x, y))(2. * np.ones(np.shape(x)))


program('custom_inner_jvp', inner_jvp, X, truth=lambda np, x: x * x)


def inner_vmap(np, x):
    """Hard case 2: the rule closes over a vmap tracer."""
    def inner(c):
        return custom(np, lambda y: c * y,
                      lambda f, p, t: (c * p[0], 5 * c * t[0]))(x)
    return system(np).vmap(inner)(np.arange(3.))


program('custom_inner_vmap', inner_vmap, X, truth=lambda np, x:
        5 * np.arange(3.)[:, None] * x)


def more_batched(np, x, y):
    """Under an inner vmap, an output is not batched but its tangent is."""
    f = custom(np, lambda x, c: x, lambda f, p, t: (p[0], p[1] * t[0]))
    return system(np).vmap(f, (None, 0))(x, y)


program('custom_rule_more_batched', more_batched, X, f64(4),
        truth=lambda np, x, y: MORE[:, None] * x)
MORE = CUSTOM_PROGRAMS[-1].args[1]

def used_linearly(np, x):
    """The rule uses a function that is linear only in its first argument."""
    g = custom(np, lambda t, y: t * np.cos(y), lambda g, p, t: (
        g(*p), g(t[0], p[1]) - 10 * p[0] * np.sin(p[1]) * t[1]))
    return custom(np, lambda x: np.sin(x), lambda f, p, t: (
        f(*p), g(t[0], p[0])))(x)


program('custom_used_linearly', used_linearly, X,
        jax='JAX forgets the rule of g in reverse mode')

# call, which JAX does not expose to users

OURS = 'a plain call is ours'
program('call_sin', lambda np, x: call(np.sin, x), X, jax=OURS)
program('call_closure', lambda np, x: call(lambda y: x * y, x), X, jax=OURS)
program('call_tree', lambda np, x, y: call(
    lambda p: [p['x'] * p['y'], np.cos(p['x'])],
    {'x': y, 'y': x})[0], X, 1.5, jax=OURS)
program('call_custom', lambda np, x: call(lying_sin(np), x), X, jax=OURS,
        truth=lambda np, x: 3 * np.sin(x))
