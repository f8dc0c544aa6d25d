import itertools

import numpy as np
import pytest

from autodiff_mini import draft as ad

X = np.array([0.5, 2.0, -1.0, 3.0])


def add(x, y):
    return x + y


def shrink(so_far, x):
    return so_far * 0.5 - x


def test_a_running_sum(exercise):
    assert exercise.accumulate(add, 0.0, X) == pytest.approx(np.cumsum(X))
    table = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(exercise.accumulate(add, np.zeros(3), table),
                          np.cumsum(table, 0))


def test_a_function_that_is_not_symmetric(exercise):
    _, *expected = itertools.accumulate(X, shrink, initial=1.0)
    assert exercise.accumulate(shrink, 1.0, X) == pytest.approx(expected)


def test_from_the_last_row_to_the_first(exercise):
    _, *expected = itertools.accumulate(X[::-1], shrink, initial=1.0)
    found = exercise.accumulate(shrink, 1.0, X, reverse=True)
    assert found == pytest.approx(expected[::-1])


def test_trees(exercise):
    # the composition of maps x -> a x + b
    f = lambda g, h: {'a': h['a'] * g['a'], 'b': h['a'] * g['b'] + h['b']}
    xs = {'a': X, 'b': np.ones(4)}
    for reverse in False, True:
        found = exercise.accumulate(f, {'a': 1.0, 'b': 0.0}, xs, reverse)
        turn = -1 if reverse else 1
        assert found['a'][::turn] == pytest.approx(np.cumprod(X[::turn]))
        value = 0.0
        for a, b in zip(X[::turn], found['b'][::turn]):
            value = a * value + 1.0
            assert b == pytest.approx(value)


def test_derivatives(exercise):
    for f in add, shrink, lambda c, x: np.sin(c) * x:
        for reverse in False, True:
            ad.check_grads(lambda c, xs: exercise.accumulate(
                f, c, xs, reverse), (1.0, X))


def test_a_rule_inside(exercise):
    product = ad.custom_jvp(lambda x, y: x * y)
    product.defjvp(lambda primals, tangents: (
        product(*primals),
        3 * tangents[0] * primals[1] + 5 * primals[0] * tangents[1]))
    g = lambda xs: exercise.accumulate(product, 1.0, xs)[-1]
    assert ad.grad(g)(np.array([2.0, 3.0])) == pytest.approx(
        [15 * 3.0, 5 * 2.0])


def test_batched_and_compiled(exercise):
    g = ad.jit(ad.vmap(lambda xs: exercise.accumulate(add, 0.0, xs, True)))
    table = np.stack([X, 2 * X])
    assert g(table) == pytest.approx(np.cumsum(table[:, ::-1], 1)[:, ::-1])


def test_one_loop_that_records_the_function_once(exercise):
    runs = []
    f = lambda c, x: runs.append('f') or c + x
    programs = [ad.make_jaxpr(lambda xs: exercise.accumulate(f, 0.0, xs))(
        np.ones(n)) for n in (10, 1000)]
    assert len(runs) == 2       # once for each program
    names = [[eqn.primitive.name for eqn in program.eqns]
             for program in programs]
    assert names[0] == names[1] and names[0].count('scan') == 1
