"""Show the progress of a long compilation in a terminal or a notebook.

The line is erased at the end.  In a pipe or in another thread, none is shown.
"""

import sys
from threading import current_thread, main_thread
from time import monotonic
from types import SimpleNamespace

from autodiff_mini.core import seams

SECONDS = 2.5   # before a line; the rest usually takes as long again
WIDTH = 79      # columns: a line that a terminal breaks cannot be replaced
line = SimpleNamespace(tag=None, since=0.0, width=0)


@seams.report.take
def show_progress(tag, text):
    """Replace the line, if it shows this compilation.

    Args:
        tag: the application of jit, or None for the one that is compiled.
        text: its progress, or None at its end.
    """
    if current_thread() is not main_thread() or not is_watched():
        return
    tag = tag or line.tag
    if line.tag is None:
        line.tag, line.since = tag, monotonic()
    if tag is line.tag and text and monotonic() - line.since > SECONDS:
        show(f'{tag}: {text}'[-WIDTH:])
    if tag is line.tag and text is None:
        show('')
        line.tag = None


def is_watched():
    """Return whether a terminal or a notebook shows what is written.

    A program can replace sys.stderr by None, or by an object that only
    writes.
    """
    ipython = sys.modules.get('IPython')
    return not getattr(sys.stderr, 'closed', True) and (
        sys.stderr.isatty() or bool(ipython and ipython.get_ipython()))


def show(text):
    """Write a text over the last one, and spaces over the rest of it."""
    if text or line.width:
        end = '' if text else '\r'
        print(f'\r{text:{line.width}}', end=end, file=sys.stderr, flush=True)
    line.width = len(text)
