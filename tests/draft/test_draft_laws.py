"""The laws of the draft hold; laws.py has them."""

import numpy as np
import pytest

from autodiff_mini.draft import grad, jvp
from autodiff_mini.draft.trees import tree_leaves
from tests.draft.laws import COLUMNS, LAWS, REASONS, ROWS, left_side


def slope(f, x, is_forward):
    """Return the relative derivative of the last output of `f`."""
    def last(x):
        return np.sum(tree_leaves(f(x))[-1])
    ones = 0 * x + 1.0
    y_dot = (jvp(last, (x,), (ones,))[1] if is_forward
             else np.sum(grad(last)(x)))
    return float(y_dot / last(x))


def modes(column, row):
    """Return the modes that can differentiate a cell afterwards."""
    if column == 'lower' or row == 'while':
        return [True]
    return [False] if row == 'custom_vjp' else [True, False]


@pytest.mark.parametrize('row', ROWS)
@pytest.mark.parametrize('column', COLUMNS)
def test_law_holds(column, row):
    """Compare the values, and the slopes of a later derivative."""
    _, right = LAWS[column][row]
    left = left_side(column, row)
    x = np.zeros(2) if column == 'vmap' else 0.0
    if right is None:
        with pytest.raises(TypeError, match=REASONS):
            left(x)
        return
    np.testing.assert_allclose(tree_leaves(left(x)), tree_leaves(right(x)))
    if column != 'evaluate':    # an evaluated call is gone
        assert {slope(f, x, is_forward) for f in (left, right)
                for is_forward in modes(column, row)} == {
                    2.0 if column == 'lower' else 3.0}
