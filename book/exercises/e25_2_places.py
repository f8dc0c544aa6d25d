"""Extend: who may write where?

Here is a small language, in which everything is a square matrix. A program is
a list of lines: the name of a result, an operation, and the names of its
operands, `('b', 'sin', 'a')`. Each name is given once.

`run` computes a program, and counts how many arrays are made. A line makes
none if it writes its result into the array of one of its operands; then that
operand is gone. Write `places`: which lines may do that, and into which
operand, without any difference to be seen.

Four things can go wrong. What belongs to the caller must not be written. What
is needed later must not be written. `'T'` makes no new array, but looks at
the old one from another side. And only element-wise operations can write
where they read.
"""

import numpy as np


HINTS = (
    'Walk through the program once, and note for each array the number of '
    'the last line that uses it. What is returned is used for ever.',
    'Note it for the *array*, and not for the name: a view belongs to the '
    'array that it looks at, and a view of a view too.',
    'In `a + a.T` the operand `a` is used here for the last time, and still '
    'it must not be written: the other operand is looking. In `a * a` nobody '
    'else is.',
    'The first operand may be busy, and the second one free.',
)


ELEMENTWISE = {'sin': np.sin, 'neg': np.negative, '+': np.add,
               '*': np.multiply}
OTHERS = {'T': np.transpose, '@': np.matmul}


def run(program, given, returned, into):
    """Returns what a program returns, and how many arrays it has made.

    Args:
        program: a list of lines.
        given: the caller's arrays, by name.
        returned: names of results.
        into: for the name of a result, that of the operand whose array it
            is written into.
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
    """Returns which results take the place of which operand: a dict.

    Args:
        program: a list of lines `(name, operation, *operands)`.
        returned: the names of the results that the caller gets.
    """
    raise NotImplementedError('exercise e25_2: plan the program here')
