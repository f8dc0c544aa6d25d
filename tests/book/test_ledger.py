"""ledger: Book Two's places where a rule can be lost, chapter by chapter."""

import re
from itertools import pairwise

import pytest

from book.tools import downloads, ledger, render
from book.tools.places import ROOT

CHAPTERS = sorted((ROOT / 'book/chapters').glob('*.md'))
TELL = {n: path for n, path in enumerate(CHAPTERS) if 20 <= n <= 33}
ROWS = [
    {'chapter': 20, 'place': 'a refusal', 'lost': "It's caught.",
     'seen': 'You read it.', 'kept': 'A `warning`.'},
    {'chapter': 21, 'place': 'a type', 'lost': '1 < 2', 'seen': 'Print.',
     'kept': 'One law.'},
    {'chapter': 22, 'place': 'a zero', 'lost': 'Early.', 'seen': 'A nan.',
     'kept': 'An object.'},
    {'chapter': 22, 'place': 'a closure', 'lost': 'Late.', 'seen': 'An error.',
     'kept': 'A tool.'}]


@pytest.fixture
def short(monkeypatch):
    """A ledger that ends with chapter 22."""
    monkeypatch.setattr(ledger, 'rows', lambda: ROWS)


def test_each_row_is_whole_and_the_rows_are_in_the_order_of_the_book():
    rows = ledger.rows()
    for row in rows:
        assert row.keys() == {'chapter', 'place', *ledger.COLUMNS}
        assert ledger.chapter(row) == TELL[row['chapter']].name
        for key in ledger.COLUMNS:
            assert row[key].endswith(('.', '.)')) and '|' not in row[key]
        assert not row['place'].endswith('.')
    assert all(a['chapter'] <= b['chapter'] for a, b in pairwise(rows))
    assert len({row['place'] for row in rows}) == len(rows)
    assert {row['chapter'] for row in rows} == TELL.keys()


@pytest.mark.parametrize('number', TELL)
def test_a_chapter_shows_the_ledger_once_before_its_exercises(number):
    text = TELL[number].read_text()
    assert re.findall('<!-- ledger.*', text) == ['<!-- ledger -->']
    before, after = text.split('\n<!-- ledger -->\n')
    assert before.rindex('\n## ') == before.index('\n## The ledger\n')
    assert '### Exercises' not in before and '\n## ' not in after


def shown(number):
    """Return the ledger of a chapter's page, in parts."""
    text = ledger.page(TELL[number])
    stations = re.findall('<li.*?</li>', text)
    unfolded, _, folded = text.partition('<details')
    return stations, *[re.findall('<tr.*?</tr>', part.partition('<tbody>')[2])
                       for part in (unfolded, folded)]


def test_a_chapter_shows_its_own_rows_and_where_the_others_are(monkeypatch,
                                                               short):
    assert shown(20) == ([], [
        '<tr class="own"><th scope="row">a refusal</th><td>It’s caught.</td>'
        '<td>You read it.</td><td>A <code>warning</code>.</td></tr>'], [])
    stations, unfolded, folded = shown(21)
    link = (f'<a href="{TELL[20].stem}.html" title="Chapter 20">'
            'a refusal</a>')
    assert stations == [f'<li>{link}</li>', '<li class="own">a type</li>']
    [own], [earlier] = unfolded, folded
    assert '1 &lt; 2' in own and 'class="own"' in own
    assert link in earlier and 'own' not in earlier


def test_a_page_without_a_row_shows_the_whole_ledger(short):
    stations, rows, folded = shown(23)
    assert (stations, folded) == ([], [])
    assert len(rows) == 4 and all('<a href' in row for row in rows)


def test_a_directive_becomes_the_ledger_of_its_page(short):
    match = render.DIRECTIVE.search('A.\n\n<!-- ledger -->\n')
    assert 'One law.' in render.directed(match, TELL[21])
    assert 'a zero' not in render.directed(match, TELL[21])


def test_a_notebook_has_the_ledger_as_a_table(short, tmp_path):
    # A chapter with cells has a notebook, which the table links to.
    for number in 20, 21:
        (tmp_path / TELL[number].name).write_text('```python\n1\n```\n')
    path = tmp_path / TELL[21].name
    path.write_text('# A\n\n<!-- ledger -->\n\n```python\n1\n```\n')
    [cell, _] = downloads.alone(render.read(path), path).cells
    assert cell.source == '\n'.join([
        '# A', '', "| place | how it's lost | how you'd notice | what keeps it |",
        '| --- | --- | --- | --- |',
        f"| [a refusal]({TELL[20].stem}.ipynb) | It's caught. | "
        'You read it. | A `warning`. |',
        '| **a type** | 1 < 2 | Print. | One law. |'])
