"""Draw the whole grid: every primitive, and where each of its rules is.

`<!-- table: whole grid -->` becomes a table whose cells link to the lines of
the modules that define the rules.  A rule's code object tells its line, which
is in the row if the rule is made from functions there.
"""

import inspect
from functools import cache, partial
from importlib import import_module

from autodiff_mini.core.trace import Primitive
from book.tools import modules, weave
from book.tools.benchmark_tables import markdown
from book.tools.places import ROOT

COLUMNS = ('evaluate', 'jvp', 'vmap', 'abstract', 'partial eval',
           'transpose', 'lowering')
PAGE = ROOT / 'book/appendix/the_whole_grid.md'
# These make rules from a row's functions, so the link goes to the row.
MAKERS = {'defjvp', 'deflinear', 'deftranspose', 'defwritten'}
MARKS = {'rule': '●', 'default': '○', 'never': '–'}
# Folders outside the grid: a wing, and the draft, which has its own grid.
BESIDE = f'{weave.PACKAGE}/wings/', weave.DRAFT

# The statement that handles a primitive without a rule in the interpreter's
# column.
DEFAULTS = {
    'partial eval': ('autodiff_mini/interpreters/partial_eval.py',
                     'PartialEvalTrace'),
    'lowering': ('autodiff_mini/interpreters/lowering.py', 'Emitter'),
}


@cache
def cells():
    """Return {(row, column): (kind, (title, address))} of the whole grid.

    The kinds are 'rule', for a rule of its own; 'default', if the interpreter
    handles all primitives without a rule in the same way; and 'never', if it
    never meets the primitive.
    """
    book = {title: module for title, module in weave.modules(ROOT).items()
            if not title.startswith(BESIDE)}
    rows, grid = {}, {}
    for title, module in book.items():
        names = vars(import_module(weave.dotted(title)))
        rows |= {names[name]: (title, name) for name in module
                 if isinstance(names.get(name), Primitive)}
    for primitive, row in sorted(rows.items(), key=lambda item: (
            '/primitives/' not in item[1][0])):
        name = row[1].removesuffix('_p')
        grid[name, 'evaluate'] = 'rule', row
        for column in COLUMNS[1:]:
            rule = table_of(column).get(primitive)
            # Only lowering makes a primitive that has no vmap rule.
            default = column in DEFAULTS and primitive in table_of('vmap')
            grid[name, column] = (
                ('rule', statement_of(rule, book) or row) if rule
                else ('default', DEFAULTS[column]) if default
                else ('never', None))
    return grid


def table_of(column):
    """Return the rules of a column, by primitive."""
    module = import_module(
        f'{weave.PACKAGE}.interpreters.{column.replace(" ", "_")}')
    return {**getattr(module, 'inline_rules', {}), **module.rules}


def statement_of(rule, book):
    """Return (title, address) of the statement with the code of a rule.

    If a function such as `defpartial` makes it from others, use theirs.
    Return None if only a maker has code.
    """
    found = []
    for code in codes(rule):
        title = code.co_filename.removeprefix(f'{ROOT}/')
        found += [(title, part.address) for part in book.get(title, {}).values()
                  if part.line <= code.co_firstlineno <= part.end
                  and part.address not in MAKERS]
    return min(found, key=lambda place: place[1].startswith('def'),
               default=None)


def codes(x):
    """Yield the code of a rule, and of the functions it is made from."""
    x = inspect.unwrap(x)
    parts = x if isinstance(x, tuple) else ()
    if isinstance(x, partial):
        parts = x.func, *x.args
    elif inspect.isfunction(x):
        yield x.__code__
        parts = [cell.cell_contents for cell in x.__closure__ or ()]
    for part in parts:
        yield from codes(part)


def table():
    """Return the grid as Markdown, with links as seen from PAGE."""
    grid, book = cells(), weave.modules(ROOT)
    heads = ['', *COLUMNS]
    heads[-1] += ' { tabindex="0" }'   # lets keys scroll the table
    rows = dict.fromkeys(row for row, _ in grid)
    lines = [[f'`{row}`', *[cell(row, column, grid, book)
                            for column in COLUMNS]] for row in rows]
    return f'{markdown([heads, *lines], ":---:")}\n\n{caption(grid)}'


def cell(row, column, grid, book):
    """Return the mark of a cell, as a link to the line."""
    kind, statement = grid[row, column]
    if kind == 'never':
        return MARKS[kind]
    title, address = statement
    link = modules.place(title, book[title][address].line).link(PAGE)
    return f'[{MARKS[kind]}]({link} "{row}, {column}")'


def caption(grid):
    """Return a sentence that counts the cells of each kind."""
    kinds = [kind for kind, _ in grid.values()]
    return (f'The grid has {len(grid)} cells, and {kinds.count("rule")} of '
            f'them have their own rule (●). In {kinds.count("default")} '
            f'cells, the interpreter has one answer for all primitives (○). '
            f'The other {kinds.count("never")} are never needed (–).')
