"""The whole grid: each rule of the library, and where in the book it is."""

import re
import sys

import markdown
import pytest

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import vmap_rules
from autodiff_mini.notebook.live import import_library
from book.tools import modules, places, render, weave, whole_grid
from book.tools.places import ROOT
from book.tools.whole_grid import COLUMNS

PAGE = ROOT / 'book/appendix/the_whole_grid.md'
TABLES = {'jvp': jvp_rules, 'vmap': vmap_rules, 'abstract': abstract_rules,
          'transpose': transpose_rules}


def library_primitives():
    """Returns those of the library; other tests have some of their own.

    The wing `more` is no part of the grid.
    """
    import_library()
    return {value for name, module in list(sys.modules.items())
            if name.startswith('autodiff_mini.')
            and not name.startswith('autodiff_mini.more.')
            for value in vars(module).values() if isinstance(value, Primitive)}


def rows_with_a_rule(column):
    return {row for (row, name), (kind, _) in whole_grid.cells().items()
            if name == column and kind == 'rule'}


@pytest.mark.parametrize('column', TABLES)
def test_the_grid_has_what_the_tables_of_the_library_have(column):
    names = {primitive.name
             for primitive in library_primitives() & TABLES[column].keys()}
    assert rows_with_a_rule(column) == names


def test_every_cell_has_its_kind_and_its_statement():
    grid = whole_grid.cells()
    rows = {row for row, _ in grid}
    assert len(grid) == len(rows) * len(COLUMNS) > 500
    for kind, statement in grid.values():
        assert (statement is None) == (kind == 'never')
    folder = 'autodiff_mini/'
    assert grid['sin', 'jvp'][1] == (
        folder + 'primitives/elementwise.py', 'sin_p')
    assert grid['sin', 'vmap'][1][0] == folder + 'interpreters/vmap.py'
    assert grid['sin', 'partial_eval'][0] == 'default'
    assert grid['sin', 'transpose'] == ('never', None)
    assert grid['scan', 'transpose'] == ('rule', (
        folder + 'higher_order/scan.py', 'transpose_rules[scan_p]'))


def test_the_page_has_a_link_in_every_cell_that_has_a_rule():
    text = render.render(PAGE)
    grid, book = whole_grid.cells(), weave.modules(ROOT)
    links = re.findall(r'\[[●○]\]\((\S+)#L(\d+) "(\w+), ([\w ]+)"\)', text)
    assert len(links) == sum(kind != 'never' for kind, _ in grid.values())
    for path, line, row, head in links:
        title, address = grid[row, head.replace(' ', '_')][1]
        assert path == modules.place(title).link(PAGE)
        assert int(line) == book[title][address].line


@pytest.mark.parametrize('page', weave.chapters(ROOT),
                         ids=lambda page: page.stem)
def test_anchors_are_those_of_the_site(page):
    """Listings are left out: they do not all look so in the sources."""
    text = re.sub(r'(?ms)^(`{3,}).*?^\1$', '', page.read_text())
    html = markdown.markdown(text, extensions=['toc', 'smarty', 'attr_list'])
    ids = re.findall(r'<h\d id="([^"]+)"', html)
    found = [place.anchor for place in places.sections(page).values()]
    assert found == [anchor for anchor in ids if anchor != 'jupyter']


def test_the_same_heading_twice_has_two_anchors(tmp_path):
    page = tmp_path / '07_page.md'
    page.write_text('# 7. `a` *b*\n\n```py\n# no heading\n```\n\n'
                    '## Same [link](there.md)\n\n## Same link\n\ntext\n')
    anchors = [place.anchor for place in places.sections(page).values()]
    assert anchors == ['7-a-b', 'same-link', 'same-link_1']
    found = places.above(11, places.sections(page))
    assert found.anchor == 'same-link_1' and found.label == '7'
    assert found.link(tmp_path / 'deep' / 'x.md') == (
        '../07_page.md#same-link_1')


def test_an_unknown_table_is_named():
    with pytest.raises(ValueError, match="no table 'tables'.*whole grid"):
        render.back_matter('tables', PAGE)
