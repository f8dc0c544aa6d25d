"""modules: in a source, every name leads to its definition."""

import re
from html import escape, unescape
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

from book.tools import modules, places, render, typesetting, weave

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
from autodiff_mini.core import Base as Ground, np

class Here(Ground):
    first = 3

    def go(self, second):
        def inner(core):
            return core.first
        return self.width, self.length, first, second

def first():
    """A ``` fence, & a <tag>."""
    global third
    third = lambda x: (core.second, x.first, f'{first}')
    return np.sin(third), Here.go

third = Here
'''


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Return a function from the name of a module to its page."""
    for name, text in {'__init__': '', 'core': CORE, 'other': OTHER}.items():
        path = tmp_path / weave.PACKAGE / f'{name}.py'
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return lambda name: modules.pages()[f'modules/{name}.md']


def links_of(text):
    """Return the links [(line, name, link)] in the source of a page."""
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
        (3, 'Base', 'core.html#L8'), (5, 'Ground', 'core.html#L8'),
        (11, 'width', 'core.html#L9'), (11, 'length', 'core.html#L12'),
        (11, 'first', 'other.html#L13'), (16, 'third', 'other.html#L19'),
        (16, 'core', 'core.html'), (16, 'second', 'core.html#L16'),
        (16, 'first', 'other.html#L13'), (17, 'third', 'other.html#L19'), (17, 'Here', 'other.html#L5'),
        (17, 'go', 'other.html#L8'), (19, 'Here', 'other.html#L5')]
    assert links_of(page('core')) == [(13, 'width', 'core.html#L9')]


def test_a_page_has_the_source_and_follows_it(page):
    text = page('other')
    assert '`' not in text.partition('<div')[2]     # or it would be a fence
    code = re.search('(?s)<code>(.*)</code>', text)[1]
    lines = re.sub('<a class="ln".*?</a>|<.*?>', '', code)
    assert unescape(lines) == OTHER
    assert text.startswith('# `other.py`\n\nAnother.\n\n[All modules](')
    assert '#L16">second</a>' in text
    Path(weave.PACKAGE, 'core.py').write_text('\n' + CORE)
    assert '#L17">second</a>' in page('other')


# The library.

@pytest.fixture(scope='module')
def pages():
    """Return {name: page} of the draft and of some modules."""
    some = {title: text for title, text in modules.texts().items()
            if re.search('/(draft|interpreters|api|core)/', title)}
    library = modules.library()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(modules, 'texts', lambda: some)
        patch.setattr(modules, 'loaded', lambda sources: library)
        return modules.pages()


def test_the_index_lists_every_module():
    listed = re.findall(r'(?m)^- \[`(.*?\.py)`\]\(.*?\.md\) \S',
                        render.build(modules.HERE).markdown)
    assert sorted(f'{weave.PACKAGE}/{name}' for name in listed) == [
        *modules.texts()]


def test_every_link_of_a_source_leads_to_a_line_that_defines_it(pages):
    """The line has the name, unless it was imported under another name."""
    count = named = 0
    for name, text in pages.items():
        for line, words, link in links_of(text):
            path, _, anchor = link.partition('#')
            goal = pages.get(normpath(join(dirname(name), path.replace(
                '.html', '.md'))))
            if goal is None:    # a module that is left out
                continue
            _, mark, there = goal.partition(f'<span id="{anchor}">')
            assert mark or not anchor, f'{name}:{line}: {link}'
            count += bool(anchor)
            there = re.sub('<a class="ln".*?</a>|<.*?>', '', there[:3000])
            named += bool(anchor) and words in ' '.join(
                there.splitlines()[:5])
    assert count > 1_000 and named > 0.99 * count


# The book.

def test_names_in_a_listing_link_to_their_definitions():
    """A listing shows two statements and keeps its text."""
    draft = {x.address: x.text for x in weave.statements(
        Path('autodiff_mini/draft/jvp.py').read_text())}
    shown = draft['JVPTrace'] + '\n\n' + draft['jvp']
    html = ('<a class="filename" href="../modules/draft/jvp.html">'
            'autodiff_mini/draft/jvp.py</a></p>\n<div class="highlight"><pre>'
            f'<span></span><code>{escape(shown)}</code></pre></div>')
    made = typesetting.finished(html)
    assert re.sub('<a [^>]*tabindex[^>]*>(.*?)</a>', r'\1', made) == html
    for name, module, goal in [
            ('Trace', 'core', 'class Trace:'),
            ('jvp_rules', 'jvp', 'jvp_rules ='),
            ('check_shapes', 'trees', 'def check_shapes('),
            ('JVPTrace', 'jvp', 'class JVPTrace(')]:
        [line] = {*re.findall(rf'"../modules/draft/{module}.html#L(\d+)" '
                              f'[^>]*>{name}</a>', made)}
        source = Path(f'autodiff_mini/draft/{module}.py').read_text()
        assert source.splitlines()[int(line) - 1].startswith(goal)


def test_a_source_links_to_the_pages_that_show_it(pages):
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
