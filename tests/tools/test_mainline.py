"""The main line is short: its listings, and the way to an experiment."""

from pathlib import Path

import pytest

from book.tools import mainline, weave

ROOT = Path(__file__).parents[2]
DRAFT = ''.join(f'def f{i}():\n    """It does\n    this."""\n    # and that\n'
                f'    return {i}\n\n\n' for i in range(40))


def fence(first, last, kind='python'):
    names = '\n\n'.join(f'def f{i}():\n    """It does\n    this."""\n'
                        f'    # and that\n    return {i}'
                        for i in range(first, last))
    return f'```{kind} title="autodiff_mini/draft.py"\n{names}\n```\n\n'


EXPERIMENT = '```python\nf0()\n```\n\n'


@pytest.fixture
def problems(tmp_path):
    (tmp_path / 'autodiff_mini').mkdir()
    (tmp_path / 'autodiff_mini/draft.py').write_text(DRAFT)
    (tmp_path / 'book/chapters').mkdir(parents=True)

    def check(text):
        page = tmp_path / 'book/chapters/01_first.md'
        page.write_text(f'# First\n\n{text}')
        return [(problem.line, problem.text)
                for problem in mainline.check(tmp_path)]
    return check


def test_the_books_main_line_is_short_enough():
    assert mainline.check(ROOT) == []
    assert mainline.count(ROOT) <= mainline.MOST_WORDS


def test_a_listing_of_twenty_lines_is_short_enough(problems):
    assert problems(fence(0, 10)) == []
    assert problems(fence(0, 11)) == [(3, 'a listing of 22 lines')]


def test_an_experiment_ends_the_way(problems):
    assert problems(fence(0, 10) + fence(10, 20)) == []
    [(line, text)] = problems(fence(0, 10) + fence(10, 20) + fence(20, 21))
    assert (line, text) == (127, '42 lines without an experiment')
    assert problems(fence(0, 10) + fence(10, 20) + EXPERIMENT
                    + fence(20, 21)) == []


def test_what_is_folded_away_does_not_count(problems):
    fold = '<details markdown="1">\n\n{}</details>\n\n'
    assert problems(fence(0, 1) + fold.format(fence(1, 30, 'py'))) == []
    assert problems(fence(0, 1) + fence(1, 30, 'py')) == [
        (11, 'a listing of 58 lines'), (11, '60 lines without an experiment')]


def test_words_are_those_that_are_not_folded_away(tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('one two\n\n<details>\n\nthree\n\n</details>\n\nfour')
    assert mainline.words(page) == 3


def test_code_lines_are_lines_of_code():
    source = 'x = 1   # one\n\n# no\n"""No."""\ny = (\n 2)'
    assert mainline.code_lines(source) == 3


def test_the_whole_draft_is_on_one_page():
    page = ROOT / 'book/appendix/p_the_draft_on_one_page.md'
    shown = mainline.whole(page) + page.read_text()
    source = (ROOT / weave.DRAFT).read_text()
    for found in weave.statements(source):
        assert shown.count(f'\n{found.text}\n') == 1, found.address


def test_no_name_comes_too_early_on_the_main_line():
    pages = mainline.pages(ROOT)
    assert len(pages) >= 10
    assert [problem for problem in weave.early_names(ROOT)
            if problem.path in pages] == []
