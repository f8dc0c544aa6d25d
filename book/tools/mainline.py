"""The main line: what a chapter shows that is not folded away.

On the pages that write `draft.py` it is kept short enough to be held in the
head: no listing over so many lines, and no more than so many between two
experiments.  A listing shows a module; an experiment is any other cell.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

from book.tools import places, weave

MOST_LISTED = 20      # code lines in a listing
MOST_BETWEEN = 40     # code lines of listings between two experiments
MOST_WORDS = 30_000   # from chapter 0 to 12, with everything not folded
FOLD = re.compile(r'(?ms)^<details.*?^</details>')
UNSEEN = re.compile(   # what heads a notebook, and is folded or not shown
    r'(?ms)\A---$.*?^---$|^```python tags=\["(?:imports|hide-input)"\].*?^```$')
SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
         tokenize.DEDENT, tokenize.ENDMARKER}


def pages(root):
    """Returns the chapters that write the draft."""
    return [path for path in weave.chapters(root)
            if weave.is_draft(weave.blocks(path))]


def check(root):
    """Returns what on the main line is too long."""
    problems = []
    for path in pages(root):
        text, between = path.read_text(), 0
        folds = [range(text.count('\n', 0, fold.start()),
                       text.count('\n', 0, fold.end()) + 1)
                 for fold in FOLD.finditer(text)]
        for block in weave.blocks(path):
            if any(block.line in fold for fold in folds):
                continue
            if not block.title.startswith(f'{weave.PACKAGE}/'):
                between = 0 if block.runs else between
                continue
            count = code_lines(block.text)
            between += count
            problems += [
                weave.Problem(path, block.line, words) for words, wrong in [
                    (f'a listing of {count} lines', count > MOST_LISTED),
                    (f'{between} lines without an experiment',
                     between > MOST_BETWEEN)] if wrong]
    return problems


def code_lines(source):
    """Returns how many lines hold code, and not only words about it."""
    words = {line for found in weave.statements(source)
             for line in docstring_lines(found.node)}
    tokens = tokenize.generate_tokens(io.StringIO(source + '\n').readline)
    return len({line for token in tokens if token.type not in SPACE
                for line in range(token.start[0], token.end[0] + 1)} - words)


def docstring_lines(node):
    """Yields the lines of the docstrings in a statement."""
    for part in ast.walk(node):
        if (isinstance(part, ast.Expr)
                and isinstance(part.value, ast.Constant)
                and isinstance(part.value.value, str)):
            yield from range(part.lineno, part.end_lineno + 1)


def words(path):
    """Returns how many words of a chapter are not folded away."""
    return len(UNSEEN.sub('', FOLD.sub('', path.read_text())).split())


def count(root):
    """Returns the words of the chapters 0 to 12."""
    return sum(words(path) for path in weave.chapters(root)
               if re.match(r'(0\d|1[0-2])_', Path(path).name))


def whole(page):
    """Returns what other pages write of the draft, with links to them."""
    parts, book = [], weave.modules(places.ROOT)
    for path in pages(places.ROOT):
        title = path.read_text().split('\n# ', 1)[1].partition('\n')[0]
        parts.append(f'**[{title}](../chapters/{path.name})**')
        parts += [f'```py\n{weave.join(weave.resolve(block, book)[0])}\n```'
                  for block in weave.blocks(path)
                  if block.title == weave.DRAFT]
    return '\n\n'.join(parts)
