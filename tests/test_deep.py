"""Guard long programs: nothing recurses over their length."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.amount import rest

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
