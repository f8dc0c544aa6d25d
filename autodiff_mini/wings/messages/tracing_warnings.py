"""Warn about Python code that runs only while a program is traced.

A loop is unrolled, a recursion that a traced value should end never ends,
and random numbers become constants.  See the page *Errors explained*.
"""

import dis
import sys
import warnings
from collections import Counter
from contextlib import suppress
from functools import lru_cache, partial
from inspect import getattr_static, unwrap
from pickle import dumps
from types import BuiltinMethodType, CodeType, FunctionType, MethodType

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.lines import is_library, lasting_line
from autodiff_mini.core.seams import LONG_LOOP
from autodiff_mini.core.signature import Opened
from autodiff_mini.wings.messages.lambda_names import name_of_code

SAID = {}       # the warnings given so far


def warn(text, file, number):
    """Give a warning once for each line of the user's program."""
    warnings.warn_explicit(text, UserWarning, file, number, registry=SAID)


@seams.count_lines.take
def count_lines(trace):
    """Count the last operations of a program by the line that asked.

    A line that reaches LONG_LOOP is in a loop.  Warn once per trace, and
    then stop counting.
    """
    seams.report(trace.tag, f'{len(trace.eqns):,} operations recorded')
    eqns = trace.eqns[-LONG_LOOP:]
    counts = vars(trace).setdefault('counts', {})
    if counts is None or trace.tag.transform not in LASTING:
        return
    for place, n in Counter(eqn.line for eqn in eqns).items():
        line = lasting_line(place)
        counts[line] = counts.get(line, 0) + n
    line = max(counts, key=counts.get)
    if counts[line] >= LONG_LOOP:
        trace.counts = None
        warn(f'{trace.tag}: {counts[line]:,} operations of this line have '
             'been traced so far, because a Python loop is unrolled. Write '
             'the loop with ad.fori_loop, or with ad.scan if each step has '
             'a result to keep.', *line)


@seams.with_warnings.take
def with_warnings(f, args, tag, stage):
    """Return the program of `f`, and warn of random numbers in it.

    Args:
        f: a function of the user.
        args: its positional arguments.
        tag: the application of a transformation that traces it.
        stage: a function that traces it and returns the program.

    Raises:
        RecursionError: a function calls itself too often; the error names it.
    """
    if args and isinstance(args[0], Opened):    # f is a method
        f = MethodType(unwrap(f), args[0].it)
    states = random_states(f) if tag.transform in LASTING else ()
    try:
        jaxpr = stage()
    except RecursionError as error:
        name = name_in_recursion(error)
        if name is None:
            raise
        raise RecursionError(
            f'{TOO_DEEP}: {name} calls itself while {tag} is traced, and a '
            'traced condition does not stop it, because np.where and ad.cond '
            'trace both branches. Write the recursion as a loop, with '
            'ad.while_loop.') from None
    warn_of_frozen(states)
    return jaxpr


# Transformations that run a program more often than its function.
LASTING = {'jit', 'make_jaxpr', 'scan', 'while_loop'}


TOO_DEEP = 'maximum recursion depth exceeded'
MANY = 10       # frames of one function


def frames_of(error) -> list:
    """Return the frames that an error has left, and those at work."""
    frames, frame = [], sys._getframe(1)
    while frame:
        frames.append(frame)
        frame = frame.f_back
    entry = error.__traceback__
    while entry:
        frames.append(entry.tb_frame)
        entry = entry.tb_next
    return frames


def name_in_recursion(error):
    """Return the name of the user's function that calls itself, or None.

    Two functions with the same code differ if they close over other values.
    """
    counts = Counter(
        (frame.f_code, *map(id, map(frame.f_locals.get,
                                    frame.f_code.co_freevars)))
        for frame in frames_of(error)
        if not is_library[frame.f_code.co_filename])
    for (code, *_), count in counts.most_common(1):
        if count >= MANY:
            return name_of_code(code)
    return None


def explain_depth(error):
    """Say in a RecursionError how many levels were nested in each other.

    Some of the library's functions are called once per level, and others a
    few times, so the smallest count is the number of levels.
    """
    if not str(error).startswith(TOO_DEEP) or ':' in str(error):
        return
    counts = Counter(frame.f_code for frame in frames_of(error)
                     if is_library[frame.f_code.co_filename])
    levels = [count for count in counts.values() if count >= MANY]
    if levels and name_in_recursion(error) is None:
        text = (f'{TOO_DEEP}: functions are nested in each other too deeply, '
                f'in {min(levels)} levels so far. Write the levels as a '
                'loop, with ad.scan or ad.fori_loop, or let Python go '
                'deeper: sys.setrecursionlimit(10_000).')
        error.args, error.__context__ = (text,), None


def random_states(f) -> list:
    """Return each random generator that `f` names, its place, and its state.

    Search the globals, closures, modules, and attributes that `f` names, and
    the functions that it names.
    """
    found, seen, left = {}, set(), [(f, None, '')]
    for x, code, name in left:      # the list grows
        if type(x) in LEADS_NOWHERE or (id(x), id(code)) in seen:
            continue
        seen.add((id(x), id(code)))
        if code and (type(x).__module__, type(x).__name__) in GENERATORS:
            found.setdefault(id(x), (x, code, name, dumps(x)))
        left += leads_to(x, code, name)
    return list(found.values())


def warn_of_frozen(states):
    """Warn of each generator whose state has changed."""
    for x, code, name, before in states:
        if dumps(x) != before:
            lines = (i.positions.lineno for part in codes_in(code)
                     for i in dis.get_instructions(part) if i.argval == name)
            warn('Random numbers were drawn while a function was traced, so '
                 'they are constants of its program, and each run uses the '
                 'same numbers. Draw them outside and pass them as an '
                 'argument.', code.co_filename,
                 next(lines, code.co_firstlineno))


GENERATORS = {('random', 'Random'), ('numpy.random.mtrand', 'RandomState'),
              ('numpy.random._generator', 'Generator')}
# The most common types that never lead to a generator.
LEADS_NOWHERE = {type(None), int, float, str, np.ndarray, np.ufunc,
                 type(np.sum)}


def leads_to(x, code, name):
    """Yield values that a value leads to, each with the code and its name.

    Args:
        x: a function, a module, or any other value.
        code: the code of the function that uses it, None for the first.
        name: the name in this code that leads to it.
    """
    kind, inside = type(x), getattr(x, '__dict__', {})
    wrapped = x.func if kind is partial else inside.get('__wrapped__')
    if wrapped is not None:
        yield wrapped, code, name
    elif kind is FunctionType:
        if not is_library[x.__code__.co_filename]:
            code = x.__code__
            for key in names_in(code):
                yield x.__globals__.get(key), code, key
            for key, cell in zip(code.co_freevars, x.__closure__ or ()):
                with suppress(ValueError):      # the cell is still empty
                    yield cell.cell_contents, code, key
    elif kind in (MethodType, BuiltinMethodType):
        yield x.__self__, code, name
        yield from of_method(x.__self__, getattr(x, '__func__', None))
    elif x is np:
        if 'random' in names_in(code):      # NumPy imports it on demand
            yield np.random, code, 'random'
    else:
        for key in names_in(code) if code else ():
            if key in inside:
                yield inside[key], code, key
            else:
                yield from of_method(x, getattr(kind, key, None))
        yield from of_method(x, getattr_static(kind, '__call__', None))


def of_method(owner, method):
    """Yield an object, as one of its methods uses it, and the method."""
    if type(method) is FunctionType and (
            not is_library[method.__code__.co_filename]):
        yield owner, method.__code__, 'self'
        yield method, None, ''


def codes_in(code):
    """Yield a function's code and the code of the functions inside it."""
    yield code
    for x in code.co_consts:
        if isinstance(x, CodeType):
            yield from codes_in(x)


@lru_cache
def names_in(code) -> tuple:
    """Return the names that a function uses but does not define."""
    return tuple(dict.fromkeys(
        name for part in codes_in(code)
        for name in [*part.co_names, *part.co_freevars]))
