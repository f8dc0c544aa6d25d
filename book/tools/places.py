"""Finds places in the book: the section that a line of a page is in.

A place is a page and the anchor that the site gives to a heading.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify, unique

from book.tools import weave

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r'(#{1,6}) (.+)')


class Place(NamedTuple):
    """A section of a page; the title of a page has the first one."""
    page: Path
    anchor: str
    title: str

    def link(self, page) -> str:
        """Returns what leads from another page to this place."""
        path = os.path.relpath(self.page, page.parent)
        return f'{Path(path).as_posix()}#{self.anchor}'

    @property
    def label(self) -> str:
        """The number of a chapter, or the letter of an appendix."""
        return weave.label(self.page)


def sections(page):
    """Returns {line: Place} of the headings of a page, from the top."""
    used, found, fence = set(), {}, None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        ticks = re.match('`{3,}', line)
        if ticks and fence is None:
            fence = ticks[0]
        elif fence is not None:
            fence = None if line.rstrip() == fence else fence
        elif match := HEADING.fullmatch(line):
            text = re.sub(r'[`*]|\]\([^)]*\)|\[', '', match[2])
            found[number] = Place(page, unique(slugify(text, '-'), used),
                                  text)
    return found


def above(line, places):
    """Returns the last of the places {line: Place} that is not below."""
    return [place for start, place in places.items() if start <= line][-1]


def woven():
    """Returns {(title, address): Place} of every statement of the library."""
    book = weave.modules(ROOT)
    return {(block.title, statement.address): above(block.line, places)
            for page in weave.chapters(ROOT)
            for places in [sections(page)]
            for block in weave.woven(page)
            for statement in weave.resolve(block, book)[0]}


def chapter(number, heading=None):
    """Returns the Place of a chapter, or of a heading in it.

    Args:
        number: of the chapter, or the letter of an appendix.
        heading: the text of the heading.

    Raises:
        ValueError: there is no such chapter, or no such heading.
    """
    name = f'{number:02}' if isinstance(number, int) else number.lower()
    pages = [page for page in weave.chapters(ROOT)
             if page.stem.startswith(f'{name}_')]
    found = [section for page in pages for section in sections(page).values()
             if heading in (None, section.title)]
    if not found:
        raise ValueError(f'no heading {heading!r} in chapter {number}')
    return found[0]
