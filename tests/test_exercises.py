"""The exercises: each stub fails, each solution passes, wrong ones do not."""

import ast
import re

import pytest

from book.solutions.wrong import WRONG
from book.tools import exercises

NAMES = exercises.names()


def holes(name):
    """Return the statements in which a stub is not its solution."""
    solved = {ast.dump(node)
              for node in ast.parse(exercises.solution(name)).body}
    first, *rest = ast.parse(exercises.stub(name)).body
    return [node for node in rest if ast.dump(node) not in solved]


def every_test_fails(name, text):
    """Checks that all the tests fail for a text, by the text's own fault."""
    for test_name, test in exercises.tests(name).items():
        error = exercises.attempt(test, name, text)[0]
        assert (isinstance(error, AssertionError)
                or isinstance(error, NotImplementedError)
                and str(error).startswith(exercises.mark(name))
                ), f'{test_name} of {name}: {error!r}'


@pytest.mark.parametrize('name', NAMES)
def test_stub_has_one_hole_and_fails_every_test(name):
    assert exercises.mark(name) in exercises.stub(name)
    assert len(holes(name)) == 1
    every_test_fails(name, exercises.stub(name))


def without_answer(name):
    """Return what a reader can save who has not answered."""
    stub, hole = exercises.stub(name), r'raise NotImplementedError\([^)]*\)'
    return '', stub, *(re.sub(hole, nothing, stub)
                       for nothing in ('pass', 'return None'))


@pytest.mark.parametrize('name', NAMES)
def test_file_without_an_answer_is_not_solved(name):
    tests = exercises.tests(name).values()
    for text in without_answer(name):
        assert any(exercises.attempt(test, name, text)[0] for test in tests), text


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
    """Return whether a test failed, and not because its text is broken."""
    assert not isinstance(error, (ImportError, NameError, SyntaxError)), error
    return error is not None


@pytest.mark.parametrize('name', NAMES)
def test_files_have_a_title_hints_and_narrow_lines(name):
    title, text, hints = exercises.task(name)
    assert title.endswith(('.', '?')) and text and len(hints) >= 2
    for source in exercises.source(name), exercises.solution(name):
        assert max(map(len, source.splitlines())) <= 78


def test_every_exercise_has_its_three_files():
    assert len(NAMES) > 20 and list(WRONG) == NAMES
    for folder, prefix in ((exercises.SOLUTIONS, ''),
                           (exercises.TESTS, 'test_')):
        files = (exercises.ROOT / folder).glob(f'{prefix}e*.py')
        assert sorted(path.stem for path in files) == [
            prefix + name for name in NAMES]


@pytest.mark.parametrize('chapter', sorted({name[1:3] for name in NAMES}))
def test_every_chapter_shows_its_exercises(chapter):
    (path,) = (exercises.ROOT / 'book/chapters').glob(f'{chapter}_*.md')
    text = path.read_text()
    assert f'\n<!-- exercises: {chapter} -->\n' in text
    assert f'`make watch E={chapter}`' in text
    page = exercises.markdown(chapter)
    for name in exercises.names(chapter):
        assert exercises.task(name)[0] in page


def test_the_front_page_says_how_many_there_are():
    text = (exercises.ROOT / 'book/index.md').read_text()
    assert f'#exercises), {len(NAMES)} in all' in text
