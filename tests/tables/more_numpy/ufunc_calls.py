"""Random calls of ufuncs and their methods, and what NumPy makes of them.

A call has any dtype, few or no elements, and any options.  Under each
transformation it must return what NumPy returns, of the same dtype and class,
or raise an error of NumPy's class.
"""

import random

import numpy as np

import autodiff_mini as ad

UFUNCS = sorted({u for u in vars(np).values() if isinstance(u, np.ufunc)
                 and u is not np.isnat}, key=lambda u: u.__name__)
BINARY = [u for u in UFUNCS if u.nin == 2]
DTYPES = [np.dtype(kind) for kind in '?bBhHiIlLefdFD']
SHAPES = [(), (0,), (1,), (2,), (3,), (2, 0), (0, 2), (1, 2), (2, 3), (2, 1)]
AXES = [0, 0, 0, -1, 1, None, (0, 1), (), (0,), (0, 0), 2, -3]
METHODS = ['reduce', 'reduce', 'reduce', 'accumulate', 'accumulate',
           'reduceat', 'outer', 'at', '__call__']


class Call:
    """A call of a ufunc's method on an array that is traced.

    Args:
        seed: it determines the call.
    """

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.method = rng.choice(METHODS)
        called = self.method == '__call__'
        self.ufunc = rng.choice(UFUNCS if called or rng.random() < 0.03
                                else BINARY)
        if self.ufunc is np.ldexp and not called:
            self.ufunc = np.hypot   # its two operands differ in dtype
        self.x = self.array()
        self.args, self.kwargs = (), {}
        getattr(self, self.method.strip('_'))()
        dtype = self.kwargs.get('dtype', np.dtype(float))
        if dtype.kind in 'iu' and self.x.dtype.kind in 'fc':
            # No other float has a defined value as an unsigned integer.
            self.x = np.abs(np.nan_to_num(self.x.real, posinf=3, neginf=2))

    def __repr__(self):
        args = ''.join(f', {arg!r}' for arg in self.args)
        kwargs = ''.join(f', {k}={v!r}' for k, v in self.kwargs.items())
        return f'{self.ufunc.__name__}.{self.method}({self.x!r}{args}{kwargs})'

    def __call__(self, x):
        f = getattr(self.ufunc, self.method)
        if self.method != 'at':
            return f(x, *self.args, **self.kwargs)
        y = np.array(x)
        f(y, *self.args)
        return y

    def array(self, dtype=None, shape=None):
        rng = self.rng
        dtype = np.dtype(dtype or rng.choice(DTYPES))
        shape = rng.choice(SHAPES) if shape is None else shape
        numbers = {
            'b': [0, 1], 'u': [0, 1, 2, 3, 100],
            'i': [0, 1, 2, 3, -1, -2, 100],
            'f': [0, 0.5, 1, 2, -1.5, 3, -0.0],
            'c': [0, 0.5, 1, 2j, -1.5, 1 + 1j]}[dtype.kind]
        if dtype.kind in 'fc' and rng.random() < 0.2:
            numbers = [*numbers, np.nan, np.inf, -np.inf]
        return np.array([rng.choice(numbers) for _ in range(
            int(np.prod(shape)))]).astype(dtype).reshape(shape)

    def maybe(self, odds, **choices):
        """Choose some of the keywords, with these odds each."""
        for key, values in choices.items():
            if self.rng.random() < odds:
                self.kwargs[key] = self.rng.choice(values)

    def axis(self):
        fits = [axis for axis in AXES[:6] if axis != 1 or self.x.ndim > 1]
        self.maybe(0.6, axis=fits if self.rng.random() < 0.7 else AXES)

    def reduce(self):
        self.axis()
        self.maybe(0.25, dtype=DTYPES, keepdims=[True, False], initial=[
            0, 1, 2.5, None, np.float32(1.5), 1j, True, -1, 300])
        if self.rng.random() < 0.25:
            kind = self.rng.choice('?????di')
            shape = self.rng.choice([self.x.shape, self.x.shape[-1:], ()])
            self.kwargs['where'] = self.array(kind, shape)

    def accumulate(self):
        self.axis()
        self.maybe(0.3, dtype=DTYPES)

    def reduceat(self):
        self.axis()
        self.maybe(0.2, dtype=DTYPES)
        self.args = self.rng.choice([
            [0], [0, 1], [1, 0], [0, 2, 1], [], [-1], [3], [0.5], [[0, 1]],
            0, [True], np.array([0, 1], np.int8), [1, 1, 0], [0, 0]]),

    def outer(self):
        self.args = self.operand(),
        self.maybe(0.2, dtype=DTYPES)

    def at(self):
        self.ufunc = self.rng.choice([np.add, np.subtract])
        self.x = self.array(self.rng.choice(DTYPES[1:]),
                            self.rng.choice(SHAPES[1:]))
        if self.rng.random() < 0.5:     # one fault, not two
            self.args = self.rng.choice([..., slice(1), []]), self.array(
                *self.rng.choice([(None, ()), (self.x.dtype, None)]))
        else:
            indices = [0, [0, 0, 1], ..., (0, 0), [-1, 0], 2, [[0, 1]], 0.5]
            self.args = self.rng.choice(indices), self.x.dtype.type(3)

    def call(self):
        if self.ufunc.nin == 2:
            self.args = self.operand(self.x.shape),
        if not self.args or hasattr(self.args[0], 'dtype'):
            self.maybe(0.3, dtype=DTYPES)
        self.maybe(0.1, casting=['no', 'safe', 'same_kind', 'unsafe'])

    def operand(self, shape=None):
        if self.rng.random() < 0.3:
            return self.rng.choice([0, 1, 2.5, True, 1j, -1, 300])
        return self.array(shape=shape)


def answer(f, x):
    """Return the results of a function as a list, or its error."""
    try:
        with np.errstate(all='ignore'):
            y = f(np.copy(x))
    except Exception as error:
        return error
    return list(y) if isinstance(y, tuple) else [y]


def zero_tangent(x):
    kind = x.dtype if x.dtype.kind in 'fc' else ad.float0
    return np.zeros(x.shape, kind)


WAYS = {
    'jvp': lambda f: lambda x: ad.jvp(f, (x,), (zero_tangent(x),))[0],
    'vjp': lambda f: lambda x: ad.vjp(f, x)[0], 'jit': ad.jit,
    'vmap': lambda f: lambda x: ad.tree_map(
        lambda y: y[0], ad.vmap(f)(np.stack([x, x])))}


def is_refused(call):
    """Return whether we refuse what NumPy computes.

    In `add.at` and `subtract.at` NumPy casts in any way after each addition.
    """
    return call.method == 'at' and not np.can_cast(
        call.args[1].dtype, call.x.dtype, 'same_kind')


# NumPy 2.4 has loops for AVX-512 that reduce to wrong numbers.
UNTOLD = {np.power, np.arctan2}


def difference(call, way):
    """Return how an answer differs from NumPy's, or None."""
    expected, found = answer(call, call.x), answer(
        WAYS[way](lambda x: call(x)), call.x)
    if isinstance(found, Exception) or isinstance(expected, Exception):
        kinds = [kind for kind in (ValueError, IndexError, TypeError,
                                   OverflowError, RuntimeError)
                 if isinstance(expected, kind)]
        if not isinstance(expected, Exception):
            return None if is_refused(call) else 'refused'
        if not isinstance(found, Exception):
            return 'computed'
        return None if isinstance(found, tuple(kinds)) else 'class of error'
    for y, z in zip(found, expected, strict=True):
        if way != 'vmap' and isinstance(y, np.ndarray) != isinstance(
                z, np.ndarray):
            return 'class'
        if (y.shape, y.dtype) != (z.shape, z.dtype):
            return 'type'
        digits = 64 * np.finfo(z.dtype).eps if z.dtype.kind in 'fc' else 0
        told = call.ufunc not in UNTOLD or 'reduce' not in call.method
        if told and not np.allclose(y, z, digits, digits, equal_nan=True):
            return 'value'
    return None
