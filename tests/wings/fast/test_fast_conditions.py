"""The conditions of the shortcuts: a wrong one fails a test."""

import pytest

from tests.support.amount import rest
from tests.support.planted import check_fails, check_places
from tests.wings.fast.conditions import CONDITIONS

NEAREST = {     # the file that tests a module, if it has another name
    'loop_source': 'scalars', 'emitter': 'compiler',
    'tape_tracer': 'tape', 'prepared': 'tape', 'masks': 'simplify'}
OTHERS = ['tests/wings/fast/test_fast_law.py', 'tests/wings/fast',
          'tests/laws/test_jit_equals_eager.py', 'tests/calls/test_scan.py']


def test_each_condition_is_in_its_module_once():
    check_places('fast', CONDITIONS)


@pytest.mark.parametrize('module, condition, wrong', [
    rest(*row) for row in CONDITIONS], ids=range(len(CONDITIONS)))
def test_a_wrong_condition_fails_a_test(module, condition, wrong, tmp_path):
    nearest = f'tests/wings/fast/test_{NEAREST.get(module, module)}.py'
    check_fails('fast', module, condition, wrong, [nearest, *OTHERS],
                tmp_path)
