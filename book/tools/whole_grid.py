"""Draw the whole grid: every primitive, and where each of its rules is.

`<!-- table: whole grid -->` becomes a table whose cells link to the lines of
the modules that register the rules.
"""

from functools import cache

from book.tools import modules, weave
from book.tools.benchmark_tables import markdown
from book.tools.places import ROOT
from book.tools.registrations import BESIDE, registrations

COLUMNS = ('evaluate', 'jvp', 'vmap', 'abstract', 'partial_eval',
           'transpose', 'lowering')
OTHER_TABLES = {'inline': 'lowering'}   # whose rules are of a column, too
HEADS = {column: column.replace('_', ' ') for column in COLUMNS}
# What registers a rule that holds for a whole kind of primitives.
OF_KIND = {'defelementwise', 'defabstract'}
MARKS = {'rule': '●', 'default': '○', 'never': '–'}

# What an interpreter does with a primitive that has no rule in its column:
# the statement that says so.
DEFAULTS = {
    'partial_eval': ('autodiff_mini/interpreters/partial_eval.py',
                     'PartialEvalTrace'),
    'lowering': ('autodiff_mini/interpreters/lowering.py', 'Emitter'),
}


@cache
def cells():
    """Return {(row, column): (kind, (title, address))} of the whole grid.

    The kinds are 'rule', for a rule of its own; 'default', if the interpreter
    has one answer for all primitives that have none; and 'never', if it is
    never asked.
    """
    found = rules(ROOT)
    rows = sorted((row for row, column in found if column == 'evaluate'),
                  key=lambda row: '/primitives/' not in found[
                      row, 'evaluate'][0])
    return {(row, column): kind_of(row, column, found)
            for row in rows for column in COLUMNS}


def rules(root):
    """Return the statement that fills each cell: {cell: (title, address)}.

    It is the one that was run last when the rule was registered, unless that
    only says that its primitive is of a kind: then it is what says the rule
    for the whole kind.
    """
    found = {(address.removesuffix('_p'), 'evaluate'): (title, address)
             for title, module in weave.modules(root).items()
             if not title.startswith(BESIDE)
             for address in module
             if address.endswith('_p') and address.isidentifier()}
    for row, table, at_work in registrations(root):
        column = OTHER_TABLES.get(table, table)
        if column in COLUMNS and at_work:
            is_kind = (at_work[-1][1] == f'{row}_p'
                       and at_work[0][1] in OF_KIND)
            found[row, column] = at_work[0 if is_kind else -1]
    return found


def kind_of(row, column, found):
    """Return the kind of a cell, and its statement, or None."""
    if (row, column) in found:
        return 'rule', found[row, column]
    # What has no vmap is made by lowering, when the others have finished.
    if column in DEFAULTS and (row, 'vmap') in found:
        return 'default', DEFAULTS[column]
    return 'never', None


def table(page):
    """Return the grid as Markdown, with links as seen from `page`."""
    grid, book = cells(), weave.modules(ROOT)
    titles = ['', *HEADS.values()]
    titles[-1] += ' { tabindex="0" }'   # so that a narrow page scrolls it
    rows = dict.fromkeys(row for row, _ in grid)
    lines = [[f'`{row}`', *[cell(row, column, grid, page, book)
                            for column in COLUMNS]] for row in rows]
    return f'{markdown([titles, *lines], ":---:")}\n\n{caption(grid)}'


def cell(row, column, grid, page, book):
    """Return the mark of a cell, as a link to the line."""
    kind, statement = grid[row, column]
    if kind == 'never':
        return MARKS[kind]
    title, address = statement
    link = modules.place(title, book[title][address].line).link(page)
    return f'[{MARKS[kind]}]({link} "{row}, {HEADS[column]}")'


def caption(grid):
    """Return how many cells there are of each kind."""
    kinds = [kind for kind, _ in grid.values()]
    return (f'Of {len(grid)} cells, {kinds.count("rule")} have a rule of '
            f'their own (●). For {kinds.count("default")} the interpreter '
            f'has one answer for all primitives (○), and it is never asked '
            f'for the other {kinds.count("never")} (–).')
