"""Draw the grid of Book One: all of it, and what each chapter adds.

One table says which chapter fills which square, and with which code.
`grid.svg` has all squares with their numbers.  `here_05.svg` shows where the
reader is at the end of chapter 5: its own squares are solid, earlier ones
pale, and later ones dotted.  A page with `<div class="grid" markdown="1">`
gets a table there with the code of each square, which links to the section
that shows it.

    python -m book.tools.grid            draws the figures and the table
    python -m book.tools.grid --check    lists the files that are out of date
"""

import re
import sys
from html import escape
from pathlib import Path
from typing import NamedTuple

from book.tools import places, weave
from book.tools.places import write

FIGURES = Path('book/assets/figures')
TABLE = re.compile('(?s)(?<=<div class="grid" markdown="1">).*?(?=</div>)')
LAST = 18      # the chapter that adds a column
BLUE, ORANGE, GRAY = '#1d5fa8', '#b4540a', '#777'


class Square(NamedTuple):
    """The chapter that fills a square, and where its code is."""
    chapter: int
    module: str
    statement: str
    code: str      # can be broken at a newline; … leaves something out


COLUMNS = ('evaluate', 'jvp', 'vmap', 'record', 'partial eval', 'transpose',
           'compile')
ROWS = {
    'sin, add, sum, …': [
        Square(1, 'core', 'EvalTrace', 'primitive\n.impl(…)'),
        Square(2, 'jvp', 'defjvp(sin_p', 'x_dot * \nnp.cos(x)'),
        Square(3, 'vmap', 'aligned', 'lengthen(\nx, rank)'),
        Square(7, 'jaxpr', 'JaxprTrace', 'self.eqns\n.append(…)'),
        Square(9, 'partial_eval', 'PartialEvalTrace', 'primitive\n.bind(…)'),
        Square(10, 'transpose', 'deftranspose(mul_p', 'ct * y'),
        Square(13, 'jit', 'compiled', 'exec(…)')],
    'a function with a rule': [
        Square(5, 'calls', 'call_fun', 'fun(*xs)'),
        Square(5, 'calls', 'jvp_rules[custom_jvp_call_p]',
               'rule(\nxs, x_dots)'),
        Square(5, 'calls', 'call_vmap', 'vmap_with(\naxis, f)'),
        Square(8, 'jaxpr', 'stage_call', 'stage(…, \nargs)'),
        Square(9, 'partial_eval', 'PartialEvalTrace', 'super()\n.process…'),
        Square(11, 'custom_vjp', 'custom_lin_transpose', 'bwd(…, \ncts)'),
        Square(13, 'source', 'name_in_scope', 'lines_of(\nx, …)')],
    'a loop': [
        Square(15, 'loops', 'run_scan', 'for i \nin steps'),
        Square(15, 'loops', 'jvp_rules[scan_p]', 'cut_jvp'),
        Square(15, 'loops', 'scan_vmap', 'vmap_jaxpr(\nfun, …)'),
        Square(15, 'loops', 'scan_types', 'rows_type(\ny, length)'),
        Square(15, 'loops', 'jvp_rules[scan_p]', 'scan_p, \nscan_p'),
        Square(15, 'loops', 'scan_transpose', 'not reverse'),
        Square(15, 'loops', 'run_scan', 'run(\nfun, …)')],
    'a branch': [
        Square(16, 'branches', 'run_cond', 'if which \nelse'),
        Square(16, 'programs', 'recomputing_jvp', 'tangent_jaxpr'),
        Square(16, 'branches', 'cond_vmap', 'scan_p\n.bind(…)'),
        Square(16, 'branches', 'cond', 'true_fun(…), \nfalse_fun(…)'),
        Square(16, 'programs', 'recomputing_jvp', 'primitive\n.bind(…)'),
        Square(16, 'programs', 'recomputing_transpose', 'transpose_jaxpr'),
        Square(16, 'branches', 'run_cond', 'run(\nbranch, …)')],
    'a recomputed value': [
        Square(17, 'checkpoint', 'checkpoint_p', 'run(\nfun, *xs)'),
        Square(17, 'programs', 'recomputing_jvp', 'tangent_jaxpr'),
        Square(17, 'checkpoint', 'vmap_rules[checkpoint_p]',
               'program_vmap'),
        Square(17, 'checkpoint', 'checkpoint', 'stage(\nf, args)'),
        Square(17, 'programs', 'recomputing_jvp', 'primitive\n.bind(…)'),
        Square(17, 'programs', 'recomputing_transpose', 'transpose_jaxpr'),
        Square(17, 'checkpoint', 'checkpoint_p', 'run(…)')],
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
    rows = {name: numbers(name) for name in ROWS}
    if chapter == LAST:
        for i, row in enumerate(rows.values()):
            row.append(LAST if i < OWN_ROWS else None)
    parts = [head(len(columns), f'Chapter {chapter} in the grid'),
             *names(columns)]
    for i, row in enumerate(rows.values()):
        parts += [square(i, j, of, chapter) for j, of in enumerate(row)]
    parts += [outline(*area) for area in AGAIN.get(chapter, ())]
    return '\n'.join([*parts, '</svg>\n'])


def whole():
    """Return the grid of all squares as SVG, with their numbers."""
    up = 10
    parts = [head(len(COLUMNS), 'The grid', up), *names(COLUMNS),
             text(LEFT, 2, 'interpreters', fill=BLUE, weight=600,
                  anchor='start'),
             text(LEFT - 8, TOP - 6, 'operations', fill=ORANGE, weight=600,
                  anchor='end')]
    for i, name in enumerate(ROWS):
        parts += [square(i, j, of, LAST)
                  for j, of in enumerate(numbers(name))]
    return '\n'.join([*parts, '</svg>\n'])


def numbers(name):
    """Return the chapters that fill the squares of a row."""
    return [square.chapter for square in ROWS[name]]


def names(columns):
    """Return the names of the columns, at an angle, and of the rows."""
    for j, name in enumerate(columns):
        x, y = LEFT + WIDE * (j + 0.5) - GAP / 2, TOP - 6
        yield text(x, y, name, size=11, anchor='start',
                   turn=f'rotate(-45 {x:g} {y:g})',
                   weight=600 if name == OWN else 400)
    for i, name in enumerate(ROWS):
        yield text(LEFT - 8, TOP + HIGH * i + 14.5, name, anchor='end')


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


def head(columns, title, up=0):
    """Return the beginning of an SVG, with `up` units above the grid."""
    width, height = LEFT + WIDE * columns + 22, TOP + HIGH * len(ROWS) + up
    return (f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 {-up} {width} {height}" width="{width}" '
            f'font-family="system-ui, sans-serif" font-size="11.5">\n'
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


# The table.

def table(page):
    """Return the grid as Markdown, with links as seen from a page."""
    shown = places.told()
    lines = [['', *COLUMNS], ['---'] * (1 + len(COLUMNS))]
    for name, row in ROWS.items():
        lines.append([name, *[
            cell(square, shown, page) for square in row]])
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)


def cell(square, shown, page):
    """Return the code of a square, as a link to the section that shows it."""
    place = place_of(square, shown)
    code = f'`{square.code}`'.replace(' \n', '` `').replace('\n', '`<wbr>`')
    return f'[{code}]({place.link(page)} "Chapter {place.label}")'


def place_of(square, shown):
    """Return the first Place that shows the code of a square."""
    title = f'{weave.DRAFT}{square.module}.py'
    return shown[title][square.statement][0]


def pages():
    """Return {file: text} of the pages with the table, brought up to date."""
    return {path: TABLE.sub(lambda _: f'\n\n{table(path)}\n\n', text)
            for path in weave.chapters(Path())
            if TABLE.search(text := path.read_text())}


def figures():
    """Return {file: text} of all figures that this module draws."""
    drawn = {f'here_{chapter:02}.svg': here(chapter)
             for chapter in range(1, LAST + 1)}
    return {FIGURES / name: made
            for name, made in {'grid.svg': whole(), **drawn}.items()}


def main(arguments):
    """Draw the figures and the table, or list what is out of date."""
    made = figures() | pages()
    old = [file for file, text in made.items()
           if not file.exists() or file.read_text() != text]
    for file in old:
        print(file)
        if '--check' not in arguments:
            write(file, made[file].encode())
    return '--check' in arguments and bool(old)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
