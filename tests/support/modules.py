"""The modules of the library, and what they import."""

import ast
from functools import cache
from pathlib import Path

import autodiff_mini

PACKAGE = Path(autodiff_mini.__file__).parent


def name_of(path):
    """Return the name of a module or folder, without `autodiff_mini.`"""
    return '.'.join(path.relative_to(PACKAGE).with_suffix('').parts)


MODULES = {name_of(path): path for path in sorted(PACKAGE.rglob('*.py'))
           if path.name != '__init__.py' and path.parent.name != 'draft'}
FOLDERS = {name_of(path.parent) for path in PACKAGE.glob('*/**/__init__.py')
           if path.parent.name != 'draft'}


@cache
def tree(path):
    return ast.parse(path.read_text())


@cache
def imports(name):
    """Return the modules of the library that a module imports anywhere."""
    found = set()
    for node in ast.walk(tree(MODULES[name])):
        if isinstance(node, ast.ImportFrom) and (
                node.module.partition('.')[0] == 'autodiff_mini'):
            inner = node.module.partition('.')[2]
            found |= {inner, *(f'{inner}.{alias.name}'.lstrip('.')
                               for alias in node.names)}
    return found & (MODULES.keys() | FOLDERS)
