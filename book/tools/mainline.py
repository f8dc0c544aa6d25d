"""The main line of Book One: short listings, and an experiment after each.

No listing of the draft has more than so many lines of code, there are no more
than so many between two experiments, and none is folded away but the head of
a module.  A listing shows a module; an experiment is any other cell.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

from book.tools import places, weave

MOST_LISTED = 20      # code lines in a listing
MOST_BETWEEN = 40     # code lines of listings between two experiments
MOST_WORDS = 3_500    # on a page, with everything that isn't folded
MOST_IN_ALL = 25_000
FOLD = re.compile(r'(?ms)^<details.*?^</details>')
UNSEEN = re.compile(   # what heads a notebook, and is folded or not shown
    r'(?ms)\A---$.*?^---$|^```python tags=\["(?:imports|hide-input)"\].*?^```$')
SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
         tokenize.DEDENT, tokenize.ENDMARKER}


def check(root):
    """Return what on the main line is too long, or folded away."""
    problems, total = [], 0
    for path in weave.book_one(root):
        text, between = path.read_text(), 0
        folds = [range(text.count('\n', 0, fold.start()),
                       text.count('\n', 0, fold.end()) + 1)
                 for fold in FOLD.finditer(text)]
        for block in weave.blocks(path):
            if any(block.line in fold for fold in folds):
                problems += folded(block)
                continue
            if not block.title.startswith(weave.DRAFT):
                between = 0 if block.runs else between
                continue
            count = code_lines(block.text)
            between += count
            problems += [
                weave.Problem(path, block.line, words) for words, wrong in [
                    (f'a listing of {count} lines', count > MOST_LISTED),
                    (f'{between} lines without an experiment',
                     between > MOST_BETWEEN)] if wrong]
        total += (count := words(path))
        if count > MOST_WORDS:
            problems.append(weave.Problem(path, 1, f'{count} words'))
    if total > MOST_IN_ALL:
        problems.append(weave.Problem(path, 1, f'{total} words in Book One'))
    return problems


def folded(block):
    """Return the statements of the draft that a fold hides."""
    if not block.title.startswith(weave.DRAFT):
        return []
    return [weave.Problem(block.path, block.line + found.line,
                          f'`{found.address}` is folded away')
            for found in weave.statements(block.text)
            if not weave.is_head(found)]


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


def whole(page):
    """Return all modules of the draft, each with a link to its chapter."""
    parts, book, done = [], weave.modules(places.ROOT), set()
    for path in weave.book_one(places.ROOT):
        title = [*places.sections(path).values()][0].title
        for block in weave.woven(path):
            if block.title.startswith(weave.DRAFT) and (
                    block.title not in done):
                done.add(block.title)
                parts.append(f'**[{title}](../chapters/{path.name})**')
                parts.append(f'```py title="{block.title}"\n'
                             + weave.join(book[block.title].values())
                             + '\n```')
    return '\n\n'.join(parts)
