"""What the documents ask for: every row has code and tests."""

import re
from pathlib import Path

import pytest

from book.tools import reference, render, weave
from book.tools.places import ROOT
from tests.support.wings import needs

pytestmark = needs('applications')
PAGE = ROOT / 'book/appendix/what_the_documents_ask.md'
COUNTS = {'D': 18, 'P': 6, 'R': 5, 'B': 5}
ROW = re.compile(r'^\| ([DPRB]\d+) \| .+ \| (.*) \| (.*) \|$', re.MULTILINE)
ROWS = {row: (names, files)
        for row, names, files in ROW.findall(PAGE.read_text())}
MARKED = re.compile(r'^(?:    )?@pytest\.mark\.asks\((.*)\)$', re.MULTILINE)


def test_all_rows_are_there_in_order():
    assert list(ROWS) == [f'{letter}{i}' for letter, count in COUNTS.items()
                          for i in range(1, count + 1)]


def test_each_row_lists_the_files_with_its_tests():
    found = {row: [] for row in ROWS}     # and no test marks another row
    for path in sorted((ROOT / 'tests').rglob('test_*.py')):
        marks = ' '.join(MARKED.findall(path.read_text()))
        for row in {*re.findall(r"'(\w+)'", marks)}:
            found[row].append(path.relative_to(ROOT).as_posix())
    assert {row: re.findall('`(.*?)`', files)
            for row, (_, files) in ROWS.items()} == found
    assert all(found.values())


def test_each_row_links_to_its_definitions():
    text = reference.linked(PAGE.read_text(), PAGE.relative_to(ROOT))
    for row, names, _ in ROW.findall(text):
        links = re.findall(r'`\]\(\.\./modules/(\S+?)\.md\b', names)
        assert len(links) == ROWS[row][0].count('][]')
        assert links or row == 'B5'
        assert all((ROOT / f'autodiff_mini/{link}.py').exists()
                   for link in links)


def test_each_row_says_where_it_is_read():
    rows = re.findall(r'^\| ([DPRB]\d+) \| [^|]+ \| ([^|]+) \|',
                      PAGE.read_text(), re.MULTILINE)
    assert [row for row, _ in rows] == list(ROWS)
    for row, places in rows:
        links = re.findall(r'\]\((\S+?)\)', places)
        assert links, row
        for link in links:
            page, _, heading = link.partition('#')
            assert heading or (PAGE.parent / page).exists(), row


def test_a_missing_definition_is_an_error():
    with pytest.raises(AttributeError):
        reference.linked('[`core.trace.nowhere`][]', PAGE)


@pytest.mark.asks('B4')
def test_every_statement_of_the_draft_is_in_book_one_once(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert weave.check(Path()) == []


@pytest.mark.asks('B5')
def test_every_page_with_a_cell_is_run_by_the_build():
    """The sources hold no outputs, so no output was typed by hand."""
    for page in weave.chapters(ROOT):
        cells = [block for block in weave.blocks(page) if block.runs]
        assert len(cells) == len(render.code_cells(render.read(page)))
        assert '<div class="output">' not in page.read_text()
