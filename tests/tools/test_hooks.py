"""The hooks: no build shows a listing that is not the module's, unsaid."""

import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from types import SimpleNamespace
from urllib.request import urlopen

import pytest

from book.tools import hooks
from book.tools.places import ROOT
from book.tools.render import Page

LISTING = '''# Core

```py title="autodiff_mini/core.py"
{}
```
'''
TRUE, FALSE = '"""The core."""', '"""The heart."""'
PAGE = 'book/chapters/01_core.md'


@pytest.fixture
def site(tmp_path):
    """Returns the folder of a book with one listing, which is true."""
    files = {
        'mkdocs.yml': 'site_name: A book\ndocs_dir: book\n'
                      'watch: [autodiff_mini]\ntheme:\n'
                      f'  name: mkdocs\nhooks:\n'
                      f'  - {ROOT / "book/tools/hooks.py"}\n',
        'autodiff_mini/core.py': TRUE + '\n',
        'book/index.md': '# A book\n',
        PAGE: LISTING.format(TRUE),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def mkdocs(site, *arguments, run=subprocess.run):
    """Runs mkdocs with the tools of this book; returns its process."""
    return run([sys.executable, '-m', 'mkdocs', *arguments], cwd=site,
               env={'PYTHONPATH': str(ROOT), 'PYTHONUNBUFFERED': '1'},
               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_a_build_counts_the_names_that_come_too_early(site):
    built = mkdocs(site, 'build')
    assert built.returncode == 0
    assert 'names shown before they are defined or said: 0' in built.stdout
    [page] = site.glob('site/**/01_core/index.html')
    assert TRUE[3:-3] in page.read_text()


@pytest.mark.parametrize('strict', [[], ['--strict']])
def test_a_false_listing_fails_the_build_with_line_and_diff(site, strict):
    (site / PAGE).write_text(LISTING.format(FALSE))
    built = mkdocs(site, 'build', *strict)
    assert built.returncode != 0
    assert f'{PAGE}:3: differs from its module' in built.stdout
    assert f'-{FALSE}\n+{TRUE}' in built.stdout
    assert not (site / 'site').exists()


def test_this_book_is_not_built_with_a_false_rule(tmp_path):
    for name in 'autodiff_mini', 'book':
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / 'mkdocs.yml', tmp_path)
    module = tmp_path / 'autodiff_mini/primitives/elementwise.py'
    page = tmp_path / 'book/chapters/02_two_numbers_at_once.md'
    for file, rule in (module, 'x_dot * -np.sin(x)'), (page, 'x_dot * y'):
        text = file.read_text()
        assert rule in text
        file.write_text(text.replace(rule, 'x_dot'))
    built = mkdocs(tmp_path, 'build', '--strict')
    assert built.returncode != 0
    found = re.findall(r'(\S+):\d+: differs from', built.stdout)
    assert set(found) == {'book/chapters/02_two_numbers_at_once.md'}
    assert '+defjvp(cos_p, lambda x_dot, y, x: x_dot)' in built.stdout
    assert '-defjvp(exp_p, lambda x_dot, y, x: x_dot)' in built.stdout
    assert not (tmp_path / 'site').exists()


def test_links_that_lead_nowhere_are_named_by_file_and_line(site):
    links = ['nowhere.md', '#nowhere', 'a/folder', '../index.md#nowhere']
    with (site / PAGE).open('a') as page:
        page.writelines(f'\nWords, and\n[a link]({link}).\n'
                        for link in links)
    with (site / 'mkdocs.yml').open('a') as settings:
        settings.write('validation:\n  anchors: warn\n'
                       '  unrecognized_links: warn\n')
    built = mkdocs(site, 'build', '--strict')
    assert built.returncode != 0
    found = re.findall(rf"WARNING -  {PAGE}:(\d+): contains an? .*?"
                       r"link '(.*?)'", built.stdout)
    assert sorted(found) == sorted(
        (str(line), link) for line, link in zip((8, 11, 14, 17), links))


@contextmanager
def serving(site):
    """Serves a book; yields a function that awaits words in the log."""
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    server = mkdocs(site, 'serve', '--dirty', '-a', f'127.0.0.1:{port}',
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
    """Returns the page of PAGE that a server shows, and what it says."""
    with urlopen(f'{address}chapters/01_core/') as answer:
        page = answer.read().decode()
    assert '("../../served.json", "chapters/01_core.md")' in page
    with urlopen(f'{address}served.json') as answer:
        return page, json.load(answer)['chapters/01_core.md']


def test_a_server_says_on_the_page_what_was_edited_there(site):
    with serving(site) as await_words:
        address = await_words(r'Serving on .*').split()[-1]
        page, said = shown(address)
        assert TRUE[3:-3] in page and said == ''
        (site / PAGE).write_text(LISTING.format(FALSE))
        await_words(f'{PAGE}:4: .* was edited here')
        await_words('Reloading browsers')
        page, said = shown(address)
        assert FALSE[3:-3] in page
        assert 'was edited here' in said and f'-{TRUE}\n+{FALSE}' in said
        (site / PAGE).write_text(LISTING.format(TRUE))
        await_words('names shown before')
        await_words('Reloading browsers')
        assert shown(address)[1] == ''


def test_a_server_weaves(site):
    with serving(site) as await_words:
        address = await_words(r'Serving on .*').split()[-1]
        (site / 'autodiff_mini/core.py').write_text(FALSE + '\n')
        await_words(f'{PAGE}: refreshed')
        await_words('Reloading browsers')
        page, said = shown(address)
        assert FALSE[3:-3] in page and said == ''


def test_a_server_says_which_module_is_not_python(site):
    with serving(site) as await_words:
        address = await_words(r'Serving on .*').split()[-1]
        (site / 'autodiff_mini/core.py').write_text(TRUE + '\nx = = 1\n')
        await_words('Reloading browsers')
        assert 'core.py:2: not Python: invalid syntax' in shown(address)[1]


def test_a_server_says_that_outputs_are_old_and_makes_them_again(
        monkeypatch, tmp_path):
    """The hooks themselves, with a library and a kernel that are not."""
    library, ran = ['one'], []

    def render_all(paths):
        for path in paths:
            ran.append(path.stem)
            yield path, Page(f'# {path.stem} on {library[0]}', '{}', 1)

    pages = [tmp_path / 'a.md', tmp_path / 'b.md']
    for page in pages:
        page.write_text('```python\n1\n```\n')
    for name, value in {
            'surroundings': lambda: library[0], 'render_all': render_all,
            'SERVED': {}, 'WRONG': [], 'BEHIND': [], 'BELL': tmp_path / 'bell',
            'STARTED': {'surroundings': None}}.items():
        monkeypatch.setattr(hooks, name, value)

    def texts():
        return [page.markdown for _, page in hooks.served(pages)]

    assert texts() == ['# a on one', '# b on one']
    assert texts() == ['# a on one', '# b on one'] and len(ran) == 2
    library[0] = 'two'
    pages[0].write_text('Woven.\n\n```python\n1\n```\n')
    again = hooks.served(pages)
    assert next(again)[1].markdown == '# a on two'   # what was woven, at once
    assert next(again)[1].markdown == '# b on one'
    assert hooks.banner(pages[0]) == '' and hooks.banner(pages[1]) == hooks.OLD
    hooks.on_post_build(SimpleNamespace(site_url='', site_dir=tmp_path))
    for thread in threading.enumerate():
        if thread.name == 'two':
            thread.join()
    assert ran == ['a', 'b', 'a', 'b']
    assert hooks.BELL.exists()
    assert texts() == ['# a on two', '# b on two']
    assert hooks.banner(pages[1]) == '' and hooks.BEHIND == []
