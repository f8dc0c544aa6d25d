"""The appendix *When a derivative is wrong*: its programs, in JAX."""

import re
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from book.tools.places import ROOT
from tests.support.real_jax import jax

pytestmark = pytest.mark.rest
jnp = jax.numpy

PAGE = ROOT / 'book/appendix/check_your_rules.md'
FENCES = re.findall(r'(?ms)^```(python|py)[^\n]*\n(.*?)^```$',
                    PAGE.read_text())
NAMES = SimpleNamespace(
    **{name: getattr(jax, name) for name in (
        'checkpoint', 'custom_jvp', 'custom_vjp', 'grad', 'jit', 'jvp',
        'vmap')},
    tree_map=jax.tree.map, tree_leaves=jax.tree.leaves,
    scan=jax.lax.scan, while_loop=jax.lax.while_loop)


@pytest.fixture(scope='module')
def page():
    """The page's functions, with JAX's names, and what it writes for JAX."""
    names = {'ad': NAMES, 'np': jnp, 'partial': partial}
    for kind, text in FENCES:
        if kind == 'python' and re.search('def (forward|by_steps|plain)', text):
            exec(text.partition('\nfound = [')[0], names)
    [edge] = [text for kind, text in FENCES if 'def edge(' in text]
    exec(edge.partition('def check_rule')[0], names)
    [theirs] = [text for kind, text in FENCES if kind == 'py']
    exec(theirs, names)
    return SimpleNamespace(**names)


X = np.linspace(-1.0, 1.0, 4)


@pytest.mark.parametrize('name', ['plain', 'warm', 'careful'])
def test_the_lie_test_of_the_page_says_the_same_in_jax(page, name):
    forward, others = {'plain': ('TypeError', 'asked'),
                       'warm': ('TypeError', 'zero or nan'),
                       'careful': ('lost', 'asked')}[name]
    found = page.lie_test(getattr(page, name), page.kepler, 0.5)
    assert found == {order: forward if order == 'forward mode' else others
                     for order in page.orders}


def test_the_checks_of_the_page_accept_a_right_rule(page):
    page.check_rule(page.edge, jnp.array(X), jnp.array(0.5))

    @jax.custom_vjp
    def f(x, y):
        return x * jnp.sin(y)

    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda kept, ct: (
        ct * jnp.sin(kept[1]), jnp.sum(ct * kept[0] * jnp.cos(kept[1]))))
    page.check_rule(f, jnp.array(X), jnp.array(0.5), modes=['rev'])


def test_the_checks_of_the_page_refuse_a_rule_that_lies(page):
    with pytest.raises(AssertionError):
        page.check_rule(page.dyed(page.edge), jnp.array(X), jnp.array(0.5))


def test_the_checks_of_the_page_refuse_a_slope_of_zero(page):
    flat = jax.custom_jvp(lambda x, y: 0.0 * x * y)
    flat.defjvp(lambda xs, ts: (flat(*xs), 0.0 * ts[0]))
    with pytest.raises(AssertionError):
        page.check_rule(flat, jnp.array(X), jnp.array(0.5))


def test_dyed_copies_both_kinds_of_functions_and_leaves_them_honest(page):
    power = partial(jax.custom_vjp, nondiff_argnums=(0,))(lambda n, x: x ** n)
    power.defvjp(lambda n, x: (power(n, x), x),
                 lambda n, x, ct: (ct * n * x ** (n - 1),))
    assert jax.grad(page.dyed(power), 1)(3, 2.0) == 36.0
    assert jax.grad(power, 1)(3, 2.0) == 12.0

    pair = jax.custom_jvp(lambda x: {'a': x, 'b': (x,)})
    pair.defjvp(lambda xs, ts: (pair(*xs), {'a': ts[0], 'b': (ts[0],)}))
    assert jax.jvp(page.dyed(pair), (1.0,), (1.0,))[1] == {
        'a': 3.0, 'b': (3.0,)}
    assert jax.jvp(pair, (1.0,), (1.0,))[1] == {'a': 1.0, 'b': (1.0,)}


def test_dyed_returns_what_holds_no_number(page):
    pick = jax.custom_vjp(lambda x, i: 2 * x[i])
    pick.defvjp(lambda x, i: (pick(x, i), (x, i)), lambda kept, ct: (
        2 * ct * (jnp.arange(3) == kept[1]),
        np.zeros((), jax.dtypes.float0)))
    slope = jax.grad(page.dyed(pick), (0, 1), allow_int=True)(jnp.ones(3), 1)
    assert slope[0].tolist() == [0.0, 6.0, 0.0]
    found = page.lie_test(lambda f, x: f(x, 1), pick, jnp.ones(3))
    assert found.pop('forward mode') == 'TypeError'
    assert {*found.values()} == {'asked'}

    split = jax.custom_jvp(lambda x: (jnp.floor(x).astype(int), x))
    split.defjvp(lambda xs, ts: (
        split(*xs), (np.zeros((), jax.dtypes.float0), ts[0])))
    assert jax.jvp(page.dyed(split), (1.5,), (1.0,))[1][1] == 3.0

    first = jax.custom_jvp(lambda x, y: x)
    first.defjvp(lambda xs, ts: (first(*xs), ts[0]), symbolic_zeros=True)
    slope = jax.jvp(lambda y: page.dyed(first)(1.0, y), (2.0,), (1.0,))[1]
    assert slope == 0.0


def test_the_lie_test_takes_trees_in_jax(page):
    x = {'w': jnp.array([0.3, 0.4]), 'b': (0.5,)}
    for opened in False, True:
        found = page.lie_test(lambda f, x: jnp.sum(
            (f.fun if opened else f)(x['w'], 2.0)) + x['b'][0] ** 2,
            page.edge, x)
        assert {*found.values()} == {'lost' if opened else 'asked'}


def test_the_checks_of_the_page_refuse_a_nan_that_grad_hides(page):
    power = jax.custom_jvp(lambda x, y: x ** y)

    @power.defjvp
    def rule(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, tangents
        z = power(x, y)
        return z, y * x ** (y - 1) * x_dot + z * jnp.log(x) * y_dot

    x, y = jnp.arange(3.0), jnp.array(2.0)
    slope = jax.jit(jax.grad(lambda x, y: jnp.sum(power(x, y))))(x, y)
    assert slope.tolist() == [0.0, 2.0, 4.0]
    with pytest.raises(FloatingPointError):
        page.check_rule(power, x, y)


def test_a_loop_in_jax_keeps_an_earlier_rule():
    """So a check like the page's `check_memory` would refuse any rule."""
    f = jax.custom_jvp(lambda x: 2 * x)

    def slope_says(factor):
        f.defjvp(lambda xs, ts: (f(*xs), factor * ts[0]))

    def add(total, x):
        return total + f(x), None

    in_order = jax.grad(lambda x: add(0.0, x)[0])
    in_a_loop = jax.grad(lambda x: jax.lax.scan(add, 0.0, x[None])[0])
    slope_says(7.0)
    assert in_order(1.0) == in_a_loop(jnp.array(1.0)) == 7.0
    slope_says(11.0)
    assert in_order(1.0) == 11.0 and in_a_loop(jnp.array(1.0)) == 7.0


@pytest.mark.parametrize('k, forgets', [(1.0, False), (10.0, True)])
def test_a_flow_that_forgets_does_not_return(page, k, forgets):
    back = page.flow_back(lambda y, t: -k * y, 1.0, jnp.array([0.0, 2.0]))
    assert (abs(back - 1.0) > 0.01) == forgets
