"""Programs of single numbers: Python's floats, where they are as good.

Its one idea: for one number an array is a heavy suitcase.  A float of
Python's has the same bits, and computes ten times faster; and where it would
not behave as NumPy's does, the program is run again, carefully.  Chapter 34.
"""

import math
from collections import ChainMap
from functools import cache

import numpy as np

from autodiff_mini.arrays import astype_p
from autodiff_mini.fast.simplify import ELEMENTWISE
from autodiff_mini.jaxprs import Literal, Var
from autodiff_mini.primitives.elementwise import (
    abs_p, add_p, and_p, cos_p, div_p, eq_p, ge_p, gt_p, invert_p, isfinite_p,
    le_p, lt_p, max_p, min_p, mul_p, ne_p, neg_p, or_p, pow_p, sin_p, sqrt_p,
    sub_p, where_p, xor_p)
from autodiff_mini.zeros import Zero

# How Python writes them; and, OPEN, those whose result is not finite if an
# operand is not.  1 / inf is 0: of a quotient, the operands are looked at.
PYTHON = {
    add_p: '{} + {}', sub_p: '{} - {}', mul_p: '{} * {}', div_p: '{} / {}',
    neg_p: '-{}', abs_p: 'abs({})', pow_p: '{} ** {}', lt_p: '{} < {}',
    le_p: '{} <= {}', gt_p: '{} > {}', ge_p: '{} >= {}', eq_p: '{} == {}',
    ne_p: '{} != {}', and_p: '{} & {}', or_p: '{} | {}', xor_p: '{} ^ {}',
    invert_p: 'not {}', where_p: '{1} if {0} else {2}',
    astype_p: 'float({})',
    isfinite_p: 'True',     # or the program gives up
    max_p: ('{0} if {0} > {1} else {1} if {1} > {0} '
            'else float(np.maximum({0}, {1}))'),    # of 0.0 and -0.0
    min_p: ('{0} if {0} < {1} else {1} if {1} < {0} '
            'else float(np.minimum({0}, {1}))')}
MATH = {sqrt_p: math.sqrt, sin_p: math.sin, cos_p: math.cos}
TESTS = {lt_p, le_p, gt_p, ge_p, eq_p, ne_p, isfinite_p}
OPEN = {add_p, sub_p, mul_p, neg_p, abs_p, astype_p, sqrt_p, sin_p, cos_p}
MANY = 100      # numbers: so many CPython makes anew where others were


def is_float(v):
    aval = v.aval
    return (aval.shape == () and aval.dtype == float
            and not (type(v) is Literal and isinstance(v.val, Zero)))


def is_scalar(jaxpr, is_result=is_float):
    """Returns whether all values of a program are single float64 numbers.

    In between there may be booleans.
    """
    return (bool(jaxpr.eqns) and not jaxpr.constvars
            and all(map(is_float, jaxpr.invars))
            and all(map(is_result, jaxpr.outvars))
            and all(map(is_scalar_equation, jaxpr.eqns)))


def is_bool(v):
    return v.aval.shape == () and v.aval.dtype == bool


def is_small(v):
    """Returns whether an operand is an integer that a float can be."""
    return (type(v) is Literal and type(v.val) is int
            and abs(v.val) <= 2**53)


def is_scalar_equation(eqn):
    """Returns whether Python's floats can compute an equation."""
    primitive, out = eqn.primitive, eqn.outvars[0]
    if primitive is pow_p and not is_power(eqn) and out.aval.weak_type:
        return False
    if primitive in (and_p, or_p, xor_p, invert_p):
        return all(map(is_bool, eqn.invars))
    if primitive in (where_p, max_p, min_p):
        *tests, x, y = eqn.invars
        return all(map(is_bool, tests)) and is_float(out) and not any(
            map(is_bool, (x, y)))
    known = (primitive in PYTHON or primitive in ELEMENTWISE
             and isinstance(primitive.impl, np.ufunc))
    return (known and (is_bool(out) if primitive in TESTS else is_float(out))
            and all(is_float(v) or is_bool(v) or is_small(v)
                    for v in eqn.invars))


def is_power(eqn):
    """Returns whether the exponent is an integer of Python's."""
    exponent = eqn.invars[1]
    return type(exponent) is Literal and type(exponent.val) is int


def has_power_of_box(jaxpr):
    """Return whether a program raises a box, or raises to one.

    A box is an array without axes, as `np.where` returns it.  NumPy's power
    of a box has other bits than its power of a number.
    """
    boxes = set()
    for eqn in jaxpr.eqns:
        if eqn.primitive is where_p or (eqn.primitive is astype_p
                                        and eqn.invars[0] in boxes):
            boxes.update(eqn.outvars)
    return any(eqn.primitive is pow_p and not boxes.isdisjoint(eqn.invars)
               for eqn in jaxpr.eqns)


@cache
def as_numpy(primitive):
    """Returns whether Python's function has the bits of NumPy's.

    Both ask the C library, or NumPy has its own; a thousand numbers tell.
    """
    x = np.linspace(0.0, 50.0, 1000)
    mine = list(map(MATH[primitive], x.tolist()))
    return np.array_equal(mine, primitive.impl(x)) and mine == [
        float(primitive.impl(x_i)) for x_i in x]


def scalar_lines(emitter, numbers, invars, outvars, names):
    """Return the lines of a function for a program of single numbers.

    Args:
        emitter: knows names for functions.
        numbers: Numbers, for the program of single numbers.
        invars, outvars: those of the program that it stands for.
        names: those of its variables; some are added.
    """
    floats = ChainMap({}, names)
    start = taken_out(invars, numbers.ins, [names[v] for v in invars], floats)
    lines, asks_numpy = scalar_body(emitter, numbers.jaxpr, floats,
                                    numbers.jaxpr.outvars)
    outs = [put_back(emitter, v, parts, floats)
            for v, parts in zip(outvars, numbers.outs)]
    arguments = ', '.join(names[v] for v in invars)
    return carefully([*start, *lines], asks_numpy, outs,
                     f'careful({arguments})')


def taken_out(variables, numbers, given, names):
    """Returns the lines that make Python's floats of arguments.

    Args:
        variables: of the arguments.
        numbers: for each, the variables of its numbers.
        given: the names of the arguments.
        names: gets those of the numbers.
    """
    lines = []
    for v, parts, x in zip(variables, numbers, given):
        if v.aval.shape:
            flat = '.ravel()' * (len(v.aval.shape) > 1)
            parts = ', '.join(names[part] for part in parts)
            lines.append((f'[{parts}] = {x}{flat}.tolist()', None))
        elif v.aval.weak_type and names.get(v) == x:
            continue
        else:
            names[v] = names[v, 'float']
            lines.append((f'{names[v]} = float({x})', None))
    return lines


def put_back(emitter, v, parts, names):
    """Returns the text of a result: a number, or an array of numbers."""
    texts = [float_text(emitter, part, names) for part in parts]
    if v.aval.shape:
        shape = v.aval.shape
        reshaped = f'.reshape({shape})' * (len(shape) > 1)
        return f'np.array([{", ".join(texts)}]){reshaped}'
    return texts[0] if v.aval.weak_type else f'np.float64({texts[0]})'


def scalar_body(emitter, jaxpr, names, results=()):
    """Return the lines of a program, and whether they call NumPy.

    They raise an error if a number that matters is not finite.

    Args:
        emitter: knows names for functions.
        jaxpr: a program of single numbers.
        names: those of its variables; some are added.
        results: variables that must be finite, too.
    """
    lines, watched, asks_numpy, free = [], {}, False, []
    for eqn, gone in zip(jaxpr.eqns, last_needed(jaxpr), strict=True):
        primitive, [out] = eqn.primitive, eqn.outvars
        if primitive is astype_p and is_float(eqn.invars[0]):
            names[out] = float_text(emitter, eqn.invars[0], names)
            continue
        is_pow = primitive is pow_p
        operands = [float_text(emitter, v, names, not is_pow)
                    for v in eqn.invars]
        if is_pow and not is_power(eqn):
            asks_numpy = True
            text = f'float(np.float64({operands[0]}) ** {operands[1]})'
        elif primitive in PYTHON:
            text = PYTHON[primitive].format(*operands)
        elif primitive in MATH and as_numpy(primitive):
            function = MATH[primitive]
            name = emitter.constant(function.__name__, function)
            text = f'{name}({operands[0]})'
        else:
            asks_numpy = True
            text = (f'float(np.{primitive.impl.__name__}'
                    f'({", ".join(operands)}))')
        free += [names[v] for v in gone]
        if free:
            names[out] = free.pop()
        lines.append((f'{names[out]} = {text}', eqn))
        if primitive not in OPEN:
            watched.update(dict.fromkeys(filter(is_float, eqn.invars)))
    watched.update(dict.fromkeys(results))
    return lines + checked(emitter, [
        names[v] for v in watched if type(v) is Var]), asks_numpy


def last_needed(jaxpr) -> list:
    """Returns for each equation the numbers whose names are free after it.

    A new number then has its place where an old one was, which is near.  A
    short program has all its numbers near, and a name for each.
    """
    kept = {*jaxpr.invars, *jaxpr.outvars}
    for eqn in jaxpr.eqns:
        if eqn.primitive not in OPEN:
            kept.update(eqn.invars)     # they are looked at in the end
        if eqn.primitive is astype_p:
            kept.update([*eqn.invars, *eqn.outvars])    # one name for two
    last = {v: i for i, eqn in enumerate(jaxpr.eqns) for v in eqn.invars}
    gone = [[] for _ in jaxpr.eqns]
    for v, i in last.items() if len(gone) > MANY else ():
        if type(v) is Var and v not in kept:
            gone[i].append(v)
    return gone


def checked(emitter, names):
    """Returns the lines that give up unless these numbers are finite."""
    isfinite, lines = emitter.constant('isfinite', math.isfinite), []
    names = list(dict.fromkeys(names))
    for i in range(0, len(names), 10):
        lines += [(f'if not {isfinite}({" + ".join(names[i:i + 10])}):',
                   None), ('    raise ArithmeticError', None)]
    return lines


def carefully(lines, asks_numpy, outs, instead):
    """Return lines that do something else if Python's floats give up.

    Args:
        lines: what computes the results.
        asks_numpy: whether they call NumPy, whose errors are raised then.
        outs: the texts of the results.
        instead: the text of a call.
    """
    lines = [*lines, (f'return [{", ".join(outs)}]', None)]
    if asks_numpy:
        lines = [("with np.errstate(all='raise'):", None), *indented(lines)]
    return [('try:', None), *indented(lines),
            ('except (ArithmeticError, ValueError):', None),
            (f'    return {instead}', None)]


def indented(lines):
    return [('    ' + text, eqn) for text, eqn in lines]


def float_text(emitter, v, names, as_float=True):
    """Returns the text of an operand, for Python's arithmetic."""
    if type(v) is Var:
        return names[v]
    if not as_float or v.aval.dtype == bool:
        return emitter.value(v.val)
    return emitter.value(float(v.val))
