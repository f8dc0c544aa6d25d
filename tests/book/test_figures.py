"""The figures and plots of the book: their words can be read, and they fit.

A telephone shows them small, and a reader's font can be a wide one.
"""

import re
import xml.etree.ElementTree as ET
from functools import cache
from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib.ft2font import FT2Font

import autodiff_mini as ad
from autodiff_mini.wings.notebook.drawing import draw
from book.tools import weave

SVG = '{http://www.w3.org/2000/svg}'
BOOK = Path('book')
FIGURES = BOOK / 'assets' / 'figures'
PAGES = weave.chapters(Path())
SHOWN = sorted({name for page in PAGES
                for name in re.findall(r'figures/(\w+\.svg)',
                                       page.read_text())})
WIDTH, COLUMN = 390, 350      # of a telephone, and less its margins
SMALLEST = 10                 # pixels of a letter there


def texts(element, style=None):
    """Yield (text element, its style) of all texts in an element."""
    style = (style or {}) | element.attrib
    if element.tag == f'{SVG}text':
        yield element, style
    for part in element:
        yield from texts(part, style)


def spans(element, style):
    """Yield (words, their style) of the parts of a text."""
    yield element.text or '', style
    for part in element:
        yield part.text or '', style | part.attrib
        yield part.tail or '', style


def size_of(style):
    return float(style.get('font-size', 16))


@pytest.mark.parametrize('name', SHOWN)
def test_a_figure_can_be_read_on_a_telephone(name):
    drawn = ET.parse(FIGURES / name).getroot()
    shrunk = min(1, COLUMN / float(drawn.get('viewBox').split()[2]))
    assert [words for text in texts(drawn) for words, style in spans(*text)
            if words and size_of(style) * shrunk < SMALLEST] == []


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_a_plot_can_be_read_on_a_telephone(page):
    """A plot is as wide as the page, and an inch has 72 of its units."""
    settings = (BOOK / 'tools' / 'matplotlibrc').read_text()
    [size] = re.findall(r'(?m)^font\.size: (\d+)$', settings)
    [usual] = re.findall(r'(?m)^figure\.figsize: ([\d.]+)', settings)
    widest = WIDTH * int(size) / (SMALLEST * 72)
    for inches in [usual, *re.findall(r'figsize=\(([\d.]+)',
                                      page.read_text())]:
        assert float(inches) <= widest


def test_the_drawing_of_a_program_can_be_read_on_a_telephone():
    """It scrolls before its letters get too small."""
    drawn = draw(ad.make_jaxpr(lambda x, y: np.sin(x) * y)(1.0, 2.0))
    width, least = [float(re.search(rf'{name}[:=]\W*(\d+)', drawn)[1])
                    for name in (' width', 'min-width')]
    sizes = re.findall('font-size="(.*?)"', drawn)
    assert min(map(float, sizes)) * least / width >= SMALLEST


# The fit.  DejaVu Sans, which matplotlib has, is wider than most fonts.

@cache
def font(style):
    """Return the font of a style, at 100 pixels."""
    family, weight, slant = style
    name = ('DejaVuSansMono' if 'mono' in family
            else 'DejaVuSerif' if ' serif' in family else 'DejaVuSans')
    bold = weight in ('600', '700', 'bold')
    italic = slant == 'italic' and name != 'DejaVuSerif'
    name += '-' * (bold or italic) + 'Bold' * bold + 'Oblique' * italic
    found = FT2Font(f'{matplotlib.get_data_path()}/fonts/ttf/{name}.ttf')
    found.set_size(100, 72)
    return found


def width_of(words, style):
    """Return the width of words in DejaVu's font of a style."""
    letters = font(tuple(style.get(f'font-{name}', '') for name in (
        'family', 'weight', 'style')))
    return size_of(style) / 100 * sum(
        letters.load_char(ord(letter)).linearHoriAdvance / 2 ** 16
        for letter in words)


def corners(element, style):
    """Return the corners of the box around a text, clockwise."""
    width = float(element.get('textLength', 0)) or sum(
        width_of(words, part) for words, part in spans(element, style))
    x, y, size = float(style['x']), float(style['y']), size_of(style)
    x -= {'middle': width / 2, 'end': width}.get(style.get('text-anchor'), 0)
    top, bottom = y - 0.74 * size, y + 0.22 * size
    found = np.array([(x, top), (x + width, top),
                      (x + width, bottom), (x, bottom)])
    if turn := re.fullmatch(r'rotate\((.*)\)', style.get('transform', '')):
        angle, *middle = map(float, turn[1].split())
        sin, cos = np.sin(np.radians(angle)), np.cos(np.radians(angle))
        found = (found - middle) @ [[cos, sin], [-sin, cos]] + middle
    return found


def apart(one, other):
    """Return whether a side of two boxes separates them."""
    for box in one, other:
        for side in box[1] - box[0], box[2] - box[1]:
            here, there = one @ side, other @ side
            slack = np.linalg.norm(side) / 2     # they can touch
            if (here.max() <= there.min() + slack
                    or there.max() <= here.min() + slack):
                return True
    return False


def misfits(drawn):
    """Return the words of a figure that have no room, each with a reason."""
    boxes = [(''.join(text.itertext()), corners(text, style))
             for text, style in texts(drawn)]
    left, top, width, height = map(float, drawn.get('viewBox').split())
    found = [f'{one} is over {other}' for (one, here), (other, there)
             in combinations(boxes, 2) if not apart(here, there)]
    for words, box in boxes:
        (first, up), (last, down) = box.min(axis=0), box.max(axis=0)
        if not (left <= first and last <= left + width
                and top <= up and down <= top + height):
            found.append(f'{words} leaves the figure')
        if box[0, 1] != box[1, 1]:     # it is turned
            continue
        for frame in drawn.iter(f'{SVG}rect'):
            x, y, wide, high = (float(frame.get(name, 0)) for name in (
                'x', 'y', 'width', 'height'))
            if up < y + high and down > y and any(
                    first < side < last for side in (x, x + wide)):
                found.append(f'{words} crosses the side of a frame')
    return found


@pytest.mark.parametrize('name', SHOWN)
def test_words_in_a_wide_font_fit_into_a_figure(name):
    assert misfits(ET.parse(FIGURES / name).getroot()) == []


@pytest.mark.parametrize('planted, words', [
    ('<text x="52" y="50">name</text>', 'name crosses the side of a frame'),
    ('<text x="40" y="90" text-anchor="end">a long one</text>',
     'a long one leaves the figure'),
    ('<text x="30" y="46" transform="rotate(90 30 46)">a</text>',
     'in a frame is over a')])
def test_words_that_do_not_fit_are_found(planted, words):
    assert misfits(ET.fromstring(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" '
        'font-size="10"><rect x="2" y="36" width="60" height="20"/>'
        '<text x="4" y="50" font-size="8">in a frame</text>'
        f'{planted}</svg>')) == [words]
