"""`make check` and `--row`: the tests they choose."""

import re
import subprocess
import sys
import time

import pytest

from tests.commands import check
from tests.tables.programs import PROGRAMS

ROWS = '''
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))

def helper(x):
    return -x

def tanh_jvp(x_dot, y, x):
    return helper(x)

tanh_p = elementwise('_tanh', np.tanh)
defjvp(tanh_p, tanh_jvp)
'''
PAGE = '```python title="autodiff_mini/core.py"\nx = 1\n```\nprint(1)\n'
FILES = {
    'autodiff_mini/primitives/rows.py': ROWS,
    'autodiff_mini/core.py': 'def listed(x):\n    return x\n',
    'book/chapters/01_page.md': PAGE,
    'tests/test_rows.py': 'def test_it(): pass\n',
    'tests/more/test_others.py': 'def test_it(): listed(1)\n'}


@pytest.fixture
def planned(tmp_path):
    """Return a function: a change of a file to the planned tests."""
    def git(*words):
        subprocess.run(
            ['git', '-c', 'user.name=a', '-c', 'user.email=b', *words],
            cwd=tmp_path, check=True, capture_output=True)

    def write(files):
        for file, text in files.items():
            (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file).write_text(text)

    def planned(file, old, new):
        assert FILES[file].count(old) == 1
        write(FILES | {file: FILES[file].replace(old, new)})
        jobs, unknown = check.plan(tmp_path)
        return [' '.join(job).removeprefix(' '.join(check.PYTEST) + ' ')
                for job in jobs] + unknown

    write(FILES)
    git('init')
    git('add', '.')
    git('commit', '-m', 'A change')
    return planned


def test_make_check_takes_links_to_folders_and_pictures(planned, tmp_path):
    """It broke: both were read as text files."""
    picture = tmp_path / 'picture.png'
    picture.write_bytes(b'\x89PNG')
    subprocess.run(['git', 'add', '.'], cwd=tmp_path, check=True)
    subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=b',
                    'commit', '-q', '-m', 'A'], cwd=tmp_path, check=True)
    picture.write_bytes(b'\x89PNG\x00')
    (tmp_path / '.venv').symlink_to(tmp_path / 'tests')
    assert planned('autodiff_mini/core.py', 'return x', 'return -x')[-1:] == [
        'picture.png']


def test_make_check_plans_the_tests_of_a_change(planned):
    squares = ' '.join([*check.SQUARES, '--row '])
    file = 'autodiff_mini/primitives/rows.py'
    assert planned(file, 'np.cos(x)', 'x') == [
        f'{squares}sin', 'tests/test_rows.py']
    assert planned(file, 'return -x', 'return x') == [
        f'{squares}tanh,_tanh', 'tests/test_rows.py']
    assert planned('autodiff_mini/core.py', 'return x', 'return -x') == [
        'tests/more/test_others.py', ' '.join(check.SQUARES[:1])]
    page = 'book/chapters/01_page.md'
    assert planned(page, 'x = 1', 'x = 2') == []       # a listing
    assert planned(page, 'print(1)', 'print(2)') == [
        f'-m book.tools.render {page}', *check.PAGE_TESTS]


def test_a_failure_is_shown_and_late_jobs_are_listed(capsys):
    def run(code, seconds):
        return check.run([('-c', code)], time.monotonic() + seconds)

    assert run('1 / 0', 60) == (False, [])
    assert 'ZeroDivisionError' in capsys.readouterr().out
    assert run('print(3)', 60) == (True, [])
    for late in (run('while True: pass', 0.3), run('3', -1),
                 run(f'exit({check.NO_TEST})', 60)):
        assert late[0] and late[1]


# --row (amount.py)

ABOUT = '''
import pytest
from tests.support.amount import each
from tests.tables.programs import PROGRAMS

@each(PROGRAMS[:40])
def test_each(program): pass

def test_tanh(): pass
def test_sinh(): pass
'''


def test_row_chooses_the_programs_that_bind_it(tmp_path, request):
    top = request.config.rootpath
    for square in check.SQUARES:
        file, _, name = square.partition('::')
        assert f'def {name}' in (top / file).read_text()
    (tmp_path / 'conftest.py').symlink_to(top / 'conftest.py')
    (tmp_path / 'test_programs.py').write_text(ABOUT)
    (tmp_path / 'test_broken.py').write_text('1 / 0   # of arctanh\n')
    ran = subprocess.run(
        [sys.executable, '-m', 'pytest', '-v', '--row', 'tanh'], text=True,
        cwd=tmp_path, env={'PYTHONPATH': str(top)}, capture_output=True)
    assert set(re.findall(r'(test_\w+(?:\[\w+\])?) PASSED', ran.stdout)) == {
        'test_tanh', *(f'test_each[{program}]' for program in PROGRAMS[:40]
                       if 'tanh' in program.primitives)}


MANY = '''
from types import SimpleNamespace
import pytest
from tests.support.amount import each

@each([SimpleNamespace(is_of_a_wing=False, represents=n < 10)
       for n in range(40)])
def test_each(program): pass

def test_always(): pass

@pytest.mark.rest
def test_rest(): pass
'''


def test_pytest_says_how_many_cases_it_leaves_out(tmp_path, request):
    top = request.config.rootpath
    (tmp_path / 'conftest.py').symlink_to(top / 'conftest.py')
    (tmp_path / 'test_programs.py').write_text(MANY)

    def said(*options):
        ran = subprocess.run(
            [sys.executable, '-m', 'pytest', *options], text=True,
            cwd=tmp_path, capture_output=True, env={
                'PYTHONPATH': str(top), 'PYTEST_DISABLE_PLUGIN_AUTOLOAD': '1'})
        return ran.stdout

    left = 'left out: 31. `make test-all` runs all cases'
    for usual in said(), said('-p', 'xdist', '-n', '2'):
        assert '11 passed' in usual and left in usual
    everything = said('--all')
    assert '42 passed' in everything and 'left out' not in everything
