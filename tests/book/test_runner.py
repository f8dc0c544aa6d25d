"""exercises and runner: a reader's files are checked, and pages show tasks.
"""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import ufunc_table
from book.tools import exercises, render, runner
from book.tools.places import ROOT

STUB = '''"""Add a row: twice as much.

The task, with `code`.
"""

import numpy as np


def twice(x):
    raise NotImplementedError('exercise e01_1: write the sum here')
'''
SOLUTION = '"""A sum will do."""\n\n\ndef twice(x):\n    return x + x   # or 2 * x\n'
COLD = '''"""Cold case: it is half.

Find it.
"""

HINTS = ('Look.',)


def double(x):
    return x / 2
'''
GUESS = '''"""Predict: what comes out?

Say it.
"""

HINTS = ('Look.',)


def prediction():
    raise NotImplementedError('exercise e01_2: write it here')
'''
FILES = {   # by name: an exercise, its solution, and its tests
    'e01_1_twice': (
        STUB.replace('as np\n', "as np\n\nHINTS = ('Add.', 'To itself.')\n"),
        SOLUTION, '''def test_of_a_number(exercise):
    assert exercise.twice(1) == 2

def test_of_a_word(exercise):
    assert exercise.twice('a') == 'aa'
'''),
    'e01_2_guess': (
        GUESS, '"""Seventeen."""\n\n\ndef prediction():\n    return 1717\n',
        'def test_it(exercise):\n    assert exercise.prediction() == 1717\n'),
    'e02_1_cold': (
        COLD, '"""The operator."""\n\n\ndef double(x):\n    return 2 * x\n',
        'def test_double(exercise):\n    assert exercise.double(3) == 6\n')}
NAME = 'e01_1_twice'


@pytest.fixture(autouse=True)
def book(tmp_path, monkeypatch):
    """A book with three exercises in two chapters, and a page between."""
    for name, texts in FILES.items():
        for path, text in zip(
                (exercises.STUBS / f'{name}.py',
                 exercises.SOLUTIONS / f'{name}.py',
                 exercises.TESTS / f'test_{name}.py'), texts, strict=True):
            write(tmp_path / path, text)
    for stem, title in (('01_one', '1. One'), ('01b_between', 'Between'),
                        ('02_two', '2. Two'), ('03_three', '3. Three')):
        write(tmp_path / f'book/chapters/{stem}.md', f'---\n---\n# {title}\n')
    monkeypatch.setattr(exercises, 'ROOT', tmp_path)
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def ask(book, capsys):
    """Return a function that runs a reader's command and returns its output.
    """
    def ask(command, words=''):
        runner.main(command, words)
        return capsys.readouterr().out
    return ask


@pytest.fixture
def save(book):
    """Return a function that writes a reader's file."""
    return lambda name, text: write(book / f'exercises/{name}.py', text)


# In a chapter, and in the library

def test_a_marker_becomes_tasks_with_nested_hints_and_solutions(book):
    write(book / 'page.md', '# A\n\n<!-- exercises: 01_1 -->\n\nEnd.\n')
    assert re.split(r'\n*</?details>?', render.build(
            book / 'page.md').markdown.replace(
            ' markdown="1"><summary>', ' ').replace('</summary>', '')) == [
        '# A\n\n**Add a row: twice as much.**\n\nThe task, with `code`.\n\n'
        '<div class="exercise" markdown="1">', ' class="yours" open '
        'exercises/e01_1_twice.py\n\n```python\nimport numpy as np\n\n'
        'def twice(x):\n    raise NotImplementedError('
        "'exercise e01_1: write the sum here')\n```", '',
        ' class="hint" Hint 1 of 2\n\nAdd.',
        ' class="hint" Hint 2 of 2\n\nTo itself.', '', '',
        ' class="solution" Solution of e01_1\n\nA sum will do.\n\n```python\n'
        'def twice(x):\n    return x + x   # or 2 * x\n```',
        '\n\n</div>\n\nEnd.\n']


def test_an_exercise_leaves_the_librarys_tables_unchanged():
    with exercises.loaded('x', 'import numpy as np\n'
                          'from autodiff_mini.core.trace import ufunc_table\n'
                          'ufunc_table[np.sin] = None\n'):
        assert ufunc_table[np.sin] is None
    assert ad.jvp(np.sin, (0.0,), (1.0,)) == (0.0, 1.0)
    for _ in range(2):      # rows that are imported on demand stay
        with exercises.library_restored():
            assert list(ad.grad(np.median)(np.arange(3.0))) == [0, 1, 0]


# The next one

def test_the_first_run_shows_the_task_and_makes_a_file(ask, book):
    text = ask('next')
    for words in ('e01_1  Add a row: twice as much.', 'The task, with `code`.',
                  '1. One, book/chapters/01_one.md',
                  'exercises/e01_1_twice.py:10\n'):
        assert words in text
    assert 'Add.' not in text and 'fails' not in text
    assert (book / 'exercises/e01_1_twice.py').read_text() == STUB
    write(book / 'site/chapters/01_one.html', '')     # the page, if built
    assert '1. One, site/chapters/01_one.html\n' in ask('next')


def test_a_failure_says_which_tests_fail_and_why_the_first_does(ask, save):
    save(NAME, STUB.replace('raise', 'return 2 if x == 1 else x #'))
    text = ask('next')
    assert 'passes  of a number\n' in text and 'fails   of a word\n' in text
    assert 'File "tests/exercises/test_e01_1_twice.py", line 5, in' in text
    assert "\nAssertionError: assert 'a' == 'aa'\n" in text
    assert 'The task' not in text and '_pytest' not in text


def test_solved_shows_both_solutions_and_the_next_exercise(ask, save):
    save(NAME, STUB.replace('raise', 'return 2 * x #'))
    text = ask('next', '01_1')
    assert 'Solved.' in text and 'A sum will do.' in text
    assert 'Yours\n\ndef twice(x):\n    return 2 * x #' in text
    assert 'The book\n\ndef twice(x):\n    return x + x   # or 2 * x' in text
    assert 'Next:       e01_2  Predict' in text and 'Read on' not in text
    assert 'e01_2  Predict: what comes out?\n\nSay it.' in ask('next')
    save('e01_2_guess', FILES['e01_2_guess'][1])
    text = ask('next', '01_2')
    assert 'Read on:    Between, book/chapters/01b_between.md' in text
    assert 'Next:       e02_1' in text
    save('e02_1_cold', COLD.replace('x / 2', 'x + x'))
    text = ask('next', '02_1')
    assert 'All exercises are solved.' in text and 'Next:' not in text


def test_a_long_title_leaves_its_page_to_the_next_line(monkeypatch):
    monkeypatch.setattr(runner, 'title', lambda chapter: 'word ' * 12 + 'end')
    text = runner.reading(runner.exercises.ROOT / 'book/chapters/01_long.md')
    assert text.endswith(' end,\n            book/chapters/01_long.md')


def test_a_chapter_means_its_first_unsolved_exercise(save):
    assert runner.chosen('01') == runner.chosen('1') == NAME
    for words in '1_2', 'e01_2', 'exercises/e01_2_guess.py':
        assert runner.chosen(words) == 'e01_2_guess'
    save(NAME, SOLUTION)
    assert runner.chosen('01') == 'e01_2_guess'
    for words, there in (
            ('9', 'These chapters have exercises: 1, 2.'),
            ('twice', 'These chapters have exercises: 1, 2.'),
            ('01_9', 'Chapter 1 has e01_1, e01_2.'),
            ('1_', 'These chapters have exercises: 1, 2.')):
        with pytest.raises(SystemExit, match=re.escape(
                f"There is no exercise '{words}'. {there}\n\nThen tips")):
            runner.main('next', words, 'Then tips')


def test_a_chosen_exercise_stays_and_skip_continues(ask):
    ask('next', '01_2')
    assert ask('next').startswith('e01_2')
    for name in 'e02_1', 'e01_1', 'e01_2':
        assert ask('skip').startswith(name)


def test_hints_come_one_by_one_and_reset_starts_over(ask, save, book):
    save(NAME, 'def twice(x')
    first, second = ask('hint'), ask('hint')
    assert 'Hint 1 of 2. Add.' in first
    assert 'Hint 2' not in first and 'solutions' not in first
    assert 'Hint 1' in second and 'Hint 2 of 2. To itself.' in second
    assert 'book/solutions/e01_1_twice.py' in second
    text = ask('reset')
    assert 'exercises/e01_1_twice.old' in text and 'The task' in text
    assert (book / 'exercises/e01_1_twice.py').read_text() == STUB
    assert 'Hint 2' not in ask('hint')
    assert (book / 'exercises/e01_1_twice.old').read_text() == 'def twice(x'


def test_progress_lists_chapters_and_the_readers_place(ask, save):
    save(NAME, SOLUTION)
    ask('next', '01_2')
    assert '''
1. One
  [x] e01_1  Add a row: twice as much.
  [ ] e01_2  Predict: what comes out?  <- you are here

2. Two
  [ ] e02_1  Cold case: it is half.

Solved: 1 of 3. You are at e01_2.
''' in ask('progress')
    assert 'Solved: 0 of 1. You are at e01_2.' in ask('progress', '02')


def test_a_pipe_that_closes_early_is_no_error():
    """It broke: `make progress | head` printed a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, 'wb') as pipe:
        done = subprocess.run(
            [sys.executable, '-m', 'book.tools.runner', 'progress'],
            cwd=ROOT, stdout=pipe, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, '')


# Failures

def test_a_wrong_prediction_does_not_show_the_answer(ask, save):
    save('e01_2_guess', GUESS.replace('raise', 'return 5 #'))
    text = ask('next', '01_2')
    assert 'fails   it\n' in text
    assert '1717' not in text and 'Error' not in text


@pytest.mark.parametrize('text, line, said', [
    ('def twice(x:\n    return x', 1, "SyntaxError: '(' was never closed"),
    ('def twice(x):\n    assert 0, (len, twice, __file__)\n', 2,
     "AssertionError: (<built-in function len>, <function twice>, 'exercises/"),
    ('x = "\0"', None, 'null bytes'),
    ('twice = len', None, "TypeError: object of type 'int' has no len()")])
def test_a_mistake_has_a_file_a_line_and_a_sentence(
        ask, save, book, text, line, said):
    save(NAME, text)
    found = ask('next')
    assert said in found and str(book) not in found
    assert f'File "exercises/e01_1_twice.py", line {line or ""}' in found or (
        line is None)
    assert '_pytest' not in found and '0x' not in found
    assert 'runner.py' not in found and 'exercises.py' not in found


def test_a_program_that_does_not_end_is_stopped(ask, save, monkeypatch):
    monkeypatch.setattr(exercises, 'LIMIT', 0.3)
    save(NAME, 'def twice(x):\n    while True:\n'
         '        try: int(x)\n        except Exception: pass')
    assert 'TookTooLong: stopped after 0.3 seconds' in ask('next')
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
