"""Weave, and test what has changed since the last commit: `make check`.

The squares of a changed row run first, and all of them run.  The nearest
tests share the rest of ten seconds.  They are the tests of a changed file,
the files that mention the change, and the cells of a page.  The first
failure ends the check.  If the time runs out, the tests that did not run are
listed, and the exit status is NOT_TRIED.
"""

import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from book.tools import mainline, weave

STARTED = time.monotonic() - time.process_time()    # with the imports above
SECONDS = 9       # Python needs the rest of ten to start and to end
LONGEST = 60      # for the squares, which have no other limit
NEAREST = 6       # files that mention what changed
NOT_TRIED = 3
NO_TEST = 5       # pytest's exit status if no program uses a row

# A test for each column, and for what a row shares with its neighbors.
SQUARES = [
    'tests/primitives/test_programs.py::'
    'test_values_equal_numpys_and_tangents_the_derivative',
    'tests/interpreters/test_vmap.py::test_vmap_is_the_stack',
    'tests/interpreters/test_abstract.py::'
    'test_types_equal_those_of_numpys_results',
    'tests/interpreters/test_partial_eval.py::test_linearize_is_jvp',
    'tests/interpreters/test_transpose.py::test_vjp_is_the_transpose_of_jvp',
    'tests/primitives/test_hard_points.py',
    'tests/primitives/test_grid.py',
]
ROWS = 'primitives', 'numpy_functions', 'calls', 'wings'
APART = 'draft', 'fast', 'fused', 'applications', 'notebook', 'messages'
PYTEST = '-m', 'pytest', '--no-header', '-qx', '--tb=short', '-rfE'
PAGE_TESTS = ['tests/book/test_pages.py', 'tests/book/test_claims.py']


# What has changed

def git(root, *words):
    """Return the lines that git prints, none where there's no repository."""
    return subprocess.run(
        ['git', *words], cwd=root, text=True, errors='replace',
        capture_output=True).stdout.splitlines()


def changed_files(root):
    """Return a commit, and the files that have changed since.

    The commit is the last one, or the one before it if nothing has changed.
    """
    new = git(root, 'ls-files', '--others', '--exclude-standard')
    for commit in 'HEAD', 'HEAD~1':
        if files := git(root, 'diff', '--name-only', commit) + new:
            return commit, [file for file in files if (root / file).is_file()]
    return 'HEAD', []


def before(root, commit, file):
    """Return the text that a file had in a commit."""
    return '\n'.join(git(root, 'show', f'{commit}:{file}'))


def affected(old, new):
    """Return the statements that differ in two texts, and their users."""
    old, new = weave.statements(old), weave.statements(new)
    texts = {found.text for found in old} ^ {found.text for found in new}
    found = [each for each in new + old if each.text in texts]
    for _ in range(2):     # a helper, and what uses it
        names = names_of(found)
        found += [each for each in new
                  if each not in found and mentions(names, each.text)]
    return found


def names_of(statements):
    """Return the names that statements define; imports define none."""
    return set().union(*map(mainline.defined, statements))


def mentions(names, text):
    """Return how often a text has one of the names."""
    word = '|'.join(map(re.escape, names)) or '(?!)'
    return len(re.findall(rf'\b(?:{word})\b', text))


def rows_of(statements, source):
    """Return the rows whose primitive or NumPy function statements name."""
    text = '\n'.join(found.text for found in statements)
    called = dict(re.findall(r"\b(\w+)_p = \w+\(\s*'(\w+)'", source))
    rows = [name for row in re.findall(r'\b(\w+)_p\b', text)
            for name in (row, called.get(row, row))]
    rows += re.findall(r'(?m)^@?\w+\(np\.(?:\w+\.)*(\w+)', text)
    return list(dict.fromkeys(rows))


# What is near

def test_files(root):
    """Return the test files, except for the exercises."""
    return [path.relative_to(root).as_posix()
            for path in sorted((root / 'tests').rglob('test_*.py'))
            if path.parent.name != 'exercises']


def near(root, file, names):
    """Return a file's own tests, and the tests that mention names most."""
    files = test_files(root)
    own = [test for test in files
           if test.endswith(f'/test_{Path(file).stem}.py')
           or file.startswith('autodiff_mini/draft/')
           and test.startswith('tests/draft/')]
    counts = {test: mentions(names, (root / test).read_text())
              for test in files if test not in own}
    most = sorted(filter(counts.get, counts), key=counts.get, reverse=True)
    return [[test] for test in own + most[:NEAREST]]


def tests_of_module(root, commit, module):
    """Return the squares of the changed rows, and what is near."""
    source, folders = (root / module).read_text(), module.split('/')[1:]
    found = affected(before(root, commit, module), source)
    rows = rows_of(found, source)
    tests = near(root, module, names_of(found))
    if '>>>' in source:
        tests.insert(0, [module])
    if folders[0] in ROWS and rows:
        return [[*SQUARES, '--row', ','.join(rows)], *tests]
    if {*folders} & {*APART}:
        return tests
    return [*tests[:1], SQUARES[:1], *tests[1:]]


def tests_of(root, commit, file):
    """Return lists of arguments for pytest, the nearest tests first."""
    folder, name = str(Path(file).parent), Path(file).name
    if exercise := re.fullmatch(r'(?:test_)?(e\d+_\d+_\w+)\.py', name):
        return [['tests/book/test_each_exercise.py', '--row', exercise[1]]]
    if file in test_files(root):
        return [[file]]
    if name.endswith('.py') and folder.startswith(weave.PACKAGE):
        return tests_of_module(root, commit, file)
    if name.endswith('.md'):
        return [[test] for test in PAGE_TESTS]
    dotted = file.removesuffix('.py').replace('/', '.')
    return near(root, file, [name, dotted])


def own_words(text):
    """Return a page without the listings that are woven into it."""
    return re.sub(r'(?ms)^(`{3,})\w+ title="\w+/.*?^\1$', '', text).rstrip()


def plan(root):
    """Return arguments for Python, squares first, and untested files."""
    commit, files = changed_files(root)
    jobs, unknown = [], []
    for file in files:
        new, old = (root / file).read_bytes(), before(root, commit, file)
        if file.endswith('.md'):
            if own_words(new.decode()) == own_words(old):
                continue
            if file.startswith('book/'):
                jobs.append(('-m', 'book.tools.render', file))
        tests = tests_of(root, commit, file)
        jobs += [(*PYTEST, *test) for test in tests]
        unknown += [] if tests else [file]
    return sorted(dict.fromkeys(jobs), key=lambda job: '--row' not in job), (
        unknown)


# Trying

def tried(job, deadline):
    """Return a job's status and output; None if the time was too short."""
    left = LONGEST if '--row' in job else deadline - time.monotonic()
    if left <= 0:
        return None, ''
    try:
        done = subprocess.run(
            [sys.executable, *job], text=True, timeout=left,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return None, ''
    return done.returncode, done.stdout


def run(jobs, deadline):
    """Try jobs, two at once; return if none fails, and those not tried."""
    late = []
    with ThreadPoolExecutor(2) as pool:
        for job, (status, output) in zip(jobs, pool.map(
                lambda job: tried(job, deadline), jobs)):
            what = ' '.join(job).removeprefix(' '.join(PYTEST))
            if status in (None, NO_TEST):
                late.append(what)
            elif status:
                print(f'{output}\nWRONG  {what}')
                pool.shutdown(cancel_futures=True)
                return False, late
            else:
                print('right ', what, *output.splitlines()[-1:], flush=True)
    return True, late


def main():
    """Weave and test; return 0 only if all that was planned is right."""
    root = Path()
    problems = weave.not_python(root)
    if not problems:
        jobs, unknown = plan(root)
        weave.weave(root)
        problems = weave.check(root) + mainline.check(root)
    if problems:
        print(*problems, sep='\n')
        return 1
    if not jobs + unknown:
        print('No module, test, or page has changed.')
    right, late = run(jobs, STARTED + SECONDS)
    if right and late + unknown:
        print('NOT TRIED, so nothing is proven yet (`make test` runs all):',
              *late, *unknown, sep='\n  ')
        return NOT_TRIED
    return 0 if right else 1


if __name__ == '__main__':
    sys.exit(main())
