"""Restore what a test of the wing changes before the next test."""

import pytest

from autodiff_mini.fast import prepared, twins


@pytest.fixture(autouse=True)
def forget():
    prepared.preparations.clear()
    twins.known_programs.clear()
