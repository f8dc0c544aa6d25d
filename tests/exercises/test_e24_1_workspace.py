import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, -1.0, 2.0])
SLOPE = 1 - np.tanh(X) ** 2
TWICE = SLOPE * 2 * (1 - np.tanh(2 * np.tanh(X)) ** 2)


def computed(exercise, f):
    """Return what `f` makes of the function, or None if it is refused."""
    try:
        return f(exercise.make_tanh(100))
    except Exception as error:
        assert not error, error


def twice(f):
    return lambda x: np.sum(f(2 * f(x)))


def test_two_layers(exercise):
    found = computed(exercise, lambda f: ad.grad(twice(f))(X))
    assert found == pytest.approx(TWICE)


def test_two_layers_of_different_sizes(exercise):
    found = computed(exercise, lambda f: ad.grad(
        lambda x: np.sum(f(x)) + np.sum(f(3 * x[:2])))(X))
    more = 3 * (1 - np.tanh(3 * X[:2]) ** 2)
    assert found == pytest.approx(SLOPE + np.append(more, 0))


def test_an_earlier_pullback_and_once_again(exercise):
    def pulled(f):
        _, first = ad.vjp(f, X)
        _, second = ad.vjp(f, 2 * X)
        ones = np.ones(3)
        return np.array([pull(ones)[0] for pull in (first, second, first)])
    found = computed(exercise, pulled)
    later = 1 - np.tanh(2 * X) ** 2
    assert found == pytest.approx(np.array([SLOPE, later, SLOPE]))


def test_compiled(exercise):
    found = computed(exercise, lambda f: ad.jit(ad.grad(twice(f)))(X))
    assert found == pytest.approx(TWICE)


def test_in_a_loop(exercise):
    def loop(f):
        return ad.grad(lambda x: np.sum(ad.scan(
            lambda c, _: (2 * f(c), None), x, length=2)[0]))(X)
    found = computed(exercise, loop)
    assert found == pytest.approx(2 * TWICE)


def test_the_rule_is_for_reverse_mode(exercise):
    assert isinstance(exercise.make_tanh(100), ad.custom_vjp)
    found = computed(exercise, lambda f: ad.grad(twice(f))(X))
    assert found == pytest.approx(TWICE)
