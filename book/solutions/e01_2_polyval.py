"""The loop runs when the program is traced. Each turn of it binds a product
and a sum, and nobody outside sees more than that.
"""

import numpy as np

from autodiff_mini.numpy_api import asarray, implements


@implements(np.polyval)
def numpy_polyval(p, x):
    x = asarray(x)
    y = np.zeros(x.shape, x.dtype)   # or an empty p would give a number
    for coefficient in asarray(p):   # now its elements are not weak
        y = y * x + coefficient
    return y
