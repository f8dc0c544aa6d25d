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
                       'warm': ('TypeError', 'lost'),
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


@pytest.mark.parametrize('k, forgets', [(1.0, False), (10.0, True)])
def test_a_flow_that_forgets_does_not_return(page, k, forgets):
    back = page.flow_back(lambda y, t: -k * y, 1.0, jnp.array([0.0, 2.0]))
    assert (abs(back - 1.0) > 0.01) == forgets
