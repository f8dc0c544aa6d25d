"""Run the cells of a chapter, and make a page of its prose and outputs.

A chapter is a notebook in a Markdown file. Every ```` ```python ```` fence
is a cell, and all of them run, top to bottom, in one fresh kernel. The page
shows the output of each cell below it. This module does not depend on the
program that builds the site.

A cell that fails ends the build. With `tags=["raises-exception"]` it must
fail. The tag `hide-input` leaves the code of a cell off the page. A cell that
draws has a text description, `alt="…"`.
"""

import hashlib
import html
import importlib.metadata
import json
import os
import platform
import re
import sys
import sysconfig
import tempfile
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

import jupytext
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionError, CellTimeoutError, DeadKernelError)
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import Keyword
from traitlets.config import Config

from book.tools import (
    benchmark_tables, exercises, ledger, mainline, modules, questions,
    reference, spreads, weave, what_works, whole_grid)
from book.tools.downloads import alone
from book.tools.places import ROOT, write

CACHE = ROOT / '.cache' / 'chapters'
TOOLS = Path(__file__).parent
PICTURE = 'image/svg+xml'
WIDEST = 110      # columns of a printed table
GREY = '#7f7f7f'   # the color of text and lines in matplotlibrc
IMPORTS = "The first cell of this page’s notebook"
# A printed program, after the constants that it uses.
PROGRAM = re.compile(
    r'(?m)^((?:\w+ = .*\n+)*(?:def |\{ lambda ).*(?:\n+[ ].*)*)')
ENTRY = re.compile(r'(?ms)^##### (.*?)$(.*?)(?=^#{3,5} |\Z)')
OUTPUT = re.compile(r'(?ms)^<div class="output(?: unseen)?">$.*?^</div>$')


class ChapterError(Exception):
    """An error in a chapter, with its place."""


class Page(NamedTuple):
    markdown: str
    notebook: str     # the executed notebook, as JSON; empty without cells
    seconds: float    # the run time of the cells; 0 if they are cached


def build(path):
    """Return the Page of a chapter; run its cells if they changed."""
    notebook = read(path)
    if not code_cells(notebook):
        return Page(markdown(notebook, path), '', 0)
    seconds = fill(notebook, path)
    return Page(markdown(notebook, path),
                nbformat.writes(alone(notebook, path)), seconds)


def fill(notebook, path):
    """Put the outputs into a notebook; return how long its cells ran."""
    if recall(notebook, path):
        return 0
    start = time.perf_counter()
    run(notebook, path)
    for stale in CACHE.glob(f'{path.stem}-*.json'):
        stale.unlink(missing_ok=True)
    write(cached(notebook, path), json.dumps(
        [cell.outputs for cell in code_cells(notebook)]).encode())
    return time.perf_counter() - start


def recall(notebook, path):
    """Put cached outputs into a notebook; return whether there are any."""
    file = cached(notebook, path)
    if file.exists():
        for cell, outputs in zip(code_cells(notebook),
                                 json.loads(file.read_text()), strict=True):
            cell.outputs = nbformat.from_dict(outputs)
    return file.exists()


def cached(notebook, path):
    """Return the file for the outputs of a chapter's notebook."""
    return CACHE / f'{path.stem}-{key(notebook)}.json'


# Running

def read(path):
    """Return the notebook in a Markdown file."""
    notebook = jupytext.read(path, fmt='md:markdown')
    notebook.metadata = nbformat.from_dict({'kernelspec': {
        'name': 'python3', 'display_name': 'Python 3 (ipykernel)',
        'language': 'python'}})
    for number, cell in enumerate(notebook.cells):
        cell.id = f'cell-{number}'   # else it is random
    return notebook


def code_cells(notebook):
    """Return the cells of a notebook that run."""
    return [cell for cell in notebook.cells if cell.cell_type == 'code']


def key(notebook):
    """Return a hash of a notebook's cells and its surroundings."""
    cells = [(cell.source, cell.metadata) for cell in code_cells(notebook)]
    return digest([cells, surroundings()])


def surroundings():
    """Return a hash of the code and versions that all outputs depend on."""
    files = [*sorted((ROOT / weave.PACKAGE).rglob('*.py')),
             *sorted(TOOLS.iterdir()), ROOT / 'book' / 'benchmarks.json']
    versions = [importlib.metadata.version(name)
                for name in ('numpy', 'matplotlib', 'ipykernel')]
    return digest([[(str(file.relative_to(ROOT)), file.read_text())
                    for file in files if file.is_file()],
                   versions, platform.python_version()])


def digest(facts):
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def run(notebook, path):
    """Run the cells of a notebook, and put the outputs into it."""
    with tempfile.TemporaryDirectory() as directory:
        client = NotebookClient(
            notebook, config=connection(directory), timeout=300,
            coalesce_streams=True, shutdown_kernel='immediate',
            extra_arguments=["--InlineBackend.figure_formats={'svg'}",
                             '--log-level=ERROR'])
        try:
            client.execute(cwd=directory, env=environment(directory))
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as e:
            at = max(client.code_cells_executed - 1, 0)
            raise ChapterError(failure(path, at, e)) from None
    for number, cell in enumerate(code_cells(notebook)):
        check(cell, place(path, number))
        cell.outputs = [clean(output, directory) for output in cell.outputs]
        cell.metadata.pop('execution', None)   # the times at which it ran


def connection(directory):
    """Return the settings of a kernel that is reached through files.

    Another program can take a port between the time Jupyter chooses it and
    the time the kernel binds it, but not a file in a private directory.
    """
    return Config(KernelManager={
        'transport': 'ipc',
        'connection_file': os.path.join(directory, 'kernel.json')})


def environment(directory):
    """Return the variables that make a run depend on the chapter alone."""
    return os.environ | {
        'IPYTHONDIR': directory,
        'JUPYTER_PREFER_ENV_PATH': '1',
        'MATPLOTLIBRC': str(TOOLS / 'matplotlibrc'),
        'PYTHONHASHSEED': '0',
        'SOURCE_DATE_EPOCH': '0',
    }


def failure(path, number, error):
    """Return the message that says where the nth cell failed, and how."""
    what, line = str(error).strip().splitlines()[-1], 0
    if isinstance(error, CellExecutionError):
        what = clean_text(f'{error.ename}: {error.evalue}')
        what = re.sub(r' \(\d+\.py, line \d+\)$', '', what)
        # The first frame is the cell's own; the error may be deeper.
        frame = re.search(r'(?m)^ *Cell In\[\d+\], line (\d+)$',
                          clean_text(error.traceback))
        line = int(frame[1]) if frame else 0
    return f'{place(path, number, line)}: {what}'


def check(cell, place):
    """Raise an error unless a cell has what its output needs."""
    raised = any(out.output_type == 'error' for out in cell.outputs)
    if 'raises-exception' in tags(cell) and not raised:
        raise ChapterError(f'{place}: the cell is tagged raises-exception, '
                           'but it raised no exception')
    draws = any(PICTURE in out.get('data', ()) for out in cell.outputs)
    if draws and 'alt' not in cell.metadata:
        raise ChapterError(f'{place}: the cell draws a plot, which needs '
                           'alt="…", a description')


def place(path, number, line=0):
    """Return the file and line number of a line of the nth cell."""
    fences = [block for block in weave.blocks(path) if block.runs]
    return f'{path}:{fences[number].line + line}'


def tags(cell):
    """Return the tags of a cell, if it has any."""
    return cell.metadata.get('tags', [])


def clean(output, directory):
    """Return an output without the paths and addresses of this machine."""
    if output.output_type == 'stream':
        output.text = clean_text(output.text, directory)
    elif output.output_type == 'error':
        said = [clean_text(line, directory) for line in output.traceback]
        output.evalue = clean_text(output.evalue, directory)
        message = f'{output.ename}: {output.evalue}'
        notes = said[said.index(message) + 1:] if message in said else []
        output.traceback = ['\n'.join([message, *notes])]
    elif 'text/plain' in output.data:
        output.data['text/plain'] = clean_text(
            output.data['text/plain'], directory)
    return output


def clean_text(text, directory=''):
    """Return `text` without colors, paths, and addresses."""
    text = re.sub(r'\x1b\[[0-9;]*m', '', text)
    text = re.sub(r'\S*ipykernel_\d+\W\d+\.py', '<cell>', text)
    # Without the reader's Python, an output is about the cell above it.
    text = re.sub(r'(\blambda in line \d+) of cell \d+', r'\1', text)
    # A warning also quotes its line, which is in the cell above.
    text = re.sub(r'(?m)^.*:\d+: (\w*Warning: .*\n)(?:  .*\n)?', r'\1', text)
    for path in (sysconfig.get_path('purelib'), sysconfig.get_path('stdlib'),
                 directory, str(ROOT)):
        text = text.replace(path + os.sep, '')
    return re.sub(r'\b0x[0-9a-f]{6,}', '0x…', text)


# The page

def markdown(notebook, path):
    """Return the page of a notebook whose cells have run."""
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == 'markdown':
            parts.append(cell.source)
        elif cell.cell_type == 'code':
            parts += code(cell, questions.about(cell, path))
    text = DIRECTIVE.sub(lambda match: directed(match, path),
                         '\n\n'.join(parts)) + '\n'
    return with_script(ENTRY.sub(folded, text), path)


def with_script(text, path):
    """Load the script of the players before the first, if there is one.

    A browser that waits for it never shows a player's list first.
    """
    up = '' if path.name == 'index.md' else '../'
    return text.replace(
        '<trace-player',
        f'<script src="{up}assets/player.js"></script><trace-player', 1)


def folded(entry):
    """Return an error of the page *Errors explained* folded into two lines.

    They are its meaning and the start of its message. The folded heading is
    for the search, and too deep for the table of contents.
    """
    meaning, text = entry.groups()
    text = OUTPUT.sub(lambda out: out[0] * (' class="error"' in out[0]), text)
    [said] = re.findall('(?s)<pre class="error".*?>(.*?)</pre>', text)
    begins = quoted(textwrap.shorten(
        html.unescape(said), 110, placeholder=' …'))
    return exercises.folded(
        f'{html.escape(meaning, quote=False)}<br><code>{begins}</code>',
        f'##### {meaning} {{ aria-level="4" }}\n\n{text.strip()}',
        ' class="error"') + '\n\n'


def directed(match, path):
    """Return the text for a line such as `<!-- table: draft -->`."""
    try:
        return MADE[match[1]](match[2], path)
    except Exception as error:
        line = path.read_text().split(match[0])[0].count('\n') + 1
        what = f'{type(error).__name__}: {error}'
        raise ChapterError(f'{path}:{line}: {match[0]}: {what}') from error


TABLES = {'whole grid': whole_grid.table, 'draft': mainline.whole,
          'reference': reference.index}
MADE = {'table': lambda name, _: TABLES[name](),
        'benchmarks': lambda name, _: benchmark_tables.benchmarks(name),
        'exercises': lambda chapter, _: exercises.markdown(chapter),
        'modules': lambda folders, _: modules.listed(folders),
        'works': lambda module, _: what_works.table(module),
        'ledger': lambda _, path: ledger.page(path),
        'then and now': spreads.page}
DIRECTIVE = re.compile(
    rf'(?m)^<!-- ({"|".join(MADE)})(?:: ([\w. /]+))? -->$')


def code(cell, question=None):
    """Return the parts of a page that come from one cell."""
    parts, kind = [], 'output'
    if 'imports' in tags(cell):
        parts.append(exercises.folded(IMPORTS, listing(cell),
                                      ' class="imports"'))
    elif 'hide-input' in tags(cell):
        kind = 'output unseen'      # it belongs to no cell of the page
    else:
        parts.append(listing(cell))
    shown = [*filter(None, [show(output, cell) for output in cell.outputs])]
    if shown:
        parts += filter(None, [question])
        parts.append('\n'.join([f'<div class="{kind}">', *shown, '</div>']))
    return parts


def listing(cell):
    """Return the code of a cell as a fence, with its title."""
    ticks = max(re.findall('```+', cell.source), default='``') + '`'
    title = cell.metadata.get('title')
    opening = f'{ticks}python' + f' title="{title}"' * bool(title)
    return f'{opening}\n{cell.source}\n{ticks}'


def show(output, cell):
    """Return the HTML of one output."""
    if output.output_type == 'stream':
        return pre(output.text, output.name)
    if output.output_type == 'error':
        return pre(output.traceback[0], 'error')
    data = output.data
    if PICTURE in data:
        drawn = svg(data[PICTURE], html.escape(cell.metadata['alt']))
        return f'<figure class="plot">{drawn}</figure>'
    if 'text/html' in data:
        # The page loads the script of the players once.
        text = re.sub(r'(?s)<script>.*?</script>', '', data['text/html'])
        return f'<div class="rich">{text}</div>'
    return pre(data.get('text/plain', ''), 'result')


def pre(text, kind):
    """Return preformatted text, in a box that scrolls if it is wide.

    Lines wider than any table are messages, which wrap instead.
    """
    if kind == 'stdout' and max(map(len, text.split('\n'))) > WIDEST:
        kind += ' prose'
    text = text.strip('\n')
    if not text:
        return ''
    if kind == 'error' or not PROGRAM.search(text):
        return f'<pre class="{kind}" tabindex="0">{quoted(text)}</pre>'
    return f'<pre class="{kind} highlight" tabindex="0">{colored(text)}</pre>'


def colored(text):
    """Return printed text as HTML, with the programs in it colored."""
    parts = PROGRAM.split(text)
    return ''.join(highlighted(part) if i % 2 else quoted(part)
                   for i, part in enumerate(parts))


def highlighted(program):
    """Return a program as HTML: Python, or a jaxpr with `let` and `in`."""
    lexer = PythonLexer(ensurenl=False, stripnl=False)
    lexer.add_filter('highlight', names=['let'], tokentype=Keyword)
    text = highlight(program, lexer, HtmlFormatter(nowrap=True))
    if program.startswith('{'):
        text = text.replace('"ow">in<', '"k">in<')
    return escaped(text.removesuffix('\n'))


def quoted(text):
    """Return text as HTML, with backquotes escaped from Markdown."""
    return escaped(html.escape(text))


def escaped(text):
    """Return HTML with backquotes escaped from Markdown."""
    return text.replace('`', '&#96;')


def svg(text, label):
    """Return an SVG for use in a page, in the page's text color."""
    text = text[text.index('<svg'):].strip().replace(GREY, 'currentColor')
    text = re.sub(r'(?s)<(metadata|style).*?</\1>|<!--.*?-->', '', text)
    text = re.sub(r'<g id="\w+[^"]*"', '<g', text)   # ids are not unique
    text = re.sub(r'\n\s*\n', '\n', text)   # a blank line ends the HTML
    return text.replace('<svg', f'<svg role="img" aria-label="{label}"', 1)


if __name__ == '__main__':     # run the cells of the given pages
    try:
        for page in sys.argv[1:]:
            build(Path(page))
    except ChapterError as error:
        sys.exit(str(error))
