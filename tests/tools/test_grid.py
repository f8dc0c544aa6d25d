"""The figures of the grid: drawn from one table, and up to date."""

import re
import xml.etree.ElementTree as ET

import pytest

from book.tools import grid, weave
from book.tools.places import ROOT

SVG = '{http://www.w3.org/2000/svg}'
CHAPTERS = range(1, grid.LAST + 1)


def test_committed_figures_equal_what_the_table_draws():
    for file, drawn in grid.figures().items():
        assert file.read_text() == drawn, 'run python -m book.tools.grid'


@pytest.mark.parametrize('chapter', CHAPTERS)
def test_a_chapter_has_its_own_squares_solid(chapter):
    drawn = ET.fromstring(grid.here(chapter))
    solid = [square for square in drawn.iter(f'{SVG}rect')
             if square.get('fill') == grid.BLUE
             and not square.get('fill-opacity')]
    own = sum(of == chapter for row in grid.ROWS.values() for of in row)
    assert len(solid) == own + grid.OWN_ROWS * (chapter == grid.LAST)


@pytest.mark.parametrize('chapter', CHAPTERS)
def test_a_chapter_without_new_squares_marks_others(chapter):
    new = any(chapter in row for row in grid.ROWS.values())
    marked = (chapter in grid.AGAIN or chapter in grid.BROKEN
              or chapter == grid.LAST)
    assert new != marked


@pytest.mark.parametrize('chapter', CHAPTERS)
def test_a_small_grid_can_be_read_on_a_telephone(chapter):
    drawn = ET.fromstring(grid.here(chapter))
    width = float(drawn.get('width'))
    shrunk = min(1, 350 / width)     # a telephone's 390 less its margins
    sizes = [float(text.get('font-size', drawn.get('font-size')))
             for text in drawn.iter(f'{SVG}text')]
    assert width <= 400 and min(sizes) * shrunk >= 10


def test_a_chapter_shows_its_own_grid():
    shown = {path: re.findall(r'figures/here_(\d\d)\.svg', path.read_text())
             for path in weave.chapters(ROOT)}
    for path, numbers in shown.items():
        assert numbers in ([], [path.stem[:2]])
