"""Find places in the book: the section that a line of a page is in.

A place is a page and the anchor that the site gives to a heading.
"""

import os
import re
from pathlib import Path
from typing import NamedTuple

from markdown.extensions.toc import slugify, unique
from mkdocs.utils.yaml import yaml_load

from book.tools import weave

ROOT = Path(__file__).resolve().parents[2]
HEADING = re.compile(r'(#{1,6}) (.+)')


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


def settings():
    """Return the settings in mkdocs.yml."""
    with open(ROOT / 'mkdocs.yml') as file:
        return yaml_load(file)


def sections(page):
    """Return {line: Place} of the headings of a page, from the top."""
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
    """Return the last of the places {line: Place} at or above a line."""
    return [place for start, place in places.items() if start <= line][-1]


def told():
    """Return {title: {address: Places}} of the statements that are shown."""
    book, found = weave.modules(Path()), {}
    for page in weave.chapters(Path()):
        if page.name != 'index.md':
            places = sections(page)
            for block in weave.woven(page):
                for statement in weave.resolve(block, book)[0]:
                    known, key = (found.setdefault(block.title, {}),
                                  statement.address)
                    known[key] = known.get(key, ()) + (
                        above(block.line, places),)
    return found
