"""Guard the densities that chapter 29 defines in a few lines."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import autodiff_mini as ad
from book.tools import weave
from tests.numerical import assert_close, derivative

PAGE = (Path(__file__).parents[2]
        / 'book/chapters/29_likelihoods.md')


@cache
def page():
    """Return the variables of the page, after all its cells."""
    names = {}
    with np.printoptions():     # the page has its own
        for block in weave.blocks(PAGE):
            exec(block.text, names)
    return names


COV = np.array([[2.0, 0.5], [0.5, 1.0]])
DENSITIES = {   # the arguments; and those of SciPy's, if they are others
    'norm': [(0.3, 1.0, 2.0)],
    'multivariate_normal': [(np.array([0.3, 1.0]), np.zeros(2), COV)],
    't': [(0.3, 4.5)],
    'beta': [(0.3, 2.0, 3.5)],
    'gamma': [(0.3, 2.5, 0.7), (0.3, 2.5, 0.0, 0.7)],
    'poisson': [(4, 2.5)],
    'dirichlet': [(np.array([0.2, 0.5, 0.3]), np.array([1.5, 2.0, 3.0]))],
    'chi2': [(0.3, 4.5)],
}


@pytest.mark.parametrize('name', DENSITIES)
def test_densities_and_slopes_equal_scipys(name):
    args, *theirs = DENSITIES[name]
    f, theirs = page()[name], (theirs or [args])[0]
    density = getattr(stats, name)
    expected = getattr(density, 'logpdf', None) or density.logpmf
    assert_close(f(*args), expected(*theirs))
    for i in range(name == 'poisson', len(args)):
        direction = np.ones_like(args[i])
        slope = derivative(lambda h: f(
            *args[:i], args[i] + h * direction, *args[i + 1:]), 1e-4)
        np.testing.assert_allclose(
            np.sum(ad.grad(f, i)(*args)), slope, rtol=1e-9)


def test_the_model_is_fitted():
    names = page()
    gradient = ad.grad(lambda v: names['loss'](names['from_vector'](v)))
    assert names['found'].success
    assert np.max(np.abs(gradient(names['found'].x))) < 1e-4
