"""check_grads (P5) accepts correct rules and catches wrong ones."""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.wings.debugging import checking
from tests.support.jvp_rules import custom
from tests.support.trees import Pair

X = np.array([0.5, 1.5, 2.5])
M = np.arange(6.).reshape(2, 3) / 4 + 0.5
each_mode = pytest.mark.parametrize('mode', ['fwd', 'rev'])


def square(k, first=2):
    """Return x^2, whose rule says `first` x, then `k`."""
    slope = custom(lambda x: first * x, lambda p, t: (slope(*p), k * t[0]))
    f = custom(lambda x: x * x, lambda p, t: (f(*p), slope(p[0]) * t[0]))
    f.fun.__qualname__ = f.__qualname__ = 'square'
    return f


RIGHT = {
    'number': (lambda x: np.sin(x) * x, (0.7,)),
    'array': (lambda x: np.exp(-x) * np.sum(x), (X,)),
    'tree': (lambda p, q: {'a': p.x['w'] * q, 'b': [np.sum(p.y), None]},
             (Pair({'w': X}, 2.0), X[0])),
    'half': (lambda x: x * x, (X.astype(np.float16),)),
    'longdouble': (lambda x: np.sin(x) * x, (X.astype(np.longdouble),)),
    'narrows': (lambda x: np.sin(x).astype(np.float32), (X,)),
    'integers': (lambda p: p['x'] ** p['n'], ({'x': X, 'n': np.arange(3)},)),
    'integer_output': (lambda x: (np.sin(x), np.argmax(x), x > 1), (X,)),
    'nothing': (lambda x: None, (X,)),
    'custom': (square(2), [X]),
}


@pytest.mark.asks('P5')
@each_mode
@pytest.mark.parametrize('name', RIGHT)
def test_correct_rules_pass(name, mode):
    f, args = RIGHT[name]
    assert ad.check_grads(f, args, 2, (mode,)) is None


@each_mode
def test_complex_numbers_are_checked_in_both_directions(mode):
    f = lambda z: np.exp(z) * np.conj(z) + np.abs(z)
    ad.check_grads(f, (X + 1j,), 2, mode)
    # right only along the real numbers
    wrong = custom(lambda z: z * z, lambda p, t: (
        wrong(*p), 2 * p[0] * np.conj(t[0])))
    with pytest.raises(AssertionError, match=f"mode '{mode}', order 1"):
        ad.check_grads(wrong, (X + 1j,), 1, mode)


# P5: the transform of each mode

@pytest.mark.asks('P5')
@pytest.mark.parametrize('mode, transform', [('rev', 'jvp'), ('fwd', 'vjp')])
def test_each_mode_calls_its_own_transform(monkeypatch, mode, transform):
    monkeypatch.setattr(checking, transform,
                        lambda *_: pytest.fail(transform))
    ad.check_grads(lambda x: np.sin(x) * x, (X,), 2, (mode,))


# P5: wrong rules are caught

@pytest.mark.asks('P5')
@each_mode
def test_a_wrong_rule_is_caught(mode):
    """Its rule says 3 instead of 2."""
    for x in 1.0, X.astype(np.float32), {'a': [X]}:
        f = square(3, first=3)
        with pytest.raises(AssertionError, match=(
                f'check_grads of .*, mode {mode!r}, order 1: the derivative '
                'is .*, but the difference quotient is ')):
            ad.check_grads(lambda x: ad.tree_map(f, x), (x,), 1, mode)


@pytest.mark.asks('P5')
@each_mode
def test_a_wrong_second_derivative_is_caught_at_order_two(mode):
    f = square(3)
    ad.check_grads(f, (X,), 1, mode)
    with pytest.raises(AssertionError, match=(
            f'square, mode {mode!r}, order 2: ')):
        ad.check_grads(f, (X,), 2, mode)


# eps, atol, rtol


@each_mode
def test_atol_and_rtol_set_the_tolerance(mode):
    f = square(2.02, first=2.02)            # one part in a hundred
    with pytest.raises(AssertionError):
        ad.check_grads(f, (X,), 1, mode)
    ad.check_grads(f, (X,), 1, mode, rtol=0.02)
    ad.check_grads(f, (X,), 1, mode, atol=1.0)
    with pytest.raises(AssertionError):     # a difference has an error
        ad.check_grads(np.exp, (3.0,), 1, mode, eps=1e-2, atol=0, rtol=1e-9)


@each_mode
def test_tolerances_depend_on_the_lowest_precision(mode):
    """Half precision allows a larger error than double."""
    wrong = custom(lambda x: x * x, lambda p, t: (
        wrong(*p), 2.002 * p[0] * t[0]))
    ad.check_grads(wrong, (X.astype(np.float16),), 1, mode)
    ad.check_grads(lambda x: wrong(x).astype(np.float32), (X,), 1, mode)
    with pytest.raises(AssertionError):
        ad.check_grads(wrong, (X,), 1, mode)


# Mistakes

def f(*args):
    pytest.fail('f must not be called')


def test_wrong_arguments_are_named():
    for args, words in [
            ((X, 1), 'args must be a tuple .*array'),
            (((X,), 0), 'order must be an integer of at least 1, but got 0'),
            (((X,), 1.5), 'but got 1.5'),
            (((X,), 1, 'bwd'), "modes must be 'fwd' or 'rev', but got")]:
        with pytest.raises((TypeError, ValueError),
                           match=f'check_grads of f: .*{words}'):
            ad.check_grads(f, *args)


def test_an_error_in_the_function_is_passed_on():
    with pytest.raises(ZeroDivisionError):
        ad.check_grads(lambda x: 1 / 0, (X,), 1)
    with pytest.raises(TypeError, match='output of .*type str'):
        ad.check_grads(lambda x: x if type(x) is float else 'a', (1.0,), 1)
    assert current_trace() is Trace.base
