"""Draws the whole grid: every primitive, and where each of its rules is.

`<!-- table: whole grid -->` becomes a table whose cells are links into the
book; `<!-- table: map -->` the same as a board of squares.
"""

from functools import cache

from book.tools import places, scoreboard, weave
from book.tools.benchmark_tables import markdown
from book.tools.scoreboard import COLUMNS

# What an interpreter does with a primitive that has no rule in its column:
# the statement that says so.
DEFAULTS = {
    'partial_eval': ('autodiff_mini/interpreters/partial_eval.py',
                     'PartialEvalTrace'),
    'lowering': scoreboard.LOWERING,
}
KINDS = {   # the style of a square, and its text
    'rule': ('new', 'a rule'), 'default': ('old', 'as all others'),
    'never': ('open', 'never asked')}
HEADS = {column: column.replace('_', ' ') for column in COLUMNS}


@cache
def cells():
    """Returns {(row, column): (kind, Place)} of the whole grid.

    The kinds are 'rule', for a rule of its own; 'default', if the interpreter
    has one answer for all primitives that have none; and 'never', if it is
    never asked.
    """
    where = places.woven()
    found = {cell: where[statement] for cell, statement
             in scoreboard.rules(places.ROOT).items()}
    rows = list(dict.fromkeys(row for row, _ in found))
    return {(row, column): kind_of(row, column, found, where)
            for row in rows for column in COLUMNS}


def kind_of(row, column, found, where):
    """Returns the kind of a cell, and its Place, or None."""
    if (row, column) in found:
        return 'rule', found[row, column]
    # What has no vmap is made by lowering, when the others have finished.
    if column in DEFAULTS and (row, 'vmap') in found:
        return 'default', where[DEFAULTS[column]]
    return 'never', None


def rows_of(grid):
    """Returns the rows, in the order in which the book has them."""
    first = {row: grid[row, 'evaluate'][1] for row, _ in grid}
    order = weave.chapters(places.ROOT)
    return sorted(first, key=lambda row: order.index(first[row].page))


def table(page):
    """Returns the grid as Markdown, with links as seen from `page`."""
    grid = cells()
    titles = ['', *HEADS.values()]
    titles[-1] += ' { tabindex="0" }'   # so that a narrow page scrolls it
    lines = [[f'`{row}`', *[cell(row, column, grid, page)
                            for column in COLUMNS]]
             for row in rows_of(grid)]
    return f'{markdown([titles, *lines], ":---:")}\n\n{caption(grid)}'


def cell(row, column, grid, page):
    """Returns the text of a cell: the chapter, as a link to the place."""
    kind, place = grid[row, column]
    if kind == 'never':
        return '–'
    text = place.label if kind == 'rule' else f'({place.label})'
    return f'[{text}]({place.link(page)} "{row}, {HEADS[column]}")'


def caption(grid):
    """Returns how many cells there are of each kind."""
    kinds = [kind for kind, _ in grid.values()]
    return (f'{len(grid)} cells: {kinds.count("rule")} have a rule of their '
            f'own, for {kinds.count("default")} the interpreter has one '
            f'answer for all, and {kinds.count("never")} are never asked '
            'for.')


def squares(page):
    """Returns the grid as the HTML of a board whose squares are links.

    The tab key passes by: the same links stand in the table of the appendix.
    """
    grid = cells()
    board = scoreboard.squares(rows_of(grid),
                               lambda *cell: square(*grid[cell], page))
    return scoreboard.figure('coverage', board, f'The map. {caption(grid)}')


def square(kind, place, page):
    """Returns the style, the text and the link of a square."""
    link = place and place.link(page).replace('.md#', '.html#')
    return *KINDS[kind], link
