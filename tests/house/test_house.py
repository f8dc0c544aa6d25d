"""Guard the layers: the imports of each module, and one place per row.

The draft has its own layers, which `test_draft.py` checks.
"""

import ast
import re
from graphlib import TopologicalSorter

from book.tools.mainline import code_lines
from tests.support.modules import MODULES, PACKAGE, imports, tree

TESTS = PACKAGE.parent / 'tests'

# Each floor needs only itself and the floors below.
FLOORS = [{'core'}, {'interpreters'}, {'numpy_functions'}, {'primitives'},
          {'calls'}, {'api'}, {'wings'}]
COLUMNS = 'jvp', 'vmap', 'jaxpr', 'partial_eval', 'transpose'
MOST_LINES = 90         # of code without imports, in a column
MOST_IN_COLUMNS = 375   # in all of them
MOST_IN_A_MODULE = 120  # in another module of the folder


def floor(name):
    """Return the number of a module's floor."""
    [number] = [i for i, names in enumerate(FLOORS)
                if name.partition('.')[0] in names]
    return number


def test_a_module_needs_only_modules_below_it():
    for name in MODULES:
        for other in imports(name):
            assert floor(other) <= floor(name), (name, other)


def test_each_module_has_a_name_of_its_own():
    names = [name.rpartition('.')[2] for name in MODULES]
    assert sorted(names) == sorted({*names})


def test_modules_have_no_import_cycles():
    TopologicalSorter({name: imports(name) for name in MODULES}).prepare()


def without_imports(path):
    lines = path.read_text().splitlines()
    for node in tree(path).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            count = node.end_lineno - node.lineno + 1
            lines[node.lineno - 1:node.end_lineno] = [''] * count
    return '\n'.join(lines)


def test_a_column_can_be_read_in_one_sitting():
    counts = {name.partition('.')[2]: code_lines(without_imports(path))
              for name, path in MODULES.items()
              if name.startswith('interpreters.')}
    for name, count in counts.items():
        assert count <= (MOST_LINES if name in COLUMNS
                         else MOST_IN_A_MODULE), name
    assert sum(counts[name] for name in COLUMNS) <= MOST_IN_COLUMNS


def registered(node):
    """Return the primitive whose rule a statement registers, or None."""
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
    """Columns need the conversion primitive, whose row is elsewhere."""
    homes = {}
    for name in MODULES:
        if floor(name) < floor('api') and name != 'core.types':
            for node in tree(MODULES[name]).body:
                if (p := registered(node)) and p.endswith('_p'):
                    homes.setdefault(p, set()).add(name)
    assert len(homes) > 60
    assert {p: files for p, files in homes.items() if len(files) > 1} == {}


IMPORT = re.compile(
    r'(?m)^ *(?:from (tests[\w.]*) import (\([^)]*\)|.*)|import (tests[\w.]*))')


def imported(path):
    """Return the dotted names that a file imports from the tests."""
    found = []
    for package, names, module in IMPORT.findall(path.read_text()):
        found += [f'{package}.{name}' for name in re.findall(r'\w+', names)]
        found += [module or package]
    return found


def test_each_test_is_in_a_folder_with_a_name_of_its_own():
    """README.md lists the folders, and `make check` finds tests by name."""
    folders = re.findall(r'(?m)^\| `(\w+)/` \|',
                         (TESTS / 'README.md').read_text())
    files = [path.relative_to(TESTS) for path in TESTS.rglob('*.py')]
    assert {path.parts[0] for path in files} == {
        *folders, '__init__.py', 'conftest.py'}
    names = [path.name for path in files if path.name.startswith('test_')]
    assert len(names) > 150 and len(names) == len({*names})


def test_no_test_file_is_imported():
    """What test files share is in a module of its own."""
    for path in TESTS.rglob('*.py'):
        for name in imported(path):
            assert not re.match(r'tests\.(\w+\.)*test_', name), (path, name)


def test_no_definition_hides_another():
    for folder in PACKAGE, TESTS, PACKAGE.parent / 'book':
        for path in folder.rglob('*.py'):
            text = path.read_text()
            names = re.findall(r'^(?:def|class) (\w+)', text, re.M)
            if len(names) > len({*names}):      # or they stand in a string
                names = [node.name for node in ast.parse(text).body
                         if isinstance(node, ast.FunctionDef | ast.ClassDef)]
            assert len(names) == len({*names}), path
