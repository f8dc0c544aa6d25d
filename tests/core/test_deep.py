"""Guard long programs: nothing recurses over their length."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.amount import rest

LONG = '''
import sys
import numpy as np
import autodiff_mini as ad

def f(x):
    y = x
    for _ in range({count}):
        y = np.sin(y) * 1.0001
    return y

def slope(x):
    y, y_dot = x, 1.0
    for _ in range({count}):
        y, y_dot = np.sin(y) * 1.0001, y_dot * np.cos(y) * 1.0001
    return y_dot

x, xs = 1.5, np.arange(3.0)
sys.setrecursionlimit(300)
slopes = [
    ad.jvp(f, (x,), (1.0,))[1],
    ad.grad(f)(x),
    ad.jit(ad.grad(f))(x),
    ad.grad(ad.jit(f))(x),
    ad.vmap(ad.grad(f))(xs),
    ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(xs)]
jaxpr = ad.make_jaxpr(f)(x)
[y] = ad.eval_jaxpr(jaxpr, [], x)
str(jaxpr)
sys.setrecursionlimit(1000)
for found in slopes:
    at = x if np.ndim(found) == 0 else xs
    np.testing.assert_allclose(found, slope(at), rtol=1e-9)
assert y == f(x) and len(jaxpr.eqns) == 2 * {count}
'''


# More than the recursion limit is enough; 50,000 also shows that it is fast.
@pytest.mark.parametrize('count', [1000, rest(50_000)])
def test_no_transformation_recurses_over_a_long_program(count):
    result = subprocess.run(
        [sys.executable, '-c', LONG.format(count=count)],
        capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr


# The time is linear if the work is: equations are counted.

def chain(count, x):
    y = x
    for _ in range(count):
        y = np.sin(y) * x
    return y


def equations(count):
    """Return how many equations a chain makes, in each program."""
    f = partial(chain, count)
    jaxpr = ad.make_jaxpr(f)(0.5)
    _, f_jvp = ad.linearize(f, 0.5)
    whole = ad.make_jaxpr(ad.grad(f))(0.5)
    _, f_vjp = ad.vjp(f, 0.5)
    transposed = ad.make_jaxpr(f_vjp)(1.0)
    return np.array([len(jaxpr.eqns), len(f_jvp.program.jaxpr.eqns),
                     len(whole.eqns), len(transposed.eqns),
                     len(ad.tree_leaves(f_jvp))])


def test_ten_times_the_operations_are_ten_times_the_equations():
    small, large = equations(30), equations(300)
    assert np.all(large <= 10 * small + 10)
    assert np.all(large >= 9 * small)
    assert large[0] == 600


def test_a_value_used_often_is_transposed_once():
    """Along paths, not equations, there would be 2^n of them."""
    def doubling(x):
        for _ in range(200):
            x = x + x
        return x

    _, f_vjp = ad.vjp(doubling, 1.0)
    assert len(ad.make_jaxpr(f_vjp)(1.0).eqns) == 200
    assert f_vjp(1.0) == (2.0 ** 200,)


# Functions that are nested in each other.

def by_rule(f):
    g = ad.custom_jvp(lambda x: f(x))
    g.defjvps(lambda x_dot, y, x: x_dot * np.cos(x))
    return g


def by_reverse_rule(f):
    g = ad.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (ct * np.cos(x),))
    return g


def by_nested_rule(f):
    g = ad.custom_vjp(lambda x: f(x))
    g.defvjp(lambda x: ad.vjp(f, x), lambda pull, ct: pull(ct))
    return g


NESTS = {
    'jit': ad.jit, 'checkpoint': ad.checkpoint, 'custom_jvp': by_rule,
    'custom_vjp': by_reverse_rule, 'nested_rule': by_nested_rule,
    'cond': lambda f: lambda x: ad.cond(x > -9, f, np.cos, x),
    'scan': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'while_loop': lambda f: lambda x: ad.while_loop(
        lambda c: c[1] < 1, lambda c: (f(c[0]), c[1] + 1), (x, 0))[0]}
WAYS = {
    'eager': (lambda f: f(0.5), np.sin(0.5)),
    'jit': (lambda f: ad.jit(f)(0.5), np.sin(0.5)),
    'vmap': (lambda f: ad.vmap(f)(np.array([0.5])), [np.sin(0.5)]),
    'grad': (lambda f: ad.grad(f)(0.5), np.cos(0.5))}


def nested(nest, count):
    f = np.sin
    for _ in range(count):
        f = NESTS[nest](f)
    return f


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('nest', NESTS)
def test_functions_in_each_other_are_computed(nest, way):
    transform, expected = WAYS[way]
    if (nest, way) == ('while_loop', 'grad'):
        transform = lambda f: ad.jvp(f, (0.5,), (1.0,))[1]
    np.testing.assert_allclose(transform(nested(nest, 20)), expected, 1e-14)


@pytest.mark.parametrize('way', WAYS)
@pytest.mark.parametrize('nest', NESTS)
def test_an_error_says_how_deeply_functions_are_nested(nest, way):
    """They do not call themselves, so it does not say that they do."""
    transform, _ = WAYS[way]
    with pytest.raises(RecursionError, match=(
            r'^maximum recursion depth exceeded: functions are nested in '
            r'each other too deeply, in \d\d+ levels so far.*ad.scan')) as e:
        transform(nested(nest, 400))
    assert 'calls itself' not in str(e.value)
    assert ad.grad(ad.jit(np.sin))(0.5) == np.cos(0.5)


@pytest.mark.parametrize('nest', [
    rest('jit'), 'checkpoint', rest('custom_jvp')])
def test_hundreds_of_levels_are_computed_if_python_may_go_deeper(nest):
    """The error says how.  In its own process, because the limit is too."""
    program = (
        'import sys; sys.setrecursionlimit(10_000)\n'
        'from tests.core.test_deep import WAYS, nested\n'
        'for transform, expected in WAYS.values():\n'
        f'    y = transform(nested({nest!r}, 200))\n'
        '    assert abs(y - expected) < 1e-14\n')
    subprocess.run([sys.executable, '-c', program], check=True)


def calls_of(f):
    """Return how many Python functions are called."""
    count = 0

    def tool(frame, event, arg):
        nonlocal count
        count += event == 'call'
    sys.setprofile(tool)
    try:
        f()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize('nest, count, most', [
    ('jit', 40, 14), ('checkpoint', 30, 4), rest('cond', 30, 20)])
def test_the_work_of_nested_functions_does_not_explode(nest, count, most):
    """Each transformation of each level pruned all levels inside again."""
    few, many = [calls_of(lambda: ad.jit(ad.grad(nested(nest, n)))(0.5))
                 for n in (10, count)]
    assert many < most * few
