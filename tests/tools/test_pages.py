"""The pages as Markdown: links that lead somewhere, samples that run.

The same of the built site is in tests/test_site.py.
"""

import builtins
import itertools
import os
import re
from pathlib import Path

import pytest

from book.tools import mainline, online, places, reference, weave
from book.tools.places import ROOT

# Not \S+: a link may carry a title, and code may look like one.
LINK = re.compile(r'\]\(([^)\s]+)(?: "[^"]*")?\)')
PAGES = [*weave.chapters(ROOT), *reference.pages(ROOT),
         ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
each_page = pytest.mark.parametrize(
    'page', PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
MODULES = ROOT / 'book/modules'
GLOSSARY = ROOT / 'book/appendix/glossary.md'
TERM = re.compile(r'^\*\*(.+)\*\*\n:   ', re.MULTILINE)


def prose(page):
    """Returns the text of a page without listings and code."""
    text = re.sub(r'(?ms)^(`{3,}).*?^\1$', '', page.read_text('utf-8'))
    return re.sub(r'`[^`\n]*`', '', text)


@each_page
def test_every_link_between_pages_leads_to_a_heading(page):
    broken = [link for link in LINK.findall(prose(page))
              if not re.match(r'\w+:', link) and not leads(page, link)]
    assert broken == []


def leads(page, link):
    """Returns whether there is what a link leads to."""
    path, _, anchor = link.partition('#')
    target = Path(os.path.normpath(page.parent / path)) if path else page
    if target.is_relative_to(MODULES):     # the build makes it
        return not anchor and source_of(target).exists()
    if not anchor or target.suffix != '.md':
        return target.exists()
    return target.exists() and (is_a_step(anchor, target) or anchor in {
        place.anchor for place in places.sections(target).values()})


def source_of(page):
    """Returns the module that a page of the modules shows."""
    if page == MODULES / 'index.md':
        return ROOT / 'autodiff_mini'
    path = page.relative_to(MODULES).with_suffix('.py')
    return ROOT / 'autodiff_mini' / path


def is_a_step(anchor, page):
    """Returns whether an anchor is a step of a player on a page."""
    step = re.fullmatch(r'(\w+)-\d+', anchor)
    return step and "watch(" in page.read_text() and (
        f"name='{step[1]}'" in page.read_text())


def test_a_link_that_leads_nowhere_is_seen(tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('# Page\n\n## Here\n')
    assert leads(page, '#here') and leads(page, 'page.md#page')
    assert not leads(page, '#there') and not leads(page, 'other.md')
    assert leads(page, os.path.relpath(MODULES / 'core.md', tmp_path))
    assert not leads(page, os.path.relpath(MODULES / 'no.md', tmp_path))
    assert not leads(page, 'other.md#here') and not leads(page, '#old-2')
    page.write_text("# Page\n\nad.watch(f, name='old')\n")
    assert leads(page, '#old-2') and not leads(page, '#new-2')


@pytest.mark.parametrize('name', ['README.md', 'book/index.md'])
def test_the_samples_of_the_first_pages_run(name):
    """In one namespace, from the top; a comment after a call is its value."""
    samples = [block for block in weave.blocks(ROOT / name)
               if not block.title]
    assert samples
    scope = {}
    for block in samples:
        exec(compile(block.text, name, 'exec'), scope)
        for line in block.text.splitlines():
            match = re.fullmatch(r'(\w.*?\))\s+# (.+?), by .*', line)
            if match:
                assert repr(eval(match[1], scope)) == match[2]


def test_publishing_links_to_the_book_from_the_readme():
    text = (ROOT / 'README.md').read_text()
    linked = online.with_address(text, 'https://example.org/book/')
    assert ('\n**[Read the book online](https://example.org/book/)**\n'
            in linked)
    assert online.with_address(linked, '') == online.with_address(text, '')
    with pytest.raises(ValueError, match='one line <!-- online -->'):
        online.with_address('no marks', '')
    assert '-m book.tools.online $(SITE_URL)' in (
        ROOT / 'Makefile').read_text()


# The glossary

def terms():
    return TERM.findall(GLOSSARY.read_text())


def test_the_glossary_is_in_order():
    words = [term.lower().replace('_', ' ') for term in terms()]
    assert words == sorted(set(words)) and len(words) > 40


def test_the_glossary_has_every_term_that_a_chapter_defines():
    known = {form for term in terms() for form in (term, f'{term}s')}
    for page, found in itertools.chain.from_iterable(
            ((page, term) for term in re.findall(
                r'\*\*([a-zJ][\w -]+)\*\*', prose(page)))
            for page in weave.chapters(ROOT) if page != GLOSSARY):
        assert found in known, f'{page.name} defines {found}'


def test_a_link_to_a_chapter_says_its_number():
    for page in weave.chapters(ROOT):
        for number, target in re.findall(
                r'\[chapter\s(\w+)\]\(([^)]*?)(?:#[^)]*)?\)', prose(page),
                re.IGNORECASE):
            found = ROOT / 'book/chapters' / Path(target).name
            assert weave.label(found) == number, f'{page.name}: {number}'


def test_a_sum_of_pages_is_the_book():
    """What mkdocs.yml names is there, and the other way round."""
    named = set(re.findall(r'- (?:[^:\n]*: )?(\S+\.md)$',
                           (ROOT / 'mkdocs.yml').read_text(), re.MULTILINE))
    assert named == {page.relative_to(ROOT / 'book').as_posix()
                     for page in PAGES if page.is_relative_to(
                         ROOT / 'book')} | {'modules/index.md'}


def test_no_cell_is_wider_than_a_page():
    wide = [f'{page.name}:{block.line + number}'
            for page in weave.chapters(ROOT) for block in weave.blocks(page)
            for number, line in enumerate(block.text.splitlines(), 1)
            if len(line) > 80]
    assert wide == []


@pytest.mark.parametrize('page', [
    page for page in weave.chapters(ROOT)
    if weave.woven(page) and page not in weave.book_one(ROOT)],
    ids=lambda page: page.stem)
def test_every_name_of_a_page_is_defined_or_imported_on_it(page):
    """Else an edited cell would put a function there that cannot run."""
    cells = [cell for block in weave.blocks(page) if block.runs
             for cell in weave.parsed(block)]
    has = set(dir(builtins)).union(*(weave.bound(x.node) for x in cells))
    assert set().union(*map(mainline.used, cells)) <= has
