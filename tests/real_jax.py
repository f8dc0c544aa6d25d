"""Real JAX in double precision; tests that import it are skipped without it.

`make test-jax` installs it, and runs all of them.
"""

import pytest

from tests import amount

if not amount.WHOLE:
    pytest.skip('`make test-jax` runs it', allow_module_level=True)
jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)


def by_version(said):
    """Return the answer of this version of JAX.

    `said` maps the first version with an answer to the answer.
    """
    def numbers(version):
        return tuple(map(int, version.split('.')))
    return said[max((version for version in said
                     if numbers(version) <= jax.__version_info__),
                    key=numbers)]
