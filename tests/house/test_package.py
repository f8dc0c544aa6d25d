"""The wheel and the sdist, as a user installs them.

`make test-package` runs this.
"""

import importlib.util
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import autodiff_mini as ad
from tests.support import amount

if not (amount.WHOLE and importlib.util.find_spec('build')):
    pytest.skip('`make test-package` runs it', allow_module_level=True)

from hatch_build import addresses

ROOT = Path(__file__).parents[2]
SETTINGS = """\
site_url: !ENV [SITE_URL, '']       # the folder of the site
repo_url: !ENV [REPO_URL, 'https://example.org/source']
extra:
  report_url: !ENV [REPORT_URL, '']
"""


def run(*command, cwd=None, **variables):
    """Return the output of a command; an error shows all of it."""
    done = subprocess.run(list(map(str, command)), cwd=cwd, text=True,
                          env=os.environ | variables, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def dist(tmp_path_factory):
    """Return a folder with an sdist and the wheel built from it."""
    folder = tmp_path_factory.mktemp('dist')
    run(sys.executable, '-m', 'build', '--outdir', folder, ROOT)
    return folder


def wheel_of(dist):
    [wheel] = dist.glob('*.whl')
    return wheel


def test_a_registry_accepts_wheel_and_sdist(dist):
    names = sorted(path.name for path in dist.iterdir())
    stem = f'autodiff_mini-{ad.__version__}'
    assert names == [f'{stem}-py3-none-any.whl', f'{stem}.tar.gz']
    run(sys.executable, '-m', 'twine', 'check', '--strict', *dist.iterdir())


def test_the_readme_asks_a_registry_for_nothing(dist):
    """A registry has no folder for relative addresses."""
    wheel = zipfile.ZipFile(wheel_of(dist))
    [name] = [name for name in wheel.namelist() if name.endswith('/METADATA')]
    text = wheel.read(name).decode()
    assert 'automatic differentiation' in text
    assert '# The Rule That Vanished' in text
    assert re.findall(r'\]\((?!https://)[^)]*\)', text) == []


def test_the_package_has_the_addresses_of_the_book(monkeypatch):
    monkeypatch.delenv('REPO_URL', raising=False)
    monkeypatch.delenv('REPORT_URL', raising=False)
    monkeypatch.setenv('SITE_URL', 'https://example.org/book/')
    assert addresses(SETTINGS) == {
        'site': 'https://example.org/book/',
        'repo': 'https://example.org/source'}


def test_a_wheel_has_only_the_library(dist):
    names = zipfile.ZipFile(wheel_of(dist)).namelist()
    have = {name for name in names if name.startswith('autodiff_mini/')}
    assert have == {
        str(path.relative_to(ROOT))
        for path in (ROOT / 'autodiff_mini').rglob('*')
        if path.is_file() and path.suffix != '.pyc'}
    assert {name.partition('/')[0] for name in {*names} - have} == {
        f'autodiff_mini-{ad.__version__}.dist-info'}


def test_a_wheel_works_in_an_empty_environment(dist, tmp_path):
    python = tmp_path / 'env' / 'bin' / 'python'
    venv.create(tmp_path / 'env', with_pip=True)
    run(python, '-m', 'pip', 'install', '-q', wheel_of(dist))
    installed = run(python, '-m', 'pip', 'list', '--format=freeze')
    assert {line.partition('==')[0] for line in installed.split()} - {
        'pip', 'setuptools'} == {'autodiff_mini', 'numpy'}
    code = re.search(r'(?s)```python\n(.*?)```',
                     (ROOT / 'README.md').read_text())[1]
    [(line, result), *_] = re.findall(r'(?m)^(ad\..*?) +# ([^a-z]*),', code)
    out = run(python, '-c', f"{code}\nnp.set_printoptions(legacy='1.25')\n"
              f'print({line})\nprint(ad.__version__)', cwd=tmp_path)
    assert out.splitlines() == [result, ad.__version__]
    (tmp_path / 'program.py').write_text(
        f'{code}\ny, pullback = ad.vjp(expit, 0.0)\nreveal_type(pullback)\n')
    types = run(sys.executable, '-m', 'mypy', '--strict-optional',
                '--python-executable', python, 'program.py', cwd=tmp_path)
    assert 'def (Any) -> tuple[Any, ...]' in types


def test_the_sdist_builds_the_book(dist, tmp_path):
    [sdist] = dist.glob('*.tar.gz')
    run(sys.executable, '-m', 'tarfile', '-e', sdist, tmp_path)
    [folder] = tmp_path.iterdir()
    if (ROOT / '.cache').exists():  # already run
        (folder / '.cache').symlink_to(ROOT / '.cache')
    for command in ['book.tools.pages'], ['mkdocs', 'build', '--strict']:
        run(sys.executable, '-m', *command,
            cwd=folder, PYTHONPATH='.', NO_MKDOCS_2_WARNING='1')
    pages = {str(path.relative_to(folder / 'book').with_suffix('.html'))
             for path in (folder / 'book').rglob('*.md')
             if path.name != 'README.md'}
    assert pages and pages <= {
        str(path.relative_to(folder / 'site'))
        for path in (folder / 'site').rglob('*.html')}
