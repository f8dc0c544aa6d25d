"""`make check`: what it runs for what has changed."""

import subprocess
import sys

import pytest

from tests import check

ROWS = '''import numpy as np

sin_p = elementwise('sin', np.sin)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))

def helper(x):
    return x
'''


@pytest.fixture
def root(tmp_path):
    """Returns the folder of a project with one commit."""
    for name, text in {
            'autodiff_mini/primitives/rows.py': ROWS,
            'autodiff_mini/draft.py': ROWS,
            'book/tools/weave.py': 'x = 1\n',
            'tests/test_rows.py': 'def test_it(): pass\n',
            'tests/test_draft.py': 'def test_it(): pass\n',
            'tests/more/test_others.py': 'def test_it(): helper(1)\n',
            'tests/test_helpers.py': 'def test_it(): helpers(1)\n',
            'tests/tools/test_weave.py': 'def test_it(): pass\n'}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, 'init')
    commit(tmp_path)
    return tmp_path


def git(root, *words):
    subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=b', *words],
                   cwd=root, check=True, capture_output=True)


def commit(root):
    git(root, 'add', '.')
    git(root, 'commit', '-m', 'A change')


def change(root, name, old, new):
    text = (root / name).read_text()
    assert old in text
    (root / name).write_text(text.replace(old, new))


def test_for_a_rule_the_squares_of_its_row_come_first(root):
    change(root, 'autodiff_mini/primitives/rows.py', 'np.cos(x)', 'x')
    squares, near = check.sessions(root)
    assert squares == [*check.SQUARES, '--row', 'sin']
    assert near == ['autodiff_mini/primitives/rows.py', 'tests/test_rows.py']


def test_two_rules_are_asked_for_in_one_session(root):
    change(root, 'autodiff_mini/primitives/rows.py', 'x_dot *', 'x_dot /')
    squares, _ = check.sessions(root)
    assert squares[-1] == 'sin,cos'


def test_for_a_function_the_tests_that_say_its_name_come(root):
    change(root, 'autodiff_mini/primitives/rows.py', 'return x', 'return -x')
    assert check.sessions(root) == [[
        'autodiff_mini/primitives/rows.py', 'tests/test_rows.py',
        'tests/more/test_others.py']]


def test_a_rule_of_the_draft_is_no_rule_of_the_library(root):
    change(root, 'autodiff_mini/draft.py', 'np.cos(x)', 'x')
    assert check.sessions(root) == [[
        'autodiff_mini/draft.py', 'tests/test_draft.py']]


def test_what_was_committed_last_is_tested_where_nothing_is_new(root):
    change(root, 'tests/test_helpers.py', 'helpers', 'helped')
    assert check.sessions(root) == [['tests/test_helpers.py']]
    commit(root)
    assert check.sessions(root) == [['tests/test_helpers.py']]


def test_new_tests_and_the_tests_of_a_tool_are_run(root):
    change(root, 'book/tools/weave.py', '1', '2')
    (root / 'tests' / 'test_new.py').write_text('def test_it(): pass\n')
    assert check.sessions(root) == [['tests/tools/test_weave.py',
                                     'tests/test_new.py']]


@pytest.mark.parametrize('body, code', [('pass', 0), ('assert 0', 2)])
def test_a_session_whose_time_is_over_stops_and_may_be_green(
        request, tmp_path, body, code):
    (tmp_path / 'conftest.py').symlink_to(
        request.config.rootpath / 'conftest.py')
    (tmp_path / 'test_it.py').write_text(
        f'def test_a(): {body}\ndef test_b(): assert 0\n')
    ran = subprocess.run(
        [sys.executable, '-m', 'pytest', '--seconds', '0.001', tmp_path],
        cwd=tmp_path, env={'PYTHONPATH': str(request.config.rootpath)},
        text=True, capture_output=True)
    assert ran.returncode == code
    assert 'the time is over' in ran.stdout
    assert 'test_b' not in ran.stdout


def test_there_is_a_square_for_each_column(request):
    for square in check.SQUARES:
        file, _, name = square.partition('::')
        text = (request.config.rootpath / file).read_text()
        assert f'def {name}' in text
