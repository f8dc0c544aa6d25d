"""lab: a reader's notebooks are copies of the book, and edits stay."""

import json
import os

import nbformat
import pytest

from book.tools import lab, render

PAGE = '# A page\n\n```python\n{}\n```\n'


@pytest.fixture
def book(monkeypatch, tmp_path):
    """Return a function that changes a book of two pages and copies it."""
    paths = [tmp_path / 'book/04_one.md', tmp_path / 'book/14_two.md']
    paths[0].parent.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(lab.pages, 'sources', lambda: paths)
    monkeypatch.setattr(render, 'CACHE', tmp_path / 'cache')

    def copied(code, chosen='', runs=False):
        for path in paths:
            path.write_text(PAGE.format(code))
            if runs:
                notebook = render.read(path)
                output = nbformat.v4.new_output('stream', text='1\n')
                render.write(render.cached(notebook, path),
                             f'[[{json.dumps(output)}]]'.encode())
        lab.main(chosen)
        return [read(name).cells[-1] for name in ('04_one', '14_two')]

    return copied


def read(name):
    return nbformat.read(lab.FOLDER / f'{name}.ipynb', as_version=4)


def save(name, change):
    """Change a copy and save it, as JupyterLab does."""
    notebook = read(name)
    notebook.metadata.language_info = {'name': 'python'}
    change(notebook.cells[-1])
    nbformat.write(notebook, lab.FOLDER / f'{name}.ipynb')


def test_an_edited_notebook_stays_and_others_follow_the_book(book, capsys):
    book('print(1)')
    save('04_one', lambda cell: cell.update(source='print(7)'))
    save('14_two', lambda cell: cell.update(execution_count=1))
    assert [cell.source for cell in book('print(2)')] == [
        'print(7)', 'print(2)']
    assert 'You have edited 04_one.ipynb.' in capsys.readouterr().out
    (lab.FOLDER / '04_one.ipynb').write_text('broken')
    with pytest.raises(nbformat.reader.NotJSONError):
        book('print(3)')
    assert (lab.FOLDER / '04_one.ipynb').read_text() == 'broken'


@pytest.mark.parametrize('words', ['04', '4', '04_one.ipynb'])
def test_reset_brings_the_book_back_and_keeps_the_old(book, words, capsys):
    book('print(1)')
    save('04_one', lambda cell: cell.update(source='print(7)'))
    assert book('print(1)', words)[0].source == 'print(1)'
    assert read('04_one.old').cells[-1].source == 'print(7)'
    assert 'now notebooks/04_one.old.ipynb.' in capsys.readouterr().out
    with pytest.raises(SystemExit, match='The book has no notebook 1. Write'):
        book('print(1)', '1')


def test_a_copy_gets_the_outputs_of_the_book_once_it_has_run(book, capsys):
    assert not book('print(1)')[0].outputs
    assert 'Some have no outputs yet.' in capsys.readouterr().out
    assert book('print(1)', runs=True)[0].outputs[0].text == '1\n'
    assert 'no outputs' not in capsys.readouterr().out


def test_a_run_is_no_edit_and_its_outputs_stay(book):
    output = nbformat.v4.new_output('stream', text='mine\n')
    book('print(1)')
    save('04_one', lambda cell: cell.update(outputs=[output]))
    file = lab.FOLDER / '04_one.ipynb'
    os.utime(file, (0, 0))
    assert book('print(1)')[0].outputs[0].text == 'mine\n'
    assert file.stat().st_mtime == 0
