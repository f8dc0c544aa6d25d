"""The draft, in the notebooks of the chapters that write it.

Its one idea: a notebook begins where the last chapter ended, because it runs
what the chapters before it have written, in the notebook itself.  So a
function that you edit there is the one that everything calls.  Appendix D.
"""

import re
from pathlib import Path

from autodiff_mini import draft

PIECE = re.compile(r'(?m)^# (\d+)[a-z]\. ')


def until(chapter):
    """Returns what the draft has before a chapter, to be executed.

    Args:
        chapter: the number of the chapter.

    Examples:
        >>> exec(until(4))
        >>> jvp(lambda x: x * x, (3.0,), (1.0,))
        (9.0, 6.0)
    """
    path = Path(draft.__file__)
    source = path.read_text()
    ends = [piece.start() for piece in PIECE.finditer(source)
            if int(piece[1]) >= chapter]
    return compile(source[:min(ends, default=None)], path, 'exec')
