"""The gallery: each program equals NumPy under every transformation.

`make test` runs the first program of each theme, and `make test-all` the
rest.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerError
from tests.support.numerical import derivative
from tests.support.wings import needs
from tests.tables.gallery import GALLERY
from tests.tables.gallery.each import each_piece

pytestmark = [needs(wing) for wing in (
    'more_numpy', 'more_calls', 'writing', 'applications')]


def slopes(piece):
    """Return the function that returns the gradient, for all arguments."""
    return ad.grad(piece.function, tuple(range(len(piece.args))))


def direction(piece, seed):
    """Return a random tangent of the arguments."""
    rng = np.random.default_rng(seed)
    return ad.tree_map(lambda x: rng.standard_normal(np.shape(x))[()],
                       piece.args)


def moved(piece, step, tangents):
    """Return the arguments, one step further in a direction."""
    return ad.tree_map(lambda x, t: x + step * t, piece.args, tangents)


def inner(xs, ys):
    """Return the inner product of two trees."""
    return sum(np.sum(x * y) for x, y in zip(
        ad.tree_leaves(xs), ad.tree_leaves(ys), strict=True))


def assert_near(actual, expected, tolerance):
    """Assert that two trees agree within the precision of their numbers."""
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for x, y in zip(ad.tree_leaves(actual), ad.tree_leaves(expected),
                    strict=True):
        size = np.max(np.abs(y))
        np.testing.assert_allclose(x, y, tolerance, tolerance * size)


@each_piece(GALLERY)
def test_the_value_equals_numpys(piece):
    numbers = tuple(range(len(piece.args)))
    value, gradient = ad.value_and_grad(piece.function, numbers)(*piece.args)
    assert_near(value, piece.function(*piece.args), 1e-12)
    for x, slope in zip(ad.tree_leaves(piece.args),
                        ad.tree_leaves(gradient), strict=True):
        assert np.shape(x) == np.shape(slope)


@each_piece(GALLERY)
def test_the_gradient_equals_a_difference_quotient(piece):
    gradient = slopes(piece)(*piece.args)
    for seed in range(3):
        t = direction(piece, seed)
        slope = derivative(lambda s: piece.function(*moved(piece, s, t)),
                           1e-5)
        forwards = ad.jvp(piece.function, piece.args, t)[1]
        scale = inner(*[ad.tree_map(np.abs, x) for x in (gradient, t)])
        np.testing.assert_allclose(inner(gradient, t), slope, 1e-6,
                                   1e-7 * scale)
        np.testing.assert_allclose(inner(gradient, t), forwards, 1e-10,
                                   1e-11 * scale)


@each_piece(GALLERY)
def test_the_second_derivative_is_the_slope_of_the_gradient(piece):
    """Check forward mode over the gradient, and reverse mode over it."""
    t, gradient = direction(piece, 4), slopes(piece)
    curved = ad.jvp(gradient, piece.args, t)[1]
    backwards = ad.grad(lambda *args: inner(gradient(*args), t),
                        tuple(range(len(piece.args))))
    assert_near(backwards(*piece.args), curved, 1e-8)
    slope = derivative(lambda s: inner(gradient(*moved(piece, s, t)), t),
                       1e-5)
    scale = inner(*[ad.tree_map(np.abs, x) for x in (curved, t)])
    np.testing.assert_allclose(inner(curved, t), slope, 1e-6,
                               1e-7 * scale + 1e-10)


@each_piece(piece for piece in GALLERY if not piece.branches)
def test_jit_and_vmap_compute_the_same(piece):
    """Compare at two points, only the first of which `jit` has traced."""
    both = [piece.args, moved(piece, 1e-3, direction(piece, 5))]
    stacked = ad.tree_map(lambda *xs: np.stack(xs), *both)
    for f in piece.function, slopes(piece):
        g, rows = ad.jit(f), ad.vmap(f)(*stacked)
        for i, args in enumerate(both):
            assert_near(g(*args), f(*args), 1e-12)
            assert_near(ad.tree_map(lambda x: x[i], rows), f(*args), 1e-10)


@each_piece(piece for piece in GALLERY if piece.branches)
def test_a_branch_on_a_traced_value_is_refused(piece):
    stacked = ad.tree_map(lambda x: np.stack([x, x]), piece.args)
    for transform, args in (ad.jit, piece.args), (ad.vmap, stacked):
        with pytest.raises(TracerError, match='Attempted boolean conversion'):
            transform(piece.function)(*args)
