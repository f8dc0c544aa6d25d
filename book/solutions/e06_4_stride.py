"""The slope is the derivative along 1, one for each element. A rule has to be
linear in its tangents, and the last line is: whatever the slope is, it is
multiplied by `x_dot` once. Nobody checks this. Reverse mode will rely on it,
since only what is linear can be turned round.
"""

import numpy as np

import autodiff_mini as ad


def cube(x):
    return x * x * x


@ad.custom_jvp
def gentle(x):
    return cube(x)


@gentle.defjvp
def gentle_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y, slope = ad.jvp(cube, (x,), (np.ones(np.shape(x)),))
    return y, np.where(slope > 1.0, 1.0, slope) * x_dot
