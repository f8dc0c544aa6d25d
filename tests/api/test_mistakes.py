"""Mistakes in calls: the words of their errors are the ones that JAX uses.

test_jax_mistakes.py compares them with JAX.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.tables.jax_mistakes import MISTAKES


@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_is_reported_in_the_words_of_jax(name):
    mistake, words = MISTAKES[name]
    with pytest.raises((TypeError, ValueError)) as info:
        mistake(ad, np, ad)
    assert words in str(info.value)
