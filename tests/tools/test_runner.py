"""runner: what a reader of the exercises sees."""

import subprocess
import sys

import pytest

from book.tools import exercises, runner
from tests.tools.test_exercises import SOLUTION, SOURCE, STUB, TESTS

HERE = exercises.ROOT
GUESS = '''"""Predict: what comes out?

Say it.
"""

HINTS = ('Look.', 'Look again.')


def prediction():
    raise NotImplementedError('exercise e01_2: write them here')
    return {'a': 1, 'b': 1}
'''

GUESS_SOLUTION = '''"""Seventeen comes first."""


def prediction():
    return {'a': 1717, 'b': 4242}
'''

GUESS_TESTS = '''
def check(exercise, name, number):
    assert exercise.prediction()[name] == number


def test_the_first(exercise):
    check(exercise, 'a', 1717)


def test_the_second(exercise):
    check(exercise, 'b', 4242)
'''

COLD = '''"""Cold case: it is half.

Find it.
"""

HINTS = ('Look.', 'Look again.')


def double(x):
    return x / 2

# exercise e02_1: one line above is wrong. Mend it.
'''

COLD_SOLUTION = '''"""It was the operator."""


def double(x):
    return x * 2
'''

COLD_TESTS = '''
def test_double(exercise):
    assert exercise.double(3) == 6
'''

FILES = {
    'e01_1_twice': (SOURCE, SOLUTION, TESTS),
    'e01_2_guess': (GUESS, GUESS_SOLUTION, GUESS_TESTS),
    'e02_1_cold': (COLD, COLD_SOLUTION, COLD_TESTS)}


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
    monkeypatch.setattr(sys, 'path', sys.path.copy())
    monkeypatch.setattr(exercises, 'ROOT', tmp_path)
    monkeypatch.setenv('COLUMNS', '79')
    return tmp_path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def ask(book, capsys):
    """Returns what a command of the reader's prints."""
    def ask(command, words=''):
        runner.main(command, words)
        return capsys.readouterr().out
    return ask


@pytest.fixture
def save(book):
    """Writes a file of the reader's."""
    return lambda name, text: write(book / f'exercises/{name}.py', text)


@pytest.fixture
def solve(save):
    return lambda name: save(name, FILES[name][1])


# The next one

def test_the_first_time_the_task_is_shown_and_a_file_is_there(ask, book):
    text = ask('next')
    assert 'e01_1  Add a row: twice as much.' in text
    assert 'The task, with `code`.' in text
    assert '1. One, book/chapters/01_one.md' in text
    assert 'exercises/e01_1_twice.py:10\n' in text
    assert 'Add it.' not in text and 'wrong' not in text
    assert (book / 'exercises/e01_1_twice.py').read_text() == STUB
    write(book / 'site/chapters/01_one.html', '')     # the page, if built
    assert '1. One, site/chapters/01_one.html\n' in ask('next')


def test_a_failure_says_which_tests_fail_and_why_the_first_does(ask, save):
    save('e01_1_twice', STUB.replace('raise', 'return 2 if x == 1 else x #'))
    text = ask('next')
    assert 'right  of a number\n' in text and 'wrong  of a word\n' in text
    assert 'File "tests/exercises/test_e01_1_twice.py", line 7, in' in text
    assert "\nAssertionError: assert 'a' == 'aa'\n" in text
    assert 'The task' not in text and '_pytest' not in text


def test_solved_shows_both_solutions_and_what_is_next(ask, save):
    save('e01_1_twice', STUB.replace('raise', 'return 2 * x #'))
    text = ask('next', '01_1')
    assert 'Solved.' in text and 'A sum will do.' in text
    assert 'Yours\n\ndef twice(x):\n    return 2 * x #' in text
    assert 'The book\n\ndef twice(x):\n    return x + x   # or 2 * x' in text
    assert 'Next:       e01_2  Predict' in text and 'Read on' not in text
    assert 'e01_2  Predict: what comes out?\n\nSay it.' in ask('next')
    save('e02_1_cold', COLD.replace('x / 2', 'x + x'))
    assert 'Solved.' in ask('next', '02_1')     # whatever a comment says


def test_after_an_exercise_comes_the_next_page_and_the_next_exercise(
        ask, solve):
    solve('e01_2_guess')
    text = ask('next', '01_2')
    assert 'Read on:    Between, book/chapters/01b_between.md' in text
    assert 'Next:       e02_1' in text
    solve('e02_1_cold')     # and after the last, those that were left out
    text = ask('next', '02_1')
    assert 'Read on:    3. Three' in text and 'Next:       e01_1' in text
    solve('e01_1_twice')
    assert 'All exercises are solved.' in ask('next')


# Choosing

def test_an_exercise_is_chosen_by_number_file_or_chapter(ask, solve):
    for words in ('01_2', '1_2', 'e01_2', 'e01_2_guess.py',
                  'exercises/e01_2_guess.py'):
        assert runner.chosen(words) == 'e01_2_guess'
    assert runner.chosen('01') == runner.chosen('1') == 'e01_1_twice'
    solve('e01_1_twice')
    assert runner.chosen('01') == 'e01_2_guess'
    assert runner.chosen('1_1') == 'e01_1_twice'
    for words in '9', '01_9', 'twice', '1_':
        with pytest.raises(SystemExit, match=f"no exercise '{words}'"):
            runner.chosen(words)


def test_what_is_chosen_stays_until_it_is_solved(ask, save, solve):
    runner.remember(at='e00_1_gone')     # which is no place any more
    assert ask('next').startswith('e01_1')
    ask('next', '01_2')
    save('e01_2_guess', GUESS.replace('raise', '#'))
    assert ask('next').startswith('e01_2')
    assert ask('hint').startswith('e01_2')
    solve('e01_2_guess')
    assert 'Solved.' in ask('next')
    assert ask('next').startswith('e02_1')


def test_skip_goes_on_and_comes_back(ask, solve):
    for name in 'e01_2', 'e02_1', 'e01_1':
        assert ask('skip').startswith(name)
    for name in 'e01_2_guess', 'e02_1_cold':
        solve(name)
    assert ask('skip').startswith('e01_1')


# Hints, and beginning again

def test_hints_come_one_by_one_and_only_when_asked_for(ask, save):
    save('e01_1_twice', STUB.replace('raise', '#'))
    assert 'Hint' not in ask('next')
    first, second = ask('hint'), ask('hint')
    assert 'Hint 1 of 2. Add it.' in first
    assert 'Hint 2' not in first and 'solutions' not in first
    assert 'Hint 1' in second and 'Hint 2 of 2. To itself.' in second
    assert 'book/solutions/e01_1_twice.py' in second
    assert ask('hint') == second


def test_reset_makes_the_file_new_and_keeps_the_old_one(ask, save, book):
    ask('hint')
    save('e01_1_twice', 'def twice(x')
    text = ask('reset')
    assert 'exercises/e01_1_twice.old' in text and 'The task' in text
    assert (book / 'exercises/e01_1_twice.py').read_text() == STUB
    assert 'Hint 2' not in ask('hint')
    ask('reset')      # of a file that is new: nothing to keep
    assert (book / 'exercises/e01_1_twice.old').read_text() == 'def twice(x'


# What went wrong

def test_a_wrong_prediction_is_not_told_what_is_right(ask, save, book):
    test = book / 'tests/exercises/test_e01_2_guess.py'
    write(test, test.read_text().replace('test_the_first', 'test_a__the_1st'))
    save('e01_2_guess', GUESS.replace('raise', 'return dict(a=1717, b=5) #'))
    text = ask('next', '01_2')
    assert 'right  a: the 1st\n' in text and 'wrong  the second\n' in text
    assert '1717' not in text and '4242' not in text
    assert 'Error' not in text
    save('e01_2_guess', GUESS.replace('raise', 'return nobody #'))
    assert "NameError: name 'nobody' is not" in ask('next', '01_2')


@pytest.mark.parametrize('text, line, said', [
    ('def twice(x:\n    return x', 1, "SyntaxError: '(' was never closed"),
    ('import numpi', 1, "ModuleNotFoundError: No module named 'numpi'"),
    ('\n\n\ndef twice(x):\n    return nobody + x', 5,
     "NameError: name 'nobody' is not defined"),
    ('exit()', 1, 'SystemExit: None'),
    (STUB + '\n# Nothing yet.\n', 10,
     'NotImplementedError: exercise e01_1: write the sum here'),
    ('def twice(x):\n    assert 0, (len, twice, __file__)\n', 2,
     "AssertionError: (<built-in function len>, <function twice>, 'exercises/"),
    ('x = "\0"', None, 'null bytes'),
    ('twice = len', None, "TypeError: object of type 'int' has no len()")])
def test_a_mistake_has_a_file_a_line_and_a_sentence(
        ask, save, book, text, line, said):
    save('e01_1_twice', text)
    found = ask('next')
    assert said in found and str(book) not in found
    assert f'File "exercises/e01_1_twice.py", line {line or ""}' in found or (
        line is None)
    assert '_pytest' not in found and '0x' not in found
    assert 'runner.py' not in found and 'exercises.py' not in found
    assert '[ ] e01_1' in ask('progress')


def test_what_a_failing_test_printed_is_shown_and_cut(ask, save):
    save('e01_1_twice',
         'def twice(x):\n    for n in range(x * 99): print(n)\n')
    lines = ''.join(f'    {n}\n' for n in range(12))
    assert f'It printed\n{lines}    ...\n' in ask('next')


def test_a_program_that_does_not_end_is_stopped_with_a_word(
        ask, save, monkeypatch):
    monkeypatch.setattr(exercises, 'LIMIT', 0.3)
    save('e01_1_twice', 'def twice(x):\n    while True:\n        x += 1\n')
    text = ask('next')
    assert ('TookTooLong: stopped after 0.3 seconds: does a loop never end?\n'
            in text)
    assert 'wrong  of a number\n' in text and 'of a word' not in text


@pytest.mark.parametrize('folder, name, text, error', [
    ('exercises', 'e01_1_twice', 'raise KeyboardInterrupt',
     KeyboardInterrupt),
    ('tests/exercises', 'test_e01_1_twice', 'import numpi',
     ModuleNotFoundError)])
def test_what_is_no_answer_ends_the_trial(
        ask, book, folder, name, text, error):
    write(book / folder / f'{name}.py', text)
    with pytest.raises(error):
        ask('next')


# All of them

def test_progress_lists_chapters_and_the_readers_place(ask, solve):
    solve('e01_1_twice')
    ask('next', '01_2')
    assert '''
1. One
  [x] e01_1  Add a row: twice as much.
  [ ] e01_2  Predict: what comes out?  <- you are here

2. Two
  [ ] e02_1  Cold case: it is half.

1 of 3 are solved. You are at e01_2.
''' in ask('progress')
    text = ask('progress', '02')
    assert '[ ] e02_1' in text and '] e01' not in text
    assert '0 of 1 are solved. You are at e01_2.' in text
    assert runner.chosen() == 'e01_2_guess'


def test_it_runs_as_a_program_and_its_output_need_not_be_read(book):
    """As of `make next | head`."""
    ran = subprocess.run([sys.executable, '-m', 'book.tools.runner',
                          'progress', '02'], cwd=HERE, text=True,
                         capture_output=True)
    assert '] e02_1  Break it' in ran.stdout, ran.stderr
    program = ('import runpy, sys; from pathlib import Path\n'
               'from book.tools import exercises\n'
               'exercises.ROOT = Path(sys.argv.pop(1))\n'
               "runpy.run_module('book.tools.runner', run_name='__main__')")
    with subprocess.Popen(
            [sys.executable, '-c', program, book, 'next'], cwd=HERE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b''
    assert process.returncode == 0
