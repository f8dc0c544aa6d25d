"""This is `last_uses` and `overwritten` of `wings/fast/plan.py`, without
shapes and dtypes. There, an array can take a result only if it has the
result's type.

An array of the caller has no owner in the program, so no operand is its
owner. A view is never its own owner, so it isn't overwritten either. (It
could be, if nothing else looks at its array. But then the line that made the
view could have been given the array itself.)

Why not in `@`? It reads each row of one operand once for each column of the
other, even after part of the result is written.
"""

import numpy as np



ELEMENTWISE = {'sin': np.sin, 'neg': np.negative, '+': np.add,
               '*': np.multiply}
OTHERS = {'T': np.transpose, '@': np.matmul}


def run(program, given, returned, into):
    """Return the results of a program, and how many arrays it made.

    Args:
        program: a list of lines.
        given: the caller's arrays, by name.
        returned: names of results.
        into: for the name of a result, the name of the operand whose array
            it is written into.
    """
    arrays, count = dict(given), 0
    for name, operation, *operands in program:
        xs = [arrays[x] for x in operands]
        if name in into:
            out = arrays.pop(into[name])
            arrays[name] = ELEMENTWISE[operation](*xs, out=out)
        else:
            arrays[name] = (ELEMENTWISE | OTHERS)[operation](*xs)
            count += operation != 'T'
    return [arrays[name] for name in returned], count


def places(program, returned):
    """Return a dict from results to the operands that they overwrite.

    Args:
        program: a list of lines `(name, operation, *operands)`.
        returned: the names of the results that are returned.
    """
    owner, last, into = {}, {}, {}
    for i, (name, operation, *operands) in enumerate(program):
        for x in operands:
            last[owner.get(x)] = i      # of the caller's arrays: None
        owner[name] = owner.get(operands[0]) if operation == 'T' else name
    for name in returned:
        last[owner.get(name)] = len(program)
    for i, (name, operation, *operands) in enumerate(program):
        for x in operands:
            looking = {y for y in operands if owner.get(y) == x}
            if (operation in ELEMENTWISE and looking == {x}
                    and last[x] == i and name not in into):
                into[name] = x
    return into
