"""The main line is short: its listings, and the way to an experiment."""

import pytest

from book.tools import mainline, weave
from book.tools.places import ROOT

DRAFT = ''.join(f'def f{i}():\n    """It does\n    this."""\n    # and that\n'
                f'    return {i}\n\n\n' for i in range(40))


def fence(first, last, kind='python'):
    names = '\n\n'.join(f'def f{i}():\n    """It does\n    this."""\n'
                        f'    # and that\n    return {i}'
                        for i in range(first, last))
    return f'```{kind} title="autodiff_mini/draft/f.py"\n{names}\n```\n\n'


EXPERIMENT = '```python\nf0()\n```\n\n'


@pytest.fixture
def problems(tmp_path):
    (tmp_path / 'autodiff_mini/draft').mkdir(parents=True)
    (tmp_path / 'autodiff_mini/draft/f.py').write_text(DRAFT)
    (tmp_path / 'book/chapters').mkdir(parents=True)

    def check(text):
        page = tmp_path / 'book/chapters/01_first.md'
        page.write_text(f'# First\n\n{text}')
        return [(problem.line, problem.text)
                for problem in mainline.check(tmp_path)]
    return check


def test_the_main_line_of_book_one_is_short_enough():
    assert mainline.check(ROOT) == []


FOLD = '<details markdown="1">\n\n{}</details>\n\n'
HEAD = '```py title="autodiff_mini/draft/f.py"\nimport math\n```\n\n'


@pytest.mark.parametrize('text, found', [
    (fence(0, 10), []),
    (fence(0, 11), [(3, 'a listing of 22 lines')]),
    (fence(0, 10) + fence(10, 20), []),
    (fence(0, 10) + fence(10, 20) + fence(20, 21),
     [(127, '42 lines without an experiment')]),
    (fence(0, 10) + fence(10, 20) + EXPERIMENT + fence(20, 21), []),
    (fence(0, 1) + FOLD.format(HEAD), []),
    (fence(0, 1) + FOLD.format(fence(1, 2, 'py')),
     [(14, '`f1` is folded away')]),
    ('word ' * 3_490, []),
    ('word ' * 3_510, [(1, '3512 words')])])
def test_what_is_too_long_or_folded_away_is_named(problems, text, found):
    assert problems(text) == found


def test_book_one_has_at_most_so_many_words(problems, tmp_path):
    for number in range(2, 10):
        (tmp_path / f'book/chapters/{number:02}_more.md').write_text(
            'word ' * 3_100)
    assert problems('word') == []
    assert '25202 words in Book One' in problems('word ' * 400)[-1]


def test_words_are_those_that_are_not_folded_away(tmp_path):
    page = tmp_path / 'page.md'
    page.write_text('one two\n\n<details>\n\nthree\n\n</details>\n\nfour')
    assert mainline.words(page) == 3


def test_code_lines_are_lines_of_code():
    source = 'x = 1   # one\n\n# no\n"""No."""\ny = (\n 2)'
    assert mainline.code_lines(source) == 3


def test_the_whole_draft_is_on_one_page():
    shown = mainline.whole(ROOT / 'book/appendix/the_draft_on_one_page.md')
    modules = {title: module for title, module in weave.modules(ROOT).items()
               if title.startswith(weave.DRAFT)}
    assert len(modules) == 16
    for title, module in modules.items():
        for found in module.values():
            assert f'\n{found.text}\n' in shown, found.address
