"""`make check`: weaves, and tests what changed since the last commit.

It stops at the first failure, and the nearest tests come first.  For a rule
they are the squares of its row, in the order in which one stands upon the
other; for another statement those of its module, and those that name it.
Ten seconds have to do: `make test` is for the rest.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

from book.tools import mainline, weave

SECONDS = 10

# A square of each column.
SQUARES = [
    'tests/test_programs.py::test_jvp_computes_what_numpy_computes',
    'tests/test_programs.py::test_tangent_is_the_derivative',
    'tests/test_vmap.py::test_vmap_is_the_stack',
    'tests/test_abstract.py::test_types_are_those_of_what_numpy_returns',
    'tests/test_partial_eval.py::test_linearize_is_jvp',
    'tests/test_transpose.py::test_vjp_is_the_transpose_of_jvp',
    'tests/test_hard_points.py',
]
TOOLS = 'book/tools/'


def git(root, *words):
    """Returns the lines that git answers with, none where there is no git."""
    return subprocess.run(['git', *words], cwd=root, text=True,
                          capture_output=True).stdout.splitlines()


def changed_files(root):
    """Returns a commit, and the files that are different since.

    That is the last commit, or the one before when nothing is.
    """
    new = git(root, 'ls-files', '--others', '--exclude-standard')
    for commit in 'HEAD', 'HEAD~1':
        if files := git(root, 'diff', '--name-only', commit) + new:
            return commit, [file for file in files if (root / file).exists()]
    return 'HEAD', []


def changed_statements(root, commit, module):
    """Returns the statements of a module that its commit has not."""
    old = '\n'.join(git(root, 'show', f'{commit}:{module}'))
    before = {found.text for found in weave.statements(old)}
    return [found for found in weave.statements((root / module).read_text())
            if found.text not in before]


def rows_of(statements):
    """Returns the rows whose primitive the address of a statement names."""
    return list(dict.fromkeys(
        row for found in statements
        for row in re.findall(r'\b(\w+)_p\b', found.address)))


def tests_of(root, module, statements):
    """Returns the tests of a module, and then those that say a name of it."""
    names = {name for found in statements for name in weave.bound(found.node)}
    word = re.compile(rf'\b({"|".join(map(re.escape, names))})\b')
    files = sorted((root / 'tests').rglob('test_*.py'))
    own = [file for file in files if file.name == f'test_{Path(module).name}']
    saying = [file for file in files
              if names and word.search(file.read_text())]
    return [module, *(file.relative_to(root).as_posix()
                      for file in dict.fromkeys(own + saying))]


def sessions(root):
    """Returns the arguments of pytest's sessions for what has changed."""
    commit, files = changed_files(root)
    rows, near = [], []
    for file in files:
        if re.fullmatch(r'tests/(\w+/)*test_\w+\.py', file):
            near.append(file)
        elif file.startswith(f'{weave.PACKAGE}/') and file.endswith('.py'):
            found = changed_statements(root, commit, file)
            if file != weave.DRAFT:
                rows += rows_of(found)
            near += tests_of(root, file, found)
        elif file.startswith(TOOLS) and file.endswith('.py'):
            near += tests_of(root, file, [])[1:]
    squares = [*SQUARES, '--row', ','.join(rows)]
    return [squares] * bool(rows) + [list(dict.fromkeys(near))] * bool(near)


def main():
    """Weaves and tests; returns 0 if nothing is wrong."""
    root, deadline = Path(), time.monotonic() + SECONDS
    if problems := weave.weave(root) + weave.check(root) + mainline.check(
            root):
        print(*problems, sep='\n')
        return 1
    found = sessions(root)
    for arguments in found:
        left = deadline - time.monotonic()
        code = subprocess.run(
            [sys.executable, '-m', 'pytest', '--no-header', '-qx',
             '--tb=short', '-rfE', '--seconds', str(max(left, 1)),
             *arguments], cwd=root).returncode
        if code not in (0, 5):   # 5: there is no such test
            return code
    if not found:
        print('No module and no test has changed.')
    return 0


if __name__ == '__main__':
    sys.exit(main())
