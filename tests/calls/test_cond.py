"""Guard `cond` and `switch`: types, batches, and untaken branches.

Random branches are compared with a Python `if` in test_unrolled.py.  The
hard cases are those of the appendix *What the documents ask*.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.cond import cond_p
from tests.support.control_flow import unrolled
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import assert_named_everywhere
from tests.support.transforms import d, staged

X = np.array([4., -1., 0.25, -0.5])
T, V = TypeError, ValueError


# Values and types

@pytest.mark.parametrize('pred, taken', [
    (True, 1), (np.False_, 0), (np.array(False), 0), (1, 1), (0, 0),
    (0.5, 1), (0.0, 0), (-2, 1), (np.uint8(200), 1), (np.nan, 1)])
def test_a_predicate_can_be_any_scalar(pred, taken):
    f = lambda pred, x: ad.cond(pred, lambda x: x * 2, lambda x: x * 3, x)
    slope = 2.0 if taken else 3.0
    for g in (f, ad.jit(f), ad.checkpoint(f)):
        assert g(pred, 2.0) == 2 * slope
        assert ad.grad(g, 1)(pred, 2.0) == slope
    assert_same(ad.vmap(f, (None, 0))(pred, X), X * slope)
    assert_same(ad.vmap(f)(np.array([pred, pred]), X[:2]), X[:2] * slope)


def test_only_the_chosen_branch_runs():
    runs = []
    p = ad.Primitive('counted')
    p.def_impl(lambda x, name: runs.append(name) or x)
    p.def_abstract_eval(lambda x, name: ad.ShapedArray(x.shape, x.dtype))
    branches = [partial(p.bind, name=name) for name in 'abc']
    f = lambda i, x: ad.switch(i, branches, x)
    for g in (f, ad.jit(f)):
        for i in range(3):
            assert g(i, np.float64(2.0)) == 2.0
    assert runs == [*'abcabc']


TYPES = [   # of the branches, and of the result
    (lambda x: 1, lambda x: 2.5, 1.0),
    (lambda x: True, lambda x: 2, 1),
    (lambda x: 1.0, lambda x: np.float32(2), np.float32(1)),
    (lambda x: np.float32(1), lambda x: 2.0, np.float32(1)),
    (lambda x: 1, lambda x: np.sin(x), np.float64(1)),
]


def test_a_python_number_takes_the_type_of_the_other_branch():
    for then, other, expected in TYPES:
        for pred in (True, np.True_):
            assert_same(ad.cond(pred, then, other, 0.5), expected)
            assert_same(ad.jit(lambda p: ad.cond(p, then, other, 0.5))(pred),
                        expected)
            assert_same(ad.cond(not pred, other, then, 0.5), expected)


def test_switch_clamps_its_index():
    scale = [2.0, 3.0, 5.0]
    branches = [lambda x, s=s: x * s for s in scale]
    f = lambda i, x: ad.switch(i, branches, x)
    for index, taken in ((-5, 0), (0, 0), (1, 1), (2, 2), (3, 2),
                         (np.int8(-3), 0), (np.uint8(250), 2),
                         (np.array(1), 1)):
        for g in (f, ad.jit(f), ad.checkpoint(f)):
            assert g(index, 7.0) == 7 * scale[taken]
            assert ad.grad(g, 1)(index, 7.0) == scale[taken]
        assert_same(ad.vmap(f, (0, None))(np.array([index] * 2), 7.0),
                    np.full(2, 7 * scale[taken]))


def test_switch_takes_one_branch_or_a_generator():
    assert ad.switch(3, [np.negative], 2.0) == -2.0
    assert ad.switch(1, (f for f in (np.negative, np.square)), 3.0) == 9.0
    f = lambda i: ad.switch(i, [np.negative], 2.0)
    assert_same(ad.vmap(f)(np.arange(3)), np.full(3, -2.0))


def test_a_batched_predicate_takes_unbatched_arguments():
    f = lambda p, m, v: ad.cond(p, lambda m, v: m @ v, lambda m, v: v, m, v)
    m, v = np.arange(9.).reshape(3, 3), X[:3]
    many = ad.vmap(f, (0, None, None))
    p = np.array([True, False])
    assert_same(many(p, m, v), np.stack([m @ v, v]))
    assert_close(ad.grad(lambda v: many(p, m, v).sum())(v), m.sum(0) + 1)


# Hard case 7: the other branch contributes no derivative

def roots(x):
    return ad.cond(x >= 0, np.sqrt, lambda x: 2. * x, x)


def logs(x):
    c = 1.0 * x
    return ad.switch((x > 0) * 1 + (x > 2), [
        lambda: np.log(-c), lambda: c ** 0.5, lambda: np.arcsin(2 / c)])


TRUTHS = {
    'roots': (roots, lambda x: np.sqrt(x) if x > 0 else 2. * x),
    'logs': (logs, lambda x: np.log(-x) if x <= 0 else x ** 0.5
             if x <= 2 else np.arcsin(2 / x)),
    'division': (lambda x: ad.cond(x == 4., lambda x: x, lambda x: 1 / (
        x - 4.), x), lambda x: x if x == 4. else 1 / (x - 4.)),
}


@pytest.mark.parametrize('name', TRUTHS)
def test_no_nan_comes_from_the_other_branch(name):
    untaken, truth = TRUTHS[name]
    stack = lambda f: np.stack([f(x) for x in X])
    first, second = stack(ad.grad(truth)), stack(ad.grad(ad.grad(truth)))
    sums = lambda f: lambda x: f(x).sum()
    wraps = [lambda f: f, ad.jit, ad.checkpoint, staged]
    for wrap in wraps[[*TRUTHS].index(name) % 2::2]:
        f = wrap(untaken)
        many = ad.vmap(f)
        with np.errstate(divide='raise', over='raise', invalid='raise'):
            assert_close(many(X), stack(truth))
            for g in (d(many), ad.vmap(d(f)), ad.grad(sums(many)),
                      ad.vmap(ad.grad(f)), wrap(ad.grad(sums(wrap(many))))):
                assert_close(g(X), first)
            assert_close(ad.linearize(many, X)[1](np.ones(4)), first)
            for g in (ad.grad(sums(ad.grad(sums(many)))),
                      d(ad.grad(sums(many))), ad.grad(sums(d(many))),
                      d(d(many)), ad.grad(sums(ad.vmap(ad.grad(f))))):
                assert_close(g(X), second)


def test_infinite_slope_in_one_branch_leaves_other_elements_finite():
    """The copy's cotangent is zero, and zero times infinity would be nan."""
    total, each = lambda x: ad.vmap(roots)(x).sum(), ad.vmap(ad.grad(roots))
    with np.errstate(divide='ignore', invalid='ignore'):
        for g in (ad.grad(total), ad.jit(ad.grad(total)), each):
            assert_same(g(np.array([0., -1.])), np.array([np.inf, 2.]))


def invert(lib):
    """A function whose other branch fails, but does not warn."""
    return lambda a, b: lib.cond(
        a[0, 0] > 0, lambda: np.linalg.solve(a, b), lambda: 2 * b)


SINGULAR, REGULAR = np.ones((2, 2)), np.array([[2., 1.], [-1., 3.]])


@pytest.mark.parametrize('matrices', [
    [-SINGULAR, REGULAR], [REGULAR, -SINGULAR, -SINGULAR],
    [-SINGULAR, -SINGULAR], [REGULAR, 2 * REGULAR]],
    ids=['second', 'first', 'none', 'all'])
def test_an_error_in_a_branch_needs_an_element_that_takes_it(matrices):
    a = np.stack(matrices)
    b = np.arange(2. * len(a)).reshape(-1, 2) + 1
    f, twin = invert(ad), invert(unrolled)
    total = lambda f: lambda a, b: np.sum(f(a, b) ** 3)
    for change in (lambda f: f, lambda f: ad.grad(total(f)),
                   lambda f: lambda a, b: ad.jvp(f, (a, b), (a, -b))[1]):
        expected = np.stack([change(twin)(*ab) for ab in zip(a, b)])
        many = ad.vmap(change(f))
        for g in (many, ad.jit(many), ad.vmap(ad.jit(change(f)))):
            assert_close(g(a, b), expected)
        assert_close(ad.vmap(many)(np.stack([a, a[::-1]]),
                                   np.stack([b, b[::-1]])),
                     np.stack([expected, expected[::-1]]))
    expected = np.stack([ad.grad(total(twin))(*ab) for ab in zip(a, b)])
    assert_close(ad.jit(ad.grad(total(ad.vmap(f))))(a, b), expected)


def test_an_error_in_the_chosen_branch_is_raised():
    a, b = np.stack([SINGULAR, REGULAR]), np.ones((2, 2))
    for f in (ad.vmap(invert(ad)), ad.jit(ad.vmap(invert(ad)))):
        with pytest.raises(np.linalg.LinAlgError, match='[Ss]ingular'):
            f(a, b)


def test_an_empty_batch_takes_no_branch():
    many = ad.vmap(lambda x: ad.cond(x > 0, np.sqrt, np.negative, x))
    total = lambda x: many(x).sum()
    for f in (many, ad.grad(total), ad.jit(many), ad.jit(ad.grad(total))):
        assert_same(f(np.zeros(0)), np.zeros(0))


# Closures and programs


def test_a_known_branch_is_inlined_in_reverse_mode():
    """Changing its result does not change its derivative."""
    branch = lambda x, y: (z := np.exp(x), z * y)

    def f(y):
        z, product = ad.cond(True, branch, branch, X, y)
        z[:] = 7.0
        return product
    _, run = ad.linearize(f, X)
    assert cond_p not in [e.primitive for e in ad.make_jaxpr(run)(X).eqns]
    assert_close(run(X), np.exp(X) * X)


def test_linear_transpose_works_through_a_branch():
    f = lambda p: lambda x, y: ad.cond(p, lambda x, y: (x * 2, y),
                                       lambda x, y: (y, x - 3 * y), x, y)
    for pred, expected in (True, (2.0, 10.0)), (False, (10.0, -29.0)):
        back = ad.linear_transpose(ad.jit(f(pred)), 1.0, 1.0)
        assert back((1.0, 10.0)) == expected
    with pytest.raises(TypeError, match='the program is not linear'):
        ad.linear_transpose(lambda x: ad.cond(
            x, np.positive, np.negative, x), 1.0)(1.0)


# Mistakes

I = lambda x: x


def pair(x):
    return x, x


def rows(x):
    return np.ones(2) * x


def branch(x):
    return x if x > 0 else -x


EQUAL = 'cond branches must have equal output types but they differ: '
ERRORS = {
    'vector': (lambda: ad.cond(X > 0, I, I, 1.), T, r'Pred must be a scalar, '
               r'but got bool\[4\].*np.where'),
    'tree': (lambda: ad.cond(True, np.sin, pair, 1.), T,
             'cond of .*: cond branch outputs must have the same pytree '
             'structure, but they differ: .*pair returns '
             r'PyTreeDef\(\(\*, \*\)\), and .*sin.* returns .*\(\*\)'),
    'shape': (lambda: ad.cond(True, np.sin, rows, np.float64(1)), T,
              rf'cond of .*{EQUAL}.*rows returns float64\[2\], and '
              r'.*sin.* returns float64\[\]'),
    'no_branches': (lambda: ad.switch(0, [], 1.), V,
                    'switch needs at least one branch'),
    'index_float': (lambda: ad.switch(1., [I, I], 1.), T,
                    r'Index must be an integer, but got float64\[\]'),
    'd3_branch': (lambda: ad.cond(True, branch, I, 1.),
                  ad.TracerBoolConversionError,
                  'Attempted boolean .*cond of .*branch.*np.where'),
    'output': (lambda: ad.cond(True, lambda x: 'a', I, 1.), T,
               'cond of .*output: .*type str'),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_a_branch_is_named(name):
    assert_named_everywhere(*ERRORS[name])
    # and the interpreter still works
    assert ad.grad(lambda x: ad.cond(x > 0, np.square, I, x))(3.0) == 6.0
