"""pages and hooks: the folder of pages and its server, which hide no problem."""

import json
import re
import socket
import subprocess
import sys
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest

from book.tools import pages
from book.tools.places import ROOT

LISTING = '''# Core

```py title="autodiff_mini/core.py"
{}
```
'''
TRUE, FALSE = '"""The core."""', '"""The heart."""'
PAGE = 'book/chapters/01_core.md'


@pytest.fixture
def site(tmp_path):
    """Return the folder of a book with one listing, which is true."""
    files = {
        'mkdocs.yml': 'site_name: A book\ndocs_dir: pages\n'
                      f'theme:\n  name: material\n  font: false\n'
                      f'  custom_dir: {ROOT / "book/theme"}\n'
                      f'hooks: [{ROOT / "book/tools/hooks.py"}]\n'
                      "extra:\n  serving: !ENV [SERVING, '']\n",
        'autodiff_mini/core.py': TRUE + '\n',
        'book/index.md': '# A book\n',
        PAGE: LISTING.format(TRUE),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def module(site, *arguments, run=subprocess.run):
    """Run a module beside a book, with these tools; returns its process."""
    return run([sys.executable, '-m', *arguments], cwd=site,
               env={'PYTHONPATH': str(ROOT), 'PYTHONUNBUFFERED': '1',
                    'NO_MKDOCS_2_WARNING': '1'},
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_false_listing_fails_the_build_with_line_and_diff(site):
    """Before a page is made, or an old one is changed."""
    (site / PAGE).write_text(LISTING.format(FALSE))
    made = module(site, 'book.tools.pages')
    assert made.returncode == 1
    assert f'{PAGE}:3: differs from its module' in made.stdout
    assert f'-{FALSE}\n+{TRUE}' in made.stdout
    assert not (site / 'pages').exists()


def folder(site):
    """Return {name: (text, time)} of the folder of pages.

    What runs a page is left out: `test_in_page.py` uses it.
    """
    return {path.relative_to(site / 'pages').as_posix():
            (path.read_text(), path.stat().st_mtime_ns)
            for path in (site / 'pages').rglob('*') if path.is_file()
            and not path.is_relative_to(site / 'pages/assets/run')
            and path.suffix != '.zip'
            and path.stem != 'run'}


@pytest.mark.rest
def test_the_folder_has_all_that_a_page_needs_and_nothing_else(site):
    cell = site / 'book/chapters/02_cell.md'
    cell.write_text('---\nhide: [toc]\n---\n\n# A cell\n\nWords.\n')
    (site / 'book/assets').mkdir()
    (site / 'book/assets/dot.svg').write_text('<svg/>')
    assert module(site, 'book.tools.pages').returncode == 0
    first = folder(site)
    assert sorted(first) == [
        'LICENSE.txt', 'assets/dot.svg', 'assets/player.js', 'changes.md',
        'chapters/01_core.md', 'chapters/02_cell.md', 'index.md',
        'modules/core.md', 'modules/index.md']
    front = f'---\nhide: [toc]\nrelease: {pages.RELEASE}\n---\n\n'
    assert first['chapters/02_cell.md'][0] == f'{front}# A cell\n\nWords.\n'

    cell.write_text(cell.read_text() + '\n```python\n6 * 7\n```\n')
    (site / 'book/assets/dot.svg').unlink()
    (site / 'book/chapters/03_wrong.md').write_text('```python\n1 / 0\n```\n')
    made = module(site, 'book.tools.pages')
    assert made.returncode == 1
    assert '/03_wrong.md:2: ZeroDivisionError: division by' in made.stdout
    second = folder(site)
    page = second.pop('chapters/02_cell.md')[0]
    assert page.startswith(
        f'{front}# A cell\n\n[Open as notebook](../notebooks/02_cell.ipynb)'
        '{ .notebook download="" } [The draft so far](../drafts/02_cell.zip)'
        '{ .notebook download="" } \n\nWords.\n')
    assert '>42</pre>' in page
    assert '"6 * 7"' in second.pop('notebooks/02_cell.ipynb')[0]
    # The rest is as it was, and as old.
    del first['chapters/02_cell.md'], first['assets/dot.svg']
    assert second == first


@contextmanager
def serving(site):
    """Serve a book; yields a function that awaits words in the log."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    server = module(site, 'book.tools.pages', str(port), 'mkdocs', 'serve',
                    '--dirty', run=subprocess.Popen)
    patience = threading.Timer(60, server.kill)
    patience.start()
    log = []

    def await_words(words):
        for line in server.stdout:
            log.append(line)
            if match := re.search(words, line):
                return match[0]
        pytest.fail(f'the server ended: {"".join(log)}')
    try:
        yield await_words
        assert server.poll() is None
    finally:
        patience.cancel()
        server.terminate()
        server.wait()
        server.stdout.close()


def shown(address):
    """Return the page of PAGE that a server shows, and what it says."""
    with urlopen(f'{address}chapters/01_core/') as answer:
        page = answer.read().decode()
    assert '"../../served.json"' in page
    assert '["chapters/01_core.md"]' in page
    with urlopen(f'{address}served.json') as answer:
        return page, json.load(answer)['chapters/01_core.md']


@pytest.mark.rest
def test_a_server_weaves_and_says_on_the_page_what_was_edited_there(site):
    with serving(site) as await_words:
        address = await_words(r'Serving on .*').split()[-1]

        def edit(path, text, words, there, problem=''):
            (site / path).write_text(text)
            await_words(words)
            await_words('Reloading browsers')
            page, said = shown(address)
            assert there[3:-3] in page
            assert problem in said and bool(problem) == bool(said)

        page, said = shown(address)
        assert TRUE[3:-3] in page and said == ''
        edit(PAGE, LISTING.format(FALSE), f'{PAGE}:3: differs from its module',
             FALSE, f'-{FALSE}\n+{TRUE}')
        edit(PAGE, LISTING.format(TRUE), '', TRUE)
        module = 'autodiff_mini/core.py'
        edit(module, FALSE + '\n', f'{PAGE}: refreshed', FALSE)
        edit(module, FALSE + '\nx = = 1\n', 'not Python', FALSE,
             'core.py:2: not Python: invalid syntax')


def test_a_port_is_asked_for_before_anything_is_built():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        for words in str(taken.getsockname()[1]), 'http':
            with pytest.raises(SystemExit, match=f'Port {words} cannot be'):
                pages.free_port(words)


def test_a_server_says_that_outputs_are_old_and_makes_them_again(
        monkeypatch, tmp_path):
    """The desk itself, with a library and processes that are not."""
    library, ran, jobs = ['one'], [], []
    paths = [Path('book/a.md'), Path('book/b.md')]

    class Pool:
        def submit(self, make, path):
            jobs.append((Future(), make, path))
            return jobs[-1][0]

        def shutdown(self, **_):
            jobs.clear()

    def finish(wanted):
        for _ in [*wanted]:
            job, make, path = jobs.pop(0)
            job.set_result(make(path))
            yield job

    def made_of(path):
        ran.append(path.stem)
        return {path.name: f'# {path.stem} on {library[0]}'}, 1

    def shown():
        said = json.loads(Path('pages/served.json').read_text())
        return [Path('pages', path.name).read_text() for path in paths], [
            *said.values()]

    monkeypatch.chdir(tmp_path)
    paths[0].parent.mkdir()
    for path in paths:
        path.write_text('```python\n1\n```\n')
    for name, value in {'surroundings': lambda: library[0],
                        'made_of': made_of, 'workers': Pool,
                        'as_completed': finish,
                        'sources': lambda: paths}.items():
        monkeypatch.setattr(pages, name, value)
    desk = pages.Desk()
    for _ in range(2):
        desk.look()
        assert shown() == (['# a on one', '# b on one'], ['', ''])
    library[0] = 'two'
    paths[0].write_text('Woven.\n\n```python\n1\n```\n')
    desk.look()     # what was woven comes first
    assert shown() == (['# a on two', '# b on one'], ['', pages.OLD])
    [*finish(jobs)]
    desk.collect()
    assert ran == ['a', 'b', 'a', 'b']
    assert shown() == (['# a on two', '# b on two'], ['', ''])
