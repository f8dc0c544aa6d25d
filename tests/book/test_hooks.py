"""pages and hooks: the folder of pages, and its server."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from urllib.request import urlopen

import pytest

from book.tools import hooks, pages
from book.tools.places import ROOT
from book.tools.render import Page
from tests.support.links import broken_links

LISTING = '''# Core

```py title="autodiff_mini/core.py"
{}
```
'''
TRUE, FALSE = '"""The core."""', '"""The heart."""'
PAGE = 'book/chapters/01_core.md'


@pytest.fixture
def site(tmp_path):
    """Return the folder of a book with one listing, which is current."""
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
    """Run a module beside a book, with these tools; return its process."""
    return run([sys.executable, '-m', *arguments], cwd=site,
               env={'PYTHONPATH': str(ROOT), 'PYTHONUNBUFFERED': '1',
                    'NO_MKDOCS_2_WARNING': '1'},
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_false_listing_fails_the_build_with_line_and_diff(
        site, monkeypatch, capsys):
    """Before a page is made or changed."""
    monkeypatch.chdir(site)
    Path(PAGE).write_text(LISTING.format(FALSE))
    assert pages.make()
    said = capsys.readouterr().out
    assert f'{PAGE}:3: differs from its module' in said
    assert f'-{FALSE}\n+{TRUE}' in said
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
        'LICENSE.txt', 'assets/dot.svg', 'assets/guess.js',
        'assets/player.js', 'changes.md', 'chapters/01_core.md',
        'chapters/02_cell.md', 'index.md', 'modules/core.md']
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
    # The rest has not changed, and neither has its time.
    del first['chapters/02_cell.md'], first['assets/dot.svg']
    assert second == first


def test_the_front_page_links_to_its_notebook_where_it_says_so(
        site, monkeypatch):
    monkeypatch.chdir(site)
    monkeypatch.setattr(pages, 'build', lambda path: Page(
        '# A book\n\nWords.\n\n<!-- notebook -->\n', '{}', 0))
    made, _ = pages.made_of(Path('book/index.md'))
    assert made['index.md'].endswith(
        'Words.\n\n[Open as notebook](notebooks/index.ipynb)'
        '{ .notebook download="" } \n')
    assert made['notebooks/index.ipynb'] == '{}'


@pytest.mark.rest
@pytest.mark.skipif(signal.getsignal(signal.SIGINT) is signal.SIG_IGN,
                    reason='processes that start here ignore Ctrl-C')
@pytest.mark.parametrize('port, interrupt', [
    ([], signal.SIGINT), (['0'], signal.SIGTERM)], ids=['build', 'server'])
def test_an_interrupted_build_leaves_no_process(site, port, interrupt):
    """It broke: after Ctrl-C, the next pages ran. After a SIGTERM, the
    processes that run the pages stayed.
    """
    for number in '02', '03', '04', '05':
        (site / f'book/chapters/{number}_cell.md').write_text(f'''# A cell

```python
import os, time
os.mkdir(f'{site}/kernel {{os.getpid()}}')
time.sleep(300)
```
''')
    with module(site, 'book.tools.pages', *port, run=partial(
            subprocess.Popen, start_new_session=True)) as build:
        until(lambda: len([*site.glob('kernel *')]) == 2)
        kernels = {int(kernel.name.split()[1])
                   for kernel in site.glob('kernel *')}
        os.killpg(build.pid, interrupt)
        try:
            build.wait(20)
            until(lambda: not {build.pid, *kernels}.intersection(groups()))
        finally:
            with suppress(ProcessLookupError):
                os.killpg(build.pid, signal.SIGKILL)


def until(condition, seconds=20):
    """Wait for a condition; return its value."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, condition
        time.sleep(0.1)
    return value


def groups():
    """Return the groups of all processes, except for zombies."""
    listed = subprocess.run(['ps', '-A', '-o', 'pgid=,stat='], text=True,
                            capture_output=True, check=True).stdout
    return [int(line.split()[0]) for line in listed.splitlines()
            if not line.split()[1].startswith('Z')]


@contextmanager
def serving(site):
    """Serve a book; yield a function that waits for words in the log."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    server = module(site, 'book.tools.pages', str(port),
                    run=subprocess.Popen)
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
def test_a_server_weaves_and_shows_edits_on_the_page(site):
    with serving(site) as await_words:
        address = await_words(r'Serving on .*').split()[-1]

        def edit(path, text, words, there, problem=''):
            (site / path).write_text(text)
            await_words(words)
            page, said = shown(address)
            while there[3:-3] not in page or problem not in said or (
                    bool(problem) != bool(said)):
                await_words('Reloading browsers')
                page, said = shown(address)

        page, said = shown(address)
        assert TRUE[3:-3] in page and said == ''
        edit(PAGE, LISTING.format(FALSE), f'{PAGE}:3: differs from its module',
             FALSE, f'-{FALSE}\n+{TRUE}')
        edit(PAGE, LISTING.format(TRUE), '', TRUE)
        module = 'autodiff_mini/core.py'
        edit(module, FALSE + '\n', f'{PAGE}: refreshed', FALSE)
        edit(module, FALSE + '\nx = = 1\n', 'not Python', FALSE,
             'core.py:2: not Python: invalid syntax')


def test_the_old_address_of_a_chapter_leads_to_the_new_one(tmp_path):
    new = ['05_one', '06_two', '07_three', '12_four', '13_five', '14_six',
           '22_rules_in_the_wild', '29_a_planets_orbit']
    old = {'06_three': '07_three', '11_five': '13_five', '12_six': '14_six',
           '21_zeros': '22_rules_in_the_wild',
           '23_zeros': '22_rules_in_the_wild',
           '24_rules_in_the_wild': '22_rules_in_the_wild',
           '29_likelihoods': '29_a_planets_orbit',
           '31_likelihoods': '29_a_planets_orbit',
           '31_a_planets_orbit': '29_a_planets_orbit'}
    for folder, suffix in ('pages', 'md'), ('site', 'html'):
        chapters = tmp_path / folder / 'chapters'
        chapters.mkdir(parents=True)
        for name in new:
            (chapters / f'{name}.{suffix}').write_text('<h1>A chapter</h1>')
    hooks.keep_addresses(tmp_path / 'pages', tmp_path / 'site')
    assert {page.stem for page in chapters.iterdir()} == {*new, *old}
    for name, page in old.items():
        text = (chapters / f'{name}.html').read_text()
        assert f'location.replace("{page}.html" + location.hash)' in text
    assert broken_links(tmp_path / 'site') == []


def test_an_address_that_a_chapter_had_is_not_in_use():
    chapters = {page.stem for page in (ROOT / 'book/chapters').glob('*.md')}
    assert hooks.EARLIER.keys() <= chapters
    old = [*chain.from_iterable(map(hooks.former_chapters, sorted(chapters)))]
    assert not chapters & {*old}
    assert len({*old}) == len(old) > 40


def test_the_old_address_of_a_module_leads_to_the_new_one(tmp_path):
    for new, old in {
            'core/trace': 'core', 'core/seams': 'seams', 'calls/jit':
            'higher_order/jit', 'wings/fast/tape': 'fast/tape',
            'numpy_functions/table': 'numpy_api', 'numpy_functions/reshaping':
            'numpy_functions/shapes', 'primitives/parts': 'more/parts',
            'wings/writing/assignment': 'more/writing',
            'wings/writing/patch/makers': 'more/patch/makers',
            'wings/more_calls/checkpoint': 'more/calls/checkpoint',
            'wings/more_calls/jit_methods': 'tools/methods'}.items():
        for folder, suffix in ('pages', 'md'), ('site', 'html'):
            path = tmp_path / folder / f'modules/{new}.{suffix}'
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('<h1>A module</h1>')
        hooks.keep_addresses(tmp_path / 'pages', tmp_path / 'site')
        text = (tmp_path / f'site/modules/{old}.html').read_text()
        assert f'{new.rpartition("/")[2]}.html" + location.hash)' in text
    assert broken_links(tmp_path / 'site') == []


@pytest.mark.rest
def test_a_page_of_a_module_has_a_sidebar_with_its_folder(tmp_path):
    """And only it; the order is that of the list of modules."""
    order = ['draft/b', 'draft/a', 'core', 'more/x', 'more/in/y', 'more/z']
    listed = '\n'.join(f'- [`{name}.py`]({name}.md)' for name in order)
    for name, text in {
            'index': '# A book\n\nHere.', 'more': '# More',
            'modules/index': f'# The modules\n\n{listed}',
            **{f'modules/{name}': f'# `{name}.py`' for name in order}}.items():
        (tmp_path / f'pages/{name}.md').parent.mkdir(
            parents=True, exist_ok=True)
        (tmp_path / f'pages/{name}.md').write_text(f'{text}\n')
    (tmp_path / 'mkdocs.yml').write_text(
        'site_name: A book\ndocs_dir: pages\nuse_directory_urls: false\n'
        'theme: {name: material, font: false, features: '
        '[navigation.footer, navigation.sections]}\n'
        f'hooks: [{ROOT / "book/tools/hooks.py"}]\n'
        'nav: [index.md, {All: [{Code: [modules/index.md, more.md]}]}]\n')
    made = module(tmp_path, 'mkdocs', 'build', '-q')
    assert made.returncode == 0, made.stdout

    def shown(name):
        page = (tmp_path / f'site/{name}.html').read_text()
        sidebar = page[page.index('"sidebar"'):page.index('"md-content"')]
        assert not re.search(r'\n\s', sidebar)
        return (re.findall(r'ellipsis">\s*(\S+\.py|The modules|More)',
                           sidebar),
                re.findall(r'link--active">\s*<span [^>]*>\s*(\S+)', sidebar),
                re.findall(r'(?:Previous|Next): (.*?)"', page))

    assert shown('modules/draft/a') == (
        ['The modules', 'draft/b.py', 'draft/a.py', 'More'], ['draft/a.py'],
        ['draft/b.py', 'core.py'])
    assert shown('modules/more/z') == (
        ['The modules', 'more/x.py', 'more/z.py', 'More'], ['more/z.py'],
        ['more/x.py', 'more/in/y.py'])
    assert shown('modules/draft/b')[2] == ['The modules', 'draft/a.py']
    assert shown('more')[0] == ['The modules', 'More']


@pytest.mark.parametrize('changed, touched', [
    ('book/theme/main.html', True), ('mkdocs.yml', True), (PAGE, False)])
def test_a_change_of_the_theme_concerns_every_page(
        site, monkeypatch, changed, touched):
    monkeypatch.setattr(pages, 'look', lambda made: None)
    monkeypatch.setattr(pages, 'FOLDER', site)
    os.utime(site / PAGE, (0, 0))
    pages.meet({}, [str(site / changed)])
    assert bool((site / PAGE).stat().st_mtime) == touched


def test_an_unusable_port_is_refused():
    with socket.create_server(('127.0.0.1', 0)) as taken:
        for words in str(taken.getsockname()[1]), 'http':
            with pytest.raises(SystemExit, match=f'Port {words} cannot be'):
                pages.free_port(words)
