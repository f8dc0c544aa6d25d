"""Draw the whole grid: every primitive, and where each of its rules is.

`<!-- table: whole grid -->` becomes a table whose cells link to the lines of
the modules that register the rules.  The library is imported once more for
that, in a process of its own: after each line of a module the tables of rules
are compared with what they were.  So it does not matter how a rule is
registered.

    python -m book.tools.whole_grid .    prints the rules and lines, as JSON
"""

import inspect
import json
import subprocess
import sys
from functools import cache, partial
from importlib import import_module
from pathlib import Path

from book.tools import modules, weave
from book.tools.benchmark_tables import markdown
from book.tools.places import ROOT

COLUMNS = ('evaluate', 'jvp', 'vmap', 'abstract', 'partial_eval',
           'transpose', 'lowering')
# These make a rule of what the row says, so the row is the place to look.
MAKERS = {'defjvp', 'deflinear', 'deftranspose', 'defwritten'}
MARKS = {'rule': '●', 'default': '○', 'never': '–'}
# What is no part of the grid: a wing, and the draft, which has its own.
BESIDE = f'{weave.PACKAGE}/more/', weave.DRAFT

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
    grid = dict.fromkeys(
        ((row, column) for row in rows for column in COLUMNS),
        ('never', None))
    # What has no vmap is made by lowering, when the others have finished.
    grid |= {(row, column): ('default', DEFAULTS[column])
             for row in rows if (row, 'vmap') in found for column in DEFAULTS}
    return grid | {cell: ('rule', found[cell]) for cell in grid
                   if cell in found}


def rules(root):
    """Return the statement that registers each rule: {cell: (title, address)}.

    If that only says of which kind its primitive is, it is the statement
    that has the code of the rule.
    """
    book = titles(root)
    found = {(address.removesuffix('_p'), 'evaluate'): (title, address)
             for title, module in book.items() for address in module
             if address.endswith('_p') and address.isidentifier()}
    notes = json.loads(subprocess.run(
        [sys.executable, '-m', 'book.tools.whole_grid', root.resolve()],
        cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    for row, column, *lines in notes:
        registering, coding = [
            next(((title, found.address) for found in book[title].values()
                  if found.line <= line <= found.end), None)
            for title, line in lines]
        is_kind = (registering[1] == f'{row}_p' and coding
                   and coding[1] not in MAKERS)
        found[row, column] = coding if is_kind else registering
    return found


def titles(root):
    """Return the modules of the grid, as `weave.modules` has them."""
    return {title: module for title, module in weave.modules(root).items()
            if not title.startswith(BESIDE)}


def table(page):
    """Return the grid as Markdown, with links as seen from `page`."""
    grid, book = cells(), weave.modules(ROOT)
    heads = ['', *map(head, COLUMNS)]
    heads[-1] += ' { tabindex="0" }'   # so that a narrow page scrolls it
    rows = dict.fromkeys(row for row, _ in grid)
    lines = [[f'`{row}`', *[cell(row, column, grid, page, book)
                            for column in COLUMNS]] for row in rows]
    return f'{markdown([heads, *lines], ":---:")}\n\n{caption(grid)}'


def cell(row, column, grid, page, book):
    """Return the mark of a cell, as a link to the line."""
    kind, statement = grid[row, column]
    if kind == 'never':
        return MARKS[kind]
    title, address = statement
    link = modules.place(title, book[title][address].line).link(page)
    return f'[{MARKS[kind]}]({link} "{row}, {head(column)}")'


def head(column):
    """Return the words above a column."""
    return column.replace('_', ' ')


def caption(grid):
    """Return how many cells there are of each kind."""
    kinds = [kind for kind, _ in grid.values()]
    return (f'Of {len(grid)} cells, {kinds.count("rule")} have a rule of '
            f'their own (●). For {kinds.count("default")} the interpreter '
            f'has one answer for all primitives (○), and it is never asked '
            f'for the other {kinds.count("never")} (–).')


# What follows happens in the other process.

def register(root):
    """Import the library; yield (row, column, line, line) of each rule.

    A line is that of the statement that a module was at, or of the code of
    the rule.
    """
    known, place = {}, None     # {(column, primitive): (rule, place)}

    def look(frame, event, _):
        nonlocal place
        code = frame.f_code
        if code.co_name != '<module>' or (
                not code.co_filename.startswith(f'{root}/')):
            return None
        for column in COLUMNS:
            for primitive, rule in table_of(column).items():
                if known.get((column, primitive), [None])[0] is not rule:
                    known[column, primitive] = rule, place
        place = code.co_filename, frame.f_lineno
        return look

    sys.path.insert(0, root)
    names = map(weave.dotted, titles(Path(root)))
    sys.settrace(look)
    found = [*map(import_module, names)]
    sys.settrace(None)
    rows = {id(value): name.removesuffix('_p') for module in found
            for name, value in vars(module).items() if name.endswith('_p')}
    for (column, primitive), (rule, place) in known.items():
        if id(primitive) in rows:
            yield rows[id(primitive)], column, *[
                (Path(path).relative_to(root).as_posix(), line)
                for path, line in (place, code_of(rule) or place)]


def table_of(column):
    """Return the rules of a column as far as its module has run."""
    module = sys.modules.get(f'{weave.PACKAGE}.interpreters.{column}')
    return {**getattr(module, 'inline_rules', {}),
            **getattr(module, 'rules', {})}


def code_of(rule):
    """Return the file and the first line of the code of a rule, if any."""
    while isinstance(rule, partial):
        rule = rule.func
    code = getattr(inspect.unwrap(rule), '__code__', None)
    return code and (code.co_filename, code.co_firstlineno)


if __name__ == '__main__':
    print(json.dumps([*register(sys.argv[1])]))
