"""Importing a module of the library changes nothing but the time it takes.

Modules of wings are imported when a program asks for them.  The programs of
`tests/import_programs.py` make and stage functions, and then use them.  What
they return, to the bit, how often they call what the user has defined, the
programs and the sources that they print, and the errors that they meet are
the same whether a module was imported before the functions were made, after
they were staged, or by the programs themselves.
"""

import subprocess
import sys
from functools import cache

import pytest

from tests.amount import rest
from tests.wings import needs

pytestmark = [needs(wing) for wing in ('more', 'notebook', 'applications')]


@cache
def printed(*arguments):
    """Return the lines that the programs print, in a process of their own."""
    ran = subprocess.run([sys.executable, '-m', 'tests.import_programs',
                          *arguments], text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def modules():
    """Return the modules that are imported when a program asks for them."""
    [line] = printed()
    return line.split()


def check_same(before, between):
    expected = printed('', '')
    found = printed(','.join(before), ','.join(between))
    assert len(found) == len(expected) > 10
    for line, want in zip(found, expected):
        assert line == want, (line.split()[0], before, between)


def test_modules_of_wings_are_imported_when_a_program_asks_for_them():
    assert {'autodiff_mini.more.special', 'autodiff_mini.draft',
            'autodiff_mini.tools.advice'} <= {*modules()}


@pytest.mark.parametrize('order', [1, -1], ids=['forwards', 'backwards'])
def test_importing_every_module_first_changes_nothing(order):
    check_same(modules()[::order], [])


def test_importing_every_module_after_staging_changes_nothing():
    check_same([], modules())


@pytest.mark.parametrize('place', ['first', 'after_staging'])
@pytest.mark.parametrize('module', [
    rest(name) for name in modules()])
def test_importing_a_module_alone_changes_nothing(module, place):
    check_same(*([module], []) if place == 'first' else ([], [module]))
