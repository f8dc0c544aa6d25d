"""Keep the code in the chapters equal to the code in the modules.

The modules are the source of truth. A fence in a chapter that is titled with
a module, such as ```` ```python title="autodiff_mini/core/trace.py" ````, shows
some of its top-level statements. The module needs no marks, because the
statements in the fence say which ones to copy. A new fence starts as one line
that names them, `# weave: bind .. full_raise, Trace`.

    python -m book.tools.weave            copies the code into the chapters
    python -m book.tools.weave --anyway   also overwrites edits in chapters
    python -m book.tools.weave --check    only reports problems

A listing that weave wrote, or that the last commit has, is refreshed when its
module changes. Any other text was edited in the chapter, and is kept.

Each statement of the draft is shown once, in Book One, in the order of its
module.  Listings of the library in Book Two are only kept up to date.
"""

import ast
import difflib
import re
import subprocess
import sys
from functools import cache
from itertools import zip_longest
from pathlib import Path
from symtable import symtable
from typing import NamedTuple

PACKAGE = 'autodiff_mini'
DRAFT = f'{PACKAGE}/draft/'     # every statement of it is shown, once
LAST = 19                       # chapter of Book One
WOVEN = Path('.cache/woven')    # the listings that weave wrote, and ENDs
END = '\0'
ASK = '# weave:'
FENCE = re.compile(   # ticks, language, title, code
    r'(?ms)^(`{3,})(\w*)(?:[^\n]*title="(.*?)")?[^\n]*\n(.*?)^\1 *$')


class Statement(NamedTuple):
    """A top-level statement with the comments right above it."""
    address: str
    line: int      # where it starts in its module, or in its block
    end: int
    text: str
    node: ast.stmt


class Block(NamedTuple):
    """A Python fence: a cell if it is `python`; a `py` fence never runs."""
    path: Path
    line: int      # of the opening fence
    end: int       # of the closing one
    runs: bool
    title: str
    text: str


class Problem(NamedTuple):
    path: Path
    line: int
    text: str

    def __str__(self):
        return f'{self.path}:{self.line}: {self.text}'


# Statements and their addresses.

def address(node, line):
    """Return the name by which a block asks for a statement.

    Args:
        line: its first line, without decorators.
    """
    match node:
        case ast.stmt(name=str(found)):     # a function or a class
            pass
        case ast.Expr(ast.Constant(str())):
            found = '"""'
        case ast.Expr(ast.Call(func, [first, *_])):
            found = f'{ast.unparse(func)}({ast.unparse(first)}'
        case _:
            found = re.split(' (?:=|as|import) |: |  #', line)[0]
    return found.replace(', ', ',')   # ', ' separates addresses


@cache
def statements(source):
    """Return the top-level statements of a module or of a block."""
    lines, found = source.splitlines(), []
    for node in ast.parse(source).body:
        heads = [node, *getattr(node, 'decorator_list', ())]
        start = min(head.lineno for head in heads)
        while start > 1 and lines[start - 2].startswith('#'):
            start -= 1
        text = '\n'.join(lines[start - 1:node.end_lineno])
        found.append(Statement(address(node, lines[node.lineno - 1]), start,
                               node.end_lineno, text, node))
    return found


def join(chosen):
    """Return the text of a block with the `chosen` statements."""
    text, end = '', 0
    for statement in chosen:
        gap = '\n' if statement.line == end + 1 else '\n\n'
        text += gap * bool(text) + statement.text
        end = statement.end
    return text


# The book: its chapters, their blocks, the modules they show.

def chapters(root):
    """Return the files that can show code, in the order of the book."""
    return [path for pattern in ('index.md', 'chapters/*.md', 'appendix/*.md',
                                 'modules/*.md')
            for path in sorted((root / 'book').glob(pattern))]


def blocks(path):
    """Return the Python fences of a chapter."""
    return [block(fence, path) for fence in FENCE.finditer(path.read_text())
            if fence[2] in ('python', 'py')]


def block(fence, path):
    """Return the Block of a match of FENCE in a chapter."""
    _, language, title, code = fence.groups('')
    line = 1 + fence.string.count('\n', 0, fence.start())
    return Block(path, line, line + fence[0].count('\n'),
                 language == 'python', title, code.removesuffix('\n'))


def prose(path):
    """Return the text of a page, with empty lines for its fences."""
    return FENCE.sub(lambda fence: '\n' * fence[0].count('\n'),
                     path.read_text())


def woven(path):
    """Return the blocks of a chapter that show a module."""
    return [block for block in blocks(path)
            if block.title.startswith(PACKAGE + '/')]


def modules(root):
    """Return {title: {address: Statement}} of the library's modules.

    A file such as `__init__.py`, with a name that starts with `_`, is left
    out.
    """
    return {path.relative_to(root).as_posix():
            {found.address: found for found in statements(path.read_text())}
            for path in sorted((root / PACKAGE).rglob('*.py'))
            if path.name[0] != '_'}


def resolve(block, book):
    """Return the statements that a block asks for, and the problems."""
    module = book.get(block.title)
    if module is None:
        return [], [unknown('module', block.title, book, block, block.line)]
    try:
        names = asked(block, module)
    except SyntaxError as error:
        line = block.line + (error.lineno or 0)
        return [], [Problem(block.path, line, f'not Python: {error.msg}')]
    wrong = [unknown('statement', name, module, block, line)
             for name, line in names if name not in module]
    return [module[name] for name, _ in names if name in module], wrong


def asked(block, module):
    """Return the addresses that a block asks for, each with its line."""
    if not block.text.startswith(ASK):
        return [(found.address, block.line + found.line)
                for found in statements(block.text)]
    names, found = list(module), []
    for item in block.text.removeprefix(ASK).strip().split(', '):
        ends = item.split(' .. ')
        if set(ends) <= set(names):
            ends = names[names.index(ends[0]):names.index(ends[-1]) + 1]
        found += [(name, block.line + 1) for name in ends]
    return found


def unknown(kind, name, known, block, line):
    """Return the problem of an unknown module or statement."""
    close = difflib.get_close_matches(name, known, 1)
    where = f' in {block.title}' if kind == 'statement' else ''
    hint = f'; did you mean `{close[0]}`?' if close else ''
    return Problem(block.path, line, f'no {kind} `{name}`{where}{hint}')


# Weaving.

def weave(root, anyway=False):
    """Refresh the listings of the chapters that were not edited there."""
    book, file = modules(root), root / WOVEN
    known = {*file.read_text().split(END)} if file.exists() else set()
    for path in chapters(root):
        old = path.read_text()
        lines = old.split('\n')
        for block in reversed(woven(path)):   # keeps line numbers valid
            chosen, wrong = resolve(block, book)
            text = join(chosen)
            if not wrong and (anyway or text == block.text
                              or not is_edited(block, known, root)):
                known.add(text)
                lines[block.line:block.end - 1] = text.split('\n')
        if (new := '\n'.join(lines)) != old:
            path.write_text(new)
            print(f'{path}: refreshed')
    file.parent.mkdir(exist_ok=True)
    file.write_text(END.join(sorted(known)))


def is_edited(block, known, root):
    """Return whether a block's text is neither woven nor committed."""
    return not (block.text.startswith(ASK) or block.text in known
                or block.text in committed(root, block.path))


def committed(root, path):
    """Return the text of a page in the last commit, if there is one."""
    return subprocess.run(
        ['git', 'show', f'HEAD:./{path.relative_to(root).as_posix()}'],
        cwd=root, capture_output=True, text=True).stdout


# Checking.

def not_python(root):
    """Return a problem for each module that is not Python."""
    problems = []
    for path in sorted((root / PACKAGE).rglob('*.py')):
        try:
            compile(path.read_text(), path, 'exec')
        except SyntaxError as error:
            problems.append(Problem(path.relative_to(root), error.lineno,
                                    f'not Python: {error.msg}'))
    return problems


def check(root):
    """Return all problems of the blocks and the modules."""
    book, problems = modules(root), []
    shown = {title: [] for title in book}     # [(address, (page, line))]
    for path in chapters(root):
        for block in woven(path):
            problems += drift(block, book)
            for found in resolve(block, book)[0]:
                shown[block.title].append((found.address, block[:2]))
    for title, module in book.items():
        problems += untidy(root, title)
        if title.startswith(DRAFT):
            problems += told_otherwise(title, module, shown[title])
    return problems


def told_otherwise(title, module, shown):
    """Yield problems unless each statement is shown once, in order.

    The docstring and the imports of a module can be shown anywhere.
    """
    missing = module.keys() - {address for address, _ in shown}
    for name in missing:
        yield Problem(Path(title), module[name].line,
                      f'no chapter shows `{name}`')
    told = [place for place in shown if not is_head(module[place[0]])]
    wanted = [name for name in module
              if name not in missing and not is_head(module[name])]
    for (address, place), name in zip_longest(
            told, wanted, fillvalue='nothing'):
        if address != name:
            yield Problem(*place, f'shows `{address}`; next in its module is '
                          f'`{name}`')
            return


def is_head(statement):
    """Return whether a statement belongs to the head of its module."""
    return (statement.address == '"""' or
            isinstance(statement.node, ast.Import | ast.ImportFrom))


def drift(block, book):
    """Return the problems if a block differs from its module."""
    chosen, problems = resolve(block, book)
    if problems or block.text == join(chosen):
        return problems
    diff = difflib.unified_diff(
        block.text.splitlines(), join(chosen).splitlines(),
        str(block.path), block.title, lineterm='')
    return [Problem(
        block.path, block.line, 'differs from its module. `make weave` '
        'updates a listing only if it was not edited here. To discard the '
        'edit, run `.venv/bin/python -m book.tools.weave --anyway`:\n'
        + '\n'.join(diff))]


def untidy(root, title):
    """Yield problems for code of a module without a unique address."""
    source = (root / title).read_text()
    seen, covered = {}, set()
    for found in statements(source):
        if found.address in seen:
            yield Problem(Path(title), found.line,
                          f'ambiguous address `{found.address}`, also of '
                          f'line {seen[found.address]}')
        seen[found.address] = found.line
        covered |= {*range(found.line, found.end + 1)}
    for number, line in enumerate(source.splitlines(), 1):
        if line.strip() and number not in covered:
            yield Problem(Path(title), number, 'this comment has no '
                          'statement: remove the blank line below it')


# The names in a block.

def bound(statement):
    """Return the names that a top-level statement defines or imports."""
    return {symbol.get_name()
            for symbol in tables(statement.text)[0].get_symbols()
            if symbol.is_assigned() or symbol.is_imported()}


def tables(source):
    """Return the symbol tables of a source and of the functions in it."""
    found = [symtable(source, '', 'exec')]
    for table in found:
        found += table.get_children()
    return found


def dotted(title):
    """Return the dotted name of a module or a package, from its path."""
    return re.sub(r'(/__init__)?\.py$', '', title).replace('/', '.')


def parsed(block):
    """Return the statements of a block, without magics or bad syntax."""
    try:
        return statements(re.sub('(?m)^[%!].*', '', block.text))
    except SyntaxError:
        return []


def book_one(root):
    """Return the chapters of Book One, which write the draft."""
    return [path for path in chapters(root)
            if path.parent.name == 'chapters' and int(label(path)) <= LAST]


def label(page):
    """Return the number of a chapter, or the name of another page."""
    name = page.stem.partition('_')[0]
    return str(int(name)) if name.isdigit() else page.stem.replace('_', ' ')


def main(arguments):
    """Weave the book in the current directory, and print the problems."""
    problems = not_python(Path())
    if not problems:
        if '--check' not in arguments:
            weave(Path(), '--anyway' in arguments)
        problems = check(Path())
    for problem in problems:
        print(problem)
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
