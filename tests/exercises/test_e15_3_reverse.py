import numpy as np
import pytest

from autodiff_mini import draft as ad
from autodiff_mini.draft.loops import scan_p

X = np.array([0.5, 2.0, -1.0, 3.0])


def shrink(xs):
    return ad.scan(lambda c, x: (c * 0.5 - x, None), 1.0, xs)[0]


def rows(xs):
    return ad.scan(lambda c, x: (np.sin(c) + x, c * x), 1.0, xs)[1]


def check(exercise, f, *args):
    expected = f(*args)
    before = scan_p.impl
    scan_p.impl = exercise.run_scan
    try:
        found = f(*args)
    finally:
        scan_p.impl = before
    assert found == pytest.approx(expected)


def test_a_gradient(exercise):
    check(exercise, shrink, X)
    check(exercise, ad.grad(shrink), X)


def test_a_pullback_of_rows(exercise):
    check(exercise, rows, X)
    check(exercise, lambda xs, ct: ad.vjp(rows, xs)[1](ct)[0], X, X[::-1])
