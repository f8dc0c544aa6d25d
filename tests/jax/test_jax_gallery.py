"""The gallery in real JAX: the same functions, with `jax.numpy`.

`make test-jax` runs it; without JAX it is skipped.
"""

from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.real_jax import jax
from tests.tables.gallery import GALLERY

pytestmark = pytest.mark.rest

NAMES = {'np': jax.numpy, 'sc': jax.scipy.special, 'ad': SimpleNamespace(
    grad=jax.grad, jvp=jax.jvp, jacfwd=jax.jacfwd,
    logsumexp=jax.scipy.special.logsumexp)}


@pytest.mark.parametrize(
    'piece', [piece for piece in GALLERY if not piece.jax], ids=str)
def test_jax_has_the_same_gradient(piece):
    numbers = tuple(range(len(piece.args)))
    ours = ad.value_and_grad(piece.function, numbers)(*piece.args)
    with patch.dict(piece.function.__globals__, NAMES):
        theirs = jax.value_and_grad(piece.function, numbers)(
            *ad.tree_map(jax.numpy.asarray, piece.args))
    for x, y in zip(ad.tree_leaves(ours), ad.tree_leaves(theirs),
                    strict=True):
        y = np.asarray(y)
        np.testing.assert_allclose(x, y, 1e-8, 1e-9 * np.max(np.abs(y)))
