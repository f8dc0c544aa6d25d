"""Extend: teach the draft `np.polyval`.

`np.polyval([4, 3, 2], x)` is the polynomial 4x² + 3x + 2. If `x` is a tracer,
the draft refuses it: "the draft has nothing here for `<function polyval>`",
because its `numpy_table` has no line for it. Add that line. You don't need a
new primitive, since a polynomial is made of products and sums, and these
have theirs. So no interpreter has to learn anything, neither those that we
have nor those that are to come.

As in NumPy, the first coefficient belongs to the highest power, and a
coefficient can be traced, too.
"""

import numpy as np

from autodiff_mini.draft import numpy_table, typeof

HINTS = (
    'Use Horner\'s method: begin with 0, multiply by `x`, and add the next '
    'coefficient, highest power first.',
    'The result must have NumPy\'s shape and dtype, even if there are no '
    'coefficients. So begin with an array of zeros: `np.shape(x)` and '
    '`typeof(x).dtype` say which.',
    'A list of Python numbers becomes an array in `np.polyval`, and then its '
    'elements are no longer weak. `np.asarray` does that.',
)


def polyval(p, x):
    raise NotImplementedError('exercise e01_2: write the polynomial here')


numpy_table[np.polyval] = polyval
