"""Guard long programs: nothing recurses over their length."""

import subprocess
import sys
import textwrap
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.amount import rest

def run(program, **parts):
    """Run a program in a process of its own, to its last line."""
    result = subprocess.run(
        [sys.executable, '-c', textwrap.dedent(program).format(**parts)],
        capture_output=True, text=True, timeout=240)
    assert result.stdout == 'done\n', result.stderr


# More than the recursion limit will do; 50,000 also shows that it is fast.
each_count = pytest.mark.parametrize('count', [5000, rest(50_000)])


SLOPE = '''
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

    x, expected = {x}, slope({x})
    sys.setrecursionlimit(300)
    gradient = {gradient}
    sys.setrecursionlimit(1000)
    np.testing.assert_allclose(gradient, expected, rtol=1e-9)
    print('done')
'''


@pytest.mark.parametrize('x, gradient', [
    ('1.5', 'ad.jvp(f, (x,), (1.0,))[1]'),
    ('1.5', 'ad.grad(f)(x)'),
    ('1.5', 'ad.jit(ad.grad(f))(x)'),
    ('1.5', 'ad.grad(ad.jit(f))(x)'),
    ('np.arange(3.)', 'ad.vmap(ad.grad(f))(x)'),
    ('np.arange(3.)', 'ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(x)'),
])
@each_count
def test_a_derivative_of_a_long_program_does_not_recurse(x, gradient, count):
    run(SLOPE, x=x, gradient=gradient, count=count)


STAGED = '''
    import sys
    import numpy as np
    import autodiff_mini as ad

    def f(x):
        y = x
        for _ in range({count}):
            y = y * 0.999 + x
        return y

    sys.setrecursionlimit(300)
    jaxpr = ad.make_jaxpr(f)(1.5)
    (y,) = ad.eval_jaxpr(jaxpr, [], 1.5)
    str(jaxpr)
    sys.setrecursionlimit(1000)
    assert y == f(1.5) and len(jaxpr.eqns) == 2 * {count}
    print('done')
'''


@each_count
def test_a_long_program_is_written_down_printed_and_run(count):
    run(STAGED, count=count)


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
    backward = ad.make_jaxpr(ad.linearize(f, 0.5)[1])(1.0)
    whole = ad.make_jaxpr(ad.grad(f))(0.5)
    _, f_vjp = ad.vjp(f, 0.5)
    transposed = ad.make_jaxpr(f_vjp)(1.0)
    return np.array([len(jaxpr.eqns), len(f_jvp.program.jaxpr.eqns),
                     len(backward.eqns), len(whole.eqns),
                     len(transposed.eqns), len(ad.tree_leaves(f_jvp))])


def test_ten_times_the_operations_are_ten_times_the_equations():
    small, large = equations(100), equations(1000)
    assert np.all(large <= 10 * small + 10)
    assert np.all(large >= 9 * small)
    assert large[0] == 2000         # and not one that nobody asked for


def test_a_value_that_is_used_often_is_run_backwards_once():
    """Along paths, not equations, there would be 2^n of them."""
    def doubling(x):
        for _ in range(200):
            x = x + x
        return x

    _, f_vjp = ad.vjp(doubling, 1.0)
    assert len(ad.make_jaxpr(f_vjp)(1.0).eqns) == 200
    assert f_vjp(1.0) == (2.0 ** 200,)
