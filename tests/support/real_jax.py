"""Real JAX in double precision; tests that import it are skipped without it.

`make test-jax` installs it, and runs all of them.
"""

import pytest

from tests.support import amount
from tests.support.versions import latest

if not amount.WHOLE:
    pytest.skip('`make test-jax` runs it', allow_module_level=True)
jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)


def by_version(said):
    """Return the answer of this version of JAX.

    `said` maps the first version with an answer to the answer.
    """
    return latest(said, jax.__version__)
