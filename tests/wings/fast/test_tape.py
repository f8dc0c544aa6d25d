"""The tape: prepared operations give the bits of the interpreters."""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.interpreters.jvp import rules as jvp_rules
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.primitives.elementwise import mul_p, sin_p
from autodiff_mini.wings.fast import prepared, tape
from tests.support.amount import each
from tests.support.batches import MAPPED, batched, layouts
from tests.support.identical import Labeled, assert_identical
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import PROGRAMS, is_inexact
from tests.wings.fast.both_ways import both_ways, check_both_ways

pytestmark = pytest.mark.usefixtures('prepare_at_once')


def total(program, *args):
    """Return a number that depends on all results of a program."""
    rng = np.random.default_rng(1)
    ys = [np.sum(y * rng.uniform(0.5, 1.5, np.shape(y)))
          for y in ad.tree_leaves(program.function(np, *args))
          if is_inexact(y)]
    return np.real(sum(ys[1:], ys[0])) if ys else 0.0


@each(PROGRAMS + CUSTOM_PROGRAMS, composed=True)
def test_taped_gradients_have_the_bits_of_the_interpreters(program):
    check_both_ways(ad.value_and_grad(
        partial(total, program), tuple(program.perturbed())), *program.args)


@each(MAPPED, composed=True)
def test_taped_batches_have_the_bits_of_the_interpreters(program):
    f = ad.value_and_grad(partial(total, program), tuple(program.perturbed()))
    for axes in layouts(program):
        check_both_ways(ad.vmap(f, axes), *batched(program, axes))


def slope_twice(f, x):
    """Return the gradient of `f` by the operations that a call prepared."""
    ad.grad(f)(x)
    assert prepared.Prepared in map(type, tape.preparations.values())
    return ad.grad(f)(x)


def test_the_tape_uses_a_changed_rule(monkeypatch):
    """Also the rule of another primitive, which the reverse pass uses."""
    assert slope_twice(np.sin, 0.0) == 1.0
    monkeypatch.setitem(jvp_rules, sin_p, lambda primals, tangents: (
        sin_p.bind(*primals), 7 * tangents[0]))
    assert ad.grad(np.sin)(0.0) == 7.0
    assert slope_twice(lambda x: x * 3.0, 1.0) == 3.0
    monkeypatch.setitem(transpose_rules, mul_p,
                        lambda ct, x, y: [5 * ct, None])
    assert ad.grad(lambda x: x * 3.0)(1.0) == 5.0


@pytest.mark.parametrize('size', [3, 3000])
def test_the_tape_remembers_arrays_that_change_later(size):
    a = np.ones(size)

    def f(x):
        a[:] = 2
        y = np.sum(x * a)
        y += np.sum(np.where(x > 0, x * a, np.concatenate([a[:1], x[1:]])))
        a[:] = 3
        return y
    assert np.all(slope_twice(f, np.ones(size)) == 4)
    xs = np.ones((2, size))
    assert is_prepared_for_examples(ad.vmap(ad.grad(f)), xs)
    assert np.all(ad.vmap(ad.grad(f))(xs) == 4)


def test_cotangents_are_added_one_by_one():
    x, c = np.random.default_rng(3).standard_normal((2, 50))
    for f in (lambda x: np.sum(x * x * c + x * 0.1),
              lambda x: np.sum(x * c.view(Labeled)),
              lambda x: np.sum(np.var(x) * c * x)):
        check_both_ways(ad.grad(f), x)


@pytest.mark.parametrize('x', [1.5, np.array([0.5, -1.5, 2.0])],
                         ids=['a float', 'an array'])
def test_operators_know_the_order_of_their_operands(x):
    """Also if both orders are prepared."""
    def f(x):
        y = (x - 2.0) * (2.0 - x) + x / 4.0 - 4.0 / x + (1.0 + x) * 3.0
        return np.sum(-y * x + (x + 1.0) * (3.0 * x) - y / x + x / y - x)
    check_both_ways(ad.grad(f), x)
    check_both_ways(ad.grad(f), x)


def test_a_ufunc_with_options_takes_the_long_way():
    f = lambda x: np.sum(np.exp(x) + np.exp(x, dtype=np.float32)
                         + np.negative(x, where=np.array([True])))
    check_both_ways(ad.grad(f), np.ones(3))


def test_functions_that_return_a_view_are_not_prepared():
    for view in (lambda y: np.einsum('ii->i', y), lambda y: np.diff(y, n=0)):
        def f(x):
            y = x * 1
            view(y)[...] = 2.0
            return np.sum(y)
        for _ in range(2):
            (expected, _), (actual, _) = both_ways(ad.grad(f), np.eye(3))
            assert str(actual) == str(expected)


def test_a_gradient_can_use_one_of_several_results():
    for chosen in (0, 1):
        assert np.any(check_both_ways(ad.grad(lambda x: np.sum(np.linalg.eigh(
            x)[chosen] ** 2 * np.arange(2))), np.diag([2.0, 1.0]) + 0.5))


def test_static_arguments_are_part_of_the_key():
    check_both_ways(ad.grad(lambda x: np.sum(np.roll(x, 1, 0) * np.roll(
        x, 1, 1) * np.roll(x, (1, 0)))), np.arange(9.0).reshape(3, 3))


def test_an_error_of_the_reverse_pass_names_the_line(monkeypatch):
    f, x = lambda x: np.sum(x * x), np.ones(2)
    slope_twice(f, x)
    for entry in list(tape.preparations.values()):
        if type(entry) is prepared.Prepared:
            monkeypatch.setattr(entry, 'back', lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as caught:
        ad.grad(f)(x)
    assert 'test_tape.py' in caught.value.__notes__[0]


def test_values_name_their_lines():
    for g in (lambda x: x > 0), np.floor, (lambda x: x[0]):
        check_both_ways(ad.vmap(ad.grad(lambda x: bool(g(x)))), np.eye(3))

    def f(x):
        kept = []
        call(lambda x: kept.append(x * 2) or x, x)
        return float(np.copy(kept[0]))
    check_both_ways(ad.grad(f), np.ones(2))


def test_the_number_of_preparations_is_bounded(monkeypatch):
    monkeypatch.setattr(tape, 'MOST_KEYS', 10)
    for i in range(50):
        ad.grad(lambda x: np.sum(x * 2.0))(np.ones(i + 1))
    assert 0 < len(tape.preparations) <= 12


def is_prepared_for_examples(f, *args):
    """Return whether a call prepares an operation for all examples."""
    tape.preparations.clear()
    f(*args)
    return any(type(x) is prepared.Prepared and type(key[1]) is int
               for key, x in tape.preparations.items())


def test_a_batch_of_gradients_equals_the_gradients():
    """Each part is mapped or not, and the batch size changes."""
    c = np.linspace(1, 2, 3)

    def f(w, x):
        w, x = w * 2.0, np.sin(x)
        y = np.sum(w[1:] * x[:2] * x[0] / c[:2] + np.exp(w[0])) * x[2]
        return y * np.sum(w)
    slopes, w = ad.grad(f, (0, 1)), c + 0.5
    assert is_prepared_for_examples(ad.vmap(slopes), np.eye(3), np.eye(3))
    for size in 3, 4, 3:
        xs = np.linspace(-1, 1, 3 * size).reshape(size, 3)
        for axes in (None, 0), (0, 0), (0, None):
            args = [xs if axis == 0 else w for axis in axes]
            each = [slopes(*[x[k] if axis == 0 else x
                             for x, axis in zip(args, axes)])
                    for k in range(size)]
            assert_identical(ad.vmap(slopes, axes)(*args),
                             tuple(map(np.stack, zip(*each))))


def test_a_program_keeps_what_is_prepared_for_it():
    """Its results are new arrays, unlike `a` and what the tape keeps."""
    for g in np.sin, np.cos:
        f = ad.jit(lambda a, x: (a, np.exp(a), np.exp(a) * g(x)))

        def loss(x):
            a = np.ones(2)
            b, c, y = f(a, x)
            b[:] = c[:] = 7.0
            return np.sum(a * y)
        check_both_ways(ad.grad(loss), np.ones(2))
        [(program, *_)] = f.staged.values()
        assert prepared.Prepared in map(type, program.cache.values())
    check_both_ways(ad.grad(lambda x: ad.scan(
        lambda c, _: (np.sign(c), None), x, None, 2)[0][0]), np.ones(2))


def test_zeros_of_ignored_arguments_are_not_added():
    """A zero has the same sign as in the program without a checkpoint."""
    a, b = np.random.default_rng(3).standard_normal((2, 4))
    f = ad.checkpoint(lambda x: np.sin(np.where(x * b > b, x * b, b)),
                      policy=ad.checkpoint_policies.everything_saveable)
    check_both_ways(ad.grad(lambda x: np.sum(np.sin(
        ad.grad(lambda x: np.sum(f(x)))(x)))), a)


def test_nested_batches_use_the_interpreters():
    f = lambda x: np.sum(np.sin(x) * x)
    xs = np.linspace(-1, 1, 12).reshape(2, 2, 3)
    twice = ad.vmap(ad.vmap(ad.grad(f)))
    assert not is_prepared_for_examples(twice, xs)
    assert not is_prepared_for_examples(ad.vmap(ad.hessian(f)), xs[0])
    assert_identical(twice(xs), ad.grad(lambda x: np.sum(f(x)))(xs))
    assert 'cos' in str(ad.make_jaxpr(lambda: ad.vmap(ad.grad(f))(xs[0]))())


def test_batches_can_belong_to_another_library():
    da = pytest.importorskip('dask.array')
    slopes = ad.vmap(lambda x: ad.grad(lambda w: np.sum(np.sin(w) * x))(1.0))
    xs = np.linspace(-1, 1, 12).reshape(4, 3)
    assert is_prepared_for_examples(slopes, xs)
    there = slopes(da.from_array(xs, chunks=2))
    assert type(there) is da.Array
    assert_identical(there.compute(), slopes(xs))


def test_the_tape_pulls_an_index_beside_an_array_of_another_class():
    class Own(np.ndarray):
        pass

    a = np.arange(3.).view(Own)     # so operations are not prepared
    found = ad.grad(lambda x: np.sum(a * x) + 2 * x[1])(np.ones(3))
    np.testing.assert_array_equal(found, [0, 3, 2])
