"""The slopes at hard points, for our library and for JAX."""

from functools import partial

import numpy as np

import autodiff_mini as ad
from tests.support.numerical import python_type
from tests.tables.hard_points import POINTS
from tests.tables.programs import is_inexact


def ones(x):
    """Return a tangent, or a cotangent, of ones."""
    if not is_inexact(x):
        return np.zeros(np.shape(x), ad.float0)
    return type(x)(1) if python_type(x) else np.ones_like(x)[()]


def is_complex(point):
    return any(np.result_type(x).kind == 'c' for x in point.args)


with np.errstate(all='ignore'):
    SLOPED = [point for point in POINTS
              if not is_complex(point)
              and is_inexact(point.function(np, *point.args))]


def pull(point, ct=1):
    """Return the cotangents for this cotangent of each element."""
    y, f_vjp = ad.vjp(partial(point.function, np), *point.args)
    return f_vjp(y.dtype.type(ct) * ones(y))
