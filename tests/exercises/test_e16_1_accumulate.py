import itertools

import numpy as np
import pytest

import autodiff_mini as ad

X = np.array([0.5, 2.0, -1.0, 3.0])


def add(x, y):
    return x + y


def test_the_sum_of_numpy(exercise):
    table = np.arange(12.0).reshape(4, 3)
    for xs in X, table, np.arange(5):
        found = exercise.accumulate(add, xs)
        assert np.array_equal(found, np.cumsum(xs, 0))
        assert found.dtype == xs.dtype


def test_a_function_that_is_not_symmetric(exercise):
    f = lambda so_far, x: so_far * 0.5 - x
    found = exercise.accumulate(f, X)
    assert found == pytest.approx(list(itertools.accumulate(X, f)))


def test_from_the_last_to_the_first(exercise):
    f = lambda so_far, x: so_far * 0.5 - x
    found = exercise.accumulate(f, X, reverse=True)
    expected = list(itertools.accumulate(X[::-1], f))[::-1]
    assert found == pytest.approx(expected)


def test_a_single_element(exercise):
    assert np.array_equal(exercise.accumulate(add, X[:1]), X[:1])
    assert np.array_equal(exercise.accumulate(add, X[:1], True), X[:1])


def test_trees(exercise):
    # the value of x -> a x + b, and of one after the other
    f = lambda g, h: {'a': h['a'] * g['a'], 'b': h['a'] * g['b'] + h['b']}
    found = exercise.accumulate(f, {'a': X, 'b': np.ones(4)})
    assert found['a'] == pytest.approx(np.cumprod(X))
    value = 0.0
    for a, b in zip(X, found['b']):
        value = a * value + 1.0
        assert b == pytest.approx(value)


def test_derivatives(exercise):
    for f in add, np.logaddexp, lambda c, x: np.sin(c) * x:
        g = lambda xs: exercise.accumulate(f, xs)
        ad.check_grads(g, (X,), order=2)
    jacobian = ad.jacrev(lambda xs: exercise.accumulate(add, xs, True))(X)
    assert np.array_equal(jacobian, np.triu(np.ones((4, 4))))


def test_a_rule_inside(exercise):
    product = ad.custom_jvp(lambda x, y: x * y)
    product.defjvps(lambda t, out, x, y: 3 * t * y,
                    lambda t, out, x, y: 5 * x * t)
    g = lambda xs: exercise.accumulate(product, xs)[-1]
    assert ad.grad(g)(np.array([2.0, 3.0, 7.0])) == pytest.approx(
        [9 * 21.0, 15 * 14.0, 5 * 6.0])


def test_mapped_and_compiled(exercise):
    g = ad.jit(ad.vmap(lambda xs: exercise.accumulate(add, xs)))
    table = np.stack([X, 2 * X])
    assert g(table) == pytest.approx(np.cumsum(table, 1))
    # of a number for each column, in a batch that is behind
    g = ad.vmap(lambda xs: exercise.accumulate(add, xs), 1, 1)
    assert g(table.T) == pytest.approx(np.cumsum(table.T, 0))


def test_one_loop_and_the_function_is_written_down_once(exercise):
    calls = []
    f = lambda c, x: calls.append('f') or c + x
    programs = [ad.make_jaxpr(lambda xs: exercise.accumulate(f, xs))(
        np.ones(n)) for n in (10, 1000)]
    assert len(calls) == 2      # once for each program
    names = [[eqn.primitive.name for eqn in program.eqns]
             for program in programs]
    assert names[0] == names[1] and names[0].count('scan') == 1
