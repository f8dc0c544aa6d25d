"""Finds which statements are at work when the library registers its rules.

One idea: let the library say it.  Its modules run once more, in a process of
their own, where each table named `…_rules` notes who writes into it.  So it
does not matter how a rule is registered: by an assignment, by a helper such
as `defjvp`, in a loop, or for a whole kind of primitives at once.

    python -m book.tools.registrations .    prints them, as JSON
"""

import ast
import json
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path
from typing import NamedTuple

from book.tools import weave

TABLE = '_rules'
# What is no part of the grid: a wing, and the draft, which has its own.
BESIDE = f'{weave.PACKAGE}/more/', weave.DRAFT


class Registration(NamedTuple):
    """A rule of `row`, `sin` for `sin_p`, in the table `column`.

    `at_work` has the addresses (title, name) of statements: the one that the
    module was at, and the functions that it called to register the rule.
    """
    row: str
    column: str
    at_work: list


@cache
def registrations(root):
    """Returns the Registrations of the library in the folder `root`."""
    command = [sys.executable, '-m', 'book.tools.registrations',
               root.resolve()]
    notes = json.loads(subprocess.run(
        command, cwd=Path(__file__).parents[2], check=True,
        stdout=subprocess.PIPE).stdout)
    book = weave.modules(root)
    return [Registration(row, column, [
                (title, found.address) for title, line in at_work
                for found in book.get(title, {}).values()
                if found.line <= line <= found.end])
            for row, column, at_work in notes]


# What follows happens in the other process.

class Finder:
    """Finds the library's modules in a folder, for a NotingLoader."""

    def __init__(self, root):
        self.root = root

    def find_spec(self, name, path, target=None):
        if name.partition('.')[0] != weave.PACKAGE:
            return None
        spec = PathFinder.find_spec(name, path or [str(self.root)], target)
        if spec and spec.origin:
            spec.loader = NotingLoader(name, spec.origin)
        return spec


class NotingLoader(SourceFileLoader):
    """Runs a module, and puts a table that notes for each that it makes."""

    def exec_module(self, module):
        source = self.get_source(module.__name__)
        for node in ast.parse(source).body:
            code = compile(ast.Module([node], []), self.path, 'exec')
            exec(code, vars(module))
            if isinstance(node, ast.Assign | ast.AnnAssign):
                names = weave.bound(node)
                for name in filter(is_table, names):
                    put_noting(module, name, names,
                               (self.path, node.lineno))


NOTES = []   # of what was registered: (primitive, column, places)


def is_table(name):
    return name.endswith(TABLE)


def put_noting(module, name, names, where):
    """Puts a table that notes who writes into it in the place of a table.

    Args:
        module: that has the table, a dict, as a global variable.
        name: of the variable.
        names: of all variables of the statement, which may have the table.
        where: the file and the line of the statement that made the table.
    """
    table, column = getattr(module, name), name.removesuffix(TABLE)
    if not isinstance(table, dict):
        return    # such as a ChainMap of tables, which note for themselves

    class Noting(type(table)):
        def __setitem__(self, primitive, rule):
            NOTES.append((primitive, column, callers(sys._getframe(1))))
            super().__setitem__(primitive, rule)

    copy = Noting.__new__(Noting)
    vars(copy).update(getattr(table, '__dict__', {}))
    dict.update(copy, table)
    for other in names:
        if getattr(module, other) is table:
            setattr(module, other, copy)
    NOTES.extend((primitive, column, [where]) for primitive in table)


def callers(frame):
    """Returns the file and the line of functions, up to a module's own.

    For a function that is where it starts; for a module, where it is.
    """
    places = []
    while frame.f_code.co_name != '<module>':
        places.append((frame.f_code.co_filename, frame.f_code.co_firstlineno))
        frame = frame.f_back
    return [*places, (frame.f_code.co_filename, frame.f_lineno)]


def main(root):
    """Prints what the modules in the folder `root` register."""
    root = Path(root).resolve()
    sys.meta_path.insert(0, Finder(root))
    modules = [import_module(weave.dotted(title))
               for title in weave.modules(root)
               if not title.startswith(BESIDE)]
    rows = {id(value): name.removesuffix('_p') for module in modules
            for name, value in vars(module).items() if name.endswith('_p')}
    print(json.dumps([
        (rows[id(primitive)], column,
         [(Path(path).relative_to(root).as_posix(), line)
          for path, line in places if Path(path).is_relative_to(root)])
        for primitive, column, places in NOTES if id(primitive) in rows]))


if __name__ == '__main__':
    main(sys.argv[1])
