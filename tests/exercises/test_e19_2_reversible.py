import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.jaxprs import programs_in

RNG = np.random.default_rng(0)
A, B, CT = RNG.standard_normal((3, 4))
WS = RNG.standard_normal((5, 4, 4)) / 3


def f(w, b):
    return np.tanh(w @ b)


def loop(ws, a, b):
    for w in ws:
        a, b = b, a + f(w, b)
    return a, b


def loss(run):
    def total(ws, a, b):
        a, b = run(ws, a, b)
        return np.sum(a * CT) + np.sum(b * b)
    return total


def bytes_kept(run, steps):
    _, pullback = ad.vjp(run, np.zeros((steps, 4, 4)), A, B)
    return sum(np.asarray(r).nbytes for r in ad.tree_leaves(pullback))


def test_values(exercise):
    found = exercise.reversible(f)(WS, A, B)
    for x, y in zip(found, loop(WS, A, B), strict=True):
        assert x == pytest.approx(y, rel=1e-12)


def test_gradients(exercise):
    found = ad.grad(loss(exercise.reversible(f)), (0, 1, 2))(WS, A, B)
    expected = ad.grad(loss(loop), (0, 1, 2))(WS, A, B)
    for x, y in zip(found, expected, strict=True):
        assert x == pytest.approx(y)


def test_it_keeps_the_weights_and_one_pair(exercise):
    run = exercise.reversible(f)
    for steps in 5, 50:
        weights, pair = steps * 16 * 8, 2 * 4 * 8
        assert bytes_kept(run, steps) <= weights + pair


def shapes_in(jaxpr):
    """Yields the shapes of all results in a program and those inside."""
    for eqn in jaxpr.eqns:
        yield from (v.aval.shape for v in eqn.outvars)
        for value in eqn.params.values():
            for program in programs_in(value):
                yield from shapes_in(program)


def test_nobody_keeps_a_state_for_each_step(exercise):
    slopes = ad.grad(loss(exercise.reversible(f)), (0, 1, 2))
    shapes = set(shapes_in(ad.make_jaxpr(slopes)(WS, A, B)))
    assert (5, 4, 4) in shapes      # the cotangents of the weights
    assert (5, 4) not in shapes


def test_the_checker_is_content(exercise):
    small = WS[:3, :2, :2], A[:2], B[:2]
    ad.check_grads(exercise.reversible(f), small, order=2, modes=('rev',))


def test_weights_that_are_trees(exercise):
    g = lambda p, b: p['scale'] * np.sin(b) + p['shift']
    ps = {'scale': RNG.standard_normal(6), 'shift': np.ones((6, 4))}
    slopes = ad.grad(loss(exercise.reversible(g)))(ps, A, B)

    def unrolled(ps, a, b):
        for i in range(6):
            a, b = b, a + g({'scale': ps['scale'][i],
                             'shift': ps['shift'][i]}, b)
        return a, b
    expected = ad.grad(loss(unrolled))(ps, A, B)
    for name in ps:
        assert slopes[name] == pytest.approx(expected[name])


def test_mapped_and_compiled(exercise):
    slope = ad.grad(loss(exercise.reversible(f)), 2)
    found = ad.jit(ad.vmap(slope, (None, 0, 0)))(
        WS, np.stack([A, B]), np.stack([B, A]))
    for row, (a, b) in zip(found, ((A, B), (B, A))):
        assert row == pytest.approx(ad.grad(loss(loop), 2)(WS, a, b))


def test_no_steps_at_all(exercise):
    a_bar, b_bar = ad.grad(loss(exercise.reversible(f)), (1, 2))(
        WS[:0], A, B)
    assert np.array_equal(a_bar, CT) and np.array_equal(b_bar, 2 * B)
