"""Run the exercises for a reader: try them, give hints, keep the place.

    python -m book.tools.runner next            tries the next one
    python -m book.tools.runner next 02_1       tries this one, and stays
    python -m book.tools.runner hint            gives one more hint
    python -m book.tools.runner skip            leaves it unsolved
    python -m book.tools.runner reset           restores its file
    python -m book.tools.runner progress        lists the solved ones

An exercise is chosen by its number, its file, or its chapter. Later commands
apply to it until it is solved.
"""

import json
import os
import re
import sys
import textwrap
import traceback
from pathlib import Path

from book.tools import exercises, weave
from book.tools.exercises import (
    SOLUTIONS, TESTS, YOURS, TookTooLong, attempt, attempted, filled,
    is_solved, mark, names, number, reason, solution, stub, task, yours)
from book.tools.places import write

CHOICE = re.compile(r'(?:.*/)?e?(\d+)(?:_(\d+)\w*)?(?:\.py)?')
MOST_LINES = 12      # of an error, or of printed output
TIPS = """\
`make next` checks your file again, and `make watch` checks it at every save.
The other commands are `make hint`, `make skip`, `make reset`, and
`make progress`. To choose an exercise, add its number, as in E=02_1."""


# The reader's place

def state():
    """Return the saved state: the reader's place, and the hints given."""
    path = place()
    return json.loads(path.read_text()) if path.exists() else {}


def remember(**news):
    """Change the saved state atomically, in case the process is killed.
    """
    write(place(), json.dumps(state() | news).encode())


def place():
    """Return the file that stores the state."""
    return exercises.ROOT / YOURS / '.state.json'


def chosen(words=''):
    """Return the requested exercise, or by default the reader's place.

    Raises:
        SystemExit: there is no such exercise.
    """
    if not words:
        at = state().get('at')
        return at if at in names() else following(names()[-1]) or names()[-1]
    match = CHOICE.fullmatch(words)
    found = match and [name for name in names(f'{int(match[1]):02}_')
                       if match[2] in (None, name.split('_')[1])]
    if not found:
        raise SystemExit(textwrap.fill(
            f'There is no exercise {words!r}. {existing(match)}', 78))
    return next((name for name in found[:-1] if not is_solved(name)),
                found[-1])


def existing(match):
    """Return a sentence about the exercises of a chapter, or of all."""
    chapter = int(match[1]) if match else 0
    if found := names(f'{chapter:02}_'):
        return f'Chapter {chapter} has {", ".join(map(number, found))}.'
    chapters = sorted({int(name[1:3]) for name in names()})
    return ('These chapters have exercises: '
            f'{", ".join(map(str, chapters))}.')


def following(name):
    """Return the next unsolved exercise, or None if there is no other.

    The search wraps around, because a reader can begin anywhere.
    """
    n = names().index(name)
    return next((other for other in names()[n + 1:] + names()[:n]
                 if not is_solved(other)), None)


# The commands

def show_next(name):
    """Try an exercise, and print what is wrong, or that it is solved."""
    remember(at=name)
    if not yours(name).exists():
        yours(name).write_text(stub(name))
    print(headline(name) + '\n', flush=True)
    found = tried(name)
    if not any(error for error, _ in found.values()):
        return show_solved(name)
    if attempted(name) == stub(name):
        print(task(name)[1])
        print(f'\nChapter:    {reading(page(name))}')
    else:
        show_failure(name, found)
        print()
    print(f'Your file:  {file_and_hole(name)}')
    print(f'Its tests:  {TESTS}/test_{name}.py')


def show_solved(name):
    """Print the reader's solution and the book's, and go on to the next."""
    print(f'Solved.\n\nYours\n\n{filled(name, attempted(name))}')
    print(f'\nThe book\n\n{filled(name, solution(name))}')
    print(f'\n{reason(name)}\n')
    after = following(name)
    remember(at=after or name)
    if after is None:
        print('All exercises are solved.')
    elif page(after) != page(name):
        chapters = weave.chapters(exercises.ROOT)
        after_this = chapters[chapters.index(page(name)) + 1]
        print(f'Read on:    {reading(after_this)}')
    if after:
        print(f'Next:       {headline(after)}')


def show_hint(name):
    """Print the hints given so far, and one more."""
    remember(at=name)
    _, _, hints = task(name)
    given = state().get('hints', {})      # how many, by exercise
    count = min(given.get(name, 0) + 1, len(hints))
    remember(hints=given | {name: count})
    print(headline(name))
    for n, hint in enumerate(hints[:count], 1):
        print('\n' + textwrap.fill(f'Hint {n} of {len(hints)}. {hint}'))
    if count == len(hints):
        print(f'\nThat was the last hint. Solution: {SOLUTIONS}/{name}.py')


def skip(name):
    """Show the next exercise, leaving this one unsolved."""
    show_next(following(name) or name)


def reset(name):
    """Restore the file of an exercise, and keep a copy of the old one."""
    if yours(name).exists() and attempted(name) != stub(name):
        yours(name).replace(yours(name).with_suffix('.old'))
        print(f'Your old file is now {YOURS}/{name}.old.\n')
    remember(hints=state().get('hints', {}) | {name: 0})
    show_next(name)


def show_progress(words=''):
    """List the exercises, or one chapter's, and mark the solved ones."""
    listed = names(chosen(words)[1:4]) if words else names()
    at, done, chapter = chosen(), 0, None
    for name in listed:
        if page(name) != chapter:
            chapter = page(name)
            print(f'\n{title(chapter)}')
        solved = is_solved(name)
        done += solved
        print(f'  {"[x]" if solved else "[ ]"} {headline(name)}'
              + '  <- you are here' * (name == at))
    print(f'\nSolved: {done} of {len(listed)}. You are at {number(at)}.')


# Trying

def tried(name):
    """Return {test: (its error, its output)} of an exercise.

    Stop after a test that took too long, because others would as well.
    """
    found = {}
    for test, function in exercises.tests(name).items():
        found[test] = attempt(function, name)
        if isinstance(found[test][0], TookTooLong):
            break
    return found


# What went wrong

def show_failure(name, found):
    """Print which tests fail, and the traceback of the first one.

    For a prediction, print only that it is wrong.
    """
    error, printed = next(each for each in found.values() if each[0])
    test = exercises.ROOT / TESTS / f'test_{name}.py'
    told = traceback.TracebackException.from_exception(error)
    told.stack[:] = [step for step in told.stack
                     if Path(step.filename) in (yours(name), test)]
    if any(Path(step.filename) == test for step in told.stack):
        for each, (raised, _) in found.items():
            words = each.removeprefix('test_').replace('__', ': ')
            print(f'  {"fails " if raised else "passes"}  '
                  + words.replace('_', ' '))
        if (isinstance(error, AssertionError)
                and 'def prediction' in stub(name)):
            return
        print()
    said = ''.join(told.format(chain=False)).replace(
        f'{exercises.ROOT}/', '')
    print(shortened(re.sub(' at 0x[0-9a-f]+', '', said)))
    if printed:
        print('It printed\n' + shortened(textwrap.indent(printed, '    ')))


def shortened(text):
    """Return the first lines of a text, if it is long."""
    lines = text.strip('\n').splitlines()
    return '\n'.join(lines[:MOST_LINES] + ['    ...'] * (
        len(lines) > MOST_LINES))


# Words and places

def headline(name):
    """Return an exercise's number and title."""
    return f'{number(name)}  {task(name)[0]}'


def file_and_hole(name):
    """Return the reader's file, and the line of its hole, if it has one."""
    holes = [f':{line}' for line, text
             in enumerate(attempted(name).splitlines(), 1)
             if mark(name) in text]
    return f'{YOURS}/{name}.py' + ''.join(holes[:1])


def page(name):
    """Return the chapter of an exercise."""
    [path] = (exercises.ROOT / 'book/chapters').glob(f'{name[1:3]}_*.md')
    return path


def title(chapter):
    """Return the title of a chapter, with its number."""
    return re.search(r'^# (.*)', chapter.read_text(), re.MULTILINE)[1]


def reading(chapter):
    """Return a chapter's title, and its page, or its source if not built.
    """
    built = exercises.ROOT / f'site/chapters/{chapter.stem}.html'
    shown = built if built.exists() else chapter
    text = f'{title(chapter)}, {shown.relative_to(exercises.ROOT)}'
    return textwrap.fill(text, 67, break_long_words=False,
                         break_on_hyphens=False).replace('\n', '\n' + 12 * ' ')


COMMANDS = {'next': show_next, 'hint': show_hint, 'skip': skip,
            'reset': reset}


def main(command, words='', tips=TIPS):
    """Run a command, and print the other commands."""
    try:
        if command == 'progress':
            show_progress(words)
        else:
            COMMANDS[command](chosen(words))
    except SystemExit as error:     # there is no such exercise
        raise SystemExit(f'{error}\n\n{tips}') from None
    print('\n' + tips)


if __name__ == '__main__':
    try:
        main(*sys.argv[1:])
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise SystemExit('\nStopped.') from None
    except BrokenPipeError:     # the reader of `make progress | head` is gone
        # Python writes the rest of the output when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
