"""Questions: each is about one cell, and the output agrees with one answer."""

from pathlib import Path

import nbformat
import pytest

from book.tools import questions, weave
from book.tools.places import ROOT

CHAPTERS = [path for path in weave.chapters(Path())
            if questions.of_page(path)]
ALL = [(path, question) for path in CHAPTERS
       for question in questions.of_page(path)]
each = pytest.mark.parametrize(
    'path, question', ALL,
    ids=[f'{path.stem[:2]}: {question["asks"][:40]}'
         for path, question in ALL])


def test_every_chapter_asks_a_question():
    numbers = {path.stem[:2] for path in CHAPTERS
               if path.parent.name == 'chapters'}
    assert numbers == {f'{number:02}' for number in range(34)}


@each
def test_question_is_about_one_cell(path, question):
    sources = [block.text for block in weave.blocks(path) if block.runs]
    assert sum(question['cell'] in source for source in sources) == 1


@each
def test_question_has_one_right_answer_and_a_reason_for_each(path, question):
    answers = question['choices']
    assert sum(answer.get('right', False) for answer in answers) == 1
    assert all(answer['why'][-1] in '.?' for answer in answers)
    assert len({answer['says'] for answer in answers}) == len(answers) > 1


def outputs(path, cell):
    """Return the outputs that a cell had when the book was built."""
    made = ROOT / 'pages/notebooks' / f'{path.stem}.ipynb'
    if not made.exists():
        pytest.skip('`make pages` has not run')
    [found] = [found for found in nbformat.read(made, 4).cells
               if found.cell_type == 'code' and cell in found.source]
    return found.outputs


def output(path, cell):
    """Return what a cell printed when the book was built."""
    return '\n'.join(
        out.get('text') or '\n'.join(out.get('traceback', []))
        or out.data.get('text/plain', '') for out in outputs(path, cell))


@each
def test_question_hides_text_and_not_a_picture_or_a_player(path, question):
    for out in outputs(path, question['cell']):
        assert {*out.get('data', {})} <= {'text/plain'}


@each
def test_only_the_right_answer_agrees_with_the_output(path, question):
    printed = output(path, question['cell'])
    for answer in question['choices']:
        if 'prints' in answer:
            agrees = answer['prints'] in printed
            assert agrees == answer.get('right', False), (answer, printed)
