"""An array library of your own.

Dask's arrays write a plan. A `Meter` is another kind of array. It holds a
NumPy array and counts. When NumPy is called on something that contains a
meter, the meter counts the numbers in the result under the function's name,
and the result is a meter again. So after

    x = Meter(np.arange(3.0))
    np.sum(np.sin(x) * 2)

`Meter.counts` should be `{'sin': 3, 'multiply': 3, 'sum': 1}`. The library
doesn't know about meters. Still, `ad.jvp`, `ad.grad`, and `ad.vmap` should
run on them, and the counts then tell you the cost of a gradient.

The operators are written, and so is `opened`, which takes the meters out of
any argument of a NumPy function. Write `ask`, which both hooks call.
"""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

HINTS = (
    '`function` is a NumPy function, and NumPy can compute it if there is '
    'no meter among the arguments.',
    'A function can return one array, or several in a tuple or a list, or '
    'something else, as np.shape does. Only arrays become meters. NumPy '
    'scalars count as arrays here, isinstance(x, np.generic).',
)


class Meter(NDArrayOperatorsMixin):
    """An array that counts what is computed with it."""

    counts = {}
    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)

    def __init__(self, value):
        self.value = np.asarray(value)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ask(getattr(ufunc, method), ufunc.__name__, inputs, options)

    def __array_function__(self, function, types, args, options):
        return ask(function, function.__name__, args, options)

    def __getitem__(self, i):
        return Meter(self.value[opened(i)])

    def __repr__(self):
        return f'Meter({self.value})'


def opened(x):
    """Return `x` with each meter replaced by its array."""
    if isinstance(x, Meter):
        return x.value
    if isinstance(x, (list, tuple)):
        return type(x)(map(opened, x))
    return x


def ask(function, name, args, options):
    """Return the result of `function` as meters, and count it.

    Args:
        function: a NumPy function that was called on a meter.
        name: its key in `Meter.counts`.
        args: its arguments, a tuple.
        options: its keyword arguments, a dict.
    """
    raise NotImplementedError('exercise e30_1: compute, count, and wrap')
