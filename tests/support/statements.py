"""Programs as text that Python runs on NumPy arrays and on tracers."""

import copy

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.types import typeof

WAYS = {
    'jvp': lambda f: lambda x: ad.jvp(f, (x,), (x,))[0], 'jit': ad.jit,
    'vmap': lambda f: lambda x: [
        y[0] for y in ad.vmap(lambda x: results(f(x)))(np.stack([x, x]))]}


def results(y):
    """Return the results of a function as a list, even if there is only one.
    """
    return list(y) if isinstance(y, tuple | list) else [y]


def ran(statements):
    """Return a function of `x` that runs the statements and returns `r`."""
    code = compile(statements, '<statements>', 'exec')

    def f(x):
        names = {'np': np, 'copy': copy, 'x': x}
        exec(code, names)
        return names['r']
    return f


def assert_every_way_is_numpy(statements, x):
    """Assert that each transformation computes what NumPy does."""
    f = ran(statements)
    expected = results(f(x.copy()))
    for name, way in WAYS.items():
        name = f'{name}: {statements}'
        ys = results(way(f)(x.copy()))
        assert list(map(typeof, ys)) == list(map(typeof, expected)), name
        for y, z in zip(ys, expected, strict=True):
            np.testing.assert_array_equal(y, z, name)
