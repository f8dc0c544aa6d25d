"""Real JAX in double precision: who imports it is skipped where there is none.

`make test-jax` installs it, and asks for the whole.
"""

import pytest

from tests import amount

if not amount.WHOLE:
    pytest.skip('`make test-jax` runs it', allow_module_level=True)
jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)
