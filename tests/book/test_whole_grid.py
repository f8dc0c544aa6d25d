"""whole_grid: each primitive has its rules, and links to their code."""

import re

import pytest

from autodiff_mini.interpreters import abstract, jvp, transpose, vmap
from book.tools import modules, render, weave, whole_grid
from book.tools.places import ROOT

HERE = 'autodiff_mini/'


@pytest.mark.parametrize('column, table', [
    ('jvp', jvp.rules), ('vmap', vmap.rules), ('abstract', abstract.rules),
    ('transpose', transpose.rules)])
def test_the_grid_agrees_with_the_tables(column, table):
    found = {row for (row, name), (kind, _) in whole_grid.cells().items()
             if name == column and kind == 'rule'}
    rows = {row for row, _ in whole_grid.cells()}
    # Errors call the row `loop` a scan.
    assert found - {'loop'} == {primitive.name for primitive in table} & rows
    assert len(rows) > 60


@pytest.mark.parametrize('row, column, found', [
    ('sin', 'evaluate', ('rule', (HERE + 'primitives/elementwise.py', 'sin_p'))),
    ('sin', 'jvp', ('rule', (HERE + 'primitives/elementwise.py', 'sin_p'))),
    ('sin', 'vmap', ('rule', (HERE + 'interpreters/vmap.py',
                              'defelementwise'))),
    ('sin', 'partial eval', ('default', (
        HERE + 'interpreters/partial_eval.py', 'PartialEvalTrace'))),
    ('sin', 'transpose', ('never', None)),
    ('index', 'transpose', ('rule', (HERE + 'primitives/indexing.py',
                                     'index_transpose')))])
def test_a_cell_leads_to_the_code_of_its_rule(row, column, found):
    assert whole_grid.cells()[row, column] == found


def test_the_page_links_every_cell_that_has_a_rule():
    text = render.build(whole_grid.PAGE).markdown
    grid, book = whole_grid.cells(), weave.modules(ROOT)
    links = re.findall(r'\[[●○]\]\((\S+)#L(\d+) "(\w+), ([\w ]+)"\)', text)
    assert len(links) == sum(kind != 'never' for kind, _ in grid.values())
    for path, line, row, head in links:
        title, address = grid[row, head][1]
        assert path == modules.place(title).link(whole_grid.PAGE)
        assert int(line) == book[title][address].line
