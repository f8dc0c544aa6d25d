"""Draw the grid of Book One: all of it, and what each chapter adds.

One table says which chapter fills which square.  `grid.svg` has all squares
with their numbers.  `here_05.svg` shows where the reader is at the end of
chapter 5: its own squares are solid, earlier ones pale, and later ones
dotted.

    python -m book.tools.grid            draws the figures
    python -m book.tools.grid --check    lists those that are out of date
"""

import sys
from html import escape

from book.tools.places import ROOT, write

FIGURES = ROOT / 'book/assets/figures'
LAST = 18      # the chapter that adds a column
BLUE, ORANGE, GRAY = '#1d5fa8', '#b4540a', '#777'

COLUMNS = ('evaluate', 'jvp', 'vmap', 'record', 'partial eval', 'transpose',
           'compile')
ROWS = {
    'sin, add, sum, …': (1, 2, 3, 7, 9, 10, 13),
    'a function with a rule': (5, 5, 5, 8, 9, 11, 13),
    'a loop': (15,) * 7,
    'a branch': (16,) * 7,
    'a recomputed value': (17,) * 7,
}
# The chapter's own column.  The reader fills the rest of it.
OWN, OWN_ROWS = 'bounds', 3

# What a chapter changes in squares that are already there: the first row and
# column, and how many of each.
AGAIN = {
    6: [(1, 1, 1, 2)],
    12: [(1, 4, 1, 2)],
    14: [(0, 1, 2, 1), (0, 2, 2, 1), (0, 5, 2, 1)],
}
BROKEN = {4: (1, 2)}      # the row and column of a square that doesn't hold

# Sizes of a small grid, which is as wide as a telephone.
LEFT, TOP, WIDE, HIGH = 134, 62, 27, 25     # of a square, with its gap
GAP = 4


def here(chapter):
    """Return the small grid of a chapter as SVG."""
    columns = COLUMNS + (OWN,) * (chapter == LAST)
    width = LEFT + WIDE * len(columns) + 22
    height = TOP + HIGH * len(ROWS)
    parts = [head(width, height, told(chapter), 11.5)]
    for j, name in enumerate(columns):
        x, y = LEFT + WIDE * (j + 0.5) - GAP / 2, TOP - 6
        parts.append(text(x, y, name, size=11, anchor='start',
                          turn=f'rotate(-45 {x:g} {y:g})',
                          weight=600 if name == OWN else 400))
    for i, (name, chapters) in enumerate(ROWS.items()):
        y = TOP + HIGH * i
        parts.append(text(LEFT - 8, y + 14.5, name, anchor='end'))
        if chapter == LAST:
            chapters += (LAST if i < OWN_ROWS else None,)
        parts += [square(i, j, of, chapter) for j, of in enumerate(chapters)]
    parts += [outline(*area) for area in AGAIN.get(chapter, ())]
    return '\n'.join([*parts, '</svg>\n'])


def square(row, column, of, chapter):
    """Return a square, which chapter `of` fills, as `chapter` shows it."""
    x, y = LEFT + WIDE * column, TOP + HIGH * row
    w, h = WIDE - GAP, HIGH - GAP
    number = '' if of is None else of
    if of is None or of > chapter:
        look = f'fill="none" stroke="{GRAY}" stroke-dasharray="1.5 3"'
        ink = GRAY
    elif of == chapter:
        look, ink = f'fill="{BLUE}" stroke="{BLUE}"', '#fff'
    else:
        look = f'fill="{BLUE}" fill-opacity="0.13" stroke="{BLUE}"'
        ink = BLUE
    shown = text(x + w / 2, y + 14.7, number, fill=ink, size=11,
                 weight=600 if of == chapter else 400)
    if BROKEN.get(chapter) == (row, column):
        look = f'fill="none" stroke="{ORANGE}"'
        shown = (f'<path d="M{x + 6} {y + 5} l{w - 12} {h - 10} m0 {10 - h} '
                 f'l{12 - w} {h - 10}" stroke="{ORANGE}" stroke-width="1.8" '
                 f'stroke-linecap="round"/>')
    return (f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="3" {look} '
            f'stroke-width="1.3"/>{shown}')


def outline(row, column, rows, columns):
    """Return a frame around squares that a chapter changes."""
    x, y = LEFT + WIDE * column - GAP / 2, TOP + HIGH * row - GAP / 2
    return (f'<rect x="{x + 0.3:g}" y="{y + 0.3:g}" '
            f'width="{WIDE * columns - 0.6:g}" '
            f'height="{HIGH * rows - 0.6:g}" rx="5" fill="none" '
            f'stroke="{ORANGE}" stroke-width="2"/>')


def told(chapter):
    """Return what a small grid shows, in a sentence."""
    new = [f'{row}, {COLUMNS[j]}' for row, chapters in ROWS.items()
           for j, of in enumerate(chapters) if of == chapter]
    return f'Chapter {chapter} in the grid: {"; ".join(new) or "no square"}'


def whole():
    """Return the grid of all squares as SVG, with their numbers."""
    left, top, wide, high = 179, 77, 70, 34
    parts = [head(670, 250, 'The grid', 13.5),
             text(left + 242, 16, 'interpreters: ways to run a program',
                  fill=BLUE, weight=600),
             text(4, 64, 'operations', fill=ORANGE, weight=600,
                  anchor='start')]
    for j, name in enumerate(COLUMNS):
        for up, word in enumerate(reversed(name.split())):
            parts.append(text(left + wide * j + 32, 64 - 14 * up, word,
                              size=12.5))
    for i, (name, chapters) in enumerate(ROWS.items()):
        y = top + high * i
        parts.append(text(4, y + 18, name, anchor='start'))
        for j, of in enumerate(chapters):
            x = left + wide * j
            parts.append(
                f'<rect x="{x}" y="{y}" width="64" height="28" rx="3" '
                f'fill="{BLUE}" fill-opacity="0.08" stroke="{BLUE}" '
                f'stroke-width="1.4"/>' + text(x + 32, y + 18, of))
    return '\n'.join([*parts, '</svg>\n'])


def head(width, height, title, size):
    """Return the beginning of an SVG."""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {width} {height}" width="{width}" '
            f'font-family="system-ui, sans-serif" font-size="{size}">\n'
            f'<title>{escape(title)}</title>')


def text(x, y, words, *, fill='', size=0, weight=400, anchor='middle',
         turn=''):
    """Return a line of text."""
    given = {'text-anchor': anchor, 'fill': fill, 'font-size': size,
             'font-weight': weight if weight != 400 else '',
             'transform': turn}
    said = ''.join(f' {name}="{value}"' for name, value in given.items()
                   if value)
    return f'<text x="{x:g}" y="{y:g}"{said}>{escape(str(words))}</text>'


def figures():
    """Return {file: text} of all figures that this module draws."""
    drawn = {f'here_{chapter:02}.svg': here(chapter)
             for chapter in range(1, LAST + 1)}
    return {FIGURES / name: made
            for name, made in {'grid.svg': whole(), **drawn}.items()}


def main(arguments):
    """Draw the figures, or list those that are out of date."""
    old = [file for file, made in figures().items()
           if not file.exists() or file.read_text() != made]
    for file in old:
        print(file.relative_to(ROOT))
        if '--check' not in arguments:
            write(file, figures()[file].encode())
    return '--check' in arguments and bool(old)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
