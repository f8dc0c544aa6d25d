import numpy as np

import autodiff_mini as ad
from tests.support.jaxpr_checks import check_jaxpr

X = np.linspace(0.5, 1.5, 4).reshape(2, 2)


def shared(exercise, f, *args):
    """Checks what comes of a program; returns the names of its equations."""
    jaxpr = ad.make_jaxpr(f)(*args)
    before = str(jaxpr)
    program = exercise.share(jaxpr)
    assert str(jaxpr) == before
    check_jaxpr(program)
    expected = ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)
    found = ad.eval_jaxpr(program, program.consts, *args)
    for y, z in zip(found, expected, strict=True):
        assert ad.typeof(y) == ad.typeof(z)
        assert np.asarray(y).tobytes() == np.asarray(z).tobytes()
    return [eqn.primitive.name for eqn in program.eqns]


def test_a_chain(exercise):
    f = lambda x: np.exp(np.sin(x) * 2.0) + np.exp(np.sin(x) * 2.0)
    assert shared(exercise, f, X) == ['sin', 'mul', 'exp', 'add']


def test_the_results(exercise):
    f = lambda x: (np.sin(x), np.sin(x), x, np.sin(x) + 1.0)
    assert shared(exercise, f, X) == ['sin', 'add']


def test_the_order_of_operands_matters(exercise):
    f = lambda x, y: (x - y) * (y - x)
    assert shared(exercise, f, X, 2 * X) == ['sub', 'sub', 'mul']


def test_parameters_matter(exercise):
    f = lambda x: np.sum(x, 0) * np.sum(x, 1) + np.sum(x, 0)
    assert shared(exercise, f, X) == [
        'reduce_sum', 'reduce_sum', 'mul', 'add']


def test_equal_numbers_of_different_types(exercise):
    f = lambda n: (n * 1, n * 1.0, n * True, n * 0.0, n * -0.0)
    assert shared(exercise, f, np.arange(3)) == ['mul'] * 5


def test_several_results(exercise):
    f = lambda x: (np.linalg.slogdet(x)[0], np.linalg.slogdet(x)[1])
    assert shared(exercise, f, X).count('slogdet') == 1


def test_parameters_without_a_hash(exercise):
    p = ad.Primitive('with_list')
    p.def_impl(lambda x, factors: x * factors[0])
    p.def_abstract_eval(lambda x, factors: x)
    f = lambda x: p.bind(x, factors=[2.0]) + p.bind(x, factors=[3.0])
    assert shared(exercise, f, X) == ['with_list', 'with_list', 'add']


def test_constants(exercise):
    table = np.arange(4.0).reshape(2, 2)
    f = lambda x: (x + table) * (x + table)
    assert shared(exercise, f, X) == ['add', 'mul']
