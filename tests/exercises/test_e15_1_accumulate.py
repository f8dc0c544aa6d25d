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


def test_from_the_last_row_to_the_first(exercise):
    _, *expected = itertools.accumulate(X[::-1], shrink, initial=1.0)
    found = exercise.accumulate(shrink, 1.0, X, reverse=True)
    assert found == pytest.approx(expected[::-1])


def test_trees(exercise):
    f = lambda c, x: {
        'sum': c['sum'] + x['a'], 'product': c['product'] * x['b']}
    found = exercise.accumulate(
        f, {'sum': 0.0, 'product': 1.0}, {'a': X, 'b': 2 * X}, reverse=True)
    assert found['sum'] == pytest.approx(np.cumsum(X[::-1])[::-1])
    assert found['product'] == pytest.approx(np.cumprod(2 * X[::-1])[::-1])


def test_one_loop_that_records_the_function_once(exercise):
    runs = []
    f = lambda c, x: runs.append('f') or c + x
    programs = [ad.make_jaxpr(lambda xs: exercise.accumulate(f, 0.0, xs))(
        np.ones(n)) for n in (10, 1000)]
    assert len(runs) == 2       # once for each program
    names = [[eqn.primitive.name for eqn in program.eqns]
             for program in programs]
    assert names[0] == names[1] and names[0].count('scan') == 1
