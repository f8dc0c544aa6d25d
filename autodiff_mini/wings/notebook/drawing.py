"""Jaxprs as pictures, which a notebook shows instead of their text.

All words are in rows, and wires bend only between two rows, so no wire ever
crosses a word.  A wire that passes a row has a place in it, as an equation
has.
"""

from collections import defaultdict
from dataclasses import dataclass
from html import escape
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import mean

from autodiff_mini.core.jaxprs import (
    Literal, Names, Var, param_text, programs_in, type_text)
from autodiff_mini.core.lines import line_text
from autodiff_mini.core.names import own_name

LARGEST = 10    # equations that are drawn; more become a table
WIDEST = 640    # pixels that are drawn
LETTER = 7.3    # the width of a letter
SPACE = 16      # between two neighbors in a row
GAP = 5         # between a frame and the words beside it
BEND = 30       # between two rows, where the wires are


class Html(str):
    """Text that a notebook shows as HTML."""

    _repr_html_ = str.__str__


def draw(jaxpr, marked=()):
    """Return a picture of a program, as HTML that a notebook shows.

    Up to ten equations are drawn, with the arguments at the top; a larger or
    very wide program becomes a table.  A cell whose value is a jaxpr shows
    this picture.

    Args:
        jaxpr: the program; see `make_jaxpr`.
        marked: the equations to emphasize: their primitives, or their
            numbers, counted from 0.

    Examples:
        >>> import numpy as np
        >>> import autodiff_mini as ad
        >>> picture = draw(ad.make_jaxpr(np.sin)(1.0))
        >>> picture[:4], picture.count('<rect')
        ('<svg', 3)
    """
    names = letters(jaxpr)
    marked = [eqn for i, eqn in enumerate(jaxpr.eqns)
              if i in marked or eqn.primitive in marked]
    small = names and len(jaxpr.eqns) <= LARGEST
    return Html((diagram if small else table)(jaxpr, names, marked))


def letters(jaxpr):
    """Return the Names of the variables of a program, as in its text."""
    names = Names()
    for v in [*jaxpr.constvars, *jaxpr.invars,
              *[v for eqn in jaxpr.eqns for v in eqn.outvars]]:
        names[v]    # the first one looked up is `a`
    return names


def detail(eqn):
    """Return an equation's notable parameters, or a call's function name."""
    inner = [own_name(value).rpartition('.')[2]
             for value in eqn.params.values()
             if hasattr(value, 'jaxpr') and value.jaxpr is not value]
    return ' '.join(inner or [
        f'{key}={param_text(value)}' for key, value in eqn.params.items()
        if value is not None and value is not False
        and not programs_in(value)])


def table(jaxpr, names, marked):
    """Return the program as a table, with a row for each equation."""
    def row(operation, results=(), operands=(), line='', kind='td'):
        texts = (' '.join(names[v] for v in results),
                 ' '.join(type_text(v.aval) for v in results),
                 operation, ' '.join(names[v] for v in operands), line)
        return cells(kind, texts)

    rows = [row('closed over', [v]) for v in jaxpr.constvars]
    rows += [row('argument', [v]) for v in jaxpr.invars]
    rows += [row(f'{eqn.primitive} {detail(eqn)}'.rstrip(),
                 eqn.outvars, eqn.invars, place_text(eqn.line),
                 'th' if eqn in marked else 'td') for eqn in jaxpr.eqns]
    head = cells('th', ['result', 'type', 'operation', 'operands', 'line'])
    return (f'<table><thead>{head}</thead><tbody>{"".join(rows)}'
            f'{row("return", operands=jaxpr.outvars)}</tbody></table>')


def cells(kind, texts):
    """Return a row of a table."""
    style = 'style="text-align: left"'    # Jupyter aligns right
    inside = [f'<{kind} {style}>{escape(text)}</{kind}>' for text in texts]
    return f'<tr>{"".join(inside)}</tr>'


def place_text(line):
    """Return the file of a line, without its folder, and its number."""
    path = Path(line_text(line) if line else '')
    is_cell = path.parent.name.startswith('ipykernel_')
    return f'cell:{path.name.partition(":")[2]}' if is_cell else path.name


@dataclass(eq=False)
class Node:
    """An equation, an argument, or a wire, which has a place in a row.

    Args:
        operands: the variables that it takes.
        results: the variables that it defines.
        lines: the words in its frame; a wire has none.
        style: the attributes of its frame.
        labels: the words under it, one for each result.
        beside: the words to the left and to the right of its frame.
    """

    operands: list[Var]
    results: list[Var]
    lines: list[str] = ()
    style: str = 'rx="12" stroke-width="1.2" fill-opacity=".05"'
    labels: list[str] = ()
    beside: tuple[str, str] = ('', '')

    def __post_init__(self):
        self.x, self.above, self.below = 0, [], []
        self.ins = offsets([''] * len(self.operands))
        self.outs = offsets(self.labels or [''] * len(self.results))
        self.frame = max(map(text_width, self.lines), default=0)
        beside = [GAP + LETTER * len(text) for text in self.beside if text]
        self.width = max(self.frame + 2 * max(beside, default=0),
                         sum(map(text_width, self.labels)))
        self.box = 15 * len(self.lines) + 10 if self.lines else 0
        self.height = self.box + 18 * bool(self.labels)


def text_width(text):
    return LETTER * len(text) + 14


def offsets(texts):
    """Return the offsets of neighbors' centers from their common middle."""
    widths = list(map(text_width, texts))
    return [end - width / 2 - sum(widths) / 2
            for width, end in zip(widths, accumulate(widths), strict=True)]


def shorten(text, length):
    return text if len(text) <= length else f'{text[:length - 1]}…'


def equation_node(eqn, names, width, opacity):
    """Return the node of an equation, with its literals beside it."""
    lines = [str(eqn.primitive), shorten(detail(eqn), 18)]
    return Node([v for v in eqn.invars if type(v) is Var], eqn.outvars,
                [line for line in lines if line],
                f'rx="3" stroke-width="{width}" fill-opacity="{opacity}"',
                [names.typed([v]) for v in eqn.outvars],
                [' '.join(shorten(names[v], 6) for v in part
                          if type(v) is Literal)
                 for part in (eqn.invars[:1], eqn.invars[1:])])


def rows_of_nodes(jaxpr, names, marked):
    """Return the nodes in rows, each below the nodes that it depends on."""
    rows, depth = defaultdict(list, {0: []}), defaultdict(int)
    for v in [*jaxpr.constvars, *jaxpr.invars]:
        dashed = 'stroke-dasharray="4 3" ' * (v in jaxpr.constvars)
        rows[0].append(Node([], [v], [names.typed([v])], dashed + Node.style))
    for eqn in jaxpr.eqns:
        row = 1 + max([depth[v] for v in eqn.invars], default=0)
        depth.update(dict.fromkeys(eqn.outvars, row))
        rows[row].append(equation_node(
            eqn, names, *((2.4, .2) if eqn in marked else (1.2, .05))))
    last = len(rows)
    rows[last] = [Node([v] if type(v) is Var else [], [],
                       [shorten(names[v], 18)]) for v in jaxpr.outvars]
    rows = [rows[i] for i in range(last + 1)]
    add_wires(rows)
    return rows


def add_wires(rows):
    """Give a variable a place in each row that its wire passes."""
    last_use = {v: i for i, row in enumerate(rows)
                for node in row for v in node.operands}
    for i, row in enumerate(rows):
        for v in [v for node in row for v in node.results]:
            if last_use.get(v, 0) > i + 1:
                rows[i + 1].append(Node([v], [v]))


def connect(above, row):
    """Yield the start and the end of each wire between two rows."""
    starts = {v: (node, out) for node in above
              for v, out in zip(node.results, node.outs, strict=True)}
    for end in row:
        for v, into in zip(end.operands, end.ins, strict=True):
            start, out = starts[v]
            start.below.append((end, into - out))
            end.above.append((start, out - into))
            yield start, out, end, into


def settle(row, side):
    """Move the nodes of a row to where wires on this side pull them."""
    wish = {node: mean([other.x + pull for other, pull in getattr(node, side)]
                       or [node.x]) for node in row}
    row.sort(key=wish.get)
    right = float('-inf')
    for node in row:
        node.x = max(wish[node], right + SPACE + node.width / 2)
        right = node.x + node.width / 2
    shift = mean([wish[node] - node.x for node in row] or [0])
    for node in row:
        node.x += shift


def diagram(jaxpr, names, marked):
    """Return the program as an SVG; if that is too wide, as a table."""
    rows = rows_of_nodes(jaxpr, names, marked)
    wires = [list(connect(above, row)) for above, row in pairwise(rows)]
    for _ in range(3):
        for row in rows:
            settle(row, 'above')
        for row in reversed(rows):
            settle(row, 'below')
    nodes = [node for row in rows for node in row]
    left = min(node.x - node.width / 2 for node in nodes) - 2
    right = max(node.x + node.width / 2 for node in nodes) + 2
    if right - left > WIDEST:
        return table(jaxpr, names, marked)
    parts, y = [], 2
    for row, below in zip(rows, [*wires, []], strict=True):
        bottom = y + max([node.height for node in row], default=0)
        parts += [part for node in row for part in node_parts(node, y)]
        parts += [wire_path(start.x + out, y + start.height, bottom,
                            end.x + into) for start, out, end, into in below]
        y = bottom + BEND
    return frame(jaxpr, parts, left, right - left, y - BEND + 2)


def frame(jaxpr, parts, left, width, height):
    """Return an SVG; it shrinks by up to a twelfth, and then it scrolls."""
    label = escape(repr(jaxpr)).replace('\n', '&#10;')
    return (f'<svg role="img" aria-label="{label}" width="{width:.0f}" '
            f'viewBox="{left:.1f} 0 {width:.1f} {height}" style="max-width: '
            f'100%; min-width: {.92 * width:.0f}px; height: auto" '
            'fill="currentColor" text-anchor="middle" font-size="12" '
            f'font-family="ui-monospace, monospace">{"".join(parts)}</svg>')


def node_parts(node, y):
    """Yield the elements of a node whose top is at y."""
    side = node.frame / 2
    if node.lines:
        yield (f'<rect x="{node.x - side:.1f}" y="{y}" '
               f'width="{node.frame:.1f}" height="{node.box}" '
               f'stroke="currentColor" {node.style}/>')
    for i, line in enumerate(node.lines):
        yield words(node.x, y + 17 + 15 * i, line, f'font-size="{12 - i}"')
    left, right = node.beside
    yield words(node.x - side - GAP, y + 17, left, 'text-anchor="end"')
    yield words(node.x + side + GAP, y + 17, right, 'text-anchor="start"')
    for label, out in zip(node.labels, node.outs):
        yield words(node.x + out, y + node.box + 14, label, 'font-size="11"')


def words(x, y, text, style):
    """Return a line of words, or nothing where there are none."""
    return text and f'<text x="{x:.1f}" y="{y}" {style}>{escape(text)}</text>'


def wire_path(start, top, bottom, end):
    """Return a wire: down to the end of its row, then to the next one."""
    half = bottom + BEND / 2
    return (f'<path d="M{start:.1f} {top} V{bottom} C{start:.1f} {half} '
            f'{end:.1f} {half} {end:.1f} {bottom + BEND}" '
            'fill="none" stroke="currentColor"/>')
