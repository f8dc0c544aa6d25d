"""Abstract evaluation: the types that NumPy would return, and its errors."""

import operator
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.types import typeof
from tests.support.amount import each
from tests.support.jaxpr_checks import check_jaxpr
from tests.support.numerical import assert_same
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import NOT_STAGED, PROGRAMS

STAGED = [program for program in PROGRAMS + CUSTOM_PROGRAMS
          if program.name not in NOT_STAGED]


def staged(f, *args):
    """Return `f` at these arguments, computed through a jaxpr."""
    jaxpr = ad.make_jaxpr(f)(*args)
    check_jaxpr(jaxpr)
    (y,) = ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)
    return y


@each(STAGED)
def test_types_equal_those_of_numpys_results(program):
    """Shape, dtype, and whether it is a Python number; and the values."""
    f = partial(program.function, np)
    with np.errstate(all='ignore'):
        y = f(*program.args)
    jaxpr = ad.make_jaxpr(f)(*program.args)
    assert jaxpr.in_avals == list(map(typeof, program.args))
    assert jaxpr.out_avals == [typeof(y)]
    with np.errstate(all='ignore'):
        assert_same(staged(f, *program.args), y, program.ulps)


def test_programs_that_depend_on_values_are_refused():
    """D3."""
    for program in PROGRAMS:
        if program.name in NOT_STAGED:
            f, (x,) = partial(program.function, np), program.args
            for way in (lambda: ad.make_jaxpr(f)(x), lambda: ad.jit(f)(x),
                        lambda: ad.vmap(f)(np.stack([x, -x]))):
                with pytest.raises(NOT_STAGED[program.name],
                                   match=r'np\.(where|max)'):
                    way()
            # If the argument is not mapped, its value is known.
            y = ad.vmap(lambda x, _: f(x), (None, 0))(x, np.arange(2))
            assert_same(y[1], f(x))


# Dtypes

NUMBERS = {
    'bool': True, 'int': 3, 'float': 1.5, 'complex': 1 + 2j, 'truth': np.True_,
    'bools': np.ones(2, bool), 'int8s': np.ones(2, np.int8),
    'uint8': np.uint8(3), 'int64s': np.ones(2, np.int64),
    'half': np.float16(2), 'singles': np.ones(2, np.float32),
    'doubles': np.ones(2), 'complex64': np.complex64(1j),
}
OPERATIONS = {
    'add': operator.add, 'mul': operator.mul, 'div': operator.truediv,
    'pow': operator.pow, 'lt': operator.lt, 'and': operator.and_,
    'literal_power': lambda x, y: x ** (-1 if typeof(x) == typeof(3) else 2),
    'maximum': np.maximum, 'where': lambda x, y: np.where(x, x, y),
    'stack': lambda x, y: np.stack([x, x * y]),
    'matmul': lambda x, y: np.stack([x, x]) @ np.stack([y, y]),
}


@pytest.mark.parametrize('name', OPERATIONS)
def test_dtypes_of_all_pairs_equal_numpys(name):
    """NEP 50 applies when a Python number meets another, or an array."""
    f, compared = OPERATIONS[name], 0
    for x in NUMBERS.values():
        for y in NUMBERS.values():
            try:
                with np.errstate(all='ignore'):
                    expected = f(x, y)
            except (TypeError, ValueError):
                with pytest.raises((TypeError, ValueError)):
                    ad.make_jaxpr(f)(x, y)
                continue
            assert ad.eval_shape(f, x, y) == typeof(expected), (x, y)
            compared += 1
    assert compared >= 30


def ruled(kind, define, *rules):
    """Return a way to call `f` with rules, which are not used."""
    def way(f):
        g = kind(f)
        getattr(g, define)(*rules)
        return g
    return way


WAYS = (
    lambda f: f, lambda f: partial(call, f), ad.jit, ad.checkpoint,
    ruled(ad.custom_jvp, 'defjvp', id), ruled(ad.custom_vmap, 'def_vmap', id),
    ruled(ad.custom_vjp, 'defvjp', id, id),
    lambda f: lambda x: ad.stop_gradient(f(x)),
    lambda f: lambda x: ad.cond(x > 0, f, f, x),
    lambda f: lambda x: ad.while_loop(lambda x: x < 0, f, x),
    lambda f: lambda x: ad.scan(lambda x, _: (f(x), None), x, None, 1)[0])


def test_python_numbers_stay_weak_as_in_numpy():
    def f(x):
        return -x * 2 + x ** 2 - ad.stop_gradient(x)

    for way in WAYS:
        for x in 3, 3.0, np.float64(3.0):
            assert ad.eval_shape(way(f), x) == typeof(x)
    for f, x in (np.sin, 3.0), (operator.invert, 3):
        assert ad.eval_shape(f, x) == typeof(f(x))


def test_nothing_is_computed_and_nothing_is_allocated():
    """A petabyte would not fit."""
    huge = ad.ShapedArray((10**7, 10**7), np.dtype(float))

    def f(x):
        y = np.tanh(x @ x.T) * 2 - np.max(x, 1)
        return np.cumsum(np.stack([y, y])[:, None, 5:], -1), np.linalg.det(x)

    y, total = ad.eval_shape(f, huge)
    assert y.shape == (2, 1, 10**7 - 5, 10**7)
    assert total == ad.ShapedArray((), np.dtype(float))


# Errors: what NumPy refuses is refused while it is traced

X = np.arange(6.).reshape(2, 3)
MISTAKES = {
    'broadcasting': (lambda x: x + np.ones(2), 'broadcast'),
    'matmul': (lambda x: x @ x, 'fit: 3 is not 2'),
    'stack': (lambda x: np.stack([x, x[0]]), 'must have the same shape'),
    'broadcast_to': (lambda x: np.broadcast_to(x, (2, 1)), 'broadcast'),
    'too_many_indices': (lambda x: x[0, 1, 2], 'too many indices'),
    'out_of_bounds': (lambda x: x[2], 'index 2 is out of bounds .* size 2'),
    'index_arrays': (lambda x: x[[0, 1], [0, 1, 2]], 'mismatch'),
    'reshape': (lambda x: x.reshape(4), 'cannot reshape'),
    'solve': (lambda x: np.linalg.solve(x @ x.T, x.T), 'solve'),
    'det': (np.linalg.det, 'square'),
    'negative_of_booleans': (lambda x: -(x > 0), 'boolean negative'),
}


def test_mistakes_are_found_while_tracing():
    for f, words in MISTAKES.values():
        with pytest.raises(Exception) as numpy_error:
            f(X)
        with pytest.raises(type(numpy_error.value), match=words):
            ad.make_jaxpr(f)(X)


# Masks

def test_a_traced_mask_is_refused_and_np_where_is_named():
    with pytest.raises(TracerError, match=r'Array boolean indices must be '
                       r'concrete.*np\.where\(mask, x, 0\)'):
        ad.make_jaxpr(lambda x, mask: x[mask])(X, X > 1)


ROWS, COLUMNS = np.array([True, False]), np.array([True, False, True])
CUBE = np.arange(24.).reshape(2, 3, 4)
MASKS = {
    'all_axes': CUBE % 5 > 2,
    'last_axes': np.s_[..., CUBE[0] % 3 == 0],
    'masks_apart': (ROWS, np.s_[:], np.array([1, 0, 1, 0]) > 0),
    'mask_and_ints': np.s_[[0, 1], :, np.array([1, 0, 0, 1]) > 0],
    'newaxis_between': np.s_[:, None, COLUMNS, ..., None],
    'true_apart': np.s_[True, :, [0, 1]],
    'false_and_mask': np.s_[ROWS, :, False],
}


@pytest.mark.parametrize('name', MASKS)
def test_concrete_masks_are_indices(name):
    """NumPy's result, also where the array alone is traced or mapped."""
    def f(x):
        return x[MASKS[name]] * 2

    assert_same(staged(f, CUBE), f(CUBE))
    assert_same(ad.jvp(f, (CUBE,), (CUBE + 1,))[1], f(CUBE + 1))
    xs = np.stack([CUBE, CUBE + 1, -CUBE])
    assert_same(staged(ad.vmap(f), xs), np.stack(list(map(f, xs))))
    # The cotangent of what a mask selects goes back to its place.
    (x_bar,) = ad.vjp(f, CUBE)[1](np.ones_like(f(CUBE)))
    expected = np.zeros_like(CUBE)
    expected[MASKS[name]] = 2
    assert_same(x_bar, expected)


@pytest.mark.parametrize('count', [33, 63])
def test_an_array_can_have_as_many_axes_as_in_numpy(count):
    """np.broadcast_shapes accepts half of them."""
    x = np.full((1,) * count, 0.5)
    f = lambda x: np.sum(np.sin(x) * np.ones(1) + np.where(x > 0, x, 0.0))
    for slope in ad.grad(f), ad.jit(ad.grad(f)), lambda x: ad.jvp(
            f, (x,), (np.ones_like(x),))[1]:
        np.testing.assert_allclose(np.ravel(slope(x)), np.cos(0.5) + 1)
    assert ad.jit(f)(x) == f(x) == ad.vmap(f)(x)[0]
    with pytest.raises(ValueError, match='shape mismatch'):
        ad.make_jaxpr(np.add)(np.ones((2,) * 12 + (1,) * 24),
                              np.ones((3,) * 2 + (1,) * 34))
