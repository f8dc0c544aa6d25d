"""`make check`: weaves, and tests what changed since the last commit.

The nearest tests come first, and the first failure ends it.  For a rule the
nearest are the squares of its row, in the order in which each builds on the
one before; they run to the end.  All others share what is left of ten
seconds: those of a changed file, the files that mention what changed, and
the cells of a page.  What the time was too short for is listed, and then
the exit status is NOT_TRIED, since a success would say too much.
"""

import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from book.tools import mainline, weave

STARTED = time.monotonic() - time.process_time()    # with the imports above
SECONDS = 9       # Python needs the rest of ten to start and to end
LONGEST = 60      # of the squares, which have no other limit
HANDS = 2
NEAREST = 6       # files that mention what changed
NOT_TRIED = 3
NO_TEST = 5         # says pytest if no program uses a row

# A square of each column, and what a row shares with its neighbors.
SQUARES = [
    'tests/test_programs.py::'
    'test_values_are_numpys_and_tangents_the_derivative',
    'tests/test_vmap.py::test_vmap_is_the_stack',
    'tests/test_abstract.py::test_types_are_those_of_what_numpy_returns',
    'tests/test_partial_eval.py::test_linearize_is_jvp',
    'tests/test_transpose.py::test_vjp_is_the_transpose_of_jvp',
    'tests/test_hard_points.py',
    'tests/test_grid.py',
]
COLUMNS = [[SQUARES[0], SQUARES[4]], [SQUARES[6]]]     # of all rows
ROWS = 'primitives', 'numpy_functions', 'higher_order', 'more'
WINGS = 'draft', 'fast', 'elsewhere', 'applications', 'notebook', 'tools'
PYTEST = ['-m', 'pytest', '--no-header', '-qx', '--tb=short', '-rfE']
EQUALS_NUMPY = 'tests/test_equals_numpy.py'     # of what no test names
PAGE_TESTS = ['tests/tools/test_pages.py', 'tests/test_claims.py']


class Job(NamedTuple):
    """What one process tries.

    Args:
        what: its name, for the reader.
        command: the arguments of Python.
        to_the_end: whether it also runs when the time is over.
    """

    what: str
    command: list
    to_the_end: bool = False


def pytest_of(*arguments, what='', to_the_end=False):
    return Job(what or ' '.join(arguments), [*PYTEST, *arguments], to_the_end)


# What has changed

def git(root, *words):
    """Return the lines that git answers with, none where there's no git."""
    return subprocess.run(['git', *words], cwd=root, text=True,
                          capture_output=True).stdout.splitlines()


def changed_files(root):
    """Return a commit, and the files that have changed since.

    That is the last commit, or the one before it if nothing has changed.
    """
    new = git(root, 'ls-files', '--others', '--exclude-standard')
    for commit in 'HEAD', 'HEAD~1':
        if files := git(root, 'diff', '--name-only', commit) + new:
            return commit, [file for file in files if (root / file).exists()
                            and file != 'tests/stubtest.txt']  # make lint
    return 'HEAD', []


def before(root, commit, file):
    """Return the text that a file had in a commit."""
    return '\n'.join(git(root, 'show', f'{commit}:{file}'))


def changed_statements(root, commit, module):
    """Return the new statements of a module, and those that are gone."""
    old = weave.statements(before(root, commit, module))
    new = weave.statements((root / module).read_text())
    texts = {found.text for found in old} ^ {found.text for found in new}
    return [found for found in new + old if found.text in texts]


def affected(root, module, changed):
    """Return the changed statements, and those of the module that use them.
    """
    found = list(changed)
    for _ in range(3):     # a helper of a helper, too
        names = names_of(found)
        found += [other for other in weave.statements(
                      (root / module).read_text())
                  if other not in found and mentions(names, other.text)]
    return found


def names_of(statements):
    """Return the names that statements define; imports define none."""
    return {name for found in statements
            if not found.address.startswith(('import ', 'from '))
            for name in weave.bound(found.node)}


def mentions(names, text):
    """Return how often a text says one of the names."""
    word = '|'.join(map(re.escape, names)) or '(?!)'
    return len(re.findall(rf'\b(?:{word})\b', text))


def rows_of(statements, source):
    """Return the rows whose primitive or NumPy function statements name.

    The programs of a NumPy function are called after it.
    """
    called = dict(re.findall(r"\b(\w+)_p = \w+\(\s*'(\w+)'", source))
    rows = {}
    for found in statements:
        for row in re.findall(r'\b(\w+)_p\b', found.text):
            rows |= {row: None, called.get(row, row): None}
        for name in re.findall(r'(?m)^@?\w+\(np\.([\w.]+)', found.text):
            rows[name.rpartition('.')[2]] = None
    return list(rows)


# What is near

def near(root, names, own=(), others=()):
    """Return jobs for a file's own tests, and for those that say its names.

    Those that say other names, of what uses it, come last.
    """
    counts = {file: (mentions(names, text), mentions(others, text))
              for file in test_files(root) if file not in own
              for text in [(root / file).read_text()]}
    saying = sorted(filter(lambda file: any(counts[file]), counts),
                    key=counts.get, reverse=True)
    return [pytest_of(file) for file in [*own, *saying[:NEAREST]]]


def test_files(root):
    """Return the files of tests, without those of the exercises."""
    return [path.relative_to(root).as_posix()
            for path in sorted((root / 'tests').rglob('test_*.py'))
            if path.parent.name != 'exercises']


def own_tests(root, file):
    """Return the files of tests that are called after a file."""
    if file.startswith('autodiff_mini/draft/'):
        return [test for test in test_files(root)
                if test.startswith('tests/draft/')]
    return [test for test in test_files(root)
            if Path(test).name == f'test_{Path(file).stem}.py']


def jobs_of_module(root, commit, module):
    """Return the squares of the rows that have changed, and what is near."""
    source = (root / module).read_text()
    changed = changed_statements(root, commit, module)
    folder = module.split('/')[1]
    users = affected(root, module, changed)
    rows = rows_of(users, source)
    jobs = near(root, names_of(changed), own_tests(root, module),
                names_of(users))
    if '>>>' in source:
        jobs.insert(0, pytest_of(module))
    if folder in ROWS and rows:
        words = ','.join(rows)
        return [pytest_of(*SQUARES, '--row', words, to_the_end=True,
                          what=f'the squares of {words}'),
                *(jobs or [pytest_of(EQUALS_NUMPY)])]
    if folder not in WINGS:
        jobs[1:1] = [pytest_of(*squares, what=f'the columns, part {part}')
                     for part, squares in enumerate(COLUMNS, 1)]
    return jobs


def jobs_of_page(root, commit, page):
    """Return jobs that run its cells, if more has changed than a listing."""
    def own_words(text):
        return re.sub(r'(?ms)^(`{3,})\w+ title="\w+/.*?^\1$', '', text)

    if own_words(before(root, commit, page)) == own_words(
            (root / page).read_text().rstrip('\n')):
        return []
    return [Job(f'the cells of {page}', ['-m', 'book.tools.render', page]),
            *map(pytest_of, PAGE_TESTS)]


def jobs_of(root, commit, file):
    """Return the jobs for a changed file, those of the nearest tests first.
    """
    folder, name = str(Path(file).parent), Path(file).name
    if exercise := re.fullmatch(r'(?:test_)?(e\d+_\d+_\w+)\.py', name):
        return [pytest_of('tests/test_exercises.py', '--row', exercise[1])]
    if file in test_files(root):
        return [pytest_of(file)]
    if name.endswith('.py') and folder.startswith(weave.PACKAGE):
        return jobs_of_module(root, commit, file)
    if file.startswith('book/') and name.endswith('.md'):
        return jobs_of_page(root, commit, file)
    if name.endswith('.md'):
        return list(map(pytest_of, PAGE_TESTS))
    own = own_tests(root, file)
    dotted = file.removesuffix('.py').replace('/', '.')
    return near(root, [] if own else [name, dotted], own)


def plan(root):
    """Return the jobs, the squares first, and the files without a job."""
    commit, files = changed_files(root)
    found = {file: jobs_of(root, commit, file) for file in files}
    jobs = {tuple(job.command): job for each in found.values()
            for job in each}
    return sorted(jobs.values(), key=lambda job: not job.to_the_end), [
        file for file in files if not found[file] and not file.endswith('.md')]


# Trying

class Hands:
    """Processes that try jobs, two at once, until one is wrong."""

    def __init__(self, root, deadline):
        self.root, self.deadline, self.running = root, deadline, set()

    def trials(self, jobs):
        """Yield (job, status, output) of each job when it has ended."""
        with ThreadPoolExecutor(HANDS) as pool:
            futures = [pool.submit(self.tried, job) for job in jobs]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                for process in [*self.running]:
                    process.kill()

    def tried(self, job):
        """Return what became of a job, which can be cut off or not begin."""
        left = self.deadline - time.monotonic()
        if left <= 0 and not job.to_the_end:
            return job, None, ''
        with subprocess.Popen(
                [sys.executable, *job.command], cwd=self.root, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            self.running.add(process)
            try:
                output, _ = process.communicate(
                    timeout=LONGEST if job.to_the_end else left)
                status = process.returncode
            except subprocess.TimeoutExpired:
                process.send_signal(      # after the first it says where it is
                    signal.SIGINT if job.to_the_end else signal.SIGKILL)
                output, _ = process.communicate()
                status = 1 if job.to_the_end else None
            self.running.discard(process)
        return job, status, output


def run(root, jobs, deadline):
    """Try jobs; return whether none is wrong, and those not tried."""
    late = []
    for job, status, output in Hands(root, deadline).trials(jobs):
        if status == 0:
            last = output.splitlines()[-1] if output else ''
            print(f'right  {job.what}: {last}', flush=True)
        elif status in (None, NO_TEST):
            late.append(job)
        else:
            print(f'{output}\nWRONG  {job.what}')
            return False, late
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
    if not jobs and not unknown:
        print('No module, no test, and no page has changed.')
        return 0
    right, late = run(root, jobs, STARTED + SECONDS)
    if not right:
        return 1
    not_tried = [job.what for job in late] + unknown
    if not_tried:
        print('NOT TRIED, so this is not a success (`make test` tries all):',
              *not_tried, sep='\n  ')
    return NOT_TRIED if not_tried else 0


if __name__ == '__main__':
    sys.exit(main())
