import numpy as np
import pytest

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import Jaxpr
from autodiff_mini.draft.jit import run

X = np.array([0.5, -1.0, 2.0])
V = np.array([1.0, 3.0, -2.0])


def check(exercise, f, x, v):
    program = exercise.curvature_jaxpr(ad.make_jaxpr(f)(x))
    assert type(program) is Jaxpr and len(program.invars) == 2
    [found] = run(program, x, v)
    _, expected = ad.jvp(ad.grad(f), (x,), (v,))
    assert found == pytest.approx(expected)


def test_a_rule_inside(exercise):
    dye = ad.custom_jvp(lambda x: 2 * x)
    dye.defjvp(lambda primals, tangents: (dye(*primals), 3 * tangents[0]))
    check(exercise, lambda x: np.sum(x * dye(x) * dye(x)), X, V)


def test_other_numbers(exercise):
    f = lambda x: np.sum(np.exp(x) * np.sin(x))
    program = exercise.curvature_jaxpr(ad.make_jaxpr(f)(X))
    _, expected = ad.jvp(ad.grad(f), (2 * X,), (V,))
    assert run(program, 2 * X, V)[0] == pytest.approx(expected)
