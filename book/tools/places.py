"""Find places in the book, and write its files.

A place is a page and the anchor that the site gives to a heading.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify, unique

from book.tools import weave

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile('#{1,6} (.+)')


def write(file, data):
    """Write a file atomically, unless it has this content already."""
    if not (file.exists() and file.read_bytes() == data):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f'.{file.name}')
        part.write_bytes(data)
        part.replace(file)


class Place(NamedTuple):
    """A section of a page; the first one has the page's title."""
    page: Path
    anchor: str
    title: str

    def link(self, page) -> str:
        """Return the link from another page to this place."""
        path = Path(os.path.relpath(self.page, page.parent)).as_posix()
        return f'{path}#{self.anchor}' if self.anchor else path

    @property
    def label(self) -> str:
        """The number of a chapter, or the name of any other page."""
        return weave.label(self.page)


def sections(page):
    """Return {line: Place} of the headings of a page, from the top."""
    used, found = set(), {}
    for number, line in enumerate(weave.prose(page).splitlines(), 1):
        if match := HEADING.fullmatch(line):
            text = re.sub(r'[`*]|\]\([^)]*\)|\[', '', match[1])
            found[number] = Place(page, unique(slugify(text, '-'), used),
                                  text)
    return found


def above(line, headings):
    """Return the last of the headings {line: Place} at or above a line."""
    return [place for start, place in headings.items() if start <= line][-1]


def told():
    """Return {title: {address: Places}} of the statements that are shown."""
    book, found = weave.modules(Path()), {}
    for page in weave.chapters(Path()):
        if page.name != 'index.md':
            headings = sections(page)
            for block in weave.woven(page):
                shown = found.setdefault(block.title, {})
                for statement in weave.resolve(block, book)[0]:
                    shown.setdefault(statement.address, []).append(
                        above(block.line, headings))
    return found
