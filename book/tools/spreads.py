"""Then and now: a function of the draft, and beside it the library's.

`book/spreads/backward_pass.toml` names both, and it gives a reason for each
line that the library adds.

    draft = 'draft/transpose.py backward_pass'
    library = 'interpreters/transpose.py backward_pass, accumulate'

    [[reason]]
    name = 'zeros'
    lines = ['if type(ct) is not Zero:']

A side has the file, and the names of functions, methods, or other statements
in the form of weave's addresses.  It can be a list of such texts.  An entry
of `lines` is a line of the library's side, or several that follow each other,
without indentation.  The lines without a reason are the idea.  `says` is what
the legend says about a reason.  Of a docstring only the first paragraph is
shown.

    python -m book.tools.spreads NAME     prints the spread with its letters
"""

import ast
import html
import os
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from book.tools import modules, weave

FOLDER = Path('book/spreads')
REASONS = ('zeros', 'types', 'errors', 'memory', 'speed', 'watching')
IDEA = 'the idea'
SIDES = {'draft': 'Then', 'library': 'Now'}
GAP = -1        # the number of an empty line between two statements
QUOTES = '"""'


class Line(NamedTuple):
    """A line of a spread: its number in its module, and its text."""
    number: int
    text: str
    indent: int = 0     # how much of its indentation is left out
    cut: bool = False   # whether its docstring ends here, too early


class Shown(NamedTuple):
    """What one side shows of one module."""
    title: str
    lines: list[Line]


# The lines

def sides(data, root):
    """Return {side: [Shown]} of a spread.

    Raises:
        LookupError: there is no such module or statement.
    """
    return {side: [shown(words, root) for words in as_list(data[side])]
            for side in SIDES}


def as_list(words):
    return [words] if isinstance(words, str) else words


def shown(words, root):
    """Return what `words`, a file and names in it, say."""
    file, _, names = words.partition(' ')
    title, lines = f'{weave.PACKAGE}/{file}', []
    if not (root / title).exists():
        raise LookupError(f'no module `{title}`')
    source = (root / title).read_text()
    for name in names.split(', '):
        lines += [Line(GAP, '')] * bool(lines)
        lines += shortened(definition(source, name, title),
                           source.splitlines())
    return Shown(title, lines)


def definition(source, name, title):
    """Return the statement with an address, or the method of a class."""
    found = {x.address: x.node for x in weave.statements(source)}
    owner, _, method = name.rpartition('.')
    if name in found:
        return found[name]
    for node in getattr(found.get(owner), 'body', ()):
        if getattr(node, 'name', None) == method:
            return node
    raise LookupError(f'no `{name}` in {title}')


def shortened(node, lines):
    """Return the Lines of a statement, with short docstrings."""
    indent = node.col_offset
    heads = [node, *getattr(node, 'decorator_list', ())]
    start = min(head.lineno for head in heads)
    left_out, cut = set(), set()
    for part in ast.walk(node):
        match part:
            case ast.FunctionDef() | ast.ClassDef() if ast.get_docstring(part):
                doc = part.body[0]
                numbers = range(doc.lineno, doc.end_lineno + 1)
                empty = [n for n in numbers if not lines[n - 1].strip()]
                if empty:
                    left_out |= {*range(empty[0], doc.end_lineno + 1)}
                    cut.add(empty[0] - 1)
    return [Line(n, lines[n - 1][indent:] + QUOTES * (n in cut), indent,
                 n in cut)
            for n in range(start, node.end_lineno + 1) if n not in left_out]


def marked(lines, data):
    """Return {index of a line: its reason}, and the problems.

    Args:
        lines: the Lines of the library's side.

    Returns:
        The reasons, and a list of (entry, what is wrong).
    """
    texts, found, wrong = [x.text.strip() for x in lines], {}, []
    for reason in data.get('reason', ()):
        if reason['name'] not in REASONS:
            wrong.append((reason['name'], 'is no reason, such as '
                          + ', '.join(REASONS)))
        for entry in reason['lines']:
            wanted = [line.strip() for line in entry.strip().splitlines()]
            places = [i for i in range(len(texts))
                      if texts[i:i + len(wanted)] == wanted]
            if len(places) != 1:
                wrong.append((entry, f'is {len(places)} times on the '
                              "library's side, not once"))
                continue
            [start] = places
            for i in range(start, start + len(wanted)):
                if i in found:
                    wrong.append((entry, 'has a reason already'))
                found[i] = reason['name']
    return found, wrong


def check(root):
    """Return the problems of all spreads."""
    return [problem for path in sorted((root / FOLDER).glob('*.toml'))
            for problem in problems(path, root)]


def problems(path, root):
    """Return the problems of a spread, at their lines in its file."""
    words = path.read_text()

    def problem(entry, what):
        first = entry.strip().partition('\n')[0].strip()
        at = words.rfind(first)
        line = words.count('\n', 0, at) + 1 if at >= 0 else 1
        return weave.Problem(path, line, f'`{first}` {what}')

    try:
        data = tomllib.loads(words)
        lines = all_lines(sides(data, root)['library'])
        return [problem(*each) for each in marked(lines, data)[1]]
    except KeyError as error:
        return [weave.Problem(path, 1, f'has no {error}')]
    except (LookupError, tomllib.TOMLDecodeError) as error:
        return [weave.Problem(path, 1, str(error))]


def all_lines(parts):
    return [line for part in parts for line in part.lines]


def load(name, root):
    """Return the sides of a spread, its reasons by line, and its legend.

    The legend is [(reason, number of lines, what it says)]; the idea is last.
    """
    path = root / FOLDER / f'{name}.toml'
    if wrong := problems(path, root):
        raise ValueError('\n'.join(map(str, wrong)))
    data = tomllib.loads(path.read_text())
    found = sides(data, root)
    lines = all_lines(found['library'])
    why, _ = marked(lines, data)
    says = {x['name']: x.get('says', '') for x in data.get('reason', ())}
    counts = Counter(why.get(i, IDEA) for i, line in enumerate(lines)
                     if line.text.strip())
    return found, why, [(reason, counts[reason], says.get(reason, ''))
                        for reason in (*REASONS, IDEA) if counts[reason]]


def lines_of(parts):
    """Return how many lines these are, without empty ones, in words."""
    return amount(sum(bool(line.text.strip()) for line in all_lines(parts)))


def amount(count):
    return f'{count} line' + 's' * (count != 1)


# On a page

def page(name, path):
    """Return a spread as HTML, for the page at a path.

    The legend is between the two.  A wide page puts it below the draft, and
    the library's side beside both.  The style says how many letters the two
    columns need.
    """
    found, why, legend = load(name, Path())
    widths = [max(len(line.text) for line in all_lines(parts))
              for parts in found.values()]
    return '\n'.join([
        f'<div class="spread" role="group" aria-label="Then and now" '
        f'style="--then: {widths[0]}; --now: {widths[1]}">', '<div>',
        *column('draft', found, {}, path), key(legend), '</div>', '<div>',
        *column('library', found, why, path), '</div>', '</div>'])


def key(legend):
    """Return the legend: a letter, a reason, and how many lines it has."""
    items = [f'<li class="{"idea" if reason == IDEA else reason}">'
             f'{letter(reason)}<b>{reason}</b>, {amount(count)}'
             + f': {text(says)}' * bool(says) + '</li>'
             for reason, count, says in legend]
    return f'<ul class="reasons">{"".join(items)}</ul>'


def text(words):
    return re.sub('`([^`]*)`', r'<code>\1</code>',
                  html.escape(words, quote=False).replace("'", '’'))


def letter(reason):
    """Return the mark of a line, which needs no color."""
    return '' if reason == IDEA else (
        f'<abbr title="{reason}">{reason[0]}</abbr>')


def column(side, found, why, path):
    """Return the listings of one side of a spread, each with its title."""
    made, start = [], 0
    for part in found[side]:
        place = modules.place(part.title, part.lines[0].number)
        label = f'{SIDES[side]}, in {lines_of(found[side])}: ' * (not start)
        made += [f'<p>{label}<a class="filename" '
                 f'href="{modules.address(place, path)}">{part.title}</a></p>',
                 listing(part, why, start, path)]
        start += len(part.lines)
    return made


def listing(part, why, start, path):
    """Return the HTML of one listing, whose first line has number `start`."""
    source = Path(part.title).read_text()
    whole = modules.highlighted(part.title, source, modules.library())
    folder = modules.place(part.title).page.parent
    made = ''
    for i, line in enumerate(part.lines, start):
        code = '' if line.number == GAP else whole[line.number - 1]
        code = re.sub(f'^((?:<[^>]*>)*) {{{line.indent}}}', r'\1', code)
        code += f'<span class="sd">{QUOTES}</span>' * line.cut
        code = re.sub('href="([^"#]*)', lambda link: (
            'tabindex="-1" href="' + os.path.relpath(
                folder / link[1], path.parent)), code)
        kind = f' class="{why[i]}"' if i in why else ''
        mark = letter(why[i]) if i in why else ''
        made += f'<span{kind}>{mark}{code}\n</span>'
    return f'<div class="highlight"><pre><code>{made}</code></pre></div>'


# In a notebook

def markdown(name, root=None):
    """Return a spread as Markdown: two listings and the legend."""
    found, why, legend = load(name, root or Path())
    parts = []
    for side, title in SIDES.items():
        parts.append(f'**{title}**, in {lines_of(found[side])}:')
        parts.append('```python\n' + plain(
            found[side], why if side == 'library' else {}) + '\n```')
    parts.append('\n'.join(
        f'- **{reason}**' + f' (`# {reason[0]}`)' * (reason != IDEA)
        + f', {amount(count)}' + f': {says}' * bool(says)
        for reason, count, says in legend))
    return '\n\n'.join(parts)


def plain(parts, why):
    """Return listings as text, with a letter behind a line with a reason."""
    width = max(len(line.text) for line in all_lines(parts))
    made, start = [], 0
    for part in parts:
        made += [''] * bool(start) + [f'# {part.title}']
        for i, line in enumerate(part.lines, start):
            made.append(f'{line.text:{width}}  # {why[i][0]}' if i in why
                        else line.text)
        start += len(part.lines)
    return '\n'.join(made)


if __name__ == '__main__':
    print(markdown(sys.argv[1]))
