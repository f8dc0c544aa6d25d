"""Source: text that becomes functions, and the lines of an error in it."""

from traceback import walk_tb
from types import FunctionType


def functions_in(source, scope) -> dict:
    """Return the functions that a source defines, by name.

    The globals of each are only the names that it uses.  If all functions had
    the same globals, these would hold the functions, and the functions hold
    them.  In such a circle the arrays of a program stay until Python looks
    for circles.

    Args:
        source: each function in it follows those that it calls.
        scope: what the other names in the source mean.
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
    return [line for frame, line in walk_tb(error.__traceback__)
            if id(frame.f_code) in codes]
