"""Arrays that change: a program that writes computes what NumPy computes.

If it cannot, an error says whose memory it is. programs.py has a
program for each way to write, and this file has names, views, and random
programs.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.errors import ReadOnlyError, TracerError
from autodiff_mini.wings.writing.boxes import whose
from tests.support import amount
from tests.support.batches import UNMAPPED
from tests.support.statements import assert_every_way_is_numpy, ran
from tests.tables import random_writing
from tests.tables.programs import PROGRAMS

X = np.array([1.0, 2.0, 3.0])
E = np.eye(3)
STAGES = ad.jit, lambda f: lambda x: ad.vmap(f)(x[None])


def gradient(f, x):
    """Return the gradient, which is the same in each mode."""
    ways = [ad.grad(f)(x), ad.jit(ad.grad(f))(x), ad.grad(ad.jit(f))(x),
            ad.jacfwd(f)(x), ad.vmap(ad.grad(f))(np.stack([x, x]))[1],
            ad.grad(lambda x: np.sum(ad.vmap(f)(x[None])))(x)]
    for way in ways:
        np.testing.assert_allclose(way, ways[0], rtol=1e-14)
    return ways[0]


def test_every_name_of_an_array_sees_a_write():
    def f(x):
        y = x * 1
        z = y
        z += 1
        return np.sum(y * y)

    assert f(X) == 29.0 == ad.jit(f)(X)
    np.testing.assert_array_equal(gradient(f, X), 2 * (X + 1))


def test_views_see_writes():
    def f(x):
        y = np.zeros((3, 3), like=x)
        diagonal, middle, last = y[::2, ::2], y.T[1], y[-1]
        y[:, 1] = x[None]
        middle += 1
        diagonal[1, 1] = x[0] * x[1]
        return np.sum(last * last) + np.sum(middle)

    assert f(X) == 16 + 4 + 9 == ad.jit(f)(X)
    np.testing.assert_array_equal(
        gradient(f, X), [1 + 2 * 2 * 2, 1 + 2 * 2, 1 + 2 * 4])


FLAT = [
    'z.flat[1:4] = [7., 8]', 'z.flat = range(10)', 'z.flat = []',
    'z.flat[[0, 1]] = [[9.], [8]]', 'z.flat[np.arange(6) > 2] = [1., 2]',
    'z.flat[1:3] *= 2', 'z.T.flat[1:3] = [1., 2]', 'np.put(z, [0, 1], [])',
    'np.putmask(z, z > 1, [7., 8])', 'np.fill_diagonal(z, [4., 5, 6])']


def test_values_written_into_flat_repeat():
    for write in FLAT:
        assert_every_way_is_numpy(
            f'z = x * 1; {write}; r = z * 1', np.arange(6.0).reshape(2, 3))


PARTS = [       # of w = x * (1 + 2j)
    'w.imag = x', 'w.real = x * 3', 'w.imag = 2', 'w.real = [1, 2, 3]',
    'w.imag += x', 'w.real *= 2', 'w.real[0] = 7', 'w.imag[1:] = x[:2]',
    'v = w.imag; v[0] = 5; w[1] = 1j; w[2] = v[0]', 'w.real = np.inf',
    'v = w[1:]; v.real = 9', 'v = w.real; w[::-1].imag = x; v[2] = 8',
    'w = np.outer(w, w); w[0].real = x; w.T.imag[1] = 4',
    'w = x * 1; w.real = 5', 'w = np.array(w[0]); w.imag = 3',
    'w.imag = -0.0; w = np.signbit(w.imag)',
    'w = np.zeros(3, complex); w.real = x',
    'w = np.zeros(3, np.complex64); w.imag = x; w.real[1] = x[0]',
    'w = np.zeros((2, 3), complex); u = w[1].imag; u[0] = x[1]; w.real = x',
    'w = np.zeros(3, complex); w.imag[1:] = x[1:]; w.imag[0] = 2',
    'w = np.ones(3); w.real = x']


def test_writes_into_the_real_or_imaginary_part_are_numpys():
    for write in PARTS:
        assert_every_way_is_numpy(
            f'w = x * (1 + 2j); {write}; r = [w + 0, w.real + 0]', X)


def test_writes_into_a_part_have_slopes():
    def f(x):
        w = x * (1 + 2j)
        w.imag = x * x
        w.real[0] *= 3
        y = np.zeros(3, complex)
        y.real, y.imag = x, w.imag
        return np.sum(np.abs(w) ** 2) + np.sum(np.real(y * y))

    slopes = 4 * X - 4 * X ** 3 + 4 * X ** 3
    np.testing.assert_allclose(gradient(f, X), slopes + [16, 0, 0], 1e-14)


def test_a_part_that_numpy_cannot_write_is_refused():
    for kind, write in ((TypeError, 'x = x * 1; x.imag = 0'),
                        (AttributeError, 'x[0].real = 1'),
                        (AttributeError, '(x[0] * 1j).imag = 1'),
                        (ValueError, '(x * 1j).imag = x[:2]')):
        for way in ad.jit, lambda f: lambda x: ad.jvp(f, (x,), (x,)):
            with pytest.raises(kind):
                way(ran(f'{write}; r = 0'))(X)
            with pytest.raises(kind):
                ran(f'{write}; r = 0')(X.copy())


VIEWS = [       # which can be views, and which are read-only in NumPy
    np.ravel, lambda y: y.reshape(9), lambda y: np.squeeze(y[None]),
    lambda y: np.expand_dims(y, 0), lambda y: y.real[0].reshape(3, 1),
    np.diagonal, np.diag, lambda y: np.broadcast_to(y, (2, 3, 3)),
    lambda y: np.broadcast_arrays(y, np.ones((2, 1, 1)))[0],
    lambda y: np.einsum('ii->i', y)]


@pytest.mark.parametrize('view', VIEWS)
def test_a_possible_view_is_not_written_while_both_are_used(view):
    def above(x):
        y = x * 1
        z = view(y)
        z[...] = 2.0
        return np.sum(y)

    def below(x):
        y = x * 1
        z = view(y)
        y[0] = 3.0
        return np.sum(z)

    for f in above, below:
        for way in (ad.grad, *STAGES):
            with pytest.raises(ReadOnlyError, match='may share memory|'
                               'read-only in NumPy'):
                way(f)(E + 1)


SEEN = [program for program in PROGRAMS if len(program.args) and np.ndim(
    program.args[0]) and not program.name.startswith('write_')
    and program.name not in UNMAPPED]


def test_a_result_shares_memory_if_numpys_does():
    """Otherwise, writes would show in the wrong array, or not at all.

    More results can share memory, because NumPy decides whether reshape
    copies.
    """
    for program in SEEN:
        if program.leads or amount.WHOLE:
            with np.errstate(all='ignore'):
                found, expected = shares(program)
            assert found == [expected] * 2 or (
                not expected and program.name in MAY_SHARE), program.name


def shares(program):
    """Return whether results share memory in two traces, and in NumPy."""
    f, found = partial(program.function, np), []
    x, *rest = program.args
    y = f(x, *rest)

    def g(x, *rest):
        mine = np.copy(x)
        y = f(mine, *rest)
        share = getattr(whose(mine), 'shared', 0) is getattr(
            whose(y), 'shared', 1) if isinstance(y, ad.Tracer) else False
        found.append(y is mine or share)
        return y
    ad.make_jaxpr(g)(*program.args)
    ad.vmap(g)(*[np.stack([x, x]) for x in program.args])
    return found, isinstance(y, np.ndarray) and np.shares_memory(x, y)


MAY_SHARE = {
    'reshape_6_F', 'reshape_-1_F', 'reshape_(3, -1)_F', 'reshape_[1, 6, 1]_F',
    'reshape_method_order', 'reshape_empty', 'reshape_empty_unknown',
    'ravel_columns', 'imag_array', 'imag_half', 'imag_single', 'imag_ints',
    'index_empty', 'index_empty_slice', 'broadcast_empty', 'diff_0',
    'diagonal_far'}


# Memory that belongs elsewhere.

def fill(x):
    x[0] = 1.0
    return np.sum(x)


def increase(x):
    x += 1.0
    return np.sum(x)


BORROWING = [
    ad.grad, ad.jit, ad.make_jaxpr, lambda f: ad.jit(ad.checkpoint(f)),
    lambda f: lambda x: ad.vmap(f)(x[None]),
    lambda f: lambda x: ad.linear_transpose(f, x),
    lambda f: lambda x: ad.grad(lambda x: call(f, x))(x),
    lambda f: lambda x: ad.scan(lambda c, _: (c + f(c), None), x, None,
                                length=2),
    lambda f: lambda x: ad.grad(lambda x: ad.cond(x[0] > 0, f, f, x))(x)]
WRITES = [
    fill, increase, lambda x: np.sum(np.sin(x, out=x)),
    lambda x: fill(x[1:]), lambda x: x.T.fill(2), lambda x: x.sort(),
    lambda x: np.add.at(x, 0, 1.0), lambda x: np.copyto(x, x),
    lambda x: np.put(x, 0, 1.0)]


def test_an_outside_array_is_copied_where_it_is_traced():
    def f(x):
        a = X.copy()
        y = np.dot(a, x) + np.sum(ad.asarray(a) * x)
        a[...] = 0
        return y
    np.testing.assert_array_equal(ad.vmap(ad.grad(f))(E)[1], 2 * X)


@pytest.mark.parametrize('transform', BORROWING)
def test_an_argument_belongs_to_its_caller(transform):
    x = X.copy()
    for write in WRITES if transform is ad.jit else WRITES[:2]:
        with pytest.raises(ReadOnlyError, match='is an argument, so'):
            transform(lambda x: write(x) or np.sum(x))(x)
    np.testing.assert_array_equal(x, X)
    assert ad.grad(lambda x: increase(x.copy()))(X)[0] == 1


def test_a_closed_over_array_is_read_only():
    constant = np.zeros(3)
    for way in STAGES:
        with pytest.raises(ReadOnlyError, match='closes over'):
            way(lambda x: fill(ad.asarray(constant)) * x)(X)
    np.testing.assert_array_equal(constant, 0)


def test_an_array_of_an_outer_transformation_is_read_only():
    def f(x):
        y = x * 1
        ad.grad(lambda t: y.fill(t) or t)(2.0)
        return np.sum(y)
    with pytest.raises(ReadOnlyError, match='grad of .* is running'):
        ad.grad(f)(X)


def test_a_constant_array_takes_constant_values():
    def f(x, make):
        def g(t):
            n = make(x)     # of the outer transformation, but made here
            n[0] = 3.0
            n[1:] += 1
            return np.sum(n * t)
        return ad.grad(g)(x)
    for make in np.floor, ad.jit(np.floor):
        for y in (ad.jit(partial(f, make=make))(X),
                  ad.vmap(partial(f, make=make))(np.stack([X, X]))[1]):
            np.testing.assert_array_equal(y, [3, 3, 4])

    def moves(x):
        return ad.grad(lambda t: np.floor(x).__setitem__(0, t[0]) or t[0])(x)
    with pytest.raises(ReadOnlyError, match='is constant in grad'):
        ad.jit(moves)(X)


def test_a_rule_writes_into_a_result_of_a_jitted_function():
    f = ad.custom_jvp(lambda x: x)

    @f.defjvp
    def f_jvp(primals, tangents):
        y = ad.jit(np.floor)(primals[0])
        y += 1
        return primals[0], y * tangents[0]

    for way in STAGES:
        np.testing.assert_array_equal(
            way(ad.grad(lambda x: np.sum(f(x))))(X).ravel(), X + 1)


def test_a_plain_array_cannot_hold_traced_values():
    a = np.zeros(3)
    for write in (
            lambda a, x: a.__setitem__(0, x[0]),
            lambda a, x: np.add(a, x, out=a), lambda a, x: np.copyto(a, x),
            lambda a, x: np.add.at(a, [0], x[:1]),
            lambda a, x: a.__iadd__(x), lambda a, x: np.put(a, 0, x),
            lambda a, x: np.sum(x * a, 0, out=a[:1].reshape(()))):
        for way in (ad.grad, *STAGES):
            with pytest.raises((TypeError, ValueError)) as info:
                way(lambda x: write(a, x) or np.sum(x))(X)
            errors = [info.value, info.value.__cause__,
                      info.value.__context__]
            assert any(words in str(e) for e in errors for words in (
                'no longer traced', 'cannot hold traced'))
    np.testing.assert_array_equal(a, 0)


# Numbers, and how NumPy casts.

def test_a_number_is_not_written():
    with pytest.raises(ReadOnlyError, match='is a number'):
        ad.grad(lambda x: fill(np.sum(x)))(X)
    assert ad.grad(lambda x: increase(x))(2.0) == 1     # an argument, too


def test_a_traced_mask_takes_one_number():
    def f(x):
        y = x * 1
        y[y > 1.5] = 0.5
        z = np.stack([y, y])
        z[:, y < 1] = 0     # known in jvp, but not in jit
        return np.sum(z)
    assert ad.grad(f)(X)[0] == 2
    with pytest.raises(TracerError, match=r'x\[...\] = np.where'):
        ad.jit(f)(X)


REFUSED = [
    (lambda y, x: y.__iadd__(x), TypeError),
    (lambda y, x: np.copyto(y, x * 1.0), TypeError),
    (lambda y, x: np.add.at(y, [0], x[:1]), TypeError),
    (lambda y, x: np.sin(x, out=y), TypeError),
    (lambda y, x: y.__setitem__(slice(2), x[:2] * 1j), TypeError),
    (lambda y, x: y.__setitem__(slice(0, 2), x), ValueError),
    (lambda y, x: y.__setitem__(5, 1), IndexError),
    (lambda y, x: y.__setitem__(x[:2] > 1, 0.0), IndexError)]


def test_invalid_writes_raise_as_in_numpy():
    for write, error in REFUSED:
        def f(x):
            y = np.zeros(3, int, like=x)
            write(y, x)
            return np.sum(x)
        for way in (ad.grad, *STAGES) if error is not IndexError else STAGES:
            with pytest.raises(error):
                way(f)(X)


def test_an_error_leaves_the_array_unchanged():
    def f(x):
        y = x * 1
        z = y[1:]
        for wrong in ('z[:] = x', 'y[7] = 0', 'y += np.ones(2)'):
            with pytest.raises((ValueError, IndexError)):
                exec(wrong, {'np': np, 'x': x, 'y': y, 'z': z})
        return np.sum(y) + np.sum(z)
    np.testing.assert_array_equal(gradient(f, X), [1, 2, 2])


# Kept arrays do not change, and results belong to the caller.

def clamp(x):
    x *= 0
    return np.sum(x)


def test_residuals_are_unchanged_by_writes():
    """An outer program writes after an inner transformation has run."""
    def f(x):
        y = x * 1
        z, pull = ad.vjp(lambda t: np.sum(t * y) + np.sum(y), y)
        _, push = ad.linearize(lambda t: t * y * t, y)
        converted, values = ad.closure_convert(lambda t: t * y, y)
        before = ad.jit(lambda t: t * y)(y)
        clamp(y)
        return pull(1.0)[0] + push(x) + converted(x, *values) + before
    expected = X + 2 * X**3 + X * X + X * X
    for way in (f(X), ad.jit(f)(X), ad.vmap(f)(X[None])[0],
                ad.jvp(f, (X,), (X,))[0]):
        np.testing.assert_allclose(way, expected, rtol=1e-15)


def test_two_gradients_are_two_arrays():
    def f(x):
        a, b = ad.grad(lambda a, b: np.sum((a + b) * x), argnums=(0, 1))(x, x)
        a *= 0
        return b
    for way in (f, ad.jit(f), lambda x: ad.jvp(f, (x,), (x,))[0]):
        np.testing.assert_array_equal(way(X), X)


# Random programs.

def test_random_programs_compute_what_numpy_computes():
    right = refused = 0
    for seed in range(12000 if amount.WHOLE else 24):
        source = random_writing.source_of(seed)
        wrong, *counts = random_writing.wrongs_of(source, seed)
        assert wrong == [], source
        right, refused = right + counts[0], refused + counts[1]
    assert right > refused
