from functools import partial

import numpy as np
import pytest

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import Jaxpr
from autodiff_mini.draft.partial_eval import linearize_at
from autodiff_mini.draft.trees import tree_leaves, tree_map

RNG = np.random.default_rng(0)
A, B, CT = RNG.standard_normal((3, 4))
WS = RNG.standard_normal((5, 4, 4)) / 3


def f(w, b):
    return np.tanh(w @ b)


def loop(f, ws, a, b):
    for i in range(len(tree_leaves(ws)[0])):
        a, b = b, a + f(tree_map(lambda rows: rows[i], ws), b)
    return a, b


def loss(run):
    def total(args):
        a, b = run(*args)
        return np.sum(a * CT) + np.sum(b * b)
    return total


def close(found, expected):
    for x, y in zip(tree_leaves(found), tree_leaves(expected), strict=True):
        assert x == pytest.approx(y)


def programs_in(jaxpr):
    """Yield a program and all programs in it."""
    yield jaxpr
    for eqn in jaxpr.eqns:
        for value in eqn.params.values():
            if type(value) is Jaxpr:
                yield from programs_in(value)


def test_gradients(exercise):
    close(ad.grad(loss(exercise.reversible(f)))((WS, A, B)),
          ad.grad(loss(partial(loop, f)))((WS, A, B)))


def test_it_keeps_the_weights_and_one_pair(exercise):
    """Every array that reverse mode keeps is in the linear program."""
    run = exercise.reversible(f)
    for steps in 5, 50:
        _, linear, _ = linearize_at(run, (np.zeros((steps, 4, 4)), A, B))
        kept = {id(x): x.size for eqn in linear.eqns for x in eqn.invars
                if isinstance(x, np.ndarray) and np.any(x)}
        assert sum(kept.values()) <= 2 * 4


def test_no_array_has_a_row_for_each_pair(exercise):
    slopes = ad.grad(loss(exercise.reversible(f)))
    shapes = {v.aval.shape
              for program in programs_in(ad.make_jaxpr(slopes)((WS, A, B)))
              for eqn in program.eqns for v in tree_leaves(eqn.outvars)}
    assert (5, 4, 4) in shapes      # the cotangents of the weights
    assert (5, 4) not in shapes


def test_weights_that_are_trees(exercise):
    def g(p, b):
        return p['scale'] * np.sin(b) + p['shift']

    ps = {'scale': RNG.standard_normal(3), 'shift': np.ones((3, 4))}
    close(ad.grad(loss(exercise.reversible(g)))((ps, A, B)),
          ad.grad(loss(partial(loop, g)))((ps, A, B)))
