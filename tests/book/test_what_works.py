"""The tables of what works equal newly measured ones."""

import json

import pytest

from book.tools import what_works
from tests.support.wings import needs

DATA = json.loads(what_works.DATA.read_text())


@needs('more_numpy')
@pytest.mark.rest
def test_the_data_equal_a_new_measurement():
    from tests.commands.what_works import answers
    assert answers() == DATA, 'run `python -m tests.commands.what_works`'


def test_a_table_names_arguments_and_reasons(tmp_path, monkeypatch):
    path = tmp_path / 'data.json'
    path.write_text(json.dumps({'numpy': {
        'add': ['x1', 'x2'], 'argmax': [], 'save': 'it writes',
        'savez': 'it writes'}}))
    monkeypatch.setattr(what_works, 'DATA', path)
    text = what_works.table('numpy')
    assert '2 of 4 functions work' in text and '1 of these' in text
    assert '- `add` x1, x2\n\n</div>' in text
    assert f'*{what_works.STILL}* `argmax`.' in text
    assert '*Not supported, because it writes:* `save`, `savez`.' in text


def test_most_functions_work():
    works = {module: [name for name, answer in answers.items()
                      if not isinstance(answer, str)]
             for module, answers in DATA.items()}
    assert len(works['numpy']) > 0.9 * len(DATA['numpy'])
    assert len(works['numpy.linalg']) == len(DATA['numpy.linalg'])
    assert len(works['numpy.fft']) > 15
    assert len(works['scipy.special']) > 90
