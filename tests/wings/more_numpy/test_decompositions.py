"""Guard hard decompositions: equal values, lost rank, and bad input.

The programs cover all other points.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.numerical import (
    assert_close, assert_same, assert_same_type)

pytestmark = pytest.mark.filterwarnings('error')
linalg = np.linalg
A = np.array([[2.0, 1, 0], [1, 3, 1], [0, 1, 5]])
EYE = np.eye(3)
TIED = np.diag([1.0, 1, 2])


def push(f, a, a_dot):
    """Return the tangent of `f`."""
    return ad.jvp(f, (a,), (a_dot,))[1]


# Equal eigenvalues, and equal singular values

SYMMETRIC = [   # of all values, so that their order does not matter
    (lambda a: np.sum(linalg.eigh(a)[0] ** 2), lambda a: 2 * a),
    (lambda a: np.sum(np.log(linalg.eigvalsh(a))), linalg.inv),
    (lambda a: np.sum(np.real(linalg.eigvals(a)) ** 3),
     lambda a: 3 * a @ a),
    (lambda a: linalg.norm(a, 'nuc'), lambda a: EYE),
    (lambda a: np.prod(linalg.svdvals(a)),
     lambda a: linalg.det(a) * linalg.inv(a)),
    (lambda a: np.sum(linalg.svd(a)[1] ** 2), lambda a: 2 * a),
    (lambda a: np.trace(linalg.pinv(a)), lambda a: -linalg.inv(a @ a)),
]


@pytest.mark.parametrize('f, slope', SYMMETRIC)
def test_symmetric_functions_have_gradients_at_equal_values(f, slope):
    for a in 2 * EYE, TIED:
        assert_close(ad.jit(ad.grad(f))(a), slope(a))
        assert_close(push(f, a, A), np.sum(slope(a) * A))
        assert_close(ad.vmap(ad.grad(f))(np.stack([a, A]))[0], slope(a))


def test_a_direction_that_mixes_equal_vectors_has_no_derivative():
    """With constant vectors, the derivative of a root would be I/2."""
    def root(a):
        w, v = linalg.eigh(a)
        return (v * np.sqrt(w)) @ v.T

    assert np.isnan(push(root, EYE, A)).all()
    apart = np.diag([1.0, 2, 3])
    assert_close(push(root, EYE, apart), apart / 2)
    w_dot, v_dot = push(linalg.eigh, EYE, apart)
    assert_close(w_dot, np.array([1.0, 2, 3]))
    assert_close(v_dot, 0 * EYE)


def test_singular_vectors_of_one_zero_have_derivatives():
    """One zero is an ordinary singular value; further zeros are not."""
    a = np.diag([2.0, 1, 0])
    for f in (lambda a: linalg.svd(a)[0],
              lambda a: linalg.svd(a, full_matrices=False).Vh):
        assert np.isfinite(push(f, a, A)).all()
        assert np.isfinite(ad.jacrev(f)(a)).all()
    u_dot, _, vh_dot = push(
        lambda a: linalg.svd(a, full_matrices=False), a[:, [0, 2]],
        A[:, [0, 2]])
    assert np.isfinite(u_dot[:, 0]).all() and np.isnan(u_dot[:, 1]).any()
    assert np.isfinite(vh_dot).all()


# Second derivatives

X = np.array([1.0, 2, 2])
TIED_BELOW = np.diag([3.0, 1, 1])
SMOOTH_AT_TIES = [  # because they depend on no vector of the equal values
    (lambda a: linalg.norm(a, 2), np.vstack([TIED_BELOW, 0 * X])),
    (lambda a: linalg.norm(a, -2, (-1, -2)),
     np.hstack([np.diag([3.0, 3, 1]), 0 * EYE])),
    (lambda a: linalg.norm(a, 'nuc'), EYE + np.outer(X, X)),
    (lambda a: linalg.norm(a, 'nuc', (1, 0)),
     np.hstack([2 * EYE, EYE]) * 1j),
    (linalg.cond, np.diag([3.0, 2, 2, 1])),
    (lambda a: linalg.cond(a, 'nuc'), TIED_BELOW),
]


@pytest.mark.parametrize('f, a', SMOOTH_AT_TIES)
def test_second_derivatives_exist_if_other_values_are_equal(f, a):
    """In all four orders of modes, and by difference quotients."""
    real = lambda a: np.real(f(a))
    ad.check_grads(real, (a,), order=2, rtol=1e-4)
    b = np.random.default_rng(8).normal(size=a.shape).astype(a.dtype)
    b = b + 0.5 * a * b[::-1]
    slope = lambda a: np.real(np.sum(ad.grad(real)(a) * b))
    twice = push(slope, a, b)
    assert_close(np.real(np.sum(ad.grad(slope)(a) * b)), twice)
    assert_close(ad.jit(ad.vmap(lambda a: push(slope, a, b)))(a[None])[0],
                 twice)


def test_norms_of_equal_singular_values_have_no_second_derivative():
    for ord, a in (2, EYE), (-2, TIED_BELOW), ('nuc', np.diag([2.0, 1, 0])):
        f = lambda a: linalg.norm(a, ord)
        assert np.isfinite(ad.grad(f)(a)).all()
        assert np.isnan(push(ad.grad(f), a, A)).any()
        assert np.isnan(ad.hessian(f)(a)).any()


# Hermitian matrices

def vectors_apart(result):
    """Return the eigenvalues and the projections on their vectors."""
    w, v = result
    return w, v[:, None] * np.conj(v)


OF_A_TRIANGLE = [
    (linalg.cholesky, np.tril),
    (lambda a: vectors_apart(linalg.eigh(a)), np.tril),
    (linalg.eigvalsh, np.tril),
    (lambda a: linalg.svd(a, hermitian=True)[1], np.tril),
    (lambda a: linalg.pinv(a, hermitian=True), np.tril),
    (lambda a: linalg.cholesky(a, upper=True), np.triu),
    (lambda a: vectors_apart(linalg.eigh(a, UPLO='U')), np.triu),
    (lambda a: linalg.eigvalsh(a, UPLO='u'), np.triu),
]
JUNK = np.array([[0, 5, -2], [4, 0, 1], [3, -6, 0]])


@pytest.mark.parametrize('f, triangle', OF_A_TRIANGLE)
def test_derivatives_depend_on_the_triangle_that_numpy_reads(f, triangle):
    """NaN in the other triangle, its tangent, or its cotangent is harmless.
    """
    a = A + 0.5j * (JUNK - JUNK.T) / 9 + 2j * EYE
    a = triangle(a) + JUNK - triangle(JUNK)
    ad.check_grads(f, (a,), order=2, rtol=1e-4)
    ad.check_grads(ad.jit(ad.vmap(f)), (np.stack([a, a + A]),), order=1)
    total = lambda a: sum(np.sum(np.real(y)) for y in ad.tree_leaves(f(a)))
    gradient = ad.grad(total)(a)
    assert_same(gradient, triangle(gradient))
    assert_same(np.diag(gradient).imag, np.zeros(3))
    nan = np.where(triangle(np.ones((3, 3))), A, np.nan)
    same = push(total, a, triangle(A) + 0j)
    assert_close(push(total, a, nan + 0j), same)


# General matrices

def test_eigenvalues_of_traced_matrices_are_complex():
    """NumPy looks at the values first, and a tracer has none."""
    a = np.diag([1.0, 2])
    assert linalg.eig(a)[0].dtype == linalg.eigvals(a).dtype == float
    for f in (lambda a: linalg.eig(a)[0], lambda a: linalg.eig(a)[1],
              linalg.eigvals):
        for g in ad.jit(f), lambda a: ad.jvp(f, (a,), (a,))[0]:
            assert_same(g(a), f(a).astype(complex))
        assert_same(ad.vmap(f)(a[None].astype('f4'))[0],
                    f(a).astype(np.complex64))


def test_eigenvalues_and_their_tangents_are_in_the_same_order():
    """LAPACK orders large sets differently without vectors."""
    a = np.random.default_rng(0).uniform(size=(200, 200))
    w, w_dot = ad.jvp(linalg.eigvals, (a,), (a @ a,))
    assert_close(w_dot, w * w, np.float32)


# Full matrices, and QR

def test_full_singular_vectors_have_values_but_no_derivative():
    f, a = linalg.svd, A[:, :2]
    for y, expected in zip(ad.jit(f)(a), f(a), strict=True):
        assert_same(y, expected)
    for y, expected in zip(ad.vmap(f)(a[None]), f(a), strict=True):
        assert_same(y[0], expected)
    for shape in (3, 2), (2, 3):
        with pytest.raises(NotImplementedError, match=(
                'full_matrices=True has no derivative for matrices of shape '
                r'\(., .\).*not unique.*Pass full_matrices=False')):
            push(f, np.ones(shape), np.ones(shape))
    assert np.isfinite(push(f, A, A)[0]).all()


def test_qr_of_dependent_columns_has_no_derivative():
    for f, a in (linalg.qr, np.zeros((2, 2))), (linalg.qr, np.zeros((3, 2))), (
            lambda a: linalg.qr(a, 'complete'), np.eye(3, 1)):
        with pytest.raises(linalg.LinAlgError, match='Singular'):
            push(f, a, np.ones(a.shape))


# Pseudo-inverses, and functions of them

def test_a_cutoff_can_be_traced():
    a, cutoffs = np.diag([1.0, 0.1]), np.array([0.5, 0.01])
    f = ad.jit(lambda a, cutoff: linalg.pinv(a, cutoff))
    expected = np.stack([linalg.pinv(a, cutoff) for cutoff in cutoffs])
    assert_same(ad.vmap(f, (None, 0))(a, cutoffs), expected)
    stacks = np.stack([[a, 2 * a], [3 * a, a]])
    assert_same(ad.vmap(f)(stacks, cutoffs),
                np.stack(list(map(linalg.pinv, stacks, cutoffs))))
    for slope in ad.jacfwd, ad.jacrev:
        assert not slope(f, 1)(a, 0.5).any()
    solve = ad.jit(lambda b: linalg.lstsq(a, b, rcond=0.5)[0])
    assert_close(solve(a[1]), linalg.lstsq(a, a[1], 0.5)[0])


# Numbers

def test_condition_numbers_of_singular_matrices_equal_numpys():
    for p in None, -2, 1, 'fro':
        f = lambda a: linalg.cond(a, p)
        for a in 0 * EYE, np.ones((2, 2)), A:
            for y in ad.jit(f)(a), ad.jvp(f, (a,), (a,))[0]:
                assert_close(y, f(a))
            bad = np.where(np.eye(len(a)) > 0, np.nan, a)
            assert p in (None, -2) or np.isnan(ad.jit(f)(bad))


def test_products_are_multiplied_in_the_cheapest_order():
    """The order is NumPy's, because the bits are the same."""
    rng = np.random.default_rng(3)
    for count in (2, 3, 4, 6) * 5:
        sizes = rng.integers(1, 9, count + 1)
        arrays = [rng.normal(size=shape)
                  for shape in zip(sizes, sizes[1:], strict=False)]
        y = ad.jit(lambda *arrays: linalg.multi_dot(arrays))(*arrays)
        assert_same(y, linalg.multi_dot(arrays), ulps=0)


def test_residuals_have_a_fixed_shape():
    """NumPy returns none if the columns are dependent."""
    a, b = np.ones((3, 2)), np.arange(3.0)
    assert linalg.lstsq(a, b)[1].shape == (0,)
    x, residuals, rank, _ = ad.jit(linalg.lstsq)(a, b)
    assert_close(x, np.array([0.5, 0.5]))
    assert_close(residuals, np.array([2.0]))
    for shape, dtype in ((3, 2), 'f4'), ((2, 3), float), ((0, 2), float):
        a = np.random.default_rng(1).uniform(size=shape).astype(dtype)
        b = np.ones(shape[0], dtype)
        for y, expected in zip(ad.jit(linalg.lstsq)(a, b),
                               linalg.lstsq(a, b), strict=True):
            assert_same_type(y, expected)
            assert_close(y, expected)


# Types and refusals

def test_results_have_the_types_of_numpys():
    for f in linalg.eigh, linalg.eig, linalg.svd, linalg.qr:
        for y in (ad.jit(f)(A), ad.vmap(f)(A[None]),
                  ad.jvp(f, (A,), (A,))[1], ad.eval_shape(f, A)):
            assert type(y) is type(f(A))


def test_raw_householder_vectors_are_refused():
    with pytest.raises(NotImplementedError, match="not 'raw'"):
        ad.jit(lambda a: linalg.qr(a, 'raw'))(A)
