"""The exercises: test the reader's files, and show them in the chapters.

An exercise is three files of one name. `book/exercises/e02_1_div.py` has a
task, hints, and one hole, `book/solutions/e02_1_div.py` fills the hole, and
`tests/exercises/test_e02_1_div.py` holds the tests. A test is a function of
one argument, the module under test. The reader works on a copy,
`exercises/e02_1_div.py`, which is solved when the tests pass.
"""

import ast
import io
import re
import signal
import sys
import warnings
from contextlib import contextmanager, redirect_stdout
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import numpy as np
from _pytest.assertion.rewrite import rewrite_asserts

import autodiff_mini
from autodiff_mini.core.trace import Trace, set_current_trace
from book.tools import weave
from book.tools.places import ROOT

STUBS, SOLUTIONS = Path('book/exercises'), Path('book/solutions')
TESTS, YOURS = Path('tests/exercises'), Path('exercises')
LIMIT = 10     # seconds for a test; a solution needs one


# The files

def names(chapter=''):
    """Return the names of the exercises, of one chapter or all, in order."""
    return sorted(path.stem for path in
                  (ROOT / STUBS).glob(f'e{chapter}*.py'))


def number(name):
    """Return an exercise's short name, `e02_1`."""
    return re.match(r'e\d+_\d+', name)[0]


def mark(name):
    """Return the words that mark the hole in an exercise."""
    return f'exercise {number(name)}:'


def source(name):
    """Return the text of an exercise, with its hints."""
    return (ROOT / STUBS / f'{name}.py').read_text()


def hints(name):
    """Return the statement that holds the hints of an exercise."""
    [found] = [found for found in weave.statements(source(name))
               if found.address == 'HINTS']
    return found


def stub(name):
    """Return the text of an exercise as a reader gets it, without hints."""
    lines = source(name).splitlines(keepends=True)
    return (''.join(lines[:hints(name).line - 1]).rstrip('\n') + '\n'
            + ''.join(lines[hints(name).end:]))


def yours(name):
    """Return the reader's file of an exercise, which may not exist yet."""
    return ROOT / YOURS / f'{name}.py'


def attempted(name):
    """Return the text of the reader's file, or else of the given one."""
    if not yours(name).exists():
        return stub(name)
    return yours(name).read_text(errors='replace')   # it is not always text


def solution(name):
    """Return the text of the solved exercise."""
    return (ROOT / SOLUTIONS / f'{name}.py').read_text()


def task(name):
    """Return the title of an exercise, its text, and its hints."""
    title, _, text = ast.get_docstring(
        ast.parse(source(name))).partition('\n\n')
    return title, text, ast.literal_eval(hints(name).node.value)


# Trying

class TookTooLong(BaseException):
    """A BaseException, so that `except Exception` does not catch it."""

    __module__ = 'builtins'     # a traceback then shows only its name


@contextmanager
def limited():
    """Interrupt a program that runs for more than LIMIT seconds."""
    def stop(*_):
        raise TookTooLong(f'stopped after {LIMIT} seconds. Is there '
                          'an endless loop?')

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def loaded(name, text=None):
    """Yield a fresh module of an exercise's text; by default the reader's.

    The module and its use must end within LIMIT seconds. Afterwards, the
    library's tables are restored.
    """
    module = ModuleType(name)
    module.__file__ = str(yours(name))
    code = compile(attempted(name) if text is None else text,
                   module.__file__, 'exec')
    with library_restored(), limited():
        exec(code, vars(module))
        yield module


@contextmanager
def library_restored():
    """Reset the trace and restore the library's tables of rules afterwards.

    Import all modules first, because restoring would remove the rows of a
    module that is imported in between.
    """
    for name in modules():
        import_module(name)
    before = [(table, dict(table)) for table in tables(tuple(
        module for name, module in [*sys.modules.items()]
        if name.startswith('autodiff_mini.')))]
    try:
        yield
    finally:
        set_current_trace(Trace.base)
        for table, rows in before:
            table.clear()
            table.update(rows)


@cache
def modules():
    """Return the names of the library's modules, in the order of imports."""
    return [module.name for module in walk_packages(
        autodiff_mini.__path__, 'autodiff_mini.')
        if {'draft', 'patch'}.isdisjoint(module.name.split('.'))]


@lru_cache(maxsize=1)
def tables(modules):
    """Return each table of rules in some modules once.

    Many modules import a table of another one.
    """
    return [*{id(table): table for module in modules
              for key, table in vars(module).items()
              if isinstance(table, dict)
              and key.endswith(('rules', '_table', 'node_types'))}.values()]


def tests(name):
    """Return the tests of an exercise, {name: function}.

    Rewrite their assertions as pytest does, so that an error shows the
    values.
    """
    path = ROOT / TESTS / f'test_{name}.py'
    module = ModuleType(path.stem)
    exec(rewritten(path, path.read_bytes()), vars(module))
    return {name: test for name, test in vars(module).items()
            if name.startswith('test_')}


@cache
def rewritten(path, source):
    """Return the code of tests with their assertions rewritten."""
    tree = ast.parse(source)
    rewrite_asserts(tree, source, str(path))
    return compile(tree, path, 'exec')


def attempt(test, name, text=None):
    """Return the error that a test raised, or None, and the text it printed.
    """
    printed = io.StringIO()
    with (warnings.catch_warnings(action='error'),
          np.printoptions(legacy='1.25'), redirect_stdout(printed)):
        try:
            with loaded(name, text) as module:
                test(module)
        except (Exception, SystemExit, TookTooLong) as error:
            return error, printed.getvalue()
    return None, printed.getvalue()


def is_solved(name):
    """Return whether the reader's file passes all the tests.

    A missing file is not solved, because the given one fails.
    """
    return yours(name).exists() and all(
        attempt(test, name)[0] is None for test in tests(name).values())


# In a chapter

def markdown(chapter):
    """Return the exercises of a chapter; hints and solutions are folded.

    A file is folded, too, but open, so that it can be edited on its page and
    is left out on paper.
    """
    return '\n\n'.join(map(entry, names(chapter)))


def entry(name):
    """Return one exercise as its chapter shows it."""
    title, text, tips = task(name)
    given = weave.statements(stub(name))[1:]
    return '\n\n'.join([
        f'**{title}**', text, '<div class="exercise" markdown="1">',
        folded(f'{YOURS}/{name}.py', listing(weave.join(given)),
               ' class="yours" open'),
        *hinted(tips, len(tips)),
        folded(f'Solution of {number(name)}', reason(name) + '\n\n'
               + listing(filled(name, solution(name))), ' class="solution"'),
        '</div>'])


def hinted(tips, whole):
    """Return [the folded hints], where each holds the next, or []."""
    if not tips:
        return []
    rest = '\n\n'.join([tips[0], *hinted(tips[1:], whole)])
    count = f'Hint {whole - len(tips) + 1} of {whole}'
    return [folded(count, rest, ' class="hint"')]


def reason(name):
    """Return the explanation in the solution of an exercise."""
    return ast.get_docstring(ast.parse(solution(name)))


def filled(name, text):
    """Return the code that a solved exercise adds to the given one."""
    known = {ast.dump(found.node) for found in weave.statements(stub(name))}
    return weave.join([
        found for found in weave.statements(text)
        if ast.dump(found.node) not in known and found.address != '"""'])


def listing(code):
    return f'```python\n{code}\n```'


def folded(summary, content, attributes=''):
    """Return Markdown that is folded until the reader opens it."""
    return (f'<details{attributes} markdown="1">'
            f'<summary>{summary}</summary>\n\n'
            f'{content}\n\n</details>')
