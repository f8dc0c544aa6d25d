"""Try an exercise whenever its file is saved, and run typed commands.

    python -m book.tools.watch          begins at the reader's place
    python -m book.tools.watch 02_1     begins there

Each trial is a process of its own, so a program that doesn't end is stopped
when its file is saved again or its time is up.
"""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import watchfiles

from book.tools.exercises import ROOT, YOURS, attempted, names, stub

KEYS = {'n': 'next', 'h': 'hint', 's': 'skip', 'r': 'reset', 'p': 'progress',
        'q': 'quit'}
HELP = ('Save your file to check it, or type a command and press Enter:\n'
        + ', '.join(map(' '.join, KEYS.items())) + ', or 02_1 to choose.')


def watch(words=''):
    """Run until the reader quits."""
    asked = SimpleQueue()     # (command, exercise)
    asked.put(('next', words))
    for listen in saves, lines:
        Thread(target=listen, args=[asked], daemon=True).start()
    child = None
    try:
        while (command := asked.get())[0] != 'quit':
            stop(child)
            if sys.stdout.isatty():     # clear the screen
                print('\x1b[2J\x1b[3J\x1b[H', end='', flush=True)
            # In a process group of its own, it doesn't receive Ctrl-C.
            child = subprocess.Popen(
                [sys.executable, '-m', 'book.tools.runner', *command, HELP],
                cwd=ROOT, stdin=subprocess.DEVNULL, process_group=0)
    finally:
        stop(child)


def stop(child):
    """End a trial, if there is one."""
    if child:
        child.kill()
        child.wait()


def saves(asked):
    """Request a trial of each exercise that is saved with changes."""
    (ROOT / YOURS).mkdir(exist_ok=True)
    for changes in watchfiles.watch(ROOT / YOURS, raise_interrupt=False):
        for name in {Path(path).stem for _, path in changes
                     if path.endswith('.py')}.intersection(names()):
            if attempted(name) != stub(name):
                asked.put(('next', name))


def lines(asked):
    """Request the commands that are typed: a letter, or an exercise."""
    with suppress(OSError):     # there is no terminal
        while typed := os.read(0, 1000).decode():
            for word in map(str.strip, typed.splitlines()):
                command = KEYS.get(word[:1])
                asked.put((command, '') if command else ('next', word))


if __name__ == '__main__':
    with suppress(KeyboardInterrupt):
        watch(*sys.argv[1:])
