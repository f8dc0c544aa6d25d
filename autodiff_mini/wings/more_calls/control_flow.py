"""`fori_loop` and `switch`: made of `scan`, `while_loop`, and `cond`.

Chapters 15 and 16.
"""

import numpy as np

from autodiff_mini.calls.cond import choose
from autodiff_mini.calls.loops import bind_scan, bind_while
from autodiff_mini.core import seams
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Tracer


@public
def fori_loop(lower, upper, body_fun, init_val):
    """Return the last carry of a loop over integers.

    Args:
        lower: the first integer.
        upper: the integer after the last.
        body_fun: `body_fun(i, carry) -> carry`.
        init_val: the first carry, a tree of arrays.

    Raises:
        TypeError: as for `scan` if the bounds are integers, and as for
            `while_loop` if they are traced.

    Source: `jax.lax.fori_loop`.

    Examples:
        >>> fori_loop(1, 5, lambda i, product: i * product, 1)
        24
    """
    tag = TraceTag('fori_loop', body_fun)
    seams.check('bounds', tag, lower, upper)
    seams.check('functions', 'fori_loop', [body_fun])
    if isinstance(lower, Tracer) or isinstance(upper, Tracer):
        return bind_while(tag, lambda state: state[0] < upper,
                          lambda state: (state[0] + 1, body_fun(*state)),
                          (lower, init_val))[1]
    return bind_scan(tag, lambda carry, i: (body_fun(i, carry), None),
                     init_val, np.arange(lower, upper))[0]


@public
def switch(index, branches, *operands):
    """Call one of several functions and return its result.

    Args:
        index: an integer that selects the function.  It is clamped to the
            first or the last.
        branches: functions of the operands, which return trees of the same
            structure, shapes, and dtypes.
        operands: arrays, or trees of arrays.

    Raises:
        TypeError: `index` is not an integer, or the results disagree.
        ValueError: there are no branches.

    Source: `jax.lax.switch`.

    Examples:
        >>> switch(1, [np.sin, np.cos, np.tan], 0.0)
        1.0
    """
    branches = branches if callable(branches) else tuple(branches)
    if not branches:
        raise ValueError('Empty branch sequence: switch needs at least one '
                         'branch')
    seams.check('functions', 'switch', branches)
    tag = TraceTag('switch', branches[0])
    seams.check('scalar', tag, 'Index', index)
    index = np.clip(index, 0, len(branches) - 1)
    return choose(tag, index, branches, operands)
