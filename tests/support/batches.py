"""The programs of the tables with batched arguments."""

import numpy as np

from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import NOT_STAGED, PROGRAMS, is_inexact

SIZE = 3


def batch(x, size=SIZE):
    """Return `size` values like `x`, all different if possible."""
    x, dtype = np.asarray(x), np.result_type(x)
    if dtype.kind == 'b':
        return np.stack([x ^ (k % 2 == 1) for k in range(size)])
    if is_inexact(x):
        return np.stack([x * (1 - k / 32) for k in range(size)]).astype(dtype)
    return np.stack([np.roll(x, k) for k in range(size)])


def layouts(program):
    """Return axes for the arguments: each alone and all, at any position."""
    ranks = [np.ndim(x) for x in program.args]
    for i, rank in enumerate(ranks):
        for axis in range(rank + 1):
            yield [axis if j == i else None for j in range(len(ranks))]
    if len(ranks) > 1:
        yield [0] * len(ranks)
        yield [-1] * len(ranks)


def batched(program, axes):
    """Return the arguments of a program, some of them batched."""
    return [x if axis is None else np.moveaxis(batch(x), 0, axis)
            for x, axis in zip(program.args, axes, strict=True)]


UNMAPPED = NOT_STAGED


MAPPED = [program for program in PROGRAMS + CUSTOM_PROGRAMS
          if program.name not in UNMAPPED]
