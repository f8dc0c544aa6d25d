"""Generated source: compile it to functions, and find an error's lines."""

from importlib import import_module
from types import FunctionType


def functions_in(source, scope) -> dict:
    """Return the functions that source code defines, by name.

    The globals of each function are only the names that it uses.  Shared
    globals would form a reference cycle with the functions, which would keep
    a program's arrays alive until the garbage collector runs.

    Args:
        source: the code, where each function follows the ones it calls.
        scope: the values of the other names in the code.
    """
    exec(compile(source, '<autodiff_mini program>', 'exec'), scope)
    functions = {}
    for name, f in list(scope.items()):     # in the order of the source
        if isinstance(f, FunctionType) and f.__globals__ is scope:
            names = {*f.__code__.co_names, '__builtins__'}  # for warnings
            used = {x: scope[x] for x in names if x in scope}
            scope[name] = functions[name] = FunctionType(f.__code__, used)
    return functions


def lines_within(functions, error) -> list:
    """Return the lines of these functions that an error passed through."""
    codes = {id(f.__code__) for f in functions.values()}
    walk_tb = import_module('traceback').walk_tb
    return [line for frame, line in walk_tb(error.__traceback__)
            if id(frame.f_code) in codes]
