"""Extend: teach the draft `np.polyval`.

`np.polyval([4, 3, 2], x)` is the polynomial 4x² + 3x + 2. If `x` is a tracer,
the draft refuses it: "the draft has no rule for `<function polyval>`",
because its `numpy_table` has no entry for it. Add that entry. You don't need
a new primitive, because a polynomial is made of products and sums.

As in NumPy, the first coefficient belongs to the highest power. A coefficient
can be traced too. The result has NumPy's shape and dtype, even if there are
no coefficients.
"""

import numpy as np

from autodiff_mini.draft.core import numpy_table, typeof

HINTS = (
    'Use Horner\'s method: start with 0, multiply by `x`, and add the next '
    'coefficient, highest power first.',
    'The result should have NumPy\'s shape and dtype, even if there are no '
    'coefficients. So start with an array of zeros. `np.shape(x)` and '
    '`typeof(x).dtype` tell you which.',
    '`np.polyval` turns a list of Python numbers into an array, so '
    '`[1.5, 2.0]` makes a float32 result float64. `np.asarray` does that.',
)


def polyval(p, x):
    raise NotImplementedError('exercise e01_2: write the polynomial here')


numpy_table[np.polyval] = polyval
