"""Link the reference to sources and chapters, and pages to definitions."""

import re
import tomllib
from functools import cache
from pathlib import Path

from book.tools import places, weave
from book.tools.modules import (
    first_paragraph, kind, library, member, place, place_of, within)

FOLDER = Path('book/reference')
EXPLAINED = Path('book/explained.toml')
GROUPS = ('values', 'forward_mode', 'batching', 'reverse_mode',
          'custom_rules', 'programs', 'control_flow', 'primitives',
          'functions_with_rules', 'trees', 'errors')
ENTRY = re.compile(r'^::: autodiff_mini\.(\w+)\n(?: +.*\n)*', re.MULTILINE)
NAME = re.compile(r'(\[`([\w.]+)`\])\[\]')


def pages(root):
    """Return the files of the reference, its index first."""
    return [path for pattern in ('reference.md', 'reference/*.md')
            for path in sorted((root / 'book').glob(pattern))]


def groups():
    """Return {page: names} of the reference."""
    return {page: ENTRY.findall(page.read_text())
            for page in [FOLDER / f'{name}.md' for name in GROUPS]}


def index():
    """Return the list of all public names, by group."""
    parts, found = [], library()
    for group, names in groups().items():
        title, _, text = group.read_text().removeprefix('# ').partition('\n')
        path = f'{FOLDER.name}/{group.name}'
        parts += [f'## [{title}]({path})', '\n'.join(
            f'- [`{name}`]({path}#autodiff_mini.{name}) '
            + (first_paragraph(member(found, name).docstring)
               or re.search(rf'\.{name}\n\n(.*)', text)[1])    # a constant
            for name in names)]
    return '\n\n'.join(parts)


def explained():
    """Return {public name: Places of the sections that explain it}.

    Raises:
        LookupError: a page has no such section.
    """
    groups = tomllib.loads(EXPLAINED.read_text())
    return {name: [section(where) for where in (
                [places_of] if isinstance(places_of, str) else places_of)]
            for group in groups.values() for name, places_of in group.items()}


@cache
def section(where):
    """Return the Place of a text such as `chapters/10_backwards.md#reverse`.

    Without an anchor, it's the whole page.
    """
    path, _, anchor = where.partition('#')
    found = [*places.sections(Path('book', path)).values()]
    if not anchor:
        return found[0]._replace(anchor='')
    for place in found:
        if place.anchor == anchor:
            return place
    raise LookupError(f'{EXPLAINED}: there is no section {where}')


def linked(markdown, page):
    """Return a page with its links to modules and chapters.

    An entry of the reference links to its definition and explanations. The
    title of a listing links to its module, and a name written as
    [`core.trace.bind`][] links to its definition.
    """
    def entry(match):
        meant = member(found(), match[1])
        goal = place_of(meant)
        links = ' and in '.join(f'{kind(x)}, [*{x.title}*]({x.link(page)})'
                                for x in explained()[match[1]])
        return (f'{match[0]}\nDefined in [`{goal.title}`]({goal.link(page)}).'
                f' Explained in {links}.\n')

    def listing(fence):
        block = weave.block(fence, page)
        if block.title not in book:
            return fence[0]
        chosen, _ = weave.resolve(block, book)
        if not chosen:
            return fence[0]      # weave reports this problem
        link = place(block.title, chosen[0].line).link(page)
        return f'[{block.title}]({link}){{ .filename }}\n\n' + (
            fence[0].replace(f' title="{block.title}"', '', 1))

    def definition(match):
        meant = within(found(), f'{weave.PACKAGE}.{match[2]}')
        return f'{match[1]}({place_of(meant).link(page)})'

    book, found = weave.modules(Path()), cache(library)
    for old, new in (ENTRY, entry), (weave.FENCE, listing), (NAME, definition):
        markdown = old.sub(new, markdown)
    return markdown
