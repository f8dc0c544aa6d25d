"""The house: which way the library is built, and that a row is one place.

The draft is a house of its own: `test_draft.py` looks at it.
"""

import ast
import itertools
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import autodiff_mini
from book.tools.mainline import code_lines

PACKAGE = Path(autodiff_mini.__file__).parent
WINGS = {'fast', 'applications', 'elsewhere', 'more', 'notebook', 'tools'}

# Each storey needs itself and what is below.
STOREYS = [{'seams', 'copying', 'errors', 'core', 'pytree', 'signature',
            'arrays', 'memory', 'zeros', 'jaxprs', 'source', 'numpy_api'},
           {'interpreters'}, {'primitives'},
           {'higher_order', 'numpy_functions'}, {'api'}, WINGS]
MOST_LINES = 125    # of code, in a column


def modules():
    """Return {name: path} of the modules, without `autodiff_mini.`"""
    return {'.'.join(path.relative_to(PACKAGE).with_suffix('').parts): path
            for path in sorted(PACKAGE.rglob('*.py'))
            if path.name != '__init__.py' and path.parent.name != 'draft'}


MODULES = modules()


def statements(name):
    return ast.parse(MODULES[name].read_text()).body


def imports(name):
    """Return the modules of the library that a module imports, anywhere."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text())):
        if isinstance(node, ast.ImportFrom) and (
                node.module.partition('.')[0] == 'autodiff_mini'):
            inner = node.module.partition('.')[2]
            found |= {inner} & MODULES.keys()
            found |= {f'{inner}.{alias.name}'.lstrip('.')
                      for alias in node.names} & MODULES.keys()
    return found


def storey(name):
    """Return the number of the storey in which a module is."""
    [number] = [i for i, names in enumerate(STOREYS)
                if name.partition('.')[0] in names]
    return number


@pytest.mark.parametrize('name', MODULES)
def test_a_module_needs_what_is_below_it(name):
    above = {other for other in imports(name)
             if storey(other) > storey(name)}
    assert above == set()


def test_no_two_modules_need_each_other():
    graph = {name: imports(name) for name in MODULES}
    assert len([*TopologicalSorter(graph).static_order()]) == len(MODULES)


@pytest.mark.parametrize(
    'name', [name for name in MODULES if name.startswith('interpreters.')])
def test_a_column_can_be_read_in_one_sitting(name):
    assert code_lines(MODULES[name].read_text()) <= MOST_LINES


def registered(node):
    """Return the primitive that a statement gives a rule, or None."""
    match node:
        case ast.Expr(ast.Call(ast.Name(f), [ast.Name(p), *_])) if (
                f.startswith('def')):
            return p
        case ast.Assign([ast.Subscript(
                ast.Name(table) | ast.Attribute(attr=table),
                ast.Name(p))]) if table.endswith('rules'):
            return p
        case ast.Assign([ast.Name(p)], ast.Call()) if p.endswith('_p'):
            return p
    return None


def test_all_rules_of_a_primitive_are_in_one_file():
    """A conversion is a primitive that columns need; its row is elsewhere."""
    homes = {}
    for name in MODULES:
        if storey(name) < storey('api') and name != 'arrays':
            for node in statements(name):
                if (p := registered(node)) and p.endswith('_p'):
                    homes.setdefault(p, set()).add(name)
    assert len(homes) > 60
    assert {p: files for p, files in homes.items() if len(files) > 1} == {}


def test_what_a_chapter_has_finished_is_there():
    names = {path.name for path in PACKAGE.rglob('*.py')}
    for page in (PACKAGE.parent / 'book').glob('*/*.md'):
        said = re.findall('^Finished in this .*', page.read_text(), re.M)
        found = re.findall(r'(\w+\.py)', ''.join(said))
        assert {*found} <= names, page.name


def test_no_definition_hides_another():
    root = PACKAGE.parent
    for path in itertools.chain(PACKAGE.rglob('*.py'), (root / 'tests').rglob(
            '*.py'), (root / 'book/tools').rglob('*.py')):
        names = [node.name for node in ast.parse(path.read_text()).body
                 if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        assert len(names) == len({*names}), path
