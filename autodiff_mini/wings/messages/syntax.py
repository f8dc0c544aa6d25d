"""The user's program as it is written: the syntax at the line at fault.

See the page *Errors explained*.
"""

import ast
import builtins
import linecache
import os
from contextlib import suppress
from functools import lru_cache
from itertools import chain

from autodiff_mini.core.trace import Tracer


def nodes_around(frame, instruction=None) -> list:
    """Return the syntax nodes that a frame is running, innermost first.

    The last is the statement.  Without source, the list is empty.
    """
    instruction = frame.f_lasti if instruction is None else instruction
    code, around = frame.f_code, []
    line, last, start, end = [*code.co_positions()][instruction // 2]
    lines = linecache.getlines(code.co_filename, frame.f_globals)
    if None in (line, last, start, end):
        return []
    whole = [statement for statement in syntax_of(''.join(lines)).body
             if first_line(statement) <= line and (
                 last <= statement.end_lineno)]
    for node in chain.from_iterable(map(ast.walk, whole)):
        if isinstance(node, ast.expr | ast.stmt) and (
                (node.lineno, node.col_offset) <= (line, start)
                and (last, end) <= (node.end_lineno, node.end_col_offset)):
            around = [node, *([] if isinstance(node, ast.stmt) else around)]
    return around


def first_line(statement) -> int:
    """Return the first line of a statement, with its decorators."""
    decorators = getattr(statement, 'decorator_list', ())
    return min([statement.lineno, *[each.lineno for each in decorators]])


@lru_cache(maxsize=4)
def syntax_of(source):
    """Return the syntax tree of a file, empty if it is not Python."""
    try:
        return ast.parse(source)
    except SyntaxError:
        return ast.parse('')


def value_of(node, frame):
    """Return the value of a name or of an attribute, or None."""
    match node:
        case ast.Name(name):
            return frame.f_locals.get(name, frame.f_globals.get(
                name, getattr(builtins, name, None)))
        case ast.Attribute(node, name):
            owner = value_of(node, frame)
            if isinstance(owner, Tracer):
                return None     # its attributes are operations
            with suppress(Exception):
                return getattr(owner, name)
    return None


def call_around(frame, instruction=None):
    """Return the call that a frame is running, or None."""
    for node in nodes_around(frame, instruction)[:1]:
        if isinstance(node, ast.Call):
            return node
    return None


PYTHON = os.path.dirname(os.__file__) + os.sep


def in_python(frame) -> bool:
    """Return whether a frame is in Python's library, or in compiled NumPy."""
    file = frame.f_code.co_filename
    return file.startswith(PYTHON) and 'site-packages' not in file or (
        frame.f_globals.get('__name__') or '').startswith('numpy.')
