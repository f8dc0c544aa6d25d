"""The pages of the modules: every name leads to its definition."""

import ast
import re
from html import unescape
from pathlib import Path
from posixpath import dirname, join, normpath
from symtable import symtable

import pytest

from book.tools import modules, places, weave
from book.tools.places import Place
from tests.test_house import STOREYS, WINGS

CORE = '''\
"""The core.

Below is `nothing`.
"""
import numpy as np


class Base:
    width = 1

    def go(self):
        self.length = 2
        return self.width


first, second = 1, 2
'''
OTHER = '''\
"""Another."""
from autodiff_mini import core
from autodiff_mini.core import (
    Base as Ground, np)


class Here(Ground):
    first = 3

    def go(self, second):
        def inner(core):
            return core.first
        return [self.width for width in self.length], first, second

    @staticmethod
    def lost(self):
        return self.width


def first():
    """A ``` fence, & a <tag>."""
    from autodiff_mini.core import second
    global third
    third = lambda x: (second, core.second, x.first, f'{second}')
    return np.sin(third), Here.lost


third = Here
'''


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Returns a function: the name of a module, its page."""
    for name, text in {'__init__': '', 'core': CORE, 'other': OTHER}.items():
        path = tmp_path / weave.PACKAGE / f'{name}.py'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return lambda name: modules.pages()[f'modules/{name}.md']


def links_of(text):
    """Returns the links [(line, name, link)] in the source of a page."""
    found, number = [], 0
    for match in re.finditer(
            r'<span id="L(\d+)">|<a href="([^"]*)">(.*?)</a>', text):
        number = int(match[1] or number)
        if match[2]:
            found.append((number, re.sub('<.*?>', '', match[3]), match[2]))
    return found


def test_a_name_links_to_its_definition_and_no_other(page):
    assert links_of(page('other')) == [
        (2, 'core', 'core.html'), (3, 'autodiff_mini.core', 'core.html'),
        (4, 'Base', 'core.html#L8'), (7, 'Ground', 'core.html#L8'),
        (13, 'width', 'core.html#L9'), (13, 'length', 'core.html#L12'),
        (13, 'first', 'other.html#L20'),
        (22, 'autodiff_mini.core', 'core.html'),
        (22, 'second', 'core.html#L16'), (24, 'third', 'other.html#L28'),
        (24, 'second', 'core.html#L16'), (24, 'core', 'core.html'),
        (24, 'second', 'core.html#L16'), (24, 'second', 'core.html#L16'),
        (25, 'third', 'other.html#L28'), (25, 'Here', 'other.html#L7'),
        (25, 'lost', 'other.html#L15'), (28, 'Here', 'other.html#L7')]
    assert links_of(page('core')) == [(13, 'width', 'core.html#L9')]


def test_a_page_has_the_source_and_follows_it(page):
    text = page('other')
    assert '`' not in text.partition('<div')[2]     # or it would be a fence
    code = re.search('(?s)<code>(.*)</code>', text)[1]
    lines = re.sub('<a class="ln".*?</a> |<.*?>', '', code)
    assert unescape(lines) == OTHER
    assert text.startswith('# other.py\n\nAnother.\n\n[All modules](index.md)')
    assert '#L16">second</a>' in text and 'data-search-exclude' in text
    Path(weave.PACKAGE, 'core.py').write_text('\n' + CORE)
    assert '#L17">second</a>' in page('other')


# The library.

@pytest.fixture(scope='module')
def pages():
    """Returns {name: page} of the library's modules and of their index."""
    return modules.pages()


def test_every_module_has_a_page_on_the_index(pages):
    listed = re.findall(r'^- \[`(.*?)\.py`\]\((.*?)\.md\) \S',
                        pages['modules/index.md'], re.MULTILINE)
    assert [title for title, _ in listed] == [link for _, link in listed]
    found = [f'modules/{link}.md' for _, link in listed]
    assert sorted([*found, 'modules/index.md']) == sorted(pages)


def test_the_storeys_are_those_of_the_house():
    draft, core, *middle, wings = [folders for *_, folders
                                   in modules.STOREYS]
    assert (draft, core, {*wings}) == (
        ['draft'], [''], WINGS | {'more/patch'})
    order = [next(i for i, names in enumerate(STOREYS) if folder in names)
             for [folder] in middle]
    assert order == sorted(order)
    assert {folder for [folder] in middle} == set().union(*STOREYS[1:-1])


def test_every_link_of_a_source_leads_to_a_line_that_defines_it(pages):
    """A line says the name, unless it was imported under another one."""
    count = named = 0
    for name, text in pages.items():
        for line, words, link in links_of(text):
            path, _, anchor = link.partition('#')
            goal = pages[normpath(join(dirname(name), path.replace(
                '.html', '.md')))]
            _, mark, there = goal.partition(f'<span id="{anchor}">')
            assert mark or not anchor, f'{name}:{line}: {link}'
            count += bool(anchor)
            there = re.sub('<a class="ln".*?</a>|<.*?>', '', there[:3000])
            named += bool(anchor) and words in ' '.join(
                there.splitlines()[:5])
    assert count > 5_000 and named > 0.99 * count


def global_names(text):
    """Returns what a module names that is its own, or from the library."""
    tables = [symtable(text, '', 'exec')]
    own = {symbol.get_name() for symbol in tables[0].get_symbols()
           if symbol.is_assigned() or symbol.is_namespace()}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (
                node.level or node.module.startswith(weave.PACKAGE)):
            own |= {part.asname or part.name for part in node.names}
    used = set()
    for table in tables:
        tables += table.get_children()
        used |= {symbol.get_name() for symbol in table.get_symbols()
                 if symbol.is_referenced() and (
                     symbol.is_global() or table is tables[0])}
    return {name for name in own & used if not name.startswith('__')}


@pytest.mark.parametrize('title', modules.texts())
def test_every_name_of_the_library_is_a_link(pages, title):
    """Python's own symbol tables say which names those are."""
    text = modules.texts()[title]
    page = modules.place(title).page.relative_to('book').as_posix()
    linked = {name for _, name, _ in links_of(pages[page])}
    assert global_names(text) <= linked


# The book.

def test_a_source_links_to_what_shows_it_and_so_does_its_page(pages):
    shown = places.told()
    title, told = next((title, places) for title, places in shown.items()
                       if title.startswith(weave.DRAFT))
    text = pages[modules.place(title).page.relative_to('book').as_posix()]
    first = [*told.values()][0][0]
    link = first.link(modules.place(title).page)
    assert f'Explained in [{modules.kind(first)}]({link})' in text
    marks = re.findall('<a class="shown" href="(.*?)"', text)
    assert link.replace('.md', '.html') in marks
    goals = {modules.address(place, modules.place(title).page)
             for found in told.values() for place in found}
    assert {*marks} == goals


def test_a_mark_is_where_the_places_change(tmp_path):
    place = [Place(tmp_path / f'book/chapters/0{n}_x.md', 'here', 'A <title>')
             for n in range(3)]
    marks = modules.marks_in('autodiff_mini/core.py', 'a = 1\nb = 2\nc = 3\n',
                             {'a': (place[1],), 'b': (place[1],),
                              'c': (place[1], place[2])})
    assert [*marks] == [1, 3]
    assert marks[1].endswith('title="A &lt;title&gt;">chapter 1</a>')
    assert marks[3].count('</a>') == 2
