"""Source: text that becomes functions, and what these do, step by step.

Its one idea: what is written by a program, for the machine, is looked at by
others: an error asks for the line, and whoever counts for the arrays.
"""

from traceback import walk_tb
from types import FunctionType
from typing import NamedTuple

from autodiff_mini.jaxprs import Equation, Var


class Work(NamedTuple):
    """A step of a program at work: which arrays are made, and which go.

    Args:
        eqns: the equations that are done.
        gone: the variables that are let go afterwards.
        into: {result: the operand whose array it takes}.
        pieces: how often the equations are done, each time for a piece.
        scratch: the bytes of the arrays for the pieces.
        outs: the results that have arrays of their own, if not all have.
        ordered: whether arrays may be expected to lie row by row, in the
            programs that an equation holds.
    """

    eqns: list[Equation]
    gone: list[Var] = ()
    into: dict = {}
    pieces: int = 1
    scratch: int = 0
    outs: list[Var] | None = None
    ordered: bool = True


def functions_in(source, scope) -> dict:
    """Returns the functions that a source defines, by name.

    Each has those names for globals that it uses.  If all had the same, that
    would hold the functions, and they would hold it: a circle, in which the
    arrays of a program stay until Python looks for circles.

    Args:
        source: each function in it comes after those that it calls.
        scope: what else the names in the source mean.
    """
    exec(compile(source, '<autodiff_mini program>', 'exec'), scope)
    defined = {f.__name__: f.__code__ for f in scope.values() if
               isinstance(f, FunctionType) and f.__globals__ is scope}
    functions = {}
    for name in sorted(defined, key=lambda x: defined[x].co_firstlineno):
        code = defined[name]
        names = {*code.co_names, '__builtins__'}    # a warning asks for these
        used = {x: scope[x] for x in names if x in scope}
        scope[name] = functions[name] = FunctionType(code, used)
    return functions


def lines_within(functions, error) -> list:
    """Returns the lines of these functions by which an error has come."""
    codes = {id(f.__code__) for f in functions.values()}
    return [line for frame, line in walk_tb(error.__traceback__)
            if id(frame.f_code) in codes]
