"""Live notebooks: cells that edit the library.

`%load_ext autodiff_mini` turns this on.  The library's objects stay and take
over the new state, so no reference becomes outdated.  Only functions and
constants are replaced, wherever the library keeps them.  See the page *How
the notebooks edit the code*.
"""

import ast
import gc
import inspect
import sys
from collections import Counter
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import CellType

import autodiff_mini
from autodiff_mini.core.errors import RuleTable

# Separate, or imported on demand.
ASIDE = {'draft', 'more_numpy', 'more_calls', 'writing'}


def load_ipython_extension(shell):
    import_library()
    shell.ast_transformers.append(Live())


def unload_ipython_extension(shell):
    shell.ast_transformers[:] = [
        t for t in shell.ast_transformers if not isinstance(t, Live)]


def import_library():
    """Import the modules that the library imports on demand."""
    for module in walk_packages(autodiff_mini.__path__, 'autodiff_mini.'):
        if ASIDE.isdisjoint(module.name.split('.')):
            import_module(module.name)


class Live(ast.NodeTransformer):
    """Make a statement that defines a name of the library call `update`.

    A name that several modules define, such as `rules`, stays local.
    """

    def visit_Assign(self, node):
        homes = [(name, module, definitions(module)[name])
                 for name in defined(node) for module in library()
                 if name in definitions(module)]
        count = Counter(name for name, *_ in homes)
        calls = '; '.join(
            f'__import__("sys").modules[{__name__!r}].update(globals(), '
            f'{module.__name__!r}, {name!r}, '
            f'{ast.dump(node) != ast.dump(known)})'
            for name, module, known in homes if count[name] == 1)
        tree = ast.increment_lineno(ast.parse(calls), node.lineno - 1)
        return [node, *tree.body]

    visit_AnnAssign = visit_FunctionDef = visit_ClassDef = visit_Assign


def defined(node):
    """Return the names that a statement defines; an import defines none."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return {node.name}
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)
            and isinstance(name.ctx, ast.Store)}


def library():
    """Return the modules of the library that cells edit.

    Leave out this module, the draft, which has its own names, and modules
    with names that programs define themselves, such as `expit` or `plain`.
    """
    aside = (__name__, 'autodiff_mini.wings.applications',
             'autodiff_mini.draft', 'autodiff_mini.core.seams')
    return [module for name, module in list(sys.modules.items())
            if name.partition('.')[0] == 'autodiff_mini'
            and not name.startswith(aside)]


@cache
def definitions(module):
    """Return the statements that define a module's names, by name."""
    if hasattr(module, '__path__'):     # a package only imports its names
        return {}
    tree = ast.parse(Path(module.__file__).read_text())
    return {name: node for node in tree.body for name in defined(node)
            if hasattr(module, name)}


def tables():
    """Return the dictionaries of the library: its tables of rules."""
    return [vars(module)[name] for module in library()
            for name in definitions(module)
            if isinstance(vars(module)[name], dict)]


def update(notebook, module, name, is_edited):
    """Put a cell's new definition into the module that also has it."""
    old, new = vars(sys.modules[module])[name], notebook[name]
    change = way_to_change(old)
    if change is not way_to_change(new):
        return   # they share only their name
    if change is not exchange:
        notebook[name] = old
    change(name, old, new)
    if is_edited:
        RuleTable.version += 1  # discard results of the old rules
        print(f'edited: {module}.{name}')


def way_to_change(x):
    """Return the function that puts a new `x` into the library."""
    if isinstance(x, type):
        return patch
    single = isinstance(x, (int, float, str, tuple))
    return exchange if single or is_function(x) else fill


def is_function(x):
    x = inspect.unwrap(x)       # if it is cached
    return inspect.isfunction(x) or isinstance(x, partial)


def exchange(name, old, new):
    """Replace an old function or constant by the new one."""
    for module in library():
        if vars(module).get(name) is old:
            setattr(module, name, new)
    for table in tables():
        table.update({key: new for key, value in table.items()
                      if value is old and is_function(old)})


def patch(name, old, new):
    """Give the class `old` the attributes that the body of `new` gave it."""
    if vars(old).get('__slots__') != vars(new).get('__slots__'):
        raise TypeError(f'{name} has live instances, so its __slots__ cannot '
                        'change. Edit the module and restart the notebook.')
    if old.__bases__ != new.__bases__:
        old.__bases__ = new.__bases__
    for key, value in body(old).items():
        written = getattr(value, 'fget', value)   # such as a property's
        if getattr(written, '__qualname__', '').startswith(f'{name}.'):
            delattr(old, key)
    for key, value in body(new).items():
        setattr(old, key, value)
    for holder in gc.get_referrers(new):
        if isinstance(holder, CellType):   # where super() finds its class
            holder.cell_contents = old
    for table in tables():   # which hold bound methods, such as sin_p.bind
        table.update({key: getattr(value.__self__, value.__name__)
                      for key, value in table.items()
                      if inspect.ismethod(value)})


def body(cls):
    """Return the attributes of a class, except its layout and its name."""
    return {key: value for key, value in vars(cls).items()
            if key != '__name__' and not inspect.isgetsetdescriptor(value)
            and not inspect.ismemberdescriptor(value)}


def fill(name, old, new):
    """Give an object the state of the new one; a table loses no entry."""
    if type(old) is type(new) and hasattr(old, '__dict__'):
        vars(old).update(vars(new))
    if isinstance(old, dict):
        old.update(new)
