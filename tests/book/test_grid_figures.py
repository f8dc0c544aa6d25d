"""The grid: its figures and its table come from one table in grid.py."""

import re
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest

from book.tools import grid, places, weave

SVG = '{http://www.w3.org/2000/svg}'
CHAPTERS = range(1, grid.LAST + 1)
SQUARES = [square for row in grid.ROWS.values() for square in row]
each = pytest.mark.parametrize('square', SQUARES, ids=[
    f'{row}, {column}' for row in grid.ROWS for column in grid.COLUMNS])


def test_committed_files_equal_what_the_table_draws():
    for file, made in (grid.figures() | grid.pages()).items():
        assert file.read_text() == made, 'run python -m book.tools.grid'


@pytest.mark.parametrize('chapter', CHAPTERS)
def test_a_chapter_has_its_own_squares_solid(chapter):
    drawn = ET.fromstring(grid.here(chapter))
    solid = [square for square in drawn.iter(f'{SVG}rect')
             if square.get('fill') == grid.BLUE
             and not square.get('fill-opacity')]
    own = sum(square.chapter == chapter for square in SQUARES)
    assert len(solid) == own + grid.OWN_ROWS * (chapter == grid.LAST)


@pytest.mark.parametrize('chapter', CHAPTERS)
def test_a_chapter_without_new_squares_marks_others(chapter):
    new = any(square.chapter == chapter for square in SQUARES)
    marked = (chapter in grid.AGAIN or chapter in grid.BROKEN
              or chapter == grid.LAST)
    assert new != marked


def test_a_chapter_shows_its_own_grid():
    shown = {path: re.findall(r'figures/here_(\d\d)\.svg', path.read_text())
             for path in weave.chapters(Path())}
    for path, numbers in shown.items():
        assert numbers in ([], [path.stem[:2]])


def squeezed(code):
    return re.sub(r'\s', '', code)


@each
def test_the_code_of_a_square_is_in_its_statement(square):
    module = weave.modules(Path())[f'{weave.DRAFT}{square.module}.py']
    found = squeezed(module[square.statement].text)
    parts = map(re.escape, squeezed(square.code).split('…'))
    assert re.search('.*?'.join(parts), found)


told = cache(places.told)


@each
def test_a_square_leads_to_a_section_of_its_chapter_or_an_earlier_one(square):
    """Some chapters use rules that an earlier one has written."""
    place = grid.place_of(square, told())
    assert place.anchor in {at.anchor
                            for at in places.sections(place.page).values()}
    assert int(place.label) <= square.chapter
