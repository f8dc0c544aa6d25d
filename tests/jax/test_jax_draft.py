"""The draft against real JAX, under stacks of transformations.

`make test-jax` runs it; without JAX it is skipped.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.draft.programs import (
    DRAFT, NAMES, PROGRAMS, STACKS, cannot, transformed)
from tests.support.real_jax import jax

pytestmark = pytest.mark.rest

CONTROL = 'scan', 'cond', 'while_loop'
JAX = SimpleNamespace(np=jax.numpy, **{
    name: getattr(jax.lax if name in CONTROL else jax, name)
    for name in NAMES})


@pytest.mark.parametrize('program', PROGRAMS, ids=lambda f: f.__name__)
def test_jax_agrees_with_the_draft(program):
    for names in STACKS:
        # In a loop, JAX loses a part of a rule at second order.
        lies = program.__name__ == 'loop' and (
            names.count('grad') + names.count('jvp') > 1)
        if not lies and not cannot(program, names):
            np.testing.assert_allclose(
                transformed(DRAFT, program, names)(0.7),
                transformed(JAX, program, names)(0.7), 1e-9, 1e-12,
                err_msg=' of '.join([*names[::-1], program.__name__]))
