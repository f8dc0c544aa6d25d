"""An array library of your own.

Dask's arrays write a plan. Here is another kind of array, a `Meter`, which
holds an array of NumPy's and counts. Whenever NumPy is asked for something
that involves a meter, the meter notes the name of the function and how many
numbers came out of it, and its result is a meter again.

    x = Meter(np.arange(3.0))
    np.sum(np.sin(x) * 2)
    Meter.counts

should be `{'sin': 3, 'multiply': 3, 'sum': 1}`. The library has never heard
of meters. Still, in the end `ad.jvp`, `ad.grad` and `ad.vmap` shall run on
them, and you can read from the counts what a gradient costs.

The operators are there, and so is `opened`, which takes the meters out of
anything that NumPy may be given. Write `ask`, to which both hooks lead.
"""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

HINTS = (
    'Whatever it was, `function` is one of NumPy\'s, and NumPy can compute '
    'it: if no meter is among the arguments.',
    'A function may return one array, or several in a tuple or a list (or '
    'something that is no array at all: np.shape does). Only arrays become '
    'meters. The scalars of NumPy are arrays for this purpose, isinstance('
    'x, np.generic).',
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
    """Returns `x` with the arrays that are in its meters."""
    if isinstance(x, Meter):
        return x.value
    if isinstance(x, (list, tuple)):
        return type(x)(map(opened, x))
    return x


def ask(function, name, args, options):
    """Returns what `function` does, as meters, and counts it.

    Args:
        function: one of NumPy's, which is given a meter.
        name: under which it is counted, in `Meter.counts`.
        args: its arguments, a tuple.
        options: its keyword arguments, a dict.
    """
    raise NotImplementedError('exercise e23_1: compute, count, and wrap')
