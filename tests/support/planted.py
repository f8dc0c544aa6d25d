"""Plant a wrong condition in a copy of the library, and run tests on it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_mini

PACKAGE = Path(autodiff_mini.__file__).parent
ROOT = PACKAGE.parent


def check_places(wing, conditions):
    """Assert that each condition is in its module once."""
    for module, condition, wrong in conditions:
        text = (PACKAGE / f'wings/{wing}/{module}.py').read_text()
        assert text.count(condition) == 1, (module, condition)
        assert condition != wrong


def check_fails(wing, module, condition, wrong, tests, folder):
    """Assert that a wrong condition fails one of the tests.

    Args:
        wing: the wing that the module belongs to.
        module, condition, wrong: a row of its conditions.
        tests: files and folders, the likeliest first.
        folder: where to put the copy.
    """
    for name in 'tests', 'book', 'conftest.py', 'pyproject.toml':
        os.symlink(ROOT / name, folder / name)
    shutil.copytree(PACKAGE, folder / 'autodiff_mini')
    path = folder / f'autodiff_mini/wings/{wing}/{module}.py'
    path.write_text(path.read_text().replace(condition, wrong))
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-x', '--all',
         '-p', 'no:cacheprovider',
         # Its first test fails, whatever is planted.
         '--ignore-glob=*_conditions.py', *tests],
        cwd=folder, capture_output=True, text=True)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
