"""Source: text that becomes functions, and what these do, step by step.

An error asks for a line of the text, and `cost` for the arrays that a program
holds.
"""

from traceback import walk_tb
from types import FunctionType
from typing import NamedTuple

from autodiff_mini.jaxprs import Equation, Var


class Work(NamedTuple):
    """A step of a running program, and the arrays that it makes and frees.

    Args:
        eqns: the equations that are computed.
        gone: the variables that are freed afterwards.
        into: {result: the operand whose array it takes}.
        pieces: how often the equations are computed, each time for a piece.
        scratch: the bytes of the arrays for the pieces.
        outs: the results that have arrays of their own, if not all have.
        ordered: whether arrays can be expected to be in row order, in the
            programs that an equation holds.
        rows: how many elements of the first axis a piece has; 0 if there are
            no pieces.
    """

    eqns: list[Equation]
    gone: list[Var] = ()
    into: dict = {}
    pieces: int = 1
    scratch: int = 0
    outs: list[Var] | None = None
    ordered: bool = True
    rows: int = 0


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
