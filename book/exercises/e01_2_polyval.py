"""Extend: open a door for `np.polyval`.

`np.polyval([4, 3, 2], x)` is the polynomial 4x² + 3x + 2. On a tracer it is
refused, because no table has a line for it. Write that line. You need no new
primitive: a polynomial is made of products and sums, which have theirs. So
no interpreter has to learn anything: not those that we have, nor those
that are to come.
"""

import numpy as np

from autodiff_mini.numpy_api import asarray, implements

HINTS = (
    'Horner\'s way, as in the chapter: begin with 0; multiply by `x` and add '
    'the next coefficient; highest power first.',
    'The result must have the dtype of NumPy\'s. A list of Python\'s numbers '
    'becomes an array in `np.polyval`, and then they are no longer weak. '
    '`asarray` does that, and leaves tracers as they are.',
)


@implements(np.polyval)
def numpy_polyval(p, x):
    raise NotImplementedError('exercise e01_2: write the polynomial here')
