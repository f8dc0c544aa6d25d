"""The wings that are present, for tests that need one."""

from importlib.util import find_spec

import pytest


def is_there(wing):
    """Return whether a wing is present; it can be part of another wing."""
    parts = wing.split('.')
    return all(find_spec('.'.join(['autodiff_mini.wings', *parts[:i + 1]]))
               for i in range(len(parts)))


def needs(wing):
    """Return the mark for a test that needs a wing."""
    return pytest.mark.skipif(
        not is_there(wing),
        reason=f'this is what the wing {wing} does')
