"""A sample of the mutants is caught; `make mutants` runs all of them.

They run in their own process, because it plants wrong rules.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLE = ['sin', 'reduce_max', 'custom_jvp_call']


@pytest.mark.skipif(sys.platform == 'win32', reason='needs fork')
@pytest.mark.rest
def test_wrong_rules_are_caught():
    run = subprocess.run(
        [sys.executable, '-m', 'tests.commands.mutants', *SAMPLE,
         '--every', '6'],
        cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
