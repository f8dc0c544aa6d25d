"""Draws the book's two scoreboards, from what the chapters weave.

A line `<!-- scoreboard: grid -->` in a chapter becomes the grid of
primitives and interpreters as far as the reader has come, and `<!--
scoreboard: survives -->` shows through which transformations the rule of
`expit` survives.
"""

import math
import re
from functools import cache
from itertools import chain
from pathlib import Path

import numpy as np

import autodiff_mini as ad
from book.tools import weave
from book.tools.registrations import MORE, registrations

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ('evaluate', 'jvp', 'vmap', 'abstract', 'partial_eval',
           'transpose', 'lowering')
MOST_ROWS = 16   # of one table; they stand side by side
OTHER_TABLES = {'inline': 'lowering'}   # whose rules are of a column, too

# The statement that lowers each primitive that has no rule for it.
LOWERING = ('autodiff_mini/interpreters/lowering.py', 'Emitter')

# The transformations through which a rule has to survive, and the chapter
# that brings each of them.
SURVIVES = {'vmap': 6, 'jaxpr': 8, 'grad': 10, 'jit': 14, 'scan': 16,
            'cond': 17, 'checkpoint': 19}


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
    rows = list(dict.fromkeys(
        row for row, _ in [*old, *new] or all_cells(ROOT)))
    full, size = len(old) + len(new), len(rows) * len(COLUMNS)
    here = f', {len(new)} of them in this chapter' if new else ''
    reach = 'so far' if old or new else 'to come'
    kind = lambda *cell: (
        ('new', 'filled here') if cell in new else
        ('old', 'filled') if cell in old else ('open', 'open'))
    return figure('coverage', squares(rows, kind),
                  f'The grid: {full} of {size} cells are filled{here}. It '
                  f'has a row for each of the {len(rows)} primitives {reach}.')


def filled(path):
    """Returns the cells that the chapter at `path` fills, and those before.

    A cell is (primitive, column). The front page sees the whole book.
    """
    before = []
    for chapter, shown in weave.placements(ROOT).items():
        new = [cell for cell, fills in all_cells(ROOT).items()
               if fills in shown]
        if chapter == path.resolve() and chapter.stem != 'index':
            return new, before
        before += new
    return [], before


@cache
def all_cells(root):
    """Returns what fills each cell: {cell: (title, address)}.

    That is its rule; lowering may come before the rule, and do without.
    """
    found, order = rules(root), ranks(root)
    rows = [row for row, column in found if column == 'evaluate'
            and not row.endswith(('call', 'lin'))]
    for row in rows if LOWERING in order else ():
        default = max(LOWERING, found[row, 'evaluate'], key=order.get)
        found[row, 'lowering'] = min(
            default, found.get((row, 'lowering'), default), key=order.get)
    return dict(sorted(found.items(), key=lambda item: order[item[1]]))


def rules(root):
    """Returns the cells that have a rule: {cell: (title, address)}.

    Of all statements that are at work when a rule is registered, the last
    that a reader meets fills the cell.  So what is said for a whole kind
    fills the cells of the rows that are there, and later rows their own.
    """
    found, order = {}, ranks(root)
    for statement in order:
        if row := re.fullmatch(r'(\w+)_p', statement[1]):
            found.setdefault((row[1], 'evaluate'), statement)
    for row, table, at_work in registrations(root):
        column = OTHER_TABLES.get(table, table)
        met = [statement for statement in at_work if statement in order]
        if column in COLUMNS and met:
            found[row, column] = max(met, key=order.get)
    return found


@cache
def ranks(root):
    """Returns {(title, address): rank} of statements, as the book goes.

    The grid is the library's: what the draft has of it does not count, nor
    the wing `more`.
    """
    shown = chain.from_iterable(weave.placements(root).values())
    return {statement: rank for rank, statement in enumerate(shown)
            if statement[0] != weave.DRAFT
            and not statement[0].startswith(MORE)}


def evenly(rows, most):
    """Returns the rows as the fewest lists that have `most` rows or fewer."""
    count = math.ceil(len(rows) / most)
    size = math.ceil(len(rows) / max(count, 1))
    return [rows[i * size:(i + 1) * size] for i in range(count)]


def squares(rows, kind):
    """Returns the HTML tables of the grid, side by side.

    The style and the text of a cell are `kind(row, column)`, and a link, if
    it has one.
    """
    return ''.join(board(COLUMNS, {
        row: [square(row, column, *kind(row, column)) for column in COLUMNS]
        for row in some}) for some in evenly(rows, MOST_ROWS))


def square(row, column, kind, text, link=None):
    """Returns one cell of the grid; its text is for those who hear it."""
    content = f'<span>{text}</span>'
    if link:
        content = f'<a href="{link}" tabindex="-1">{content}</a>'
    return (f'<td class="{kind}" title="{row} × {column}: {text}">'
            f'{content}</td>')


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
