"""Make what a reader can download: notebooks, and the draft so far.

On the site a page has its theme, its pictures, and its neighbors. A notebook
is a single file, opened in a program that knows plain Markdown.
"""

import base64
import html
import io
import mimetypes
import re
import sys
import zipfile
from pathlib import Path

import nbformat
from mkdocs.utils.yaml import yaml_load

from book.tools import exercises, ledger, spreads, weave
from book.tools.places import ROOT, told

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
HERE = re.compile(r'(?<!!)\[([^]]+)\]\(#[^)]*\)')
FOOTNOTE = re.compile(r'\[\^(\w+)\](: )?')
SUMMARY = re.compile('<summary>.*?</summary>')
SIZE = re.compile(r'viewBox="(\S+ \S+ (\S+) (\S+))"(?: width="\S+")?')
# A notebook has no such button.
TRY_IT = re.compile(r'\*Try it\* on the page, or |edit the code below and '
                    r'click \*Try it\*, which runs its tests\. .*?\. ')
EXERCISES = re.compile(r'(?m)^<!-- exercises: (\w+) -->$')
LEDGER = re.compile('(?m)^<!-- ledger -->$')
SPREAD = re.compile(r'(?m)^<!-- then and now: (\w+) -->$')
IMPORT = re.compile(r'(?m)^ *(?:from|import) (\w+)')
NAMES = re.compile(r'(?m)^(from \.(\w+) .*)')
SO_FAR = '"""The draft as it is after chapter {} of the book."""\n\n{}\n'
LATER = {'pull': 'pull = backward_pass      # until chapter 12'}
LISTING = re.compile(r'^(`{3,})py(?:thon)? title="([^"]+)".*$', re.MULTILINE)


def alone(notebook, path):
    """Change the notebook of a page so that it runs elsewhere; return it.

    Its first cell names missing packages. A comment in a listing names its
    file. Pictures are part of the prose, because JupyterLab doesn't show an
    SVG that is attached to a cell.
    """
    notes = footnotes(notebook)
    for cell in notebook.cells:
        if cell.cell_type == 'markdown':
            tell(cell, path, notes)
        elif 'title' in cell.metadata:
            cell.source = f'# {cell.metadata.title}\n{cell.source}'
        elif 'book' in IMPORT.findall(cell.source):
            cell.source = f'{SOURCE}\n{cell.source}'
    names = packages(notebook)
    if names:
        notebook.cells.insert(0, nbformat.v4.new_code_cell(
            NEEDS.format(needs=needs(names)), id='needs'))
    return notebook


def footnotes(notebook):
    """Return {name: number} of the footnotes of a notebook."""
    found = [match.groups() for cell in notebook.cells
             if cell.cell_type == 'markdown'
             for match in FOOTNOTE.finditer(cell.source)]
    names = dict.fromkeys(name for name, _ in found if (name, ': ') in found)
    return {name: number for number, name in enumerate(names, 1)}


def tell(cell, path, notes):
    """Embed the pictures of a cell of prose, and adapt its links.

    Footnotes get their numbers, and what only a page can do is left out.
    """
    text = TRY_IT.sub('', cell.source)
    text = EXERCISES.sub(lambda match: exercises.markdown(match[1]), text)
    text = LEDGER.sub(lambda _: ledger.markdown(path), text)
    text = SPREAD.sub(lambda match: spreads.markdown(match[1]), text)
    text = CLASSES.sub('', LISTING.sub(r'\1python\n# \2', text))

    def picture(match):
        words, source = match.groups()
        file = (Path(path).parent / source).resolve()
        kind, _ = mimetypes.guess_type(file)
        data = base64.b64encode(on_paper(file)).decode()
        alt = html.escape(words)
        return f'<img alt="{alt}" src="data:{kind};base64,{data}">'

    def link(match):
        words, page, _ = match.groups()
        file = Path(path).parent / f'{page}.md'
        runs = any(block.runs for block in weave.blocks(file))
        return f'{words}({file.stem}.ipynb)' if runs else words[1:-1]

    def note(match):
        name, defines = match.groups()
        if name not in notes:
            return match[0]
        return f'\n<sup>{notes[name]}</sup> ' if defines else (
            f'<sup>{notes[name]}</sup>')

    text = HERE.sub(r'\1', FOOTNOTE.sub(note, text))
    text = SUMMARY.sub(lambda match: re.sub(
        '`(.+?)`', r'<code>\1</code>', match[0]), text)
    cell.source = LINK.sub(link, PICTURE.sub(picture, text))


def on_paper(file):
    """Return the bytes of a picture; a drawing has its size and white paper.

    Otherwise it would fill the notebook, and be black on black in the dark.
    """
    if file.suffix != '.svg':
        return file.read_bytes()
    return SIZE.sub(r'viewBox="\1" width="\2" height="\3" '
                    'style="background: white"', file.read_text(), 1).encode()


def packages(notebook):
    """Return the names of the packages that the cells import, sorted."""
    found = {name for cell in notebook.cells if cell.cell_type == 'code'
             for name in IMPORT.findall(cell.source)}
    return sorted(found - sys.stdlib_module_names - {'book'})


def needs(names):
    """Return {name in Python: requirement for pip} of packages."""
    address = yaml_load((ROOT / 'mkdocs.yml').read_text())['repo_url']
    found = PIP | {'autodiff_mini': f'git+{address}' if address else '.'}
    return {name: found.get(name, name) for name in names}


# Archives.

def archive(files):
    """Return files {name: content} as a zip file, the same each time."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, 'w') as target:
        for name, content in files.items():
            target.writestr(zipfile.ZipInfo(name), content,
                            zipfile.ZIP_DEFLATED, 9)
    return made.getvalue()


def drafts():
    """Return {name: archive} of the draft as it is after each chapter.

    It has the statements that the book has shown, as a package `draft`, and
    the line that stands in for a function that comes later.
    """
    shown, book, made = told(), weave.modules(Path()), {}
    for page in weave.book_one(Path())[1:]:
        files = {}
        for title, places in shown.items():
            read = [statement for name, statement in book[title].items()
                    if name in places and places[name][0].page <= page]
            if read and title.startswith(weave.DRAFT):
                text = weave.join(read) + '\n'
                for name in LATER.keys() & book[title].keys() - {
                        statement.address for statement in read}:
                    text += f'\n{LATER[name]}\n' * (f'{name}(' in text)
                files[f'draft/{Path(title).name}'] = text
        if files:
            names = [line for line, name in NAMES.findall(
                Path(weave.DRAFT, '__init__.py').read_text())
                if f'draft/{name}.py' in files]
            files['draft/__init__.py'] = SO_FAR.format(
                weave.label(page), '\n'.join(names))
        made[f'drafts/{page.stem}.zip'] = archive(files)
    return made
