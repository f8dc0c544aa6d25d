"""Take the meters out, let NumPy compute, and put the results into meters.

That's all an array library has to do to be differentiated. It takes twenty
lines. None of them mentions derivatives, and no line of the library mentions
meters. In the counts of a gradient you can see the rules at work, with a
`cos` for each `sin`.

`Meter` has to hold NumPy's scalars too, or the first sum would leave the
world of meters, and the operations after it wouldn't be counted.
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
    def noted(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(noted, x))
        if not isinstance(x, (np.ndarray, np.generic)):
            return x
        Meter.counts[name] = Meter.counts.get(name, 0) + np.size(x)
        return Meter(x)

    options = {key: opened(x) for key, x in options.items()}
    return noted(function(*opened(args), **options))
