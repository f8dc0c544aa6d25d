"""The user's lines: find the one at work, and name it in an error.

A line is a code object and an instruction in it, which cost little to note.
The number is computed only for a message.  Chapter 20.
"""

import os
import sys
from functools import lru_cache
from importlib import import_module
from types import TracebackType

# Code that is not the user's.  NumPy's Python code can run on tracers, and
# source code that the library generates is called <autodiff_mini ...>.
LIBRARY = ('<autodiff_mini ', *(import_module(name).__path__[0] + os.sep
                                for name in ('autodiff_mini', 'numpy')))
OTHERS = 'scipy.', 'pandas.', 'sklearn.', 'matplotlib.'


class IsLibrary(dict):
    """Whether each file is part of the library or of NumPy."""

    def __missing__(self, file):
        self[file] = file.startswith(LIBRARY)
        return self[file]


is_library = IsLibrary()


def in_a_library(frame) -> bool:
    """Return whether a frame is in this library, NumPy, or one of OTHERS."""
    return is_library[frame.f_code.co_filename] or is_other(frame)


def is_other(frame) -> bool:
    """Return whether a frame is in one of OTHERS."""
    return (frame.f_globals.get('__name__') or '').startswith(OTHERS)


def user_line(depth):
    """Return where the user's program called the library.

    A frame would keep its variables alive; its code and position do not.
    """
    frame = sys._getframe(depth)
    while is_library[frame.f_code.co_filename] and frame.f_back:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


REVERSE = 'reverse'     # the third part of a line, in the reverse pass


def users_part(traceback):
    """Return a traceback without entries of the library, None if empty."""
    entries = []
    while traceback:
        entries.append(traceback)
        traceback = traceback.tb_next
    for entry in reversed(entries):
        if not is_library[entry.tb_frame.f_code.co_filename]:
            traceback = TracebackType(traceback, entry.tb_frame,
                                      entry.tb_lasti, entry.tb_lineno)
    return traceback


def line_text(line) -> str:
    """Return what `user_line` returned, as `file:line`."""
    return '{}:{}'.format(*lasting_line(line))


def lasting_line(line):
    """Return a file and a line number, which need no code object."""
    code, instruction, *_ = line
    if isinstance(code, str):
        return code, instruction    # already converted
    return code.co_filename, code_lines(code)[instruction // 2]


def quote_line(error, eqn):
    """Add a note to an error that says where the operation was called."""
    if eqn and eqn.line:
        error.add_note(line_note(eqn))


def line_note(eqn) -> str:
    """Return the note that says where an operation was called."""
    return (f"in the operation '{eqn.primitive}', called at "
            f'{line_text(eqn.line)}')


@lru_cache(maxsize=16)
def code_lines(code) -> list:
    """Return the line number of each instruction."""
    return [position[0] for position in code.co_positions()]
