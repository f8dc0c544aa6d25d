"""What the documents ask for: every row has its code and its tests."""

import re
from pathlib import Path

import pytest

from book.tools import documents, render, weave
from book.tools.documents import DOCUMENTS, ROWS
from book.tools.places import ROOT
from tests.wings import needs

pytestmark = needs('applications')
PAGE = ROOT / 'book/appendix/what_the_documents_ask.md'
COUNTS = {'D': 18, 'P': 6, 'R': 5, 'B': 5}


def test_all_rows_are_there_in_order():
    assert list(ROWS) == [f'{letter}{i}' for letter, count in COUNTS.items()
                          for i in range(1, count + 1)]


@pytest.mark.parametrize('row', ROWS)
def test_each_row_has_its_definitions_and_a_test(row):
    assert documents.places(row) or row == 'B5'
    assert documents.tests().get(row), f'name a test test_{row.lower()}_…'


def test_no_test_names_a_row_that_is_none():
    assert set(documents.tests()) <= set(ROWS)


def test_the_page_has_all_rows_with_links_that_lead_somewhere():
    text = render.render(PAGE)
    for title in DOCUMENTS:
        assert f'\n## {title}\n' in text
    for row in ROWS:
        [line] = [line for line in text.splitlines()
                  if line.startswith(f'| {row} |')]
        files = re.findall(r'`(tests/\S+)`\s\((\d+)\)', line)
        assert files and all((ROOT / file).exists() for file, _ in files)
        links = re.findall(r'\]\(\.\./modules/(\S+?)\.md\b', line)
        assert links or row == 'B5'
        assert all((ROOT / f'autodiff_mini/{link}.py').exists()
                   for link in links)


def test_a_definition_that_is_not_there_is_an_error(monkeypatch):
    monkeypatch.setitem(documents.ROWS, 'D1', ('something', 'core.nowhere'))
    with pytest.raises(AttributeError):
        documents.places('D1')


def test_b4_every_statement_of_the_draft_is_in_book_one_once(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert weave.check(Path()) == []


def test_b5_every_page_with_a_cell_is_run_by_the_build():
    """And nobody has typed an output: the sources hold none."""
    for page in weave.chapters(ROOT):
        cells = [block for block in weave.blocks(page) if block.runs]
        assert bool(cells) <= bool(render.is_live(page))
        assert '<div class="output">' not in page.read_text()
