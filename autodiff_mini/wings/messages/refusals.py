"""Add advice to errors that the user's own lines raise.

Python and NumPy say what failed, but not that a value was traced.  And a
program that catches a refusal loses a derivative, or a rule, so we warn.  See
chapter 20 and the page *Errors explained*.
"""

import ast
import os
import sys
import warnings
from importlib import import_module
from traceback import walk_tb
from typing import NamedTuple

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TracerError, last_refusal, trace_at_work
from autodiff_mini.core.lines import in_a_library, is_other, lasting_line
from autodiff_mini.core.trees import build
from autodiff_mini.wings.messages.advice import program_frame
from autodiff_mini.wings.messages.method_advice import (
    instead_of_habit, instead_of_our_keyword)
from autodiff_mini.wings.messages.numpy_advice import (
    instead_of_python, refused_call)
from autodiff_mini.wings.messages.syntax import (
    call_around, in_python, nodes_around, value_of)
from autodiff_mini.wings.messages.wrong_calls import how_called, users_part


class Refusal(NamedTuple):
    """Where a tracer, or a call with a rule, refused, and what it said.

    It holds the error's class and message, because the error itself would
    keep the frames alive.

    Args:
        line: the place in the user's program, as `user_line` returns it.
        is_direct: whether the program asked itself, and not a library.
        message: the message.
        kind: the class of the error.
    """

    line: tuple
    is_direct: bool
    message: str
    kind: type


@seams.note_refusal.take
def note_refusal(error):
    """Remember a refusal, in case the program hides the error."""
    trace, (frame, is_direct) = trace_at_work.get(None), program_frame()
    if trace and trace.tag:
        is_direct = is_direct or not isinstance(error, TracerError)
        last_refusal.set(Refusal((frame.f_code, frame.f_lasti), is_direct,
                                 str(error), type(error)))


@seams.warn_of_lost_refusal.take
def warn_of_lost_refusal():
    """Warn that the program caught an error and has forgotten a tracer."""
    refused = last_refusal.get()
    if refused and sys.exc_info()[1] is None:   # it is not being handled
        last_refusal.set(None)
        if refused.is_direct:
            whose, what = (
                ('a traced value', 'that value, and its derivative')
                if issubclass(refused.kind, TracerError)
                else ('a function with a rule', 'that call, and its rule'))
            warnings.warn_explicit(
                f'an `except` clause caught the error of {whose}, so the '
                f'result does not depend on {what} is lost. The error was: '
                f'{refused.message}',
                UserWarning, *lasting_line(refused.line))


@seams.tell.take
def tell(error):
    """Shorten an error to what a user wants to know, the cause last.

    Remove frames of the library and of NumPy from its traceback, and from
    the tracebacks of the errors before it, unless the environment variable
    AUTODIFF_MINI_TRACEBACK is "full".

    Returns:
        The error to raise instead of this one, or None.
    """
    if isinstance(error, RecursionError):
        tracing = import_module(
            'autodiff_mini.wings.messages.tracing_warnings')
        tracing.explain_depth(error)
    full = os.environ.get('AUTODIFF_MINI_TRACEBACK') == 'full'
    hidden = replaced_refusal(error, last_refusal.get())
    if hidden:
        last_refusal.set(None)
        shown = error.__traceback__
        return hidden.with_traceback(shown if full else users_part(shown))
    cause = error.__cause__
    if isinstance(cause, TracerError) and not users_part(cause.__traceback__):
        # NumPy's error shows only the symptom; this one is the cause.
        error.add_note(str(cause))
        error.__cause__, error.__context__ = None, cause
    add_advice(error)
    if full:
        return None
    told = []
    while error and error not in told:
        error.__traceback__ = users_part(error.__traceback__)
        told.append(error)
        error = error.__cause__ or error.__context__
    return None


CONFUSED = 'unsupported operand', "has no attribute '_trace'"


def replaced_refusal(error, refused):
    """Return the refusal that a library has replaced by its own error.

    Return None if there is none.  SciPy's solvers catch any error of the
    user's function and say that it has not returned a number.  Some of their
    C code does not even look for an error, and calls the function again,
    until Python notices and raises a SystemError, or takes the error for a
    tracer without an operator or an attribute.
    """
    if isinstance(error, TracerError):
        return None
    entry = entry_of(error)
    call = entry and call_around(entry.tb_frame, entry.tb_lasti)
    text = call and refused_call(call, entry.tb_frame)
    if text:
        return TracerError(text)
    if not refused or refused.is_direct:
        return None
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    is_confused = isinstance(error, SystemError) or (
        any(words in str(error) for words in CONFUSED)
        and 'Tracer' in str(error) and any(map(is_other, frames)))
    if not (is_confused or entry and place_of(entry) == refused.line
            and is_other(frames[-1])):
        return None
    return refused.kind.__new__(refused.kind, refused.message)


def entry_of(error):
    """Return the last entry of the user's program in a traceback, or None."""
    entry, inner = None, error.__traceback__
    while inner:
        frame = inner.tb_frame
        is_users = not (in_a_library(frame) or in_python(frame))
        entry = inner if is_users else entry
        inner = inner.tb_next
    return entry


def place_of(entry):
    """Return an entry of a traceback as `user_line` returns a place."""
    return entry.tb_frame.f_code, entry.tb_lasti


def add_advice(error):
    """Add advice to a Python or NumPy error."""
    for advice in [*how_called(error), how_to_rebuild(error),
                   advice_on(error, last_refusal.get())]:
        if advice and advice not in getattr(error, '__notes__', ()):
            error.add_note(advice)
    trace = trace_at_work.get(None)
    if not trace or not trace.tag:
        last_refusal.set(None)


def how_to_rebuild(error):
    """Return what to change in a container that looks at its children."""
    for frame, _ in walk_tb(error.__traceback__):
        if frame.f_code is build.__code__ and 'children' in frame.f_locals:
            kinds = dict.fromkeys(
                type(x).__name__ for x in frame.f_locals['children'])
            container = frame.f_locals['treedef'].node_type.__name__
            return (f'{container} was rebuilt around '
                    f'{" and ".join(kinds)}. A pytree can hold other values '
                    'instead of arrays, so unflatten must not look at '
                    'them. If the constructor does, make the object with '
                    f'object.__new__({container}) and set its attributes.')
    return None


def advice_on(error, refused):
    """Return the line to add to a Python or NumPy error, or None.

    Args:
        error: the error.
        refused: the last Refusal, which C code can have hidden.
    """
    entry, text = entry_of(error), str(error)
    if text.startswith('unhashable type') and text.endswith("Tracer'"):
        return ('A traced value has no hash, so no dict, set, or lru_cache '
                'can look it up. Leave the lookup out.')
    if entry is None:
        return instead_of_our_keyword(error)
    place = entry.tb_frame, entry.tb_lasti
    if habit := instead_of_habit(error, *place):
        error.name = None   # Python would suggest a similar name
        return habit
    if isinstance(error, ValueError) and text.startswith('matmul: '):
        return shapes_of_product(*place)
    if 'Tracer' in text and (call := call_around(*place)) and (
            advice := instead_of_python(call, entry.tb_frame)):
        return advice
    if refused and refused.message != text and (
            refused.line == place_of(entry)):
        return refused.message
    return None


def shapes_of_product(frame, instruction):
    """Return the shapes in a matrix product and a product that fits."""
    match nodes_around(frame, instruction)[:1]:
        case [ast.BinOp(left, _, right)]:
            arrays = value_of(left, frame), value_of(right, frame)
            if not all(hasattr(array, 'shape') for array in arrays):
                return None
            (a, b), x, y = [array.shape for array in arrays], *map(
                ast.unparse, (left, right))
            said = f'{x} has shape {a} and {y} has shape {b}'
            if len(a) == 2 and a[0] == b[-2:][0]:
                return f'{said}: write {x}.T @ {y}.'
            if len(b) == 2 and a[-1] == b[1]:
                return f'{said}: write {x} @ {y}.T.'
            return f'{said}: {a[-1]} and {b[-2:][0]} must be equal.'
