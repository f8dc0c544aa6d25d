"""mainline: Book One's listings are short, and an experiment is never far."""

import pytest

from book.tools import mainline, weave
from book.tools.places import ROOT

FUNCTION = 'def f{0}():\n    """Return {0}."""\n    # and that\n    return {0}\n'


def fence(first, last):
    text = '\n'.join(FUNCTION.format(i) for i in range(first, last))
    return f'```python title="autodiff_mini/draft/f.py"\n{text}```\n\n'


def test_the_main_line_of_book_one_is_short_enough():
    assert mainline.check(ROOT) == []


@pytest.mark.parametrize('text, found', [
    (fence(0, 10) + fence(10, 20), []),
    (fence(0, 11), [(3, 'a listing of 22 lines')]),
    (fence(0, 10) + fence(10, 20) + fence(20, 21),
     [(107, '42 lines without an experiment')]),
    (fence(0, 10) + fence(10, 20) + '```python\nf0()\n```\n\n'
     + fence(20, 21), []),
    ('word ' * 3_490 + '\n<details>\n\nnot seen\n\n</details>', []),
    ('word ' * 3_510, [(1, '3512 words')])])
def test_a_page_that_is_too_long_is_named(tmp_path, text, found):
    for path, written in (
            ('autodiff_mini/draft/f.py', '\n\n'.join(
                FUNCTION.format(i) for i in range(40))),
            ('book/chapters/01_first.md', f'# First\n\n{text}')):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(written)
    assert [(problem.line, problem.text)
            for problem in mainline.check(tmp_path)] == found


def test_code_lines_are_lines_of_code():
    source = 'x = 1   # one\n\n# no\n"""No."""\ny = (\n 2)'
    assert mainline.code_lines(source) == 3


def test_the_whole_draft_is_on_one_page():
    shown = mainline.whole()
    for title, module in weave.modules(ROOT).items():
        for found in module.values() if title.startswith(weave.DRAFT) else ():
            assert f'\n{found.text}\n' in shown, found.address
