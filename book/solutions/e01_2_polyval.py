"""The loop runs when the program is traced. Each turn binds a product and a
sum, which every interpreter knows, so the derivative and the batch come for
free. The library finds `np.polyval` without such a line, because it can run
NumPy's own code on its tracers; appendix R shows how.
"""

import numpy as np

from autodiff_mini.draft import numpy_table, typeof


def polyval(p, x):
    y = np.zeros(np.shape(x), typeof(x).dtype)
    for coefficient in np.asarray(p):   # not weak
        y = y * x + coefficient
    return y


numpy_table[np.polyval] = polyval
