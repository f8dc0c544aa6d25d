"""What a reader downloads stands alone: notebooks, and the draft so far."""

import base64
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from book.tools import downloads, render, weave
from book.tools.places import ROOT
from tests.support import amount

PAGE = Path(__file__).parent / 'samples/page.md'


@pytest.fixture(scope='module')
def cells(tmp_path_factory):
    """Return the cells of the page's notebook."""
    folder = tmp_path_factory.mktemp('book')
    for name, text in (('chapters/01_page.md', PAGE.read_text()),
                       ('chapters/02_next.md', '```python\n1\n```\n'),
                       ('chapters/03_list.md', '- a\n'),
                       ('assets/dot.svg', '<svg viewBox="0 -9 30 20" width="30"/>')):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    path = folder / 'chapters' / '01_page.md'
    return downloads.alone(render.read(path), path).cells


def test_a_downloaded_notebook_has_what_it_shows(cells):
    text = cells[1].source
    [data] = re.findall('<img alt="A dot" src="data:image/svg.xml;base64,'
                        '(.+?)">\n', text)
    assert base64.b64decode(data) == (
        b'<svg viewBox="0 -9 30 20" width="30" height="20" '
        b'style="background: white"/>')
    assert 'See [the next](02_next.ipynb) and a list.' in text
    assert '```python\n# autodiff_mini/core/trace.py\nx = 1\n```' in text
    assert cells[2].source.startswith('# autodiff_mini/draft.py\nimport math')
    assert cells[4].source.startswith(downloads.SOURCE + '\nfrom book')


def test_a_downloaded_notebook_shows_no_raw_markup_of_the_page(cells):
    text = cells[1].source
    assert 'A note.<sup>1</sup> A step of the player, and `x[^a]`.' in text
    assert '\n<sup>1</sup> Its text.\n\n<sup>2</sup> See <sup>1</sup>.' in text
    assert '<summary>What <code>trace.py</code> does</summary>' in text
    assert 'e01_1: `make watch E=01`.' in text
    assert '{ .' not in text


def told(needs):
    """Return the last line that a notebook with these needs prints."""
    source = downloads.NEEDS.format(needs=needs)
    run = subprocess.run([sys.executable, '-c', source],
                         capture_output=True, text=True)
    return run.stderr.strip().rpartition('\n')[2]


def test_a_notebook_names_the_packages_that_are_missing(monkeypatch):
    said = told(downloads.needs(['elsewhere', 'nowhere', 'numpy']))
    assert said.endswith('needs elsewhere and nowhere: '
                         'pip install elsewhere nowhere')
    for address, install in (
            ('', '., in the folder of the book'),
            ('https://e.org/book', 'git+https://e.org/book')):
        monkeypatch.setenv('REPO_URL', address)
        needs = str(downloads.needs(['autodiff_mini'])).replace(
            "'autodiff_mini'", "'autodiff_mini_elsewhere'")
        assert told(needs).replace('_elsewhere', '').endswith(
            f'needs autodiff_mini: pip install {install}')
    assert downloads.needs(['dask', 'matplotlib']) == {
        'dask': "'dask[array,distributed]'", 'matplotlib': 'matplotlib'}


USES = {    # chapter: what the draft can do from there on
    2: 'draft.jvp(lambda x: x * x, (3.0,), (1.0,))[1] == 6',
    3: 'sum(draft.vmap(lambda x: 2 * x)(numpy.ones(3))) == 6',
    7: "'add' in str(draft.make_jaxpr(lambda x: x + 1)(1.0))",
    10: 'draft.grad(lambda x: x * x)(3.0) == 6',
    13: 'draft.jit(lambda x: x + 1)(1.0) == 2',
    15: 'draft.scan(lambda c, x: (c + x, c), 0.0, numpy.ones(3))[0] == 3'}


FORGET = """
for name in [*sys.modules]:
    if name.partition('.')[0] == 'draft':
        del sys.modules[name]"""


def test_the_draft_runs_as_it_is_after_each_chapter(monkeypatch, tmp_path):
    """In one process, because importing NumPy takes longest."""
    monkeypatch.chdir(ROOT)
    lines = ['import sys', 'import numpy']
    for name, archive in downloads.drafts().items():
        chapter = int(Path(name).stem[:2])
        if not amount.WHOLE and chapter not in {*USES, 11, weave.LAST}:
            continue
        file = tmp_path / f'{chapter}.zip'
        file.write_bytes(archive)
        modules = zipfile.ZipFile(file).namelist()
        lines += [f'sys.path[0] = {str(file)!r}', *(
            f'import {module[:-3]}'.replace('/', '.') for module in modules), *(
            f'assert {use}, {chapter}' for first, use in USES.items()
            if first <= chapter), FORGET]
        assert ('draft/jvp.py' in modules) == (chapter >= 2)
    assert chapter == weave.LAST
    subprocess.run([sys.executable, '-c', '\n'.join(lines)], check=True,
                   cwd=tmp_path, env={})
