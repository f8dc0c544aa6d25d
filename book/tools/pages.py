"""Make a folder of Markdown from the book, the source of the site.

    python -m book.tools.pages                             writes it
    python -m book.tools.pages 8000 mkdocs serve --dirty   and serves it, too

The folder `pages` has the chapters with the outputs of their cells, their
notebooks, and their pictures. This module does not depend on the engine that
builds the site from `mkdocs.yml`.
"""

import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path

import watchfiles

import autodiff_mini
from book.tools import (
    downloads, in_page, mainline, modules, reference, weave)
from book.tools.places import ROOT
from book.tools.render import ChapterError, build, surroundings

FOLDER = Path('pages')
LEFT_OUT = 'katex.min.js'     # used by the build, not by the site
FILES = {'assets/player.js': ROOT / weave.PACKAGE / 'notebook' / 'player.js',
         'LICENSE.txt': ROOT / 'LICENSE', 'changes.md': ROOT / 'CHANGELOG.md'}
FRONT = re.compile(r'(?s)(?:---\n(.*?)---\n)?')
OLD = ('The library has changed since this page ran. Its outputs will be '
       'updated soon.')
LINK = '[{}]({}){{ .notebook download="" }} '
RELEASE = autodiff_mini.__version__    # the book's, too
# A module's page has no room for a table of contents, and cannot be edited.
FRONT_OF_MODULES = f'---\nhide: [toc]\nmade: true\nrelease: {RELEASE}\n---\n\n'


def sources():
    """Return the Markdown files of the book."""
    return [*weave.chapters(Path()), *reference.pages(Path())]


def made_of(path):
    """Return ({name in the folder: text}, seconds) for a Markdown file.

    A page with cells links to its notebook, except for the front page.
    """
    name = path.relative_to('book')
    [front] = FRONT.match(path.read_text()).groups('')
    page = build(path)
    text, made = page.markdown, {}
    if page.notebook:
        notebook = f'notebooks/{path.stem}.ipynb'
        made[notebook] = page.notebook
        if name.name != 'index.md':
            up = '../' * (len(name.parts) - 1)
            link = LINK.format('Open as notebook', up + notebook)
            if path in weave.book_one(Path())[1:]:
                link += LINK.format('The draft so far',
                                    f'{up}drafts/{path.stem}.zip')
            text = text.replace('\n', f'\n\n{link}\n', 1)
    made[name.as_posix()] = (f'---\n{front}release: {RELEASE}\n---\n\n'
                             + reference.linked(text, path))
    return made, page.seconds


def workers():
    """Return a pool of two new processes, which import the library anew."""
    return ProcessPoolExecutor(2, multiprocessing.get_context('spawn'))


def differences():
    """Return the problems of the listings and of the main line."""
    return weave.check(Path()) + mainline.check(Path())


# The folder. An unchanged file keeps its time.

def put(name, data):
    """Write a file of the folder atomically, if its content is new."""
    file = FOLDER / name
    data = data.encode() if isinstance(data, str) else data
    if not (file.exists() and file.read_bytes() == data):
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f'.{file.name}')
        part.write_bytes(data)
        part.replace(file)


def put_files():
    """Copy the files that the site uses unchanged; return them by name."""
    files = FILES | {path.relative_to('book').as_posix(): path
                     for path in sorted(Path('book/assets').rglob('*'))
                     if path.is_file() and path.name != LEFT_OUT}
    made = {name: path.read_bytes() for name, path in files.items()}
    made |= in_page.files()
    notebooks = [FOLDER / f'notebooks/{path.stem}.ipynb' for path in sources()]
    made['notebooks.zip'] = downloads.archive({
        path.name: path.read_bytes() for path in notebooks if path.exists()})
    for name, data in made.items():
        put(name, data)
    return made


def write():
    """Make the folder, and return whether there was an error.
    """
    if wrong := weave.not_python(Path()) or differences():
        print(*wrong, sep='\n')
        return True
    desk = Desk()
    desk.make(sources(), surroundings())
    for name, data in desk.files.items():
        put(name, data)
    names = {*put_files(), *desk.files}
    for file in FOLDER.rglob('*'):
        if file.is_file() and file.relative_to(FOLDER).as_posix() not in names:
            file.unlink()
    return bool(desk.errors)


# With a server. A page with new text is made right away. If only the library
# has changed, a page keeps its old outputs, says so, and is made later. The
# pages read their banners from one file.

class Desk:
    """The pages that have been made, and those being made."""

    def __init__(self):
        self.texts, self.made, self.errors, self.wrong = {}, {}, {}, []
        self.library, self.pool, self.jobs = None, None, {}
        self.files, self.untold, self.wrote = {}, False, 0

    def look(self):
        """Weave, and make the pages that have changed."""
        self.wrong = weave.not_python(Path())
        if self.wrong:
            self.stop()     # or every page would fail with the same error
        else:
            weave.weave(Path())
            self.wrong = differences()
            self.make(sources(), surroundings())
        for problem in self.wrong:
            print(problem, flush=True)
        put_files()
        self.write()

    def make(self, paths, now):
        """Make the pages whose text is new, and begin with the others."""
        if now != self.library:
            self.stop()
            self.library, self.pool = now, workers()
        for job in self.jobs:
            job.cancel()
        texts = {path: path.read_text() for path in paths}
        new = [path for path in paths if texts[path] != self.texts.get(path)]
        old = [path for path in paths
               if path not in new and self.made[path] != now]
        self.texts = texts
        self.jobs = {self.pool.submit(made_of, path): path
                     for path in [*new, *old]}
        for job in as_completed([*self.jobs][:len(new)]):
            self.keep(job)
        self.files |= {name: FRONT_OF_MODULES + text
                       for name, text in modules.pages().items()}
        self.files |= downloads.drafts()

    def stop(self):
        """Stop making pages with the old library."""
        if self.pool:
            self.pool.shutdown(wait=False, cancel_futures=True)
        self.library, self.jobs = None, {}

    def collect(self):
        """Keep the finished pages, and write them every few seconds."""
        for job in [job for job in self.jobs if job.done()]:
            self.keep(job)
        late = not self.jobs or time.monotonic() - self.wrote > 5
        if self.untold and late:
            self.write()

    def keep(self, job):
        """Keep the files of a finished page, or its error."""
        path = self.jobs.pop(job)
        self.made[path], self.untold = self.library, True
        self.errors.pop(path, None)
        try:
            files, seconds = job.result()
        except Exception as error:
            self.errors[path] = str(error) if isinstance(
                error, ChapterError) else traceback.format_exc()
            print(self.errors[path], flush=True)
        else:
            self.files |= files
            if seconds:
                print(f'{seconds:6.1f} s  {path}', flush=True)

    def write(self):
        """Write the new files, and the banners of all pages."""
        now = surroundings()
        for name, data in self.files.items():
            put(name, data)
        put('served.json', json.dumps({
            path.relative_to('book').as_posix(): self.banner(path, now)
            for path in self.texts}))
        self.files, self.untold, self.wrote = {}, False, time.monotonic()

    def banner(self, path, now):
        """Return the banner of a page, which is empty if all is well."""
        said = [str(problem) for problem in self.wrong
                if problem.path == path or problem.path.suffix == '.py']
        if path in self.errors:
            said.append(self.errors[path])
        if not said and self.made[path] != now:
            said.append(OLD)
        return '\n\n'.join(said)


def free_port(words):
    """Return the address of a port, or exit if it isn't free."""
    try:
        socket.create_server(('127.0.0.1', int(words))).close()
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f'Port {words} cannot be used: {error}. Choose another one, '
                 'as in `make serve PORT=9000`.')
    return f'127.0.0.1:{words}'


def serve(port, *command):
    """Run a server for the folder, and keep the folder up to date."""
    address, desk = free_port(port), Desk()
    desk.look()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    with subprocess.Popen([sys.executable, '-m', *command, '-a', address],
                          env=os.environ | {'SERVING': '1'}) as engine:
        try:
            for changes in watchfiles.watch(
                    'book', weave.PACKAGE, 'mkdocs.yml', rust_timeout=500,
                    yield_on_timeout=True, raise_interrupt=False):
                if engine.poll() is not None:
                    break
                if changes:
                    meet(desk, {Path(path) for _, path in changes})
                desk.collect()
        finally:
            engine.terminate()
            for child in multiprocessing.active_children():
                child.kill()     # a running kernel blocks terminate()


def meet(desk, changed):
    """Update the pages after a save; an error does not end the server."""
    try:
        desk.look()
    except Exception:
        traceback.print_exc()
    if any(path.name == 'mkdocs.yml' or path.parts[:2] == ('book', 'theme')
           for path in changed):
        for page in FOLDER.rglob('*.md'):
            page.touch()


if __name__ == '__main__':
    with suppress(KeyboardInterrupt):
        sys.exit(serve(*sys.argv[1:]) if sys.argv[1:] else write())
