"""Leads from the reference to where a function is built, and back.

A public name is a statement of a module, and every statement stands in one
listing of the book.
"""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import griffe
from markdown.extensions.toc import slugify

import autodiff_mini as ad
from book.tools import weave

ROOT = Path(__file__).parents[2]
PAGE = 'reference.md'
ENTRY = re.compile(r'^::: autodiff_mini\.(\w+)\n(?: +.*\n)*', re.MULTILINE)
LISTING = re.compile(r'^(`{3,})\w+ .*?title="(.*?)".*?\n(.*?)^\1\n',
                     re.MULTILINE | re.DOTALL)


class WithoutTypes(griffe.Extension):
    """Lets mkdocstrings read the modules alone, and say what `help` says.

    The stub has the same names, arguments and defaults.
    """

    def on_module_members(self, *, mod, **_):
        if mod.filepath.suffix == '.pyi':
            mod.members.clear()
            mod.overloads.clear()


class Place(NamedTuple):
    """Where a public name is built: a page, and the heading above it."""

    page: Path
    heading: str

    def link(self):
        """Returns the link to it, from the reference."""
        page = self.page.relative_to(ROOT / 'book').as_posix()
        kind = self.page.parent.name.rstrip('s')
        return (f'[{kind} {weave.label(self.page)}, *{self.heading}*]'
                f'({page}#{slugify(self.heading, "-")})')


def home(name):
    """Returns the module and the address of what a public name means."""
    found = getattr(ad, name)
    module = getattr(found, '__module__', 'autodiff_mini.core')
    return (module.replace('.', '/') + '.py',
            getattr(found, '__qualname__', name))


@cache
def names():
    """Returns {(module, address): public name}, the first of several."""
    return {home(name): name for name in reversed(ad.__all__)}


@cache
def places():
    """Returns {name: Place} of the public names."""
    modules = weave.modules(ROOT)
    return {names()[block.title, found.address]:
            Place(page, heading_above(page, block.line))
            for page in weave.chapters(ROOT) for block in weave.woven(page)
            for found in weave.resolve(block, modules)[0]
            if (block.title, found.address) in names()}


def heading_above(page, line):
    """Returns the heading of the section in which a line of a page stands."""
    heading, inside = '', None
    for text in page.read_text().splitlines()[:line - 1]:
        fence = re.match('`{3,}', text)
        if fence and inside in (None, text.rstrip()):
            inside = None if inside else fence[0]
        elif inside is None and re.match('##+ ', text):
            heading = re.sub('^#+ |[`*]', '', text)
    return heading


def with_places(markdown):
    """Returns the reference, with a link behind each entry that is built."""
    def entry(match):
        place = places().get(match[1])
        built = f'\nBuilt in {place.link()}.\n' if place else ''
        return match[0] + built
    return ENTRY.sub(entry, markdown)


def with_entries(markdown, up):
    """Returns a page, with links to the reference behind its listings.

    Args:
        markdown: the page.
        up: what leads from it to where the reference is.
    """
    def listing(match):
        defined = re.findall(r'^(?:def|class) (\w+)', match[3], re.MULTILINE)
        found = [names()[match[2], name] for name in defined
                 if (match[2], name) in names()]
        links = ', '.join(f'[`{name}`]({up}{PAGE}#autodiff_mini.{name})'
                          for name in found)
        return match[0] + f'\nIn the reference: {links}.\n' * bool(found)
    return LISTING.sub(listing, markdown)
