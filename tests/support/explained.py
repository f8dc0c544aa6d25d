"""The entries of the page *Errors explained*, read from its Markdown."""

import re
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / 'book/appendix/errors_explained.md'
ENTRY = re.compile(
    r'(?ms)^##### (.*?)\n\n```python tags=\["raises-exception"\]\n(.*?)\n```'
    r'\n\n\*Cure\.\* (.*?)\n\n(?:```python\n(.*?)\n```\n)?')


class Explained(NamedTuple):
    """An error: what it means, a program that raises it, and the cure."""
    meaning: str
    program: str
    words: str
    cure: str     # a program, which begins where the other ended; or none


ALL = [Explained(*found) for found in ENTRY.findall(PAGE.read_text() + '\n')]
