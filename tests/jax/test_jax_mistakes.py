"""Mistakes in calls: JAX raises errors of the same classes, and words."""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.real_jax import jax
from tests.tables.jax_mistakes import MISTAKES

pytestmark = pytest.mark.rest


@pytest.mark.parametrize('name', MISTAKES)
def test_jax_raises_the_same_class_for_a_mistake(name):
    mistake, words = MISTAKES[name]
    types = []
    for system in (jax, jax.numpy, jax.lax), (ad, np, ad):
        with pytest.raises((TypeError, ValueError)) as info:
            mistake(*system)
        types.append(info.type)
        assert words in str(info.value)
    theirs, ours = types
    assert issubclass(ours, TypeError) or not issubclass(theirs, TypeError)
    assert issubclass(ours, ValueError) or not issubclass(theirs, ValueError)
