"""Take the meters out, let NumPy compute, and put the results into meters.

This is all that an array library has to do to be differentiated. Twenty
lines, and none of them knows of derivatives; no line of ours knows of meters.
In the counts of a gradient you see the rules at work: a `cos` for each `sin`.

`Meter` has to hold the scalars of NumPy too, or the first sum would leave the
world of meters and nothing after it would be counted.
"""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


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
    def noted(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(noted, x))
        if not isinstance(x, (np.ndarray, np.generic)):
            return x
        Meter.counts[name] = Meter.counts.get(name, 0) + np.size(x)
        return Meter(x)

    options = {key: opened(x) for key, x in options.items()}
    return noted(function(*opened(args), **options))
