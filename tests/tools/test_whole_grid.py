"""The whole grid: each rule of the library, and where in the book it is."""

import re
import subprocess
import sys

import markdown
import pytest

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import rules as abstract_rules
from autodiff_mini.interpreters.jvp import rules as jvp_rules
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.interpreters.vmap import rules as vmap_rules
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


LIBRARY = {
    '__init__': '',
    'kinds': '''
definitions = []


def elementwise(primitive):
    for define in definitions:
        define(primitive)
    return primitive
''',
    'interpreters/jvp': '''
rules = {}


def defjvp(primitive, *rules_of):
    rules[primitive] = lambda *args: rules_of
''',
    'interpreters/vmap': '''
from functools import partial
from autodiff_mini.kinds import definitions

rules: dict = {}


def apply(primitive, *args):
    return primitive


@definitions.append
def defelementwise(primitive):
    rules[primitive] = partial(apply, primitive)
''',
    'primitives/rows': '''
from autodiff_mini.kinds import elementwise
from autodiff_mini.interpreters import jvp, vmap

sin_p = elementwise('sin')
# Its tangent.
jvp.defjvp(sin_p,
           lambda x_dot: x_dot)
cos_p = elementwise('cos')
tan_p = elementwise('tan')
for p in (cos_p,
          tan_p):
    jvp.rules[p] = 'a rule'
jvp.rules['a primitive without a name'] = None
vmap.rules[tan_p] = 'another than its kind has'
'''}


@pytest.fixture
def root(tmp_path):
    """Returns a folder with a library in which a kind says what holds."""
    for name, text in LIBRARY.items():
        path = tmp_path / f'autodiff_mini/{name}.py'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_a_cell_links_to_what_says_its_rule(root):
    """And not to the line that only says of which kind a primitive is."""
    rows, vmap = [f'autodiff_mini/{name}.py' for name in (
        'primitives/rows', 'interpreters/vmap')]
    assert whole_grid.rules(root) == {
        ('sin', 'evaluate'): (rows, 'sin_p'),
        ('cos', 'evaluate'): (rows, 'cos_p'),
        ('tan', 'evaluate'): (rows, 'tan_p'),
        ('sin', 'jvp'): (rows, 'jvp.defjvp(sin_p'),
        ('cos', 'jvp'): (rows, 'for p in (cos_p,'),
        ('tan', 'jvp'): (rows, 'for p in (cos_p,'),
        ('sin', 'vmap'): (vmap, 'apply'),
        ('cos', 'vmap'): (vmap, 'apply'),
        ('tan', 'vmap'): (rows, 'vmap.rules[tan_p]')}


def test_a_library_that_does_not_run_is_an_error(root, capfd):
    (root / 'autodiff_mini/kinds.py').write_text('wrong = 1 / 0\n')
    with pytest.raises(subprocess.CalledProcessError):
        whole_grid.rules(root)
    assert 'ZeroDivisionError' in capfd.readouterr().err


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
    assert len(grid) == len(rows) * len(COLUMNS) > 400
    for kind, statement in grid.values():
        assert (statement is None) == (kind == 'never')
    folder = 'autodiff_mini/'
    assert grid['sin', 'jvp'][1] == (
        folder + 'primitives/elementwise.py', 'sin_p')
    assert grid['sin', 'vmap'][1][0] == folder + 'interpreters/vmap.py'
    assert grid['sin', 'partial_eval'][0] == 'default'
    assert grid['sin', 'transpose'] == ('never', None)
    assert grid['scan', 'transpose'] == ('rule', (
        folder + 'higher_order/loops.py', 'transpose.rules[scan_p]'))


def test_the_page_has_a_link_in_every_cell_that_has_a_rule():
    text = render.build(PAGE).markdown
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
