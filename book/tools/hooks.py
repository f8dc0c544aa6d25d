"""Gives the chapters to mkdocs: pages with outputs, and notebooks.

All the work is done by `weave` and `render`, which know nothing of mkdocs.
"""

import importlib.metadata
import json
import logging
import os
import re
import threading
import time
from pathlib import Path
from typing import NamedTuple

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from book.tools import mainline, reference, weave
from book.tools.render import (
    ROOT, ChapterError, build, has_cells, is_live, render_all, surroundings)

SCRIPT = ROOT / weave.PACKAGE / 'notebook' / 'player.js'
PAGES = {}     # what render made of each file
SOURCES = {}   # where each file is
STARTED = {}   # what mkdocs was asked for
log = logging.getLogger('mkdocs.hooks')


def on_startup(command, dirty):
    """Notes whether mkdocs builds the book, or serves it."""
    STARTED.update(command=command, surroundings=surroundings())


def is_serving():
    return STARTED.get('command') == 'serve'


def on_config(config):
    """Notes the version of the library, which is the book's."""
    config.extra['release'] = importlib.metadata.version(weave.PACKAGE)


class Lines(logging.Filter):
    """Says, of a link that leads nowhere, in which line of which file."""

    def filter(self, record):
        said = re.match(r"Doc file '([^']+)' (.* link '([^']+)'.*)",
                        record.getMessage())
        if said and (path := SOURCES.get(said[1])):
            above, link, _ = path.read_text().partition(said[3])
            line = f'{above.count(chr(10)) + 1}:' if link else ''
            record.msg, record.args = f'{path}:{line} {said[2]}', ()
        return True


logging.getLogger('mkdocs.structure.pages').addFilter(Lines())


def on_pre_build(config):
    """Compares the listings with the modules, and measures the main line.

    A listing that differs fails the build. A server weaves first, and says
    on the page what is still wrong: it has to be there when it is mended.
    """
    root = Path(os.path.relpath(Path(config.config_file_path).parent))
    problems = not_python(root)
    if not problems:
        problems = weave.weave(root) if is_serving() else []
        problems += [problem for problem in weave.check(root)
                     if problem[:2] not in [other[:2] for other in problems]]
        problems += mainline.check(root)
        print(weave.summary(weave.early_names(root)), flush=True)
    WRONG[:] = problems
    said = '\n'.join(map(str, problems))
    if said and not is_serving():
        raise PluginError(said)
    if said:
        log.error(said)


def not_python(root):
    """Returns a problem for each module that is not Python."""
    problems = []
    for path in sorted((root / weave.PACKAGE).rglob('*.py')):
        try:
            compile(path.read_text(), path, 'exec')
        except SyntaxError as error:
            problems.append(weave.Problem(path, error.lineno,
                                          f'not Python: {error.msg}'))
    return problems


def on_files(files, config):
    """Renders every page with cells, and adds its notebook to the site."""
    sources = {Path(os.path.relpath(file.abs_src_path)): file
               for file in files.documentation_pages()}
    SOURCES.update({file.src_uri: path for path, file in sources.items()})
    live = [path for path in sources if is_live(path)]
    PAGES.clear()
    errors = []
    for path, page in (served if is_serving() else render_all)(live):
        file = sources[path]
        if isinstance(page, ChapterError):
            errors.append(str(page))
            continue
        PAGES[file.src_uri] = page.markdown
        if has_cells(path):
            files.append(File.generated(config, notebook_of(file),
                                        content=page.notebook))
        if not is_serving():
            say(page, path)
    if errors and not is_serving():
        raise PluginError('\n'.join(errors))
    files.append(File.generated(config, 'assets/player.js',
                                abs_src_path=str(SCRIPT)))
    files.append(File.generated(
        config, 'LICENSE.txt',
        abs_src_path=str(ROOT / 'LICENSE')))
    if is_serving():
        forget_what_changed(sources, config)
        said = {file.src_uri: banner(path) for path, file in sources.items()}
        files.append(File.generated(config, 'served.json',
                                    content=json.dumps(said)))
    return files


def say(page, path):
    """Prints how long the cells of a page took."""
    took = f'{page.seconds:6.1f} s' if page.seconds else '  cached'
    print(f'{took}  {path}', flush=True)


# While the book is served. A page whose own text is new is run at once; one
# that only stands upon a changed library keeps what it had, says so, and is
# run behind. mkdocs makes a page again that has none on the site. What the
# pages have to say of themselves is in a file that each asks for.

class Served(NamedTuple):
    """A page, and the text and the library that it is made of."""
    text: str
    surroundings: str
    page: object    # a Page or a ChapterError


SERVED = {}    # {path: Served}
SHOWN = {}     # {path: what its page on the site shows, or None}
WRONG = []     # the problems that the pages have to show
BEHIND = []    # the arguments of what is to be made behind
BELL = Path('.cache/bell').resolve()   # a new page rings it
ASKS = '''(async (file, page) => {
  const answer = await fetch(file, { cache: "no-store" });
  const box = document.createElement("pre");
  box.textContent = (await answer.json())[page];
  box.style = "background: #fd9; color: #000; padding: 1em;"
    + "white-space: pre-wrap; position: sticky; top: 3rem; z-index: 1";
  if (box.textContent)
    (document.querySelector("article") || document.body).prepend(box);
})'''
OLD = ('The library has changed since the outputs on this page were made. '
       'They are being made again.')


def on_serve(server, config, builder):
    """Watches for pages that were made behind."""
    ring()
    server.watch(str(BELL))


def ring():
    BELL.parent.mkdir(exist_ok=True)
    BELL.write_text(str(time.time()))


def served(paths):
    """Yields (path, Page or ChapterError), with old pages for old cells."""
    now = surroundings()
    texts = {path: path.read_text() for path in paths}
    new = [path for path in paths
           if path not in SERVED or SERVED[path].text != texts[path]]
    if any(problem.path.suffix == '.py' for problem in WRONG):
        new = []     # nothing would run
    pages = [(path, attempt(path)) for path in new] \
        if len(new) == 1 and now == STARTED['surroundings'] \
        else render_all(new) if new else []
    for path, page in pages:
        keep(path, Served(texts[path], now, page))
    old = [path for path in paths
           if path in SERVED and SERVED[path].surroundings != now]
    BEHIND[:] = [old, now] if old and not WRONG else []
    for path in paths:
        if path in SERVED:
            yield path, SERVED[path].page


def on_post_build(config):
    """Starts what is left to be made, now that the site is there.

    A sitemap that lists nothing goes.
    """
    if not config.site_url:
        for name in 'sitemap.xml', 'sitemap.xml.gz':
            Path(config.site_dir, name).unlink(missing_ok=True)
    if BEHIND:
        threading.Thread(target=make_behind, args=BEHIND, daemon=True,
                         name=BEHIND[1]).start()


def attempt(path):
    """Returns the Page of a chapter, or its ChapterError."""
    try:
        return build(path)
    except ChapterError as error:
        return error


def keep(path, made):
    """Notes what was made of a page, and says how long it took."""
    SERVED[path] = made
    if isinstance(made.page, ChapterError):
        log.error(str(made.page))
    else:
        say(made.page, path)


def make_behind(paths, now):
    """Makes old pages again, unless the library changes once more."""
    if [thread.name for thread in threading.enumerate()].count(now) > 1:
        return    # another thread is at it
    texts, rang = {path: path.read_text() for path in paths}, time.monotonic()
    for path, page in render_all(paths):
        if surroundings() != now:
            return
        keep(path, Served(texts[path], now, page))
        if time.monotonic() - rang > 5:
            ring()
            rang = time.monotonic()
    ring()


def forget_what_changed(sources, config):
    """Removes the pages from the site that would show something else now."""
    settings = Path(config.config_file_path).read_text()
    for path, file in sources.items():
        shows = (PAGES.get(file.src_uri), settings)
        if SHOWN.get(path, shows) != shows:
            Path(file.abs_dest_path).unlink(missing_ok=True)
        SHOWN[path] = shows


def banner(path):
    """Returns what the page of a file has to say of itself, if anything."""
    made = SERVED.get(path)
    said = [str(problem) for problem in WRONG
            if problem.path == path or problem.path.suffix == '.py']
    if made and isinstance(made.page, ChapterError):
        said.append(str(made.page))
    if made and made.surroundings != surroundings() and not said:
        said.append(OLD)
    return '\n\n'.join(said)


def on_post_page(output, page, config):
    """Lets a page that is served ask what it has to say of itself."""
    if not is_serving():
        return output
    up = '../' * page.url.count('/')
    asks = f'<script>{ASKS}("{up}served.json", "{page.file.src_uri}")</script>'
    return output.replace('</body>', f'{asks}</body>')


def notebook_of(file):
    """Returns where on the site the notebook of a page is."""
    return f'notebooks/{Path(file.src_uri).stem}.ipynb'


def on_page_markdown(markdown, page, config, files):
    """Replaces a page's text by its rendered form, with a download link.

    The front page has enough on it without the link, and a page that has
    no cells is no notebook.  The reference and the listings lead to each
    other.
    """
    if page.file.src_uri == reference.PAGE:
        return reference.with_places(markdown)
    if page.file.src_uri not in PAGES:
        return markdown
    up = '../' * page.file.src_uri.count('/')
    text = reference.with_entries(PAGES[page.file.src_uri], up)
    if page.is_homepage or not has_cells(Path(page.file.abs_src_path)):
        return text
    title, newline, rest = text.partition('\n')
    link = f'[Open as notebook]({up}{notebook_of(page.file)})'
    return f'{title}{newline}\n{link}{{ .notebook download="" }}\n{rest}'
