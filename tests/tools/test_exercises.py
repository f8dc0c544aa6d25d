"""exercises: the reader's files are tried, and a page shows the exercises."""

import signal
import subprocess
import sys

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import ufunc_table
from book.tools import exercises, render

HERE = exercises.ROOT
STUB = '''"""Add a row: twice as much.

The task, with `code`.
"""

import numpy as np


def twice(x):
    raise NotImplementedError('exercise e01_1: write the sum here')
'''
SOURCE = STUB.replace(
    'as np\n', "as np\n\nHINTS = ('Add it.', 'To itself.')\n")

SOLUTION = '''"""A sum will do."""

import numpy as np


def twice(x):
    return x + x   # or 2 * x
'''

TESTS = '''
def test_of_a_number(exercise):
    assert exercise.twice(1) == 2


def test_of_a_word(exercise):
    assert exercise.twice('a') == 'aa'
'''

CHAPTER = '''# A chapter

<!-- exercises: 01 -->

[^note]: A note.
'''


@pytest.fixture(autouse=True)
def book(tmp_path, monkeypatch):
    """A book with one exercise."""
    for path, text in (
            (exercises.STUBS / 'e01_1_twice.py', SOURCE),
            (exercises.SOLUTIONS / 'e01_1_twice.py', SOLUTION),
            (exercises.TESTS / 'test_e01_1_twice.py', TESTS)):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(exercises, 'ROOT', tmp_path)
    return tmp_path


def write(book, text):
    (book / exercises.YOURS).mkdir(exist_ok=True)
    (book / exercises.YOURS / 'e01_1_twice.py').write_text(text)


def test_a_marker_becomes_tasks_with_folded_hints_and_solutions(book):
    (book / '01_chapter.md').write_text(CHAPTER)
    assert render.build(book / '01_chapter.md').markdown == '''# A chapter

**Add a row: twice as much.**

The task, with `code`.

<details markdown="1"><summary>exercises/e01_1_twice.py</summary>

```python
import numpy as np

def twice(x):
    raise NotImplementedError('exercise e01_1: write the sum here')
```

</details>

<details markdown="1"><summary>Hint 1 for e01_1</summary>

Add it.

</details>

<details markdown="1"><summary>Hint 2 for e01_1</summary>

To itself.

</details>

<details markdown="1"><summary>Solution of e01_1</summary>

A sum will do.

```python
def twice(x):
    return x + x   # or 2 * x
```

</details>

[^note]: A note.
'''


def test_an_exercise_is_solved_when_its_tests_pass(book):
    assert not exercises.is_solved('e01_1_twice')
    write(book, STUB)
    assert not exercises.is_solved('e01_1_twice')
    write(book, SOLUTION + '# exercise e01_1: a line above is wrong.\n')
    assert exercises.is_solved('e01_1_twice')
    assert exercises.stub('e01_1_twice') == STUB     # has no hints
    assert exercises.task('e01_1_twice')[2] == ('Add it.', 'To itself.')


def test_a_program_that_does_not_end_is_stopped(book, monkeypatch):
    monkeypatch.setattr(exercises, 'LIMIT', 0.3)
    for text in ('while True: pass', 'def twice(x):\n    while True: pass',
                 'def twice(x):\n    while True:\n        try: int(x)\n'
                 '        except Exception: pass'):
        write(book, text)
        tests = exercises.tests('e01_1_twice')
        error, _ = exercises.attempt(tests['test_of_a_number'], 'e01_1_twice')
        assert str(error) == (
            'stopped after 0.3 seconds: does a loop never end?')
        assert not exercises.is_solved('e01_1_twice')
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_broken_file_is_a_failure_and_no_crash(book):
    for text in ('def twice(x', 'import no_such_module', 'raise SystemError',
                 'exit()', 'x = "\0"'):
        write(book, text)
        assert not exercises.is_solved('e01_1_twice')
    (book / 'exercises/e01_1_twice.py').write_bytes(b'\xff')
    assert not exercises.is_solved('e01_1_twice')


def test_tables_are_restored():
    with exercises.loaded('x', 'import numpy as np\n'
                          'from autodiff_mini.core import ufunc_table\n'
                          'ufunc_table[np.sin] = None\n'):
        assert ufunc_table[np.sin] is None
    assert ad.jvp(np.sin, (0.0,), (1.0,)) == (0.0, 1.0)


def test_a_wing_that_comes_while_one_is_tried_stays():
    code = ('import numpy as np\nimport autodiff_mini as ad\n'
            'from book.tools.exercises import library_restored\n'
            'for _ in range(2):\n    with library_restored():\n'
            '        assert ad.grad(np.std)(np.ones(2)).sum() == 0\n'
            '        print(ad.grad(np.median)(np.arange(3.0)))')
    ran = subprocess.run([sys.executable, '-c', code], text=True,
                         capture_output=True, cwd=HERE)
    assert ran.stdout.split() == ['[0.', '1.', '0.]'] * 2, ran.stderr
