"""The pages as Markdown: links that work, samples that run.

test_site.py checks the same for the built site.
"""

import builtins
import os
import re
from pathlib import Path

import markdown
import numpy as np
import pytest

from book.tools import mainline, online, places, reference, weave
from book.tools.places import ROOT

# Not \S+: a link can have a title, and code can look like one.
LINK = re.compile(r'\]\(([^)\s]+)(?: "[^"]*")?\)')
CHAPTERS = weave.chapters(ROOT)
PAGES = [*CHAPTERS, *reference.pages(ROOT),
         ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
MODULES = ROOT / 'book/modules'
GLOSSARY = ROOT / 'book/appendix/glossary.md'


def prose(page):
    """Return the text of a page without listings and code."""
    return re.sub(r'`[^`\n]*`', '', weave.prose(page))


def test_every_link_between_pages_leads_to_a_heading():
    assert [(page.name, link) for page in PAGES
            for link in LINK.findall(prose(page))
            if not re.match(r'\w+:', link) and not leads(page, link)] == []


def leads(page, link):
    """Return whether the target of a link exists."""
    path, _, anchor = link.partition('#')
    target = Path(os.path.normpath(page.parent / path)) if path else page
    if MODULES in target.parents and target.stem != 'index':   # is made
        source = ROOT / 'autodiff_mini' / target.relative_to(MODULES)
        return source.with_suffix('.py').exists()
    if not anchor or target.suffix != '.md':
        return target.exists()
    step = re.fullmatch(r'(\w+)-\d+', anchor)       # of a player
    return target.exists() and (
        step and f"name='{step[1]}'" in target.read_text() or anchor in {
            place.anchor for place in places.sections(target).values()})


@pytest.mark.parametrize('name', ['README.md', 'book/index.md'])
def test_the_samples_of_the_first_pages_run(name):
    """They run in one namespace; a comment after a call is its value.

    NumPy 2 prints the type of a number, unless a page says otherwise.
    """
    scope = {}
    with np.printoptions(legacy=False):
        for block in weave.blocks(ROOT / name):
            exec(compile(block.text, f'<{name}>', 'exec'), scope)
            for call, value in re.findall(
                    r'(?m)^(\w.*?\))\s+# (.+?), by .*', block.text):
                assert repr(eval(call, scope)) == value
    assert scope


def test_publishing_links_to_the_book_from_the_readme():
    text = (ROOT / 'README.md').read_text()
    linked = online.with_address(text, 'https://example.org/book/')
    assert ('\n**[Read the book online](https://example.org/book/)**\n'
            in linked)
    assert online.with_address(linked, '') == online.with_address(text, '')
    with pytest.raises(ValueError, match='one line <!-- online -->'):
        online.with_address('no marks', '')


def test_the_glossary_is_in_order_and_has_every_term_of_a_chapter():
    terms = re.findall(r'(?m)^\*\*(.+)\*\*\n:   ', GLOSSARY.read_text())
    words = [term.lower().replace('_', ' ') for term in terms]
    assert words == sorted(set(words)) and len(words) > 40
    known = {*terms, *[f'{term}s' for term in terms]}
    assert [(page.name, term) for page in CHAPTERS if page != GLOSSARY
            for term in re.findall(r'\*\*([a-zJ][\w -]+)\*\*', prose(page))
            if term not in known] == []


def test_a_link_to_a_chapter_shows_its_number():
    for page in CHAPTERS:
        for number, target in re.findall(
                r'(?i)\[chapter\s(\w+)\]\(([^)]*?)(?:#[^)]*)?\)', prose(page)):
            assert weave.label(Path(target)) == number, page.name


def test_a_page_reads_well_on_the_site_and_as_a_notebook():
    for page in CHAPTERS:
        text, found = weave.prose(page), places.sections(page)
        html = markdown.markdown(text,
                                 extensions=['toc', 'smarty', 'attr_list'])
        ids = re.findall(r'<h\d id="([^"]+)"', html)
        assert [place.anchor for place in found.values()] == [
            anchor for anchor in ids if anchor != 'jupyter'], page.name
        assert not re.search(r'(?m)^> *\[!', text)      # words, to Jupyter
        assert [(page.name, block.line) for block in weave.blocks(page)
                if re.search('(?m)^.{81}', block.text)] == []
        names = re.findall(r"watch\([^`]*?name='(\w+)'", page.read_text())
        assert len(names) == len({*names}), 'a link leads to two players'


def test_the_same_heading_twice_has_two_anchors(tmp_path):
    page = tmp_path / '07_page.md'
    page.write_text('# 7. `a` *b*\n\n```py\n# no heading\n```\n\n'
                    '## Same [link](there.md)\n\n## Same link\n\ntext\n')
    anchors = [place.anchor for place in places.sections(page).values()]
    assert anchors == ['7-a-b', 'same-link', 'same-link_1']
    found = places.above(11, places.sections(page))
    assert found.anchor == 'same-link_1' and found.label == '7'
    assert found.link(tmp_path / 'x/y.md') == '../07_page.md#same-link_1'


def test_every_name_of_a_page_is_defined_or_imported_on_it():
    """Otherwise, an edited cell would put a broken function there."""
    for page in {*CHAPTERS} - {*weave.book_one(ROOT)}:
        if weave.woven(page):
            cells = [cell for block in weave.blocks(page) if block.runs
                     for cell in weave.parsed(block)]
            has = set(dir(builtins)).union(
                *(weave.bound(x) for x in cells))
            assert set().union(*map(mainline.used, cells)) <= has, page.name
