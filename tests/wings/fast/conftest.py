"""Restore what a test of the wing changes before the next test."""

import pytest

from autodiff_mini.wings.fast import tape, equal_programs as twins


@pytest.fixture(autouse=True)
def forget():
    tape.preparations.clear()
    twins.known_programs.clear()


@pytest.fixture
def prepare_at_once(monkeypatch):
    monkeypatch.setattr(tape, 'OFTEN', 1)
