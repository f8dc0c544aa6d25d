"""From here to JAX's own files: the names on that page exist."""

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path

import pytest

import autodiff_mini
from book.tools.places import ROOT

PAGE = ROOT / 'book/appendix/from_here_to_jax.md'
FILE = re.compile(r'`([\w/]+\.py)`: ((?:`\w+`(?:, )?)+)')


def rows():
    """Return the cells of each row: our file, JAX's, and the difference."""
    return [[cell.strip() for cell in line.strip('|').split(' | ')]
            if line.count(' | ') == 2 else pytest.fail(line)
            for line in PAGE.read_text().replace('| |', '| – |').splitlines()
            if line.startswith('| [')]


def mentioned():
    """Return the pairs (file, name) of JAX on the page."""
    return [(file, name) for _, theirs, _ in rows()
            for file, names in FILE.findall(theirs)
            for name in re.findall(r'\w+', names)]


def test_every_module_is_on_the_page_once():
    ours = [name for cell, _, _ in rows()
            for name in re.findall(r'\[([\w/]+\.py)\]', cell)]
    package = Path(autodiff_mini.__file__).parent
    assert sorted(ours) == sorted(
        path.relative_to(package).as_posix() for path in package.rglob('*.py')
        if path.name != '__init__.py' and path.parent.name != 'draft')


def test_every_file_of_jax_has_names():
    """Otherwise, a row in another format would not be checked."""
    assert len(mentioned()) > 100
    for _, theirs, _ in rows():
        assert re.fullmatch(rf'(?:{FILE.pattern}(?:; )?)*–?', theirs), theirs


@cache
def defined(path):
    """Return the names that a JAX module defines or imports."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name=name, asname=asname):
                names.add(asname or name)
    return names


@pytest.fixture
def jax():
    """Return the folder of JAX, without importing it."""
    spec = importlib.util.find_spec('jax')
    if not spec:
        pytest.skip('JAX is not installed: `make test-jax` does it')
    return Path(spec.origin).parent


@pytest.mark.parametrize('file', sorted({file for file, _ in mentioned()}))
def test_every_name_is_in_its_file(jax, file):
    names = {name for path, name in mentioned() if path == file}
    assert names - defined(jax / file) == set()
