"""Which wings are on, for tests that are about one."""

from importlib.util import find_spec

import pytest


def needs(wing):
    """Returns the mark of a test that looks at what only a wing does."""
    return pytest.mark.skipif(
        not find_spec(f'autodiff_mini.{wing}'),
        reason=f'this is what the wing {wing} does')
