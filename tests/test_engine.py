"""Another engine makes the same site of the folder of pages.

`make test-site` makes the folder, builds the site of it with mkdocs, and
runs this, which builds one with Zensical, and compares.
"""

import html
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.links import broken_links

ROOT = Path(__file__).parents[1]
PAGES = [path.relative_to(ROOT / 'pages').with_suffix('.html').as_posix()
         for path in sorted((ROOT / 'pages').rglob('*.md'))]


@pytest.fixture(scope='session')
def other(request, tmp_path_factory):
    """Return the folder of the site that Zensical builds."""
    if request.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip('only `make test-site` builds the site')
    pytest.importorskip('zensical', reason='`make test-site` installs it')
    folder = tmp_path_factory.mktemp('engine')
    for name in 'book', 'pages', 'autodiff_mini':     # it follows no links
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / 'mkdocs.yml', folder)
    run = subprocess.run(
        [sys.executable, '-m', 'zensical', 'build', '--strict'], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert run.returncode == 0, run.stdout
    assert 'zensical' in (folder / 'site/index.html').read_text()
    assert 'zensical' not in (ROOT / 'site/index.html').read_text()
    return folder / 'site'


def said(page):
    """Return the words of a page, without those around its article."""
    article = re.search(r'(?s)<article.*?</article>', page.read_text('utf-8'))
    text = re.sub(r'(?s)<(script|style).*?</\1>', '', article[0])
    return html.unescape(re.sub('<[^>]*>', ' ', text)).split()


@pytest.mark.parametrize('page', PAGES)
def test_a_page_says_the_same(other, page):
    assert said(other / page) == said(ROOT / 'site' / page)


def test_every_link_leads_somewhere(other):
    assert broken_links(other) == []
    assert len(PAGES) > 50
