from collections import Counter

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import Trace, Tracer, current_trace, typeof
from autodiff_mini.draft.primitives import exp_p

W = np.linspace(0.0, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


class Counting(Trace):
    """Count the operations, where a call is a single one."""

    def process_primitive(self, primitive, args, params):
        self.counts[primitive] += 1
        vals = [x.val if self.owns(x) else x for x in args]
        with self.parent:
            y = primitive.bind(*vals, **params)
        return Tracer(self, typeof(y), val=y)


def exponentials(f, x):
    with Counting(current_trace(), object()) as trace:
        trace.counts = Counter()
        f(Tracer(trace, typeof(x), val=x))
    return trace.counts[exp_p]


def test_value_and_slope(exercise):
    w, w_dot = ad.jvp(exercise.lambertw, (X,), (np.full(6, 3.0),))
    assert np.allclose(w, W) and np.allclose(w_dot, 3 * SLOPES)


def test_second_derivative(exercise):
    w = 0.7
    found = deriv(deriv(exercise.lambertw))(w * np.exp(w))
    assert np.isclose(found, -np.exp(-2 * w) * (w + 2) / (1 + w) ** 3)


def test_vmap_of_jvp(exercise):
    assert np.allclose(ad.vmap(deriv(exercise.lambertw))(X), SLOPES)


def test_jvp_of_vmap(exercise):
    _, dots = ad.jvp(ad.vmap(exercise.lambertw), (X,), (np.ones(6),))
    assert np.allclose(dots, SLOPES)


def test_the_iteration_is_not_differentiated(exercise):
    assert exponentials(deriv(exercise.lambertw), 0.5) == 1
    assert exponentials(deriv(deriv(exercise.lambertw)), 0.5) <= 3
