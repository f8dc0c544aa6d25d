"""Gives the chapters to mkdocs: pages with outputs, and notebooks.

All the work is done by `weave` and `render`, which know nothing of mkdocs.
"""

import importlib.metadata
import logging
import os
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from autodiff_mini.notebook.player import SCRIPT
from book.tools import mainline, weave
from book.tools.render import (
    ROOT, ChapterError, has_cells, is_live, render_all)

PAGES = {}     # what render made of each file
SOURCES = {}   # where each file is
STARTED = {}   # what mkdocs was asked for
log = logging.getLogger('mkdocs.hooks')


def on_startup(command, dirty):
    """Notes whether mkdocs builds the book, or serves it."""
    STARTED['command'] = command


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

    A listing that differs fails the build. A server only says so: it has to
    be there when the listing is mended.
    """
    root = Path(os.path.relpath(Path(config.config_file_path).parent))
    problems = '\n'.join(map(str, weave.check(root) + mainline.check(root)))
    if problems and STARTED.get('command') != 'serve':
        raise PluginError(problems)
    if problems:
        log.error(problems)
    print(weave.summary(weave.early_names(root)), flush=True)


def on_files(files, config):
    """Renders every page with cells, and adds its notebook to the site."""
    sources = {Path(os.path.relpath(file.abs_src_path)): file
               for file in files.documentation_pages()}
    SOURCES.update({file.src_uri: path for path, file in sources.items()})
    sources = {path: sources[path] for path in filter(is_live, sources)}
    PAGES.clear()
    errors = []
    for path, page in render_all(sources):
        file = sources[path]
        if isinstance(page, ChapterError):
            errors.append(str(page))
            continue
        took = f'{page.seconds:6.1f} s' if page.seconds else '  cached'
        print(f'{took}  {file.src_uri}', flush=True)
        PAGES[file.src_uri] = page.markdown
        if has_cells(path):
            files.append(File.generated(config, notebook_of(file),
                                        content=page.notebook))
    if errors:
        raise PluginError('\n'.join(errors))
    files.append(File.generated(config, 'assets/player.js',
                                abs_src_path=str(SCRIPT)))
    files.append(File.generated(
        config, 'LICENSE.txt',
        abs_src_path=str(ROOT / 'LICENSE')))
    return files


def notebook_of(file):
    """Returns where on the site the notebook of a page is."""
    return f'notebooks/{Path(file.src_uri).stem}.ipynb'


def on_page_markdown(markdown, page, config, files):
    """Replaces a page's text by its rendered form, with a download link.

    The front page has enough on it without the link, and a page that has
    no cells is no notebook.
    """
    if page.file.src_uri not in PAGES:
        return markdown
    if page.is_homepage or not has_cells(Path(page.file.abs_src_path)):
        return PAGES[page.file.src_uri]
    title, newline, rest = PAGES[page.file.src_uri].partition('\n')
    up = '../' * page.file.src_uri.count('/')
    link = f'[Open as notebook]({up}{notebook_of(page.file)})'
    return f'{title}{newline}\n{link}{{ .notebook download="" }}\n{rest}'


def on_post_build(config):
    """Leaves no sitemap behind that lists nothing."""
    if not config.site_url:
        for name in 'sitemap.xml', 'sitemap.xml.gz':
            Path(config.site_dir, name).unlink(missing_ok=True)
