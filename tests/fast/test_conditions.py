"""The conditions of the shortcuts: a wrong one fails a test."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_mini
from tests.amount import rest
from tests.fast.conditions import CONDITIONS

PACKAGE = Path(autodiff_mini.__file__).parent
ROOT = PACKAGE.parent
NEAREST = {     # the file that tests a module, if it has another name
    'loop_source': 'scalars', 'emitter': 'lowering', 'compiler': 'lowering',
    'tape_tracer': 'tape', 'prepared': 'tape', 'masks': 'simplify'}
OTHERS = ['fast/test_fast_law.py', 'fast', 'test_jit_equals_eager.py',
          'test_scan.py']


def test_each_condition_is_in_its_module_once():
    for module, condition, wrong in CONDITIONS:
        text = (PACKAGE / f'fast/{module}.py').read_text()
        assert text.count(condition) == 1, (module, condition)
        assert condition != wrong


@pytest.mark.parametrize('module, condition, wrong', [
    rest(*row) for row in CONDITIONS], ids=range(len(CONDITIONS)))
def test_a_wrong_condition_fails_a_test(module, condition, wrong, tmp_path):
    for name in 'tests', 'book', 'conftest.py', 'pyproject.toml':
        os.symlink(ROOT / name, tmp_path / name)
    shutil.copytree(PACKAGE, tmp_path / 'autodiff_mini')
    path = tmp_path / f'autodiff_mini/fast/{module}.py'
    path.write_text(path.read_text().replace(condition, wrong))
    nearest = f'fast/test_{NEAREST.get(module, module)}.py'
    run = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-x', '-p', 'no:cacheprovider',
         # Its first test would fail, whatever is planted.
         '--ignore=tests/fast/test_conditions.py',
         *[f'tests/{name}' for name in (nearest, *OTHERS)]],
        cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout
