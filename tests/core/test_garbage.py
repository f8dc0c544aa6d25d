"""Guard memory: a program frees its arrays when it ends.

Python frees objects immediately if they are not part of a reference cycle.
Cycles stay until the collector runs. They kept five arrays of the eager
gradient of a fixed point, and the constants of each compiled program.
"""

import gc
from collections import Counter
from importlib.util import find_spec

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.amount import rest
from tests.support.named_rules import batched, five_times, thrice
from tests.support.wings import needs

X = np.linspace(0.5, 1.0, 8)
W = np.linspace(-1.0, 1.0, 64).reshape(8, 8)


def filled(x):
    y = np.zeros_like(x)
    y[1:] = x[:-1] ** 2
    y += W @ x
    return y


PROGRAMS = {
    'plain': lambda x: np.tanh(W @ x), 'writing': filled,
    'jit': ad.jit(lambda x: np.tanh(W @ x)),
    'scan': lambda x: ad.scan(
        lambda c, _: (np.tanh(W @ c), c), x, None, length=3)[0],
    'cond': lambda x: ad.cond(x[0] > 0, lambda x: W @ x, np.cos, x),
    'checkpoint_with_a_policy': ad.checkpoint(
        lambda x: np.sin(np.tanh(W @ x)),
        policy=ad.checkpoint_policies.dots_saveable),
    'custom_jvp': lambda x: thrice(W @ x),
    'custom_vjp': lambda x: five_times(W @ x),
    'custom_vmap': lambda x: batched(W @ x),
    'custom_gradient': lambda x: ad.custom_gradient(
        lambda x: (np.sin(x), lambda ct: (ct * np.cos(W @ x),)))(x),
    'fixed_point': lambda x: ad.fixed_point(
        lambda a, y: np.cos(a * y), x, np.ones(8)),
    'odeint': lambda x: ad.odeint(
        lambda y, t, a: -a * y, x, np.array([0.0, 0.1]), x)[-1],
}


def total(f):
    return lambda x: np.sum(f(x) ** 2)


TRANSFORMS = {
    'vmap': lambda f: ad.vmap(f)(np.stack([X, X])),
    'make_jaxpr': lambda f: ad.make_jaxpr(ad.grad(total(f)))(X),
    'jit_of_grad': lambda f: ad.jit(ad.grad(total(f)))(X),
    'grad_of_jit': lambda f: ad.grad(total(ad.jit(f)))(X),
    'vmap_of_grad': lambda f: ad.vmap(ad.grad(total(f)))(np.stack([X, X])),
    'jvp_of_grad': lambda f: ad.jvp(ad.grad(total(f)), (X,), (X,)),
    'linearize': lambda f: ad.linearize(f, X)[1](X),
}
BACKWARDS_ONLY = {'custom_vjp', 'custom_gradient'}  # without such a rule:
FORWARDS = {'linearize', 'jvp_of_grad'}


def gradient(f):
    return ad.grad(total(f))(X)


def in_circles(run):
    """Return how many objects of each kind only the collector would free.

    Imports at the first call are not counted, but preparations at later calls
    are.
    """
    run()
    gc.collect()
    try:
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        for _ in range(3):
            run()
        gc.collect()
        return Counter(type(x).__name__ for x in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.enable()
        gc.garbage.clear()


def test_a_planted_cycle_is_found():
    def run():
        circle = [np.ones(3)]
        circle.append(circle)
    assert in_circles(run) == {'list': 3}


@pytest.mark.parametrize('name', [
    name if name in ('plain', 'jit', 'scan') else rest(name)
    for name in PROGRAMS])
def test_programs_leave_no_garbage(name):
    for transform, apply in TRANSFORMS.items():
        if name not in BACKWARDS_ONLY or transform not in FORWARDS:
            assert in_circles(lambda: apply(PROGRAMS[name])) == {}, transform


@pytest.mark.parametrize('name', PROGRAMS)
def test_gradients_leave_no_garbage(name):
    assert in_circles(lambda: gradient(PROGRAMS[name])) == {}


@needs('fast')
def test_a_program_is_freed_with_its_guard_and_preparations(monkeypatch):
    monkeypatch.setattr('autodiff_mini.wings.fast.tape.OFTEN', 1)
    large = np.ones((2000, 8))

    def run():
        f = ad.jit(lambda x, y: np.tanh(W @ x) + y[::2])
        f(X, np.arange(16.0))
        f(X, np.arange(16.0))
        f(X[::-1], np.arange(16.0))     # for the careful version
        g = ad.checkpoint(lambda x: (x, np.sum(large * x, 0)))
        ad.grad(lambda x: np.sum(g(x)[1] * g(X)[0]))(X)
    assert in_circles(run) == {}


CALLS = 4


def grown(run):
    """Return the kinds of objects whose number grows with each call."""
    counts = []
    for _ in range(3):
        for _ in range(CALLS):
            run()
        gc.collect()
        counts.append(Counter(type(x).__name__ for x in gc.get_objects()))
    _, before, after = counts
    return {kind for kind, n in (after - before).items() if n >= CALLS}


def test_planted_growth_is_found():
    kept = []
    assert grown(lambda: kept.append(np.sin)) == set()
    assert grown(lambda: kept.append([])) == {'list'}


@pytest.mark.parametrize('name', [
    name if name in ('plain', 'jit', 'scan') else rest(name)
    for name in PROGRAMS])
def test_caches_do_not_grow_with_the_number_of_calls(
        name, monkeypatch):
    if find_spec('autodiff_mini.wings.fast'):
        monkeypatch.setattr('autodiff_mini.wings.fast.tape.OFTEN', 2)
    assert grown(lambda: gradient(PROGRAMS[name])) == set()
