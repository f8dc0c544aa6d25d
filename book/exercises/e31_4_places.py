"""Extend: which array can a result overwrite?

Here's a small language whose only values are square matrices. A program is a
list of lines. Each line has the name of a result, an operation, and the names
of its operands, like `('b', 'sin', 'a')`. Each name is assigned once.

`run` computes a program and counts how many arrays it makes. A line makes
none if it writes its result into the array of one of its operands, and then
that operand is gone. Write `places`. It says which lines can do that, and
into which operand, so that the results don't change.

Four things can go wrong. The caller's arrays must not be overwritten. An
array that's needed later must not be overwritten. `'T'` makes no new array,
but looks at the old one from another side. And only element-wise operations
can write where they read.
"""

import numpy as np


HINTS = (
    'Walk through the program once and record for each array the number of '
    'the last line that uses it. A result of the program is used forever.',
    'Record it for the *array* and not for the name. A view belongs to the '
    'array that it looks at, and so does a view of a view.',
    'In `a + a.T`, the operand `a` is used for the last time, but it still '
    'must not be overwritten, because the other operand is a view of it. In '
    "`a * a`, there's no other view.",
    'The first operand can be busy while the second one is free.',
)


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
    raise NotImplementedError('exercise e31_4: plan the program here')
