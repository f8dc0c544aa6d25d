"""The loop runs while the program is traced. Each iteration binds a product
and a sum, which every interpreter knows, so the derivative and the batch come
for free.
"""

import numpy as np

from autodiff_mini.draft.core import numpy_table, typeof


def polyval(p, x):
    y = np.zeros(np.shape(x), typeof(x).dtype)
    for coefficient in np.asarray(p):   # with the dtype of an array
        y = y * x + coefficient
    return y


numpy_table[np.polyval] = polyval
