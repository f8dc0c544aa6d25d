"""Make a folder of Markdown from the book, the source of the site.

    python -m book.tools.pages        writes it
    python -m book.tools.pages 8000   and serves it, too

The folder `pages` has the chapters with the outputs of their cells, their
notebooks, and their pictures.
"""

import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import watchfiles

import autodiff_mini
from book.tools import (
    downloads, in_page, mainline, modules, reference, spreads, weave)
from book.tools.places import ROOT, write
from book.tools.render import ChapterError, build, surroundings

FOLDER = Path('pages')
LEFT_OUT = 'katex.min.js'     # used by the build, not by the site
PLAYER = ROOT / weave.PACKAGE / 'wings/notebook'
FILES = {'assets/player.js': PLAYER / 'player.js',
         'assets/guess.js': PLAYER / 'guess.js',
         'LICENSE.txt': ROOT / 'LICENSE', 'changes.md': ROOT / 'CHANGELOG.md'}
FRONT = re.compile(r'(?s)(?:---\n(.*?)---\n)?')
LINK = '[{}]({}){{ .notebook download="" }} '
RELEASE = autodiff_mini.__version__    # the book's, too
# A module's page has no room for a table of contents, and cannot be edited.
FRONT_OF_MODULES = f'---\nhide: [toc]\nmade: true\nrelease: {RELEASE}\n---\n\n'


def sources():
    """Return the Markdown files of the book."""
    return [*weave.chapters(Path()), *reference.pages(Path())]


def made_of(path):
    """Return ({name in the folder: text}, seconds) for a Markdown file.

    A page with cells links to its notebook below its title, and the front
    page where it says <!-- notebook -->.
    """
    name = path.relative_to('book')
    [front] = FRONT.match(path.read_text()).groups('')
    page = build(path)
    text, made = page.markdown, {}
    if page.notebook:
        notebook = f'notebooks/{path.stem}.ipynb'
        made[notebook] = page.notebook
        if name.name == 'index.md':
            text = text.replace('<!-- notebook -->', LINK.format(
                'Open as notebook', notebook))
        else:
            link = LINK.format('Open as notebook', f'../{notebook}')
            if path in weave.book_one(Path())[1:]:
                link += LINK.format('The draft so far',
                                    f'../drafts/{path.stem}.zip')
            text = text.replace('\n', f'\n\n{link}\n', 1)
    made[name.as_posix()] = (f'---\n{front}release: {RELEASE}\n---\n\n'
                             + reference.linked(text, path))
    return made, page.seconds


def differences():
    """Return the problems of the listings and of the main line."""
    return weave.check(Path()) + mainline.check(Path()) + spreads.check(Path())


# The folder. An unchanged file keeps its time.

def other_files():
    """Return {name: bytes} of the files besides the pages of the book.

    They are the modules' pages, the downloads, and what a page loads.
    """
    files = FILES | {path.relative_to('book').as_posix(): path
                     for path in sorted(Path('book/assets').rglob('*'))
                     if path.is_file() and path.name != LEFT_OUT}
    made = {name: path.read_bytes() for name, path in files.items()}
    made |= {name: (FRONT_OF_MODULES + text).encode()
             for name, text in modules.pages().items()}
    notebooks = [FOLDER / f'notebooks/{path.stem}.ipynb' for path in sources()]
    made['notebooks.zip'] = downloads.archive({
        path.name: path.read_bytes() for path in notebooks if path.exists()})
    return made | in_page.files() | downloads.drafts()


def put_pages(made):
    """Make the pages that are not up to date, those with new text first.

    Args:
        made: {page: (text, library, files)} of the pages made so far.

    Returns:
        {page: error} of the pages that cannot be made.
    """
    now, errors = surroundings(), {}
    texts = {path: path.read_text() for path in sources()}
    old = [path for path in texts
           if made.get(path, ())[:2] != (texts[path], now)]
    old.sort(key=lambda path: made.get(path, ())[:1] == (texts[path],))
    # New processes import the library anew.
    pool = ProcessPoolExecutor(2, multiprocessing.get_context('spawn'))
    try:
        jobs = {pool.submit(made_of, path): path for path in old}
        for job in as_completed(jobs):
            path = jobs[job]
            try:
                files, seconds = job.result()
            except Exception as error:
                errors[path] = str(error) if isinstance(
                    error, ChapterError) else traceback.format_exc()
                print(errors[path], flush=True)
                continue
            made[path] = texts[path], now, files
            for name, text in files.items():
                write(FOLDER / name, text.encode())
            if seconds:
                print(f'{seconds:6.1f} s  {path}', flush=True)
    except (KeyboardInterrupt, SystemExit):
        end_processes()
        raise
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    others = other_files()
    for name, data in others.items():
        write(FOLDER / name, data)
    names = {'served.json', *others}.union(
        *[made[path][2] for path in texts if path in made])
    for file in FOLDER.rglob('*'):
        if file.is_file() and file.relative_to(FOLDER).as_posix() not in names:
            file.unlink()
    return errors


def end_processes():
    """Kill the processes that run pages; a running kernel blocks a signal.

    The kernels notice it and end, too.
    """
    for child in multiprocessing.active_children():
        child.kill()


def make():
    """Make the folder, and return whether there was an error."""
    if wrong := weave.not_python(Path()) or differences():
        print(*wrong, sep='\n')
        return True
    return bool(put_pages({}))


# With a server.

def look(made):
    """Weave, make the pages that have changed, and write their banners.

    The banner of a page says what is wrong there.
    """
    wrong, errors = weave.not_python(Path()), {}
    if not wrong:     # or every page would fail with the same error
        weave.weave(Path())
        wrong, errors = differences(), put_pages(made)
    for problem in wrong:
        print(problem, flush=True)
    write(FOLDER / 'served.json', json.dumps({
        path.relative_to('book').as_posix(): '\n\n'.join(
            [str(problem) for problem in wrong
             if problem.path == path or problem.path.suffix == '.py']
            + [error for page, error in errors.items() if page == path])
        for path in sources()}).encode())


def free_port(words):
    """Return the address of a port, or exit if it isn't free."""
    try:
        socket.create_server(('127.0.0.1', int(words))).close()
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f'Port {words} cannot be used: {error}. Choose another one, '
                 'as in `make serve PORT=9000`.')
    return f'127.0.0.1:{words}'


def serve(port):
    """Run a server for the folder, and keep the folder up to date."""
    address, made = free_port(port), {}
    look(made)
    with subprocess.Popen(
            [sys.executable, '-m', 'mkdocs', 'serve', '--dirty', '-a', address],
            env=os.environ | {'SERVING': '1'}) as engine:
        try:
            for changes in watchfiles.watch(
                    'book', weave.PACKAGE, 'mkdocs.yml', rust_timeout=500,
                    yield_on_timeout=True, raise_interrupt=False):
                if engine.poll() is not None:
                    break
                if changes:
                    meet(made, [path for _, path in changes])
        finally:
            engine.terminate()
            end_processes()


def meet(made, changed):
    """Update the pages after a save; an error does not end the server.

    The theme and mkdocs.yml concern every page.
    """
    try:
        look(made)
    except Exception:
        traceback.print_exc()
    if any(re.search(r'/book/theme/|/mkdocs\.yml$', path) for path in changed):
        for page in FOLDER.rglob('*.md'):
            page.touch()


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with suppress(KeyboardInterrupt):
        sys.exit(serve(*sys.argv[1:]) if sys.argv[1:] else make())
