"""`make check`: what it runs for what has changed."""

import re
import subprocess
import sys
import time

import pytest

from tests import check
from tests.programs import PROGRAMS

ROWS = '''import numpy as np

sin_p = elementwise('sin', np.sin)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))

def helper(x):
    return -x

def tanh_jvp(x_dot, y, x):
    return helper(x)

tanh_p = elementwise('_tanh', np.tanh)
defjvp(tanh_p, tanh_jvp)

@implements(np.var)
def numpy_var(x):
    return np.var(x)
'''
PAGE = '''# A page

```python title="autodiff_mini/core.py"
x = 1
```

```python
print(1)
```
'''


@pytest.fixture
def root(tmp_path):
    """Return the folder of a project with one commit."""
    for name, text in {
            'autodiff_mini/primitives/rows.py': ROWS,
            'autodiff_mini/draft/jvp.py': ROWS,
            'autodiff_mini/core.py': 'def listed(x):\n    return x\n',
            'book/chapters/01_page.md': PAGE,
            'book/tools/weave.py': 'x = 1\n',
            'tests/test_rows.py': 'def test_it(): pass\n',
            'tests/draft/test_draft.py': 'def test_it(): pass\n',
            'tests/more/test_others.py': 'def test_it(): listed(1)\n',
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


def planned(root):
    """Return what is planned, without the words that all sessions share."""
    jobs, unknown = check.plan(root)
    return [job.command[len(check.PYTEST):] for job in jobs], unknown


def test_squares_of_a_changed_rule_come_first_and_run_to_the_end(root):
    change(root, 'autodiff_mini/primitives/rows.py', 'np.cos(x)', 'x')
    change(root, 'tests/test_helpers.py', 'helpers', 'helped')
    jobs, _ = check.plan(root)
    assert [job.to_the_end for job in jobs] == [True, False, False]
    assert planned(root) == ([
        [*check.SQUARES, '--row', 'sin'], ['tests/test_rows.py'],
        ['tests/test_helpers.py']], [])


def test_a_helper_changes_the_rows_that_use_it(root):
    change(root, 'autodiff_mini/primitives/rows.py', 'return -x', 'return x')
    jobs, _ = planned(root)
    assert jobs[0][-2:] == ['--row', 'tanh,_tanh']


def test_other_code_has_the_tests_that_name_it_and_all_columns(root):
    change(root, 'autodiff_mini/core.py', 'return x', 'return -x')
    jobs, _ = planned(root)
    assert jobs == [['tests/more/test_others.py'], *check.COLUMNS]


def test_a_page_whose_own_words_change_runs_its_cells(root):
    change(root, 'book/chapters/01_page.md', 'x = 1', 'x = 2')
    assert check.plan(root)[0] == []       # a listing that was woven
    change(root, 'book/chapters/01_page.md', 'print(1)', 'print(2)')
    jobs, _ = check.plan(root)
    assert jobs[0].command[1:] == [
        'book.tools.render', 'book/chapters/01_page.md']


# Trying

def job(code, to_the_end=False):
    return check.Job(code, ['-c', code], to_the_end)


def run(jobs, seconds):
    right, late = check.run('.', jobs, time.monotonic() + seconds)
    return right, [job.what for job in late]


def test_the_first_failure_ends_the_check_and_is_shown(capsys):
    start = time.monotonic()
    jobs = [job('import time; time.sleep(50)'), job('1 / 0'), job('3')]
    assert run(jobs, 60)[0] is False
    assert time.monotonic() - start < 20
    assert 'ZeroDivisionError' in capsys.readouterr().out


def test_what_the_time_is_too_short_for_is_not_tried():
    loop = job('while True: pass')
    assert run([loop], 0.5) == run([loop], -1) == (True, [loop.what])


@pytest.mark.parametrize('jobs, unknown, status', [
    ([], [], 0), ([job('pass')], [], 0), ([job('exit(1)')], [], 1),
    ([job(f'exit({check.NO_TEST})')], [], check.NOT_TRIED),
    ([job('pass')], ['Makefile'], check.NOT_TRIED)])
def test_status_is_zero_only_if_all_was_tried(
        jobs, unknown, status, monkeypatch, root, capsys):
    monkeypatch.chdir(root)
    monkeypatch.setattr(check, 'plan', lambda root: (jobs, unknown))
    monkeypatch.setattr(check, 'STARTED', time.monotonic())
    for tool, name in ((check.weave, 'weave'), (check.weave, 'check'),
                       (check.mainline, 'check')):
        monkeypatch.setattr(tool, name, lambda root: [])
    assert check.main() == status
    said = capsys.readouterr().out
    assert ('NOT TRIED' in said) == (status == check.NOT_TRIED)
    assert all(f'\n  {file}\n' in said for file in unknown)


# What is about a row (tests/amount.py)

ABOUT = '''
import pytest
from tests.amount import each
from tests.programs import PROGRAMS

@each(PROGRAMS[:40])
def test_each(program): pass

@pytest.mark.parametrize('program', PROGRAMS[:40], ids=str)
def test_table(program): pass

def test_tanh(): pass
'''


@pytest.fixture
def pytest_at(tmp_path, request):
    """Return a function that runs pytest on the files of a folder."""
    top = request.config.rootpath
    (tmp_path / 'conftest.py').symlink_to(top / 'conftest.py')

    def pytest_at(*arguments):
        return subprocess.run(
            [sys.executable, '-m', 'pytest', '-v', *arguments], cwd=tmp_path,
            env={'PYTHONPATH': str(top)}, text=True, capture_output=True)
    return pytest_at


def test_row_chooses_the_programs_that_bind_it_in_every_test(
        tmp_path, pytest_at):
    (tmp_path / 'test_programs.py').write_text(ABOUT)
    (tmp_path / 'test_broken.py').write_text('1 / 0   # of arctanh\n')
    ran = pytest_at('--row', 'tanh')
    assert set(re.findall(r'(test_\w+(?:\[\w+\])?) PASSED', ran.stdout)) == {
        f'test_{test}[{program}]' for test in ('each', 'table')
        for program in PROGRAMS[:40] if 'tanh' in program.primitives
    } | {'test_tanh'}


def test_there_is_a_square_for_each_column(request):
    for square in *check.SQUARES, check.EQUALS_NUMPY:
        file, _, name = square.partition('::')
        text = (request.config.rootpath / file).read_text()
        assert f'def {name}' in text
