"""The exercises: tries the reader's files, and shows them in the chapters.

An exercise is three files of one name. `book/exercises/e02_1_div.py` has a
task, hints, and one hole; `book/solutions/e02_1_div.py` has it filled; and
`tests/exercises/test_e02_1_div.py` holds the tests. They are functions of
one argument, the module of the file that is tried.

    python -m book.tools.exercises              shows the next one to solve
    python -m book.tools.exercises --progress   says which are solved
"""

import ast
import hashlib
import inspect
import re
import sys
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np

import autodiff_mini  # noqa: F401  (whose tables are kept)
from autodiff_mini.core import Trace, set_current_trace
from autodiff_mini.errors import sources_of_functions
from book.tools import weave

ROOT = Path(__file__).resolve().parents[2]
STUBS, SOLUTIONS = Path('book/exercises'), Path('book/solutions')
TESTS, TRIED = Path('tests/exercises'), Path('.cache/exercises')


# The files

def names(chapter=''):
    """Returns the names of the exercises, of one chapter or all, in order."""
    return sorted(path.stem for path in
                  (ROOT / STUBS).glob(f'e{chapter}*.py'))


def number(name):
    """Returns an exercise's short name, `e02_1`."""
    return re.match(r'e\d+_\d+', name)[0]


def mark(name):
    """Returns the words that stand in an exercise until it is solved."""
    return f'exercise {number(name)}:'


def stub(name):
    """Returns the text of the file that the reader works on."""
    return (ROOT / STUBS / f'{name}.py').read_text()


def solution(name):
    """Returns the text of the solved exercise."""
    return (ROOT / SOLUTIONS / f'{name}.py').read_text()


def task(name):
    """Returns the title of an exercise, its text, and its hints."""
    tree = ast.parse(stub(name))
    title, _, text = ast.get_docstring(tree).partition('\n\n')
    hints = [ast.literal_eval(node.value) for node in tree.body
             if isinstance(node, ast.Assign)
             and ast.unparse(node.targets[0]) == 'HINTS']
    return title, text, *hints


# Trying

@contextmanager
def loaded(name, text=None):
    """Yields a fresh module of an exercise's text; by default the reader's.

    Afterwards the library's tables are what they were.
    """
    module = ModuleType(name)
    module.__file__ = str(STUBS / f'{name}.py')
    code = compile(stub(name) if text is None else text,
                   module.__file__, 'exec')
    with library_restored():
        exec(code, vars(module))
        yield module


@contextmanager
def library_restored():
    """Afterwards no trace is at work, and the tables are what they were.

    What a wing defines when it is asked comes first: else it would go again.
    """
    for bring in sources_of_functions:
        bring(None)
    before = [(table, dict(table)) for table in tables()]
    try:
        yield
    finally:
        set_current_trace(Trace.base)
        for table, rows in before:
            table.clear()
            table.update(rows)


def tables():
    """Returns the library's tables of rules, and of what is registered."""
    found = {id(table): table for name, module in [*sys.modules.items()]
             if name.startswith('autodiff_mini.')
             for key, table in vars(module).items()
             if isinstance(table, dict)
             and key.endswith(('_rules', '_table', 'node_types'))}
    return [*found.values()]


def tests(name):
    """Returns the tests of an exercise, {name: function}."""
    path = ROOT / TESTS / f'test_{name}.py'
    module = ModuleType(path.stem)
    exec(compile(path.read_text(), path, 'exec'), vars(module))
    return {name: test for name, test in vars(module).items()
            if name.startswith('test_')}


def attempt(test, name, text=None):
    """Returns what a test of an exercise raised; None if it passed."""
    with warnings.catch_warnings(), np.printoptions(legacy='1.25'):
        warnings.simplefilter('error')
        try:
            with loaded(name, text) as module:
                test(module)
        except Exception as error:
            return error
    return None


def passes(name):
    """Returns whether the reader's file passes all the tests."""
    return all(attempt(test, name) is None for test in tests(name).values())


def is_solved(name):
    """Returns whether the tests pass, and the mark is gone."""
    return mark(name) not in stub(name) and passes(name)


# What the reader sees

def show_next():
    """Prints the first exercise that is not solved, and what is wrong."""
    for name in names():
        if is_solved(name):
            print(f'[x] {number(name)}  {task(name)[0]}')
            continue
        title, text, hints = task(name)
        print(f'[ ] {number(name)}  {title}\n\n{text}\n')
        if passes(name):
            print(f'The tests pass. Delete the line that says "{mark(name)}'
                  ' …", and go on.')
            return
        run_tests(name)
        for n, hint in enumerate(hints[:count_tries(name)], 1):
            print('\n' + textwrap.fill(f'Hint {n} of {len(hints)}. {hint}'))
        print(f'\nYour file: {STUBS}/{name}.py'
              f'\nIts tests: {TESTS}/test_{name}.py'
              f'\nSolution:  {SOLUTIONS}/{name}.py')
        return
    print('\nAll exercises are solved.')


def run_tests(name):
    """Shows what pytest says of the first test of an exercise that fails."""
    import pytest   # nothing else here needs it
    pytest.main([str(ROOT / TESTS / f'test_{name}.py'), '-x', '-q', '-rN',
                 '--tb=short', '--no-header', '-p', 'no:cacheprovider'])


def count_tries(name):
    """Returns in how many forms an exercise has been tried, with this one.

    One more hint is shown for each.
    """
    path = ROOT / TRIED / name
    tried = path.read_text().split() if path.exists() else []
    now = hashlib.sha256(stub(name).encode()).hexdigest()[:16]
    if now not in tried:
        tried.append(now)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('\n'.join(tried))
    return len(tried)


def show_progress():
    """Prints all exercises, and which of them are solved."""
    solved = {name: is_solved(name) for name in names()}
    for name, done in solved.items():
        print(f'[{"x" if done else " "}] {number(name)}  {task(name)[0]}')
    print(f'\n{sum(solved.values())} of {len(solved)} are solved. '
          '`make next` shows the next one.')


# In a chapter

def markdown(chapter):
    """Returns the exercises of a chapter; hints and solutions are folded.

    Raises:
        ValueError: there are none.
    """
    if not names(chapter):
        raise ValueError(f'no exercises of chapter {chapter!r}')
    return '\n\n'.join(map(entry, names(chapter)))


def entry(name):
    """Returns one exercise, as it stands in its chapter."""
    title, text, hints = task(name)
    _, *given = weave.statements(stub(name))
    why, *solved = weave.statements(solution(name))
    given = [s for s in given if s.address != 'HINTS']
    known = {ast.dump(s.node) for s in given}
    filled = [s for s in solved if ast.dump(s.node) not in known]
    return '\n\n'.join([
        f'**{title}**', text,
        folded(f'{STUBS}/{name}.py', listing(given)),
        *(folded(f'Hint {n} for {number(name)}', hint)
          for n, hint in enumerate(hints, 1)),
        folded(f'Solution of {number(name)}', inspect.cleandoc(
            why.node.value.value) + '\n\n' + listing(filled))])


def listing(statements):
    return f'```python\n{weave.join(statements)}\n```'


def folded(summary, content):
    """Returns Markdown that the reader has to open."""
    return (f'<details markdown="1"><summary>{summary}</summary>\n\n'
            f'{content}\n\n</details>')


if __name__ == '__main__':
    show_progress() if '--progress' in sys.argv else show_next()
