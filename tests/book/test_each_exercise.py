"""The exercises: each stub fails, each solution passes, wrong ones do not."""

import ast
import re

import pytest

from book.solutions.wrong import WRONG
from book.tools import exercises

NAMES = exercises.names()


def holes(name):
    """Return the statements of a stub that differ from its solution."""
    solved = {ast.dump(node)
              for node in ast.parse(exercises.solution(name)).body}
    first, *rest = ast.parse(exercises.stub(name)).body
    return [node for node in rest if ast.dump(node) not in solved]


@pytest.mark.parametrize('name', NAMES)
def test_stub_has_one_hole_and_fails_every_test(name):
    stub = exercises.stub(name)
    assert exercises.mark(name) in stub
    assert len(holes(name)) == 1
    for test_name, test in exercises.tests(name).items():
        error = exercises.attempt(test, name, stub)[0]
        assert (isinstance(error, AssertionError)
                or isinstance(error, NotImplementedError)
                and str(error).startswith(exercises.mark(name))
                ), f'{test_name} of {name}: {error!r}'
    empty = re.sub(r'raise NotImplementedError\([^)]*\)', 'pass', stub)
    assert any(exercises.attempt(test, name, empty)[0]
               for test in exercises.tests(name).values())


@pytest.mark.parametrize('name', NAMES)
def test_solution_passes(name):
    text = exercises.solution(name)
    for test in exercises.tests(name).values():
        if error := exercises.attempt(test, name, text)[0]:
            raise error


@pytest.mark.rest
@pytest.mark.parametrize('name', NAMES)
def test_every_wrong_solution_fails_and_every_test_finds_one(name):
    solution, unused = exercises.solution(name), exercises.tests(name)
    for thought, right, wrong in WRONG[name]:
        assert solution.count(right) == 1, f'{thought}: no {right!r}'
        text = solution.replace(right, wrong)
        found = [test_name
                 for test_name, test in exercises.tests(name).items()
                 if failed(exercises.attempt(test, name, text)[0])]
        assert found, f'{thought}: passes all the tests'
        for test_name in found:
            unused.pop(test_name, None)
    assert not unused, f'no wrong solution fails {list(unused)}'


def failed(error):
    """Return whether a test failed because of an assertion or the hole."""
    assert not isinstance(error, (ImportError, NameError, SyntaxError)), error
    return error is not None


def test_every_exercise_has_its_three_files():
    assert len(NAMES) > 20 and list(WRONG) == NAMES
    for folder, prefix in ((exercises.SOLUTIONS, ''),
                           (exercises.TESTS, 'test_')):
        files = (exercises.ROOT / folder).glob(f'{prefix}e*.py')
        assert sorted(path.stem for path in files) == [
            prefix + name for name in NAMES]


def test_every_chapter_shows_its_exercises():
    for name in NAMES:
        title, text, hints = exercises.task(name)
        assert title.endswith(('.', '?')) and text and len(hints) >= 2, name
        for source in exercises.source(name), exercises.solution(name):
            assert max(map(len, source.splitlines())) <= 78, name
        assert title in exercises.markdown(name[1:3])
    for chapter in {name[1:3] for name in NAMES}:
        (path,) = (exercises.ROOT / 'book/chapters').glob(f'{chapter}_*.md')
        text = path.read_text()
        assert f'\n<!-- exercises: {chapter} -->\n' in text
        assert f'`make watch E={chapter}`' in text
    index = (exercises.ROOT / 'book/index.md').read_text()
    assert f'#exercises), {len(NAMES)} in all' in index
