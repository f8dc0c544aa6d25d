"""The watcher of the exercises, in a small copy of the book."""

import shutil
import subprocess
import sys
from threading import Timer

import pytest

from book.tools.exercises import ROOT

NAME = 'e01_2_polyval'
FILES = ('book/chapters/01_asking_numpy_first.md',
         f'book/exercises/{NAME}.py', f'book/solutions/{NAME}.py',
         f'tests/exercises/test_{NAME}.py')


@pytest.fixture
def book(tmp_path):
    shutil.copytree(ROOT / 'book/tools', tmp_path / 'book/tools')
    for file in FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


@pytest.fixture
def watcher(book):
    """Yield a watcher, and stop it if it prints nothing for too long."""
    with subprocess.Popen([sys.executable, '-m', 'book.tools.watch', '1_2'],
                          cwd=book, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        timer = Timer(60, process.kill)
        timer.start()
        yield process
        timer.cancel()
        process.kill()


def read_until(watcher, words):
    """Return what the watcher prints up to a line with some words."""
    text = ''
    for line in watcher.stdout:
        text += line
        if words in line:
            return text
    raise AssertionError(f'no {words!r} in {text}')


@pytest.mark.rest
def test_a_saved_file_is_checked_and_keys_are_obeyed(book, watcher):
    def say(word):
        watcher.stdin.write(word + '\n')
        watcher.stdin.flush()

    file = book / f'exercises/{NAME}.py'
    solution = (book / f'book/solutions/{NAME}.py').read_text()
    text = read_until(watcher, 'to choose.')
    assert 'Add that entry.' in text and 'Save your file' in text

    # A program that never ends is stopped when another one is saved.
    file.write_text('while True: pass')
    read_until(watcher, 'e01_2')
    file.write_text(solution)
    read_until(watcher, 'Solved.')

    say('h')
    read_until(watcher, 'Hint 1 of')
    say('1_2')
    read_until(watcher, 'Solved.')
    read_until(watcher, 'to choose.')
    say('q')
    assert watcher.stdout.read() == ''
    assert watcher.wait() == 0
