import numpy as np

import autodiff_mini as ad


def array(*shape):
    return ad.ShapedArray(shape, np.dtype(np.float64))


def count(exercise, f, *types):
    return exercise.flops(ad.make_jaxpr(f)(*types))


def test_horner_needs_half_the_multiplications(exercise):
    naive = lambda x: 1. + 2. * x + 3. * x * x + 4. * x * x * x
    horner = lambda x: 1. + x * (2. + x * (3. + x * 4.))
    assert count(exercise, naive, array()) == 9
    assert count(exercise, horner, array(100)) == 600


def test_operands_that_are_broadcast(exercise):
    assert count(exercise, lambda x, y: x * y, array(3, 1), array(4)) == 12
    assert count(exercise, lambda x: 2 * x, array(5)) == 5


def test_reductions(exercise):
    assert count(exercise, lambda x: np.sum(x, 0), array(30, 2)) == 60
    assert count(exercise, np.max, array(7, 3)) == 21


def test_products_of_matrices(exercise):
    assert count(exercise, np.matmul, array(2, 3), array(3, 5)) == 60
    assert count(exercise, np.matmul, array(2, 3), array(3)) == 12
    assert count(exercise, np.matmul, array(3), array(3, 5)) == 30
    assert count(exercise, np.matmul, array(3), array(3)) == 6
    assert count(exercise, np.matmul, array(7, 2, 3), array(3, 5)) == 420
    assert count(exercise, np.matmul, array(7, 2, 3), array(7, 3, 5)) == 420


def test_moving_is_free(exercise):
    f = lambda x: np.reshape(x, (3, 2)).T[0] + 1
    assert count(exercise, f, array(6)) == 3


def test_where_to_put_the_brackets(exercise):
    n = 1_000_000
    types = array(n, n), array(n, n), array(n)
    assert count(exercise, lambda a, b, x: (a @ b) @ x, *types) == (
        2 * n ** 3 + 2 * n ** 2)
    assert count(exercise, lambda a, b, x: a @ (b @ x), *types) == 4 * n ** 2


def test_a_derivative_is_about_twice_the_program(exercise):
    f = lambda w, x: np.sum(np.tanh(w @ x))
    both = lambda w, x, v: ad.jvp(lambda w: f(w, x), (w,), (v,))
    types = array(50, 80), array(80)
    once = count(exercise, f, *types)
    assert once == 2 * 50 * 80 + 50 + 50
    assert 2 * once < count(exercise, both, *types, array(50, 80)) < (
        2.1 * once)
