"""The theme: a page shows the addresses that are set, and no others."""

import os
import re
import subprocess
import sys

import pytest

from book.tools.places import ROOT

pytestmark = pytest.mark.rest     # sites are built

HOME, SOURCE = 'https://example.org/book/', 'https://example.com/source'
CONFIG = f'''
INHERIT: {ROOT}/mkdocs.yml
docs_dir: pages
nav: [index.md]
theme: {{custom_dir: {ROOT}/book/theme}}
hooks: ['{ROOT}/book/tools/hooks.py']
plugins: [search, offline]
'''
SETTINGS = {
    'SITE_URL': HOME, 'REPO_URL': SOURCE,
    'EDIT_URI': f'{SOURCE}/edit/book/', 'REPORT_URL': f'{SOURCE}/issues'}


def built(folder, settings):
    """Build a book of one page, with these settings; returns its site."""
    (folder / 'mkdocs.yml').write_text(CONFIG)
    for name, text in (('book/index.md', '# A book\n'),
                       ('book/assets/logo.svg', '<svg/>'),
                       ('autodiff_mini/core.py', '"""The core."""\n')):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for command in ['book.tools.pages'], ['mkdocs', 'build', '-q']:
        run = subprocess.run(
            [sys.executable, '-m', *command], cwd=folder,
            env=os.environ | dict.fromkeys(SETTINGS, '') | settings | {
                'PYTHONPATH': str(ROOT), 'SOURCE_DATE_EPOCH': '86400'},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert run.returncode == 0, run.stdout
    return folder / 'site'


@pytest.fixture(scope='module')
def unsaid(tmp_path_factory):
    return built(tmp_path_factory.mktemp('unsaid'), {})


@pytest.fixture(scope='module')
def said(tmp_path_factory):
    return built(tmp_path_factory.mktemp('said'), SETTINGS | {'PDF': '1'})


SHOWN = [
    f'<link rel="canonical" href="{HOME}index.html">',
    f'<meta property="og:image" content="{HOME}assets/preview.png">',
    f'<a class="source" href="{SOURCE}">Source</a>',
    f'<a href="{SOURCE}/edit/book/index.md">Edit this page</a>',
    f'<a href="{SOURCE}/issues">Report a mistake</a>',
    '<a href="book.pdf">PDF</a>']


def test_a_configured_address_is_shown(said):
    page = (said / 'index.html').read_text()
    assert [words for words in SHOWN if words not in page] == []
    assert f'<loc>{HOME}index.html</loc>' in (said / 'sitemap.xml').read_text()
    made = (said / 'modules/core.html').read_text()
    assert 'Report a mistake' in made and 'Edit this page' not in made


def test_a_missing_address_is_not_shown(unsaid):
    page = (unsaid / 'index.html').read_text()
    for words in ('canonical', 'og:', 'class="source"', 'Edit this page',
                  'Report a mistake', 'book.pdf', '<a href="">'):
        assert words not in page
    assert [*unsaid.glob('sitemap*')] == []
    for words in ('A book', '0.1.0', '1970-01-02', 'notebooks.zip',
                  '<a href="changes.html">Changes and errata</a>',
                  'Text and code: <a href="LICENSE.txt">Apache-2.0</a>'):
        assert words in page


def test_the_workflow_sets_every_address():
    names = re.findall(r'_ur[il]: !ENV \[(\w+), \'\'\]',
                       (ROOT / 'mkdocs.yml').read_text())
    workflow = (ROOT / '.github/workflows/book.yml').read_text()
    assert sorted(names) == sorted(SETTINGS)
    assert names == re.findall(
        r'([A-Z_]+): \$\{\{ (?:steps\.pages|github)', workflow)
    assert 'run: make publish' in workflow
