"""Warn about Python code that runs only while a program is traced.

A loop is unrolled, a recursion that a traced value should end never ends,
and random numbers become constants.  Appendix *Errors explained*.
"""

import dis
import warnings
from collections import Counter
from functools import lru_cache, partial
from inspect import getattr_static, unwrap
from pickle import dumps
from traceback import walk_tb
from types import BuiltinMethodType, CodeType, FunctionType, MethodType

import numpy as np

from autodiff_mini.errors import is_library, lasting_line
from autodiff_mini.signature import Attributes

LONG_LOOP = 10_000   # operations of one line: only a loop records so many
SAID = {}       # the warnings given so far


def warn(text, file, number):
    """Give a warning once for each line of the user's program."""
    warnings.warn_explicit(text, UserWarning, file, number, registry=SAID)


def count_lines(trace):
    """Count the last operations of a program by the line that asked.

    A line that reaches LONG_LOOP is in a loop.  Warn once per trace, and
    then stop counting.
    """
    eqns, counts = trace.eqns[-LONG_LOOP:], trace.counts
    if counts is None or trace.tag.transform not in LASTING:
        return
    lines = {(id(eqn.line[0]), eqn.line[1]): eqn.line for eqn in eqns}
    for place, n in Counter((id(eqn.line[0]), eqn.line[1])
                            for eqn in eqns).items():
        line = lasting_line(lines[place])
        counts[line] = counts.get(line, 0) + n
    line = max(counts, key=counts.get)
    if counts[line] >= LONG_LOOP:
        trace.counts = None
        warn(f'{trace.tag}: {counts[line]:,} operations of this line have '
             'been traced so far, because a Python loop is unrolled. Write '
             'the loop with ad.fori_loop, or with ad.scan if each step has '
             'a result to keep.', *line)


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
    if args and type(args[0]) is Attributes:    # f is a method
        f = MethodType(unwrap(f), args[0].it)
    states = random_states(f) if tag.transform in LASTING else ()
    try:
        jaxpr = stage()
    except RecursionError as error:
        raise recursion_error(error, tag) from None
    if states:
        warn_of_frozen(states)
    return jaxpr


# Transformations that run a program more often than its function.
LASTING = {'jit', 'make_jaxpr', 'scan', 'while_loop'}


def recursion_error(error, tag):
    """Return a RecursionError that names the function that calls itself."""
    names = Counter(frame.f_code.co_qualname for frame, _
                    in walk_tb(error.__traceback__)
                    if not is_library[frame.f_code.co_filename])
    if not names:
        return error
    [(name, _)] = names.most_common(1)
    return RecursionError(
        f'maximum recursion depth exceeded: {name} calls itself while {tag} '
        'is traced, and a traced condition does not stop it, because '
        'np.where and ad.cond trace both branches. Write the recursion as a '
        'loop, with ad.while_loop.')


def random_states(f) -> list:
    """Return each random generator that `f` names, its place, and its state.

    Search the globals, closures, modules, and attributes that `f` names, and
    the functions that it names.
    """
    found = {}
    if type(f) is FunctionType and not f.__dict__:
        look_in_function(f, found, set())
    else:
        look_for_generators(f, (), None, found, set())
    return [(x, place, dumps(x)) for x, place in found.values()]


def warn_of_frozen(states):
    """Warn of each generator whose state has changed."""
    for x, (code, name), before in states:
        if dumps(x) != before:
            lines = [i.positions.lineno for part in codes_in(code)
                     for i in dis.get_instructions(part) if i.argval == name]
            warn('Random numbers were drawn while a function was traced, so '
                 'they are constants of its program, and each run uses the '
                 'same numbers. Draw them outside and pass them as an '
                 'argument.', code.co_filename,
                 [*lines, code.co_firstlineno][0])


GENERATORS = {('random', 'Random'), ('numpy.random.mtrand', 'RandomState'),
              ('numpy.random._generator', 'Generator')}
# The most common types that never lead to a generator.
LEADS_NOWHERE = {type(None), int, float, str, np.ndarray, np.ufunc,
                 type(np.sum)}


def look_for_generators(x, names, place, found, seen):
    """Add the random generators that a value leads to.

    Args:
        x: a function, a module, or any other value.
        names: the names in the code that uses the value.
        place: that code, and the name in it that leads to the value.
        found: each generator and its place, by the id of the generator.
        seen: ids of values, and of the names that were looked up in them.
    """
    kind = type(x)
    if (kind.__module__, kind.__name__) in GENERATORS and place:
        found.setdefault(id(x), (x, place))
    elif kind in LEADS_NOWHERE or (id(x), id(names)) in seen:
        return
    seen.add((id(x), id(names)))
    inside = getattr(x, '__dict__', {})
    if kind is partial:
        look_for_generators(x.func, names, place, found, seen)
    elif '__wrapped__' in inside:
        look_for_generators(inside['__wrapped__'], names, place, found, seen)
    elif kind is FunctionType:
        look_in_function(x, found, seen)
    elif kind in (MethodType, BuiltinMethodType):
        owner = x.__self__
        look_for_generators(owner, names, place, found, seen)
        look_in_function(getattr(x, '__func__', None), found, seen, owner)
    else:
        look_in_attributes(x, names, place, found, seen)
        look_in_function(
            getattr_static(kind, '__call__', None), found, seen, x)


def look_in_function(f, found, seen, owner=None):
    """Add the generators that a function or a method of `owner` leads to."""
    if type(f) is not FunctionType or (id(f), id(owner)) in seen or (
            is_library[f.__code__.co_filename]):
        return
    seen.add((id(f), id(owner)))
    code, names = f.__code__, names_in(f.__code__)
    if owner is not None:
        look_in_attributes(owner, names, (code, 'self'), found, seen)
    cells = dict(zip(code.co_freevars, map(content, f.__closure__ or ())))
    for name in names:
        value = cells[name] if name in cells else f.__globals__.get(name)
        if type(value) not in LEADS_NOWHERE and (
                value is not np or 'random' in names):
            look_for_generators(value, names, (code, name), found, seen)


def look_in_attributes(x, names, place, found, seen):
    """Add the generators that the attributes with these names lead to."""
    inside = getattr(x, '__dict__', {})
    if x is np and 'random' in names:   # NumPy imports it on demand
        inside = inside | {'random': np.random}
    for name in names:
        if name not in inside:      # a method?
            look_in_function(getattr(type(x), name, None), found, seen, x)
        elif type(inside[name]) not in LEADS_NOWHERE:
            look_for_generators(inside[name], names, place and (
                place[0], name), found, seen)


def content(cell):
    """Return the value in a closure's cell, or None if it is empty."""
    try:
        return cell.cell_contents
    except ValueError:
        return None


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
