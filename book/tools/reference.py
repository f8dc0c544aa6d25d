"""Link the reference to sources and chapters, and pages to definitions."""

import re
from functools import cache
from pathlib import Path

from book.tools import places, weave
from book.tools.modules import (
    first_paragraph, kind, library, member, place, place_of, title_of, within)

FOLDER = Path('book/reference')
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


def linked(markdown, page):
    """Return a page with its links to modules and chapters.

    An entry of the reference links to its definition and explanations. The
    title of a listing links to its module, and a name written as
    [`core.trace.bind`][] links to its definition.
    """
    def entry(match):
        meant = member(found(), match[1])
        goal = place_of(meant)
        told = shown.get(title_of(meant), {}).get(meant.name, ())
        links = ' and in '.join(f'{kind(x)}, [*{x.title}*]({x.link(page)})'
                                for x in told)
        return (f'{match[0]}\nDefined in [`{goal.title}`]({goal.link(page)}).'
                + f' Explained in {links}.' * bool(told) + '\n')

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
    shown = places.told() if ENTRY.search(markdown) else {}
    for old, new in (ENTRY, entry), (weave.FENCE, listing), (NAME, definition):
        markdown = old.sub(new, markdown)
    return markdown
