"""closures.py and gradient.py: captured values become arguments.

The rules say three times the truth, so a result shows whether its rule was
used.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Tracer
from tests.support.identical import assert_own
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import X, d, nested, point, staged, summed_grad
from tests.support.vjp_rules import custom, refused


def by_conversion(make):
    """Return `loss(c) = f(2.0)` for `f = make(c)`, by closure_convert.

    The converted function has a custom rule that uses `values`.
    """
    def loss(c):
        f, values = ad.closure_convert(make(c), 2.0)
        by_rule = custom(f, lambda *args: ad.vjp(f, *args),
                         lambda pullback, ct: pullback(ct))
        return by_rule(2.0, *values)
    return loss


# closure_convert: which values, and what the function returns

def test_the_converted_function_takes_arguments_and_then_values():
    def loss(s):
        def f(x, y):
            return s * x + y
        converted, values = ad.closure_convert(f, 1.0, 1.0)
        assert converted.__qualname__ == f.__qualname__
        assert type(values) is list and values == [s]
        assert values[0] is s
        assert converted(5.0, 7.0, 11.0) == 62.0
        return converted(5.0, 7.0, *values)

    assert ad.value_and_grad(loss)(2.0) == (17.0, 5.0)


def test_plain_values_stay_closed_over():
    for closed in 2.0, True, np.float32(2), np.full(4, 2.0), np.arange(4), 2j:
        f, values = ad.closure_convert(lambda x: x * closed, X)
        assert values == []
        assert_close(f(2 * X), 2 * X * closed)
        assert_close(staged(f)(2 * X), 2 * X * closed)


def test_results_of_a_converted_function_belong_to_the_caller():
    f, _ = ad.closure_convert(lambda x: (X, X, x, x), X)
    assert_own(f(X), [X, f(X)])


def test_tracers_of_every_kind_become_arguments():
    counts = []

    def f(x):
        converted, values = ad.closure_convert(lambda y: x * y, 1.0)
        counts.append(len(values))
        assert all(isinstance(v, Tracer) for v in values)
        return converted(2.0, *values)
    for use in (ad.grad(f), d(f), staged(f), lambda x: ad.vmap(f)(x * X),
                d(d(f)), staged(ad.grad(f)), lambda x: d(ad.vmap(f))(x * X)):
        use(3.0)
    assert counts == [1] * 7


@pytest.mark.asks('D10')
def test_a_converted_function_takes_trees_with_none_and_nodes(node):
    def loss(s):
        def f(p, q, none):
            assert none is None and type(q) is node
            q = node(q.x, q.unit)
            return {'a': [p['x'] * s, None], 'b': q, 'n': none}

        args = {'x': 2.0, 'y': None}, node(3.0, 'm'), None
        converted, values = ad.closure_convert(f, *args)
        out = converted(*args, *values)
        assert out['b'] == node(3.0, 'm') and out['n'] is out['a'][1] is None
        return out['a'][0]

    assert ad.value_and_grad(loss)(5.0) == (10.0, 2.0)


MAKERS = {
    'product': lambda c: lambda x: c * x,
    'program': lambda c: lambda x: np.sin(c * x) * c,
    'array': lambda c: lambda x: np.sum(c * x * X),
    'two': lambda c, e=3.0: lambda x: (c * x) ** 2 + c * e,
    'constant': lambda c: lambda x: x ** 3 + 0 * c,
    'nested': lambda c: lambda x: by_conversion(
        lambda e: lambda y: c * e * y)(x * c),
    'inner_grad': lambda c: lambda x: ad.grad(lambda y: np.sin(c * y))(x),
    'inner_vmap': lambda c: lambda x: ad.vmap(lambda y: c * y * x)(X).sum(),
}


@pytest.mark.asks('D17')
@pytest.mark.parametrize('name', MAKERS)
def test_converted_functions_have_the_plain_derivatives(name):
    """The plain function gives the expected result, in every nesting."""
    make = MAKERS[name]
    for names in 'svg', 'gvs', 'gg', 'ggs', 'vgg', 'gsv', 'gvg':
        x = point(names) + 2.0
        assert_close(nested(by_conversion(make), names)(x),
                     nested(lambda c: make(c)(2.0), names)(x))


# The solver of chapter 22

@partial(ad.custom_vjp, nondiff_argnums=(0, 3))
def solve(f, params, x0, tol):
    """Return the x with x == f(params, x)."""
    x, y = x0, f(params, x0)
    while abs(y - x) > tol:
        x, y = y, f(params, y)
    return y


def solve_fwd(f, params, x0, tol):
    x = solve(f, params, x0, tol)
    return x, ad.vjp(f, params, x)[1]


def solve_bwd(f, tol, pullback, ct):
    _, slope = pullback(1.0)
    return pullback(ct / (1 - slope))[0], None


solve.defvjp(solve_fwd, solve_bwd)


def find(f, params, x0, tol=1e-14):
    """Like `solve`, but `f` can close over differentiated values."""
    f, values = ad.closure_convert(f, params, x0)
    return solve(lambda both, x: f(both[0], x, *both[1]), (params, values),
                 x0, tol)


def unrolled(f, params, x0):
    x = x0
    for _ in range(60):
        x = f(params, x)
    return x


def settled(how, scale, shift):
    def spring(params, x):
        return params['scale'] * np.cos(x) + shift
    return how(spring, {'scale': scale, 'data': [None, X]}, 0.0)


@pytest.mark.asks('D15')
def test_a_solver_differentiates_captured_values():
    refused(lambda shift: settled(partial(solve, tol=1e-9), 0.5, shift),
            'custom_vjp function with respect to a closed-over value', x=1.0)
    slopes = lambda how: ad.grad(partial(settled, how), (0, 1))(0.5, 1.0)
    ad.tree_map(assert_close, slopes(find), slopes(unrolled))
    ad.check_grads(partial(settled, find), (0.5, 1.0), 1, modes='rev')


# closure_convert: mistakes

def convert(s, *examples, make=lambda s: lambda x: s * x):
    return ad.closure_convert(make(s), *examples or (1.0,))[0]


CONVERSIONS = {
    'shape': (lambda s: convert(s)(X, s), TypeError,
              r'arguments\[0\]: expected float64\[\], but got float64\[4\]'),
    'dtype': (lambda s: convert(s)(np.float32(1), s), TypeError,
              r'arguments\[0\]: expected float64\[\], but got float32\[\]'),
    'integer': (lambda s: convert(s)(1, s), TypeError,
                r'arguments\[0\]: expected float64\[\], but got int64\[\]'),
    'tree': (lambda s: convert(s)([1.0], s), TypeError,
             r'expected arguments with the structure PyTreeDef\(\(\*,\)\) of '
             r'the examples, but got PyTreeDef\(\(\[\*\],\)\)'),
    'leaf': (lambda s: convert(s, {'a': [1.0, X]}, make=lambda s: (
        lambda p: p['a'][0] * s))({'a': [1.0, X[1:]]}, s), TypeError,
        r"arguments\[0\]\['a'\]\[1\]: expected float64\[4\], but got "
        r'float64\[3\]'),
    'text': (lambda s: convert(s)('text', s), TypeError,
             r'arguments\[0\]: .*type str'),
    'example': (lambda s: convert(s, 'text'), TypeError,
                r'args\[0\]: .*type str'),
    'no_values': (lambda s: convert(s)(2.0), TypeError, 'expected .*value'),
    'nothing': (lambda s: convert(s)(), TypeError, 'expected .*value'),
    'many': (lambda s: convert(s)(2.0, s, s), TypeError, 'expected .*value'),
    'value': (lambda s: np.sum(convert(s)(2.0, s * X)), TypeError,
              r'expected float64\[\], but got float64\[4\]'),
    'output': (lambda s: convert(s, make=lambda s: lambda x: 'text'),
               TypeError, 'type str'),
    'branch': (lambda s: convert(s, make=lambda s: (
        lambda x: s if x > 0 else x)), ad.TracerBoolConversionError,
        'np.where'),
}


@pytest.mark.parametrize('name', CONVERSIONS)
def test_mistakes_with_a_converted_function_are_named(name):
    wrong, error, words = CONVERSIONS[name]
    for use in wrong, ad.grad(wrong), staged(wrong):
        refused(use, f'(closure_convert of the .*lambda in line .*).*{words}', error)
    refused(lambda s: ad.vmap(wrong)(s * X).sum(), words, error)


# custom_gradient

@ad.custom_gradient
def square(x):
    """Return x^2; the rule says 3x."""
    return x * x, lambda ct: 3 * x * ct


@pytest.mark.asks('D1')
def test_custom_gradient_keeps_its_rule_under_vmap():
    assert square(3.0) == 9.0 and ad.grad(square)(1.0) == 3.0
    assert_same(ad.vmap(square)(X), X * X)
    assert_close(ad.vmap(ad.grad(square))(X), 3 * X)
    assert_close(summed_grad(square)(X), 3 * X)
    assert_close(summed_grad(ad.vmap(square))(X), 3 * X)
    assert_close(ad.jacrev(square)(X), np.diag(3 * X))


@pytest.mark.asks('D4')
def test_the_function_of_custom_gradient_sees_values():
    seen = []

    def branching(x):
        seen.append(x)
        if x > 0:
            return x, lambda ct: 3 * ct
        return -2 * x, lambda ct: -5 * ct
    f = ad.custom_gradient(branching)
    assert ad.grad(f)(2.0) == 3.0 and ad.grad(f)(-2.0) == -5.0
    assert seen == [2.0, -2.0]


@pytest.mark.asks('D17')
def test_a_closed_over_value_is_differentiated():
    for where in 'f', 'rule', 'bare':
        def f(c):
            def closer(y):
                rule = {'rule': lambda ct: ct * c, 'bare': lambda ct: c}
                return (y * c if where == 'f' else y,
                        rule.get(where, lambda ct: ct))
            return ad.custom_gradient(closer)(1.0 if where == 'f' else c)
        refused(f, 'Detected differentiation of a custom_vjp function with '
                'respect to a closed-over value: .*closer.*Pass the value')
    assert ad.grad(lambda c: ad.grad(ad.custom_gradient(
        lambda y: (y, lambda ct: c * ct)))(2.0))(3.0) == 1.0
