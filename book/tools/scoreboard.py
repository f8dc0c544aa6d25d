"""Draws the book's two scoreboards, from what the chapters weave.

A line `<!-- scoreboard: grid -->` in a chapter becomes the grid of
primitives and interpreters as far as the reader has come, and `<!--
scoreboard: survives -->` shows through which transformations the rule of
`expit` survives.
"""

import ast
import math
import re
from pathlib import Path

import numpy as np

import autodiff_mini as ad
from book.tools import weave

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ('evaluate', 'jvp', 'vmap', 'abstract', 'partial_eval',
           'transpose', 'lowering')
MOST_ROWS = 16   # of one table; they stand side by side

# The transformations through which a rule has to survive, and the chapter
# that brings each of them.
SURVIVES = {'vmap': 6, 'jaxpr': 8, 'grad': 10, 'jit': 13, 'cond': 15,
            'scan': 15, 'checkpoint': 16}


XS, SLOPES = np.array([-800.0, 0.0]), [0, 0.25]


def ruled_expit():
    """Returns expit with its rule, without which its slope at -800 is nan."""
    expit = ad.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))

    @expit.defjvp
    def expit_jvp(primals, tangents):
        y = expit(*primals)
        return y, y * (1 - y) * tangents[0]
    return expit


def survives_vmap():
    """Fails unless the rule of expit is used after vmap, as before it."""
    _, slopes = ad.jvp(ad.vmap(ruled_expit()), (XS,), (np.ones(2),))
    assert slopes.tolist() == SLOPES


def survives_jaxpr():
    """Fails unless it is used after a round trip, under jvp and vmap."""
    jaxpr = ad.make_jaxpr(ad.vmap(ruled_expit()))(XS)
    again = lambda xs: ad.eval_jaxpr(jaxpr, jaxpr.consts, xs)[0]
    _, slopes = ad.jvp(again, (XS,), (np.ones(2),))
    assert slopes.tolist() == SLOPES


def survives_grad():
    """Fails unless it is used in reverse mode, before and after vmap."""
    expit = ruled_expit()
    assert ad.vmap(ad.grad(expit))(XS).tolist() == SLOPES
    assert ad.grad(lambda xs: ad.vmap(expit)(xs).sum())(XS).tolist() == SLOPES


def survives_inside(wrap):
    """Fails unless it is used inside of something, in both modes and twice.

    Args:
        wrap: takes a function of a scalar; returns one that does the same.
    """
    expit = ruled_expit()
    wrapped = wrap(expit)
    assert ad.vmap(ad.grad(wrapped))(XS).tolist() == SLOPES
    assert ad.jvp(wrapped, (XS[0],), (1.0,))[1] == SLOPES[0]
    twice = ad.grad(ad.grad(wrapped))
    expected = ad.vmap(ad.grad(ad.grad(expit)))(XS)
    assert np.allclose(ad.vmap(twice)(XS), expected)


def in_cond(f):
    return lambda x: ad.cond(x < 1, f, np.sin, x)


def in_scan(f):
    return lambda x: ad.scan(lambda x, _: (f(x), None), x, length=1)[0]


# For each of them, once the library has it, what has to hold.
CHECKS = {'vmap': survives_vmap, 'jaxpr': survives_jaxpr,
          'grad': survives_grad,
          'jit': lambda: survives_inside(ad.jit),
          'cond': lambda: survives_inside(in_cond),
          'scan': lambda: survives_inside(in_scan),
          'checkpoint': lambda: survives_inside(ad.checkpoint)}


def scoreboard(name, path):
    """Returns the HTML of a board, as it stands in the chapter at `path`."""
    boards = {'grid': grid, 'survives': survives}
    if name not in boards:
        raise ValueError(f'{path}: no scoreboard {name!r}; there are '
                         + ' and '.join(boards))
    return boards[name](path)


# The grid

def grid(path):
    """Returns the grid: the rows that we have, the cells that we filled.

    Before the first chapter with code these are all the rows to come.
    """
    new, old = filled(path)
    rows = list(dict.fromkeys(row for row, _ in [*old, *new] or all_cells()))
    full, size = len(old) + len(new), len(rows) * len(COLUMNS)
    here = f', {len(new)} of them in this chapter' if new else ''
    kind = lambda *cell: (
        ('new', 'filled here') if cell in new else
        ('old', 'filled') if cell in old else ('open', 'open'))
    return figure('coverage', squares(rows, kind),
                  f'The grid: {full} of {size} cells are filled{here}.')


def all_cells():
    """Returns the cells that all modules together fill."""
    return [cell for title, module in weave.modules(ROOT).items()
            for found in module.values() for cell in cells_of(title, found)]


def filled(path):
    """Returns the cells that the chapter at `path` fills, and those before.

    A cell is (primitive, column). The front page sees the whole book.
    """
    before = []
    for chapter, shown in weave.placements(ROOT).items():
        new = [cell for (title, _), found in shown.items()
               for cell in cells_of(title, found) if cell not in before]
        if ('autodiff_mini/interpreters/lowering.py', 'Emitter') in shown:
            new += lowered_by_default(before)
        if chapter == path.resolve() and chapter.stem != 'index':
            return new, before
        before += new
    return [], before


def lowered_by_default(cells):
    """Returns the cells of primitives that are lowered without a rule."""
    return [(row, 'lowering') for row, column in cells
            if column == 'evaluate' and not row.endswith(('call', 'lin'))]


def cells_of(title, statement):
    """Returns the cells that a statement of a module fills."""
    if re.fullmatch(r'\w+_p', statement.address):
        return [(statement.address.removesuffix('_p'), 'evaluate')]
    return [(row, column) for column in COLUMNS
            if belongs(title, statement, column)
            for row in re.findall(r'\b(\w+)_p\b', head(statement.node))]


def belongs(title, statement, column):
    """Returns whether a statement stands in a column of the grid.

    The name of the table tells: `jvp_rules[call_p] = …` or
    `defjvp(call_p, …)`. If it is none of a column's, the file does.
    """
    others = {'inline': 'lowering', 'elementwise': 'vmap'}
    named = re.match(f'(?:def)?({"|".join([*COLUMNS, *others])})',
                     statement.address)
    if named:
        return others.get(named[1], named[1]) == column
    return (title.startswith('autodiff_mini/interpreters/')
            and Path(title).stem == column)


def head(node):
    """Returns the part of a statement that says which rows it is about."""
    match node:
        case ast.For():
            heads = [node.iter]
        case ast.Assign():
            heads = node.targets
        case ast.Expr(ast.Call(func, [first, *_])):
            heads = [func, first]
        case ast.FunctionDef():
            heads = node.decorator_list
        case _:
            heads = []
    return ' '.join(map(ast.unparse, heads))


def evenly(rows, most):
    """Returns the rows as the fewest lists that have `most` rows or fewer."""
    count = math.ceil(len(rows) / most)
    size = math.ceil(len(rows) / max(count, 1))
    return [rows[i * size:(i + 1) * size] for i in range(count)]


def squares(rows, kind):
    """Returns the HTML tables of the grid, side by side.

    The style and the text of a cell are `kind(row, column)`.
    """
    return ''.join(board(COLUMNS, {
        row: [square(row, column, *kind(row, column)) for column in COLUMNS]
        for row in some}) for some in evenly(rows, MOST_ROWS))


def square(row, column, kind, text):
    """Returns one cell of the grid; its text is for those who hear it."""
    return (f'<td class="{kind}" title="{row} × {column}: {text}">'
            f'<span>{text}</span></td>')


# Does the rule survive?

def survives(path):
    """Returns the board of expit: a tick, or the chapter that will bring it.

    The front page and the appendix see the whole book.
    """
    number = re.match(r'\d+', path.name)
    reached = int(number[0]) if number else max(SURVIVES.values())
    cells = []
    for name, chapter in SURVIVES.items():
        if name in CHECKS and chapter <= reached:
            with np.errstate(over='ignore'):
                CHECKS[name]()
            cells.append('<td class="yes">✓<span> it does</span></td>')
        else:
            cells.append(f'<td><span>chapter </span>{chapter}</td>')
    tells = ' A number is the chapter that will tell.'
    return figure('survives', board(SURVIVES, {'expit': cells}),
                  'Does the rule of <code>expit</code> survive?'
                  + tells * (reached < max(SURVIVES.values())))


# What both have in common

def board(columns, rows):
    """Returns an HTML table; `rows` is {name: HTML cells}."""
    heads = ''.join(f'<th scope="col"><span>{name.replace("_", " ")}</span>'
                    '</th>' for name in columns)
    body = ''.join(f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'
                   for name, cells in rows.items())
    return (f'<table class="board"><thead><tr><td></td>{heads}</tr></thead>'
            f'<tbody>{body}</tbody></table>')


def figure(kind, content, caption):
    """Returns the HTML of a board with its caption."""
    return (f'<figure class="scoreboard {kind}"><div>{content}</div>'
            f'<figcaption>{caption}</figcaption></figure>')
