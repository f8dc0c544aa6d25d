"""The main line of Book One: short listings, and an experiment after each.

The number of code lines is limited in a listing of the draft, and between two
experiments.  A listing shows a module, and an experiment is any other cell.
A listing uses only names that it defines, that a listing above defines, or
that the prose mentions as the first word of a code span such as `bind(x)`.
"""

import ast
import io
import re
import tokenize

from book.tools import places, weave
from book.tools.weave import Problem

MOST_LISTED = 20      # code lines in a listing
MOST_BETWEEN = 40     # code lines of listings between two experiments
MOST_WORDS = 3_500    # on a page, with everything that isn't folded
MOST_IN_ALL = 41_000
FOLD = re.compile(r'(?ms)^<details.*?^</details>')
UNSEEN = re.compile(   # front matter, and cells that are folded or hidden
    r'(?ms)\A---$.*?^---$|^```python tags=\["(?:imports|hide-input)"\].*?^```$')
SAID = re.compile(r'(?<!`)`(?:ad\.)?([A-Za-z_]\w*)')
SPACE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT,
         tokenize.DEDENT, tokenize.ENDMARKER}


def check(root):
    """Return the problems of Book One: text too long, names too early."""
    return [*early_names(root), *too_long(root)]


def too_long(root):
    """Yield the problems of listings and pages that are too long."""
    total = 0
    for path in weave.book_one(root):
        between = 0
        for block in weave.blocks(path):
            if block.title.startswith(weave.DRAFT):
                count = code_lines(block.text)
                between += count
                if count > MOST_LISTED:
                    yield Problem(path, block.line,
                                  f'a listing of {count} lines')
                if between > MOST_BETWEEN:
                    yield Problem(path, block.line,
                                  f'{between} lines without an experiment')
            elif block.runs:
                between = 0
        total += (count := words(path))
        if count > MOST_WORDS:
            yield Problem(path, 1, f'{count} words')
    if total > MOST_IN_ALL:
        yield Problem(path, 1, f'{total} words in Book One')


def early_names(root):
    """Yield a problem for each name that is used too early in Book One."""
    names = {name for title, module in weave.modules(root).items()
             if title.startswith(weave.DRAFT)
             for found in module.values() for name in defined(found)}
    known = set()
    for path in weave.book_one(root):
        prose = weave.prose(path).splitlines()
        for block in weave.blocks(path):
            if not block.title.startswith(weave.DRAFT):
                continue
            shown = weave.parsed(block)
            known = known.union(said(prose[:block.line]),
                                *map(defined, shown))
            if block.runs:      # or it is the head of a module
                for found in shown:
                    for name in sorted(used(found) & names - known):
                        yield Problem(path, block.line + found.line,
                                      f'`{name}` comes too early')
        known |= said(prose)


def defined(statement):
    """Return the names that a statement defines, imports excluded."""
    return set() if weave.is_head(statement) else weave.bound(statement)


def said(lines):
    """Return the names that lines of prose mention."""
    return set(SAID.findall('\n'.join(lines)))


def used(statement):
    """Return the global names that a statement uses or imports."""
    return {symbol.get_name() for table in weave.tables(statement.text)
            for symbol in table.get_symbols() if symbol.is_global()
            and (symbol.is_referenced() or symbol.is_imported())}


def code_lines(source):
    """Count the lines with code, without comments and docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(source + '\n').readline)
    code = {line for token in tokens if token.type not in SPACE
            for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(ast.Constant(str())):
                code -= {*range(node.lineno, node.end_lineno + 1)}
    return len(code)


def words(path):
    """Count the words of a chapter that are not folded away."""
    return len(UNSEEN.sub('', FOLD.sub('', path.read_text())).split())


def whole():
    """Return all modules of the draft, each with a link to its chapter."""
    book, parts = weave.modules(places.ROOT), {}
    for path in weave.book_one(places.ROOT):
        [chapter, *_] = places.sections(path).values()
        for block in weave.woven(path):
            code = weave.join(book[block.title].values())
            parts.setdefault(block.title, (
                f'**[{chapter.title}](../chapters/{path.name})**\n\n'
                f'```py title="{block.title}"\n{code}\n```'))
    return '\n\n'.join(parts.values())
