"""The appendix *When a derivative is wrong*: its tools find what they should."""

import re
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.wings import needs

pytestmark = [needs('applications'), needs('debugging'), needs('more_calls')]

PAGE = Path(__file__).parents[2] / 'book/appendix/check_your_rules.md'
CELLS = re.findall(r'(?ms)^```python[^\n]*\n(.*?)^```$', PAGE.read_text())
X, Y = np.linspace(-1.0, 1.0, 4), 0.5


def run_page(**names):
    """Return the page's functions; `names` replace the page's imports."""
    with np.printoptions():
        for text in CELLS:
            if 'print(' not in text:
                exec(text, names)
            elif 'def plain' in text:
                exec(text.partition('\nfound = [')[0], names)
    return SimpleNamespace(**names)


@pytest.fixture(scope='module')
def page():
    return run_page()


def changed_page(monkeypatch, name, function):
    """Return the page with another function in the place of `ad.name`."""
    page = run_page()
    changed = SimpleNamespace(**{
        n: getattr(ad, n) for n in dir(ad) if not n.startswith('_')})
    setattr(changed, name, function)
    monkeypatch.setitem(page.check_rule.__globals__, 'ad', changed)
    return page


# The lie

def test_the_table_of_three_fits(page):
    found = {name: page.lie_test(getattr(page, name), page.kepler, 0.5)
             for name in ('plain', 'warm', 'careful')}
    for order in page.orders:
        forward = order == 'forward mode'
        assert [found[name][order] for name in found] == (
            ['TypeError', 'TypeError', 'lost'] if forward else
            ['asked', 'zero or nan', 'asked'])


def test_the_slope_of_the_warm_fit_is_0_and_differences_are_not(page):
    def warm(e):
        return page.warm(page.kepler, e)

    right = ad.grad(lambda e: page.plain(page.kepler, e))(0.5)
    assert ad.grad(warm)(0.5) == 0.0 and abs(right) > 0.1
    differences = (warm(0.5 + 1e-6) - warm(0.5 - 1e-6)) / 2e-6
    assert abs(differences / right - 1) < 1e-4


def test_a_caught_refusal_is_right_to_ten_digits_without_a_warning(page):
    def careful(e):
        return page.careful(page.kepler, e)

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        slope = page.forward(careful)(0.5)
    right = ad.grad(careful)(0.5)
    assert slope != right
    assert abs(slope / right - 1) < 1e-10


def test_dyed_triples_trees_in_both_modes_and_leaves_the_function(page):
    @ad.custom_jvp
    def pair(x):
        return {'a': x, 'b': (x,)}

    @pair.defjvp
    def rule(primals, tangents):
        return pair(*primals), {'a': tangents[0], 'b': (tangents[0],)}

    for f, slope in (page.dyed(pair), 3.0), (pair, 1.0):
        assert ad.jvp(f, (1.0,), (1.0,))[1] == {'a': slope, 'b': (slope,)}

    f = ad.custom_vjp(lambda n, x: x ** n, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (f(n, x), x),
             lambda n, x, ct: (ct * n * x ** (n - 1),))
    assert ad.grad(page.dyed(f), 1)(3, 2.0) == 36.0
    assert ad.grad(f, 1)(3, 2.0) == 12.0


def test_dyed_keeps_requests_for_zeros(page):
    asked = []

    @ad.custom_jvp
    def product(x, y):
        return x * y

    def rule(primals, tangents):
        asked.append([type(t) for t in tangents])
        return product(*primals), primals[1] * tangents[0]

    product.defjvp(rule, symbolic_zeros=True)
    assert ad.grad(page.dyed(product))(2.0, 5.0) == 15.0
    assert asked[0][1] is ad.SymbolicZero


def test_dyed_returns_what_holds_no_number(page):
    """Cotangents and tangents of integers, and symbolic zeros."""
    pick = ad.custom_vjp(lambda x, i: 2 * x[i])

    def bwd(kept, ct):
        x, i = kept
        return 2 * ct * (np.arange(len(x)) == i), np.zeros((), ad.float0)

    pick.defvjp(lambda x, i: (pick(x, i), (x, i)), bwd)
    slope = ad.grad(page.dyed(pick), (0, 1), allow_int=True)(np.ones(3), 1)
    assert slope[0].tolist() == [0.0, 6.0, 0.0]
    assert slope[1].dtype == ad.float0
    found = page.lie_test(lambda f, x: f(x, 1), pick, np.ones(3))
    assert found.pop('forward mode') == 'TypeError'
    assert {*found.values()} == {'asked'}

    @ad.custom_jvp
    def split(x):
        return np.floor(x).astype(int), x

    @split.defjvp
    def rule(primals, tangents):
        return split(*primals), (np.zeros((), ad.float0), tangents[0])

    tangent = ad.jvp(page.dyed(split), (1.5,), (1.0,))[1]
    assert tangent[0].dtype == ad.float0 and tangent[1] == 3.0

    first = ad.custom_jvp(lambda x, y: x)
    first.defjvp(lambda xs, ts: (first(*xs), ts[0]), symbolic_zeros=True)
    slope = ad.jvp(lambda y: page.dyed(first)(1.0, y), (2.0,), (1.0,))[1]
    assert slope == 0.0

    constant = ad.custom_jvp(lambda x, y: 1.0)
    constant.defjvps(None, None)
    assert ad.jvp(page.dyed(constant), (1.0, 2.0), (1.0, 1.0))[1] == 0.0


def test_the_lie_test_takes_trees(page):
    x = {'w': np.array([0.3, 0.4]), 'b': (0.5,)}

    def program(f, x):
        return np.sum(f(x['w'], 2.0)) + x['b'][0] ** 2

    assert {*page.lie_test(program, page.edge, x).values()} == {'asked'}

    def opened(f, x):
        return program(f.fun, x)

    assert {*page.lie_test(opened, page.edge, x).values()} == {'lost'}


@pytest.mark.parametrize('slope', [0.0, np.nan, np.inf])
def test_the_lie_test_says_where_a_lie_cannot_show(page, slope):
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(lambda xs, ts: (f(*xs), slope * ts[0]))
    alone = page.lie_test(lambda f, x: f(x), f, 1.0)
    assert {*alone.values()} == {'zero or nan'}
    if slope == 0.0:
        beside = page.lie_test(lambda f, x: f(x) + x, f, 1.0)
        assert {*beside.values()} == {'lost'}


def test_one_call_that_asks_hides_one_that_does_not(page):
    f = page.edge
    both = page.lie_test(lambda f, x: f(x, 2.0) + f.fun(x, 3.0), f, 0.4)
    alone = page.lie_test(lambda f, x: f.fun(x, 3.0), f, 0.4)
    assert {*both.values()} == {'asked'} and {*alone.values()} == {'lost'}


def test_an_earlier_jitted_function_keeps_its_rule(page):
    f = ad.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda xs, ts: (f(*xs), 2 * ts[0]))
    slope = ad.jit(ad.grad(f))
    assert slope(1.0) == 2.0
    f.defjvp(lambda xs, ts: (f(*xs), 7 * ts[0]))
    assert slope(1.0) == 2.0 and ad.jit(ad.grad(f))(1.0) == 7.0


# The checks

def test_the_checks_accept_a_reverse_rule(page):
    f = ad.custom_vjp(lambda x, y: x * np.sin(y))
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda kept, ct: (
        ct * np.sin(kept[1]), np.sum(ct * kept[0] * np.cos(kept[1]))))
    page.check_rule(f, X, Y, modes=['rev'])
    page.check_memory(f, X, Y)


def test_the_checks_stay_where_the_function_is_defined(page):
    f = with_rule(lambda x, y: y * np.log(x), lambda f, x, y, x_dot, y_dot: (
        f(x, y), y / x * x_dot + np.log(x) * y_dot))
    with np.errstate(all='raise'):
        page.check_rule(f, np.linspace(0.5, 3.0, 4), Y)
        page.check_memory(f, np.linspace(0.5, 3.0, 4), Y)


def with_rule(function, rule, **options):
    f = ad.custom_jvp(function)
    f.defjvp(lambda primals, tangents: rule(f, *primals, *tangents),
             **options)
    return f


def leaves_out_a_term(f, x, y, x_dot, y_dot):
    """Chapter 25's slip, in a rule."""
    if not isinstance(x_dot, ad.SymbolicZero):
        return f(x, y), np.sin(y) * x_dot
    return f(x, y), x * np.cos(y) * y_dot


def right(f, x, y, x_dot, y_dot):
    return f(x, y), np.sin(y) * x_dot + x * np.cos(y) * y_dot


def zero(f, x, y, x_dot, y_dot):
    return f(x, y), 0.0 * x_dot


def half_nan(f, x, y, x_dot, y_dot):
    slope = np.where(x > 0, np.sin(y), np.sqrt(np.minimum(x, -0.1)))
    return f(x, y), slope * x_dot + x * np.cos(y) * y_dot


def power(f, x, y, x_dot, y_dot):
    """Chapter 22's, whose second term is nan at 0."""
    return f(x, y), y * x ** (y - 1) * x_dot + f(x, y) * np.log(x) * y_dot


def in_float64(f, x, y, x_dot, y_dot):
    return f(x, y), np.sqrt(np.float64(1)) * right(
        f, x, y, x_dot, y_dot)[1]


@pytest.mark.parametrize('rule, function, error, line', [
    (leaves_out_a_term, None, AssertionError, 'f, (x, y), 2'),
    (half_nan, None, FloatingPointError, 'right = slope'),
    (power, lambda x, y: x ** y, FloatingPointError, 'forward(lambda x'),
    (zero, lambda x, y: 0.0 * x * y, AssertionError, 'asked.values()'),
    (in_float64, None, TypeError, "astype('f')"),
])
def test_the_checks_refuse(page, rule, function, error, line):
    f = with_rule(function or (lambda x, y: x * np.sin(y)), rule,
                  symbolic_zeros=rule is leaves_out_a_term)
    x, y = (np.arange(3.0), 2.0) if rule is power else (X, Y)
    with np.errstate(all='ignore'):
        assert line in refused_at(page.check_rule, f, x, y, error=error)


def refused_at(check, *args, error=AssertionError):
    """Return the line of the page where `check` raises `error`."""
    with pytest.raises(error) as info:
        check(*args)
    lines = next(text for text in CELLS if f'def {check.__name__}' in text)
    at = next(entry.lineno for entry in info.traceback
              if entry.name == check.__name__)
    return lines.splitlines()[at]


def test_grad_hides_the_nan_that_jvp_shows(page):
    f = with_rule(lambda x, y: x ** y, power)
    x = np.arange(3.0)
    with np.errstate(all='ignore'), ad.debug_nans():
        slope = ad.grad(lambda x, y: np.sum(f(x, y)))(x, 2.0)
        assert slope.tolist() == [0.0, 2.0, 4.0]
        with pytest.raises(FloatingPointError):
            page.forward(lambda x: f(x, 2.0))(x)


def test_the_checks_refuse_another_answer_in_a_batch(page):
    """Alone it's right, and the batch agrees with its own differences."""
    edge = page.edge
    batched = ad.custom_vmap(lambda x, y: edge(x, y))

    @batched.def_vmap
    def rule(size, in_batched, x, y):
        return 2 * edge(x, y), True

    f = with_rule(batched, lambda f, x, y, x_dot, y_dot: ad.jvp(
        batched, (x, y), (x_dot, y_dot)))
    assert 'vmap(slope' in refused_at(page.check_rule, f, X, Y)


def test_the_checks_refuse_another_slope_of_the_batch(page, monkeypatch):
    """The batch of the slopes is right, and the slope of the batch isn't."""
    def vmap(f, *args):
        return ad.vmap(f if f is not page.edge else lambda x, y: 2 * f(x, y),
                       *args)

    changed = changed_page(monkeypatch, 'vmap', vmap)
    assert 'of_batch' in refused_at(changed.check_rule, page.edge, X, Y)


def test_the_checks_refuse_a_gradient_that_keeps_its_program(
        page, monkeypatch):
    page.check_memory(page.edge, X, Y)
    kept = changed_page(monkeypatch, 'grad', lambda f: ad.jit(ad.grad(f)))
    assert 'in_order' in refused_at(kept.check_memory, page.edge, X, Y)


def test_the_checks_refuse_a_scan_that_keeps_its_program(
        page, monkeypatch):
    """In order, the new rule is asked; in a loop, it isn't."""
    bodies = {}

    def scan(f, *args):
        return ad.scan(bodies.setdefault(f, ad.jit(f)), *args)

    kept = changed_page(monkeypatch, 'scan', scan)
    assert 'in_a_loop' in refused_at(kept.check_memory, page.edge, X, Y)


def test_the_checks_refuse_a_gradient_with_two_owners(page, monkeypatch):
    def vjp(*args):
        y, pullback = ad.vjp(*args)
        answer = pullback(1.0)
        return y, lambda ct: answer

    kept = changed_page(monkeypatch, 'vjp', vjp)
    assert 'pullback' in refused_at(kept.check_memory, page.edge, X, Y)


def test_the_checks_refuse_a_lie(page):
    with pytest.raises(AssertionError, match='difference quotient'):
        page.check_rule(page.dyed(page.edge), X, Y)


def test_the_checks_refuse_a_rule_that_python_changes(page):
    """Eager calls differ from the traced one."""
    calls = []

    def drifts(f, x, y, x_dot, y_dot):
        calls.append(x)
        tiny = 1 + 1e-12 * len(calls)
        return f(x, y), tiny * right(f, x, y, x_dot, y_dot)[1]

    f = with_rule(lambda x, y: x * np.sin(y), drifts)
    with pytest.raises(AssertionError):
        page.check_rule(f, X, Y)


# The table

def test_a_warning_about_a_refused_argument_can_be_an_error():
    class Ball:
        def __init__(self, height):
            self.height = height

    f = ad.custom_jvp(lambda ball: 2 * ball.height)
    f.defjvp(lambda xs, ts: (f(*xs), 3 * ts[0].height))

    def hers(height):
        try:
            return f(Ball(height))
        except TypeError:
            return 2 * height

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        with pytest.raises(Warning, match='caught'):
            ad.grad(hers)(1.0)


def test_check_grads_sees_a_second_derivative_without_its_rule():
    def rounded(x):
        return np.exp(np.round(x, 12))      # its own slope is 0

    opened, asks = ad.custom_jvp(rounded), ad.custom_jvp(rounded)
    opened.defjvp(lambda xs, ts: (opened(*xs), rounded(*xs) * ts[0]))
    asks.defjvp(lambda xs, ts: (asks(*xs), asks(*xs) * ts[0]))
    ad.check_grads(opened, (0.3,), order=1)
    with pytest.raises(AssertionError, match='order 2'):
        ad.check_grads(opened, (0.3,), order=2)
    ad.check_grads(asks, (0.3,), order=2)


def test_a_numpy_number_turns_weights_into_float64():
    w = np.ones(3, np.float32)
    slope = ad.grad(lambda w: np.sum(w * w))(w)
    assert slope.dtype == np.float32
    assert (w - 0.1 * slope).dtype == np.float32
    assert (w - np.float64(0.1) * slope).dtype == np.float64
