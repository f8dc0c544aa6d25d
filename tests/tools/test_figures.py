"""The figures and plots of Book One: a telephone shows their words."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from book.tools import weave

SVG = '{http://www.w3.org/2000/svg}'
BOOK = Path('book')
PAGES = [BOOK / 'index.md', *weave.book_one(Path())]
SHOWN = {name for page in PAGES
         for name in re.findall(r'figures/(\w+\.svg)', page.read_text())}
WIDTH, COLUMN = 390, 350      # of a telephone, and less its margins


def sizes(element, size=16.0):
    """Yield the size of the letters of each text in an element."""
    size = float(element.get('font-size', size))
    if element.tag in (f'{SVG}text', f'{SVG}tspan'):
        yield size
    for part in element:
        yield from sizes(part, size)


@pytest.mark.parametrize('name', sorted(SHOWN))
def test_a_figure_can_be_read_on_a_telephone(name):
    drawn = ET.parse(BOOK / 'assets' / 'figures' / name).getroot()
    shrunk = min(1, COLUMN / float(drawn.get('viewBox').split()[2]))
    assert [size for size in sizes(drawn) if size * shrunk < 10] == []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_a_plot_can_be_read_on_a_telephone(page):
    """A plot is as wide as the page, and an inch has 72 of its units."""
    [size] = re.findall(r'(?m)^font\.size: (\d+)$',
                        (BOOK / 'tools' / 'matplotlibrc').read_text())
    widest = WIDTH * int(size) / (9 * 72)
    for inches in re.findall(r'figsize=\(([\d.]+)', page.read_text()):
        assert float(inches) <= widest
