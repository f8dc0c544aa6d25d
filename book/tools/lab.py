"""Copy the book into `notebooks/`, where a reader runs and edits it.

    python -m book.tools.lab        writes the notebooks that are not there
    python -m book.tools.lab 04     and brings the book's chapter 4 back

A copy that the reader hasn't edited is renewed when the book has changed. A
copy knows from its metadata which cells the book gave it, so running or
saving it is no edit. The outputs are there if `make pages` has run.
"""

import re
import sys
from pathlib import Path

import nbformat

from book.tools import pages, render
from book.tools.downloads import alone
from book.tools.places import write

FOLDER = Path('notebooks')


def made():
    """Return {name: notebook} of the pages of the book that have cells."""
    notebooks = {}
    for path in pages.sources():
        notebook = render.read(path)
        if render.code_cells(notebook):
            render.recall(notebook, path)
            notebook = alone(notebook, path)
            notebook.metadata.book = {'cells': cells(notebook),
                                      'outputs': outputs(notebook)}
            notebooks[f'{path.stem}.ipynb'] = notebook
    return notebooks


def cells(notebook):
    """Return a hash of the cells, without their outputs."""
    return render.digest([[cell.cell_type, cell.source]
                          for cell in notebook.cells])


def outputs(notebook):
    """Return a hash of the outputs; empty if there are none."""
    found = [cell.outputs for cell in render.code_cells(notebook)]
    return render.digest(found) if any(found) else ''


def edited(file):
    """Return whether a notebook has other cells than the book gave it."""
    try:
        notebook = nbformat.read(file, as_version=4)
        return notebook.metadata.book['cells'] != cells(notebook)
    except (AttributeError, KeyError, TypeError, ValueError,
            nbformat.ValidationError):
        return True     # at least, it is not as the book made it


def old(file, new):
    """Return whether the book has new cells for a copy, or new outputs."""
    before, now = nbformat.read(file, as_version=4).metadata.book, new.book
    return before['cells'] != now['cells'] or (
        now['outputs'] not in ('', before['outputs']))


def put(notebooks):
    """Write the notebooks; return the names of those the reader edited."""
    kept = []
    for name, notebook in notebooks.items():
        file = FOLDER / name
        if file.exists() and edited(file):
            kept.append(name)
        elif not file.exists() or old(file, notebook.metadata):
            write(file, nbformat.writes(notebook).encode())
    return kept


def reset(chosen, notebooks):
    """Remove the copy of a chapter; if it was edited, keep it as `.old`.

    Raises:
        SystemExit: the book has no such notebook.
    """
    words = Path(chosen).stem
    names = [name for name in notebooks
             if words in (Path(name).stem, number(name))
             or words.zfill(2) == number(name)]
    if not names:
        sys.exit(f'The book has no notebook {chosen}. Write the number of '
                 'a chapter, as in RESET=04, or the name of a file.')
    [file] = [FOLDER / name for name in names]
    if file.exists() and edited(file):
        aside = file.with_suffix('.old.ipynb')
        file.replace(aside)
        print(f'Your old notebook is now {aside}.')
    file.unlink(missing_ok=True)


def number(name):
    """Return the number of a chapter's notebook, or another one's name."""
    return re.match(r'\d+|.*(?=\.)', name)[0]


def main(chosen=''):
    """Write the notebooks, and say which ones are the reader's."""
    notebooks = made()
    if chosen:
        reset(chosen, notebooks)
    kept = put(notebooks)
    print(f"The book's notebooks are in {FOLDER}/, and you can edit them.")
    if not all(notebook.metadata.book['outputs']
               for notebook in notebooks.values()):
        print('Some have no outputs yet. Run them, or run `make pages` first.')
    if kept:
        print(f'You have edited {", ".join(kept)}. To bring the book\'s back: '
              f'make lab RESET={number(kept[0])}')


if __name__ == '__main__':
    main(*sys.argv[1:])
