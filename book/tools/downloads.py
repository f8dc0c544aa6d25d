"""Make a self-contained notebook from one that has run.

On the site a page has its theme, its pictures, and its neighbors. A download
is a single file, opened in a program that knows plain Markdown.
"""

import ast
import base64
import copy
import mimetypes
import re
import sys
from pathlib import Path

import nbformat

from book.tools import weave
from book.tools.places import settings

NEEDS = '''\
from importlib.util import find_spec

needs = {needs}
missing = [name for name in needs if not find_spec(name)]
if missing:
    raise ModuleNotFoundError(
        f"This notebook needs {{' and '.join(missing)}}: "
        f"pip install {{' '.join(needs[name] for name in missing)}}"
        f"{{', in the folder of the book' * (needs[missing[0]] == '.')}}")
del needs, missing'''
PIP = {'dask': "'dask[array,distributed]'"}     # others keep their names
SOURCE = "# This cell runs in a folder of the book's source."
PICTURE = re.compile(r'!\[([^]]*)\]\(([^):]+)\)')
CLASSES = re.compile(r'(?<=\))\{ \.[^}]*\}')
LINK = re.compile(r'(?<!!)(\[[^]]+\])\(([\w./]+)\.md(#[^)]*)?\)')
LISTING = re.compile(r'^(`{3,})py(?:thon)? title="([^"]+)".*$', re.MULTILINE)


def alone(notebook, path):
    """Return the notebook of a page in a form that runs elsewhere.

    Its first cell names missing packages. A comment in a listing names its
    file, and pictures are attached to the notebook.
    """
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        if cell.cell_type == 'markdown':
            tell(cell, path)
        elif 'title' in cell.metadata:
            cell.source = f'# {cell.metadata.title}\n{cell.source}'
        elif 'book' in imported(cell.source):
            cell.source = f'{SOURCE}\n{cell.source}'
    names = packages(notebook)
    if names:
        check = nbformat.v4.new_code_cell(NEEDS.format(needs=needs(names)))
        check.id = 'needs'
        notebook.cells.insert(0, check)
    return notebook


def tell(cell, path):
    """Embed the pictures of a cell of prose, and adapt its links."""
    text = LISTING.sub(r'\1python\n# \2', cell.source)
    text = CLASSES.sub('', text)

    def picture(match):
        words, source = match.groups()
        file = (Path(path).parent / source).resolve()
        kind, _ = mimetypes.guess_type(file)
        data = base64.b64encode(file.read_bytes()).decode()
        cell.setdefault('attachments', {})[file.name] = {kind: data}
        return f'![{words}](attachment:{file.name})'

    def link(match):
        words, page, _ = match.groups()
        file = Path(path).parent / f'{page}.md'
        runs = any(block.runs for block in weave.blocks(file))
        return f'{words}({file.stem}.ipynb)' if runs else words[1:-1]

    cell.source = LINK.sub(link, PICTURE.sub(picture, text))


def packages(notebook):
    """Return the names of the packages that the cells import, sorted."""
    found = [imported(cell.source) for cell in notebook.cells
             if cell.cell_type == 'code']
    return sorted(set().union(*found) - sys.stdlib_module_names - {'book'})


def needs(names):
    """Return {name in Python: requirement for pip} of packages."""
    address = settings()['repo_url']
    found = PIP | {'autodiff_mini': f'git+{address}' if address else '.'}
    return {name: found.get(name, name) for name in names}


def imported(source):
    """Return the names of the packages that a cell imports."""
    try:
        tree = ast.parse(source)
    except SyntaxError:     # a magic, or an error that is shown
        return set()
    return {name.partition('.')[0] for node in ast.walk(tree)
            for name in weave.imports(node)}
