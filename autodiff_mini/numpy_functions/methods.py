"""The array methods and attributes of a tracer.

Chapter 30.
"""

import math
from functools import partial

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.memory import as_new_result
from autodiff_mini.core.trace import Tracer, function_table

# Methods that call the NumPy function of the same name.
NAMESAKES = (
    'all', 'any', 'argmax', 'argmin', 'argpartition', 'argsort',
    'choose', 'cumprod', 'cumsum', 'diagonal', 'dot', 'max', 'mean',
    'min', 'nonzero', 'prod', 'put', 'ravel', 'repeat', 'round',
    'searchsorted', 'squeeze', 'std', 'sum', 'swapaxes', 'take', 'trace',
    'var')

# Attributes of an array's memory, which a tracer lacks; pickle asks for the
# first.  `hasattr` would catch an AttributeError, as if the tracer were not
# an array.
OF_MEMORY = (
    '__reduce_ex__', 'base', 'byteswap', 'ctypes', 'data', 'device', 'dump',
    'dumps', 'flags', 'getfield', 'resize', 'setfield', 'setflags',
    'strides', 'to_device', 'tobytes', 'tofile', 'view')


def method_of_shape(function):
    """Return a method for both `x.reshape(2, 3)` and `x.reshape((2, 3))`."""
    def call(self, *args, **kwargs):
        return function(self, *(args if len(args) < 2 else [args]), **kwargs)
    return call


def method_in_place(function):
    """Return a method that writes a function's result into the array."""
    def call(self, *args, **kwargs):
        self[...] = function(self, *args, **kwargs)
    return call


def astype(x, dtype, order='K', casting='unsafe', subok=True, copy=True):
    """Return `x` converted; the method takes its options by name."""
    if casting != 'unsafe':     # NumPy raises the error
        np.empty(0, x.dtype).astype(dtype, casting=casting)
    return np.astype(x, dtype, copy=copy)


def value_to_fill(x, value):
    """Return the value that `x.fill` writes, which must be one number."""
    if np.ndim(value):
        np.zeros(1).fill([])    # NumPy's error
    return value


def put_part(name, x, value):
    """Write into the real or the imaginary part of an array."""
    is_number = seams.is_a_number.run(x)
    example = np.zeros(1, x.dtype)
    setattr(example[0] if is_number else example, name, 0)  # NumPy's errors
    getattr(x, name)[...] = value


def positive(x):
    """Return `+x`, which for a Python number is `x`, and 1 for True."""
    if not x.aval.weak_type:
        return np.positive(x)
    return x * 1 if x.aval.dtype == bool else x


def conjugate(a):
    """Return the conjugate, or the array itself if it is real."""
    return np.conjugate(a) if a.dtype.kind == 'c' else a


def copy_of(x, order='C'):
    """Return a copy, or a number if `x` is an immutable number."""
    is_number = seams.is_a_number.run(x)
    return as_new_result(x, (x,)) if is_number else np.copy(x, order)


def refuse_attribute(name, x):
    """Raise the error for an attribute of an array's memory."""
    raise NotImplementedError(
        f'numpy.ndarray.{name} is not supported on traced values: '
        f'{x.describe()} has no memory layout.')


for name in NAMESAKES:
    setattr(Tracer, name, vars(np)[name])
for name in OF_MEMORY:
    setattr(Tracer, name, property(partial(refuse_attribute, name)))
Tracer.astype = astype
Tracer.reshape = method_of_shape(np.reshape)
Tracer.transpose = method_of_shape(np.transpose)
Tracer.sort = method_in_place(np.sort)
Tracer.partition = method_in_place(np.partition)
Tracer.fill = method_in_place(value_to_fill)
Tracer.clip = lambda self, min=None, max=None, out=None, **kwargs: np.clip(
    self, min, max, out=out, **kwargs)
Tracer.compress = lambda self, condition, *args, **kwargs: np.compress(
    condition, self, *args, **kwargs)
Tracer.flatten = lambda self, *args, **kwargs: np.copy(
    np.ravel(self, *args, **kwargs))
Tracer.conj = Tracer.conjugate = conjugate
Tracer.copy = Tracer.__copy__ = copy_of
Tracer.__deepcopy__ = lambda x, memo: copy_of(x)
Tracer.__contains__ = lambda x, value: bool(np.any(np.equal(x, value)))
Tracer.__round__ = np.round
Tracer.__pos__ = positive
Tracer.__divmod__ = lambda x, y: (x // y, x % y)
Tracer.__rdivmod__ = lambda y, x: (x // y, x % y)
Tracer.flat = property(
    lambda self: function_table[np.flatiter](self),
    lambda self, value: self.flat.__setitem__(..., value))
Tracer.T = property(np.transpose)
Tracer.mT = property(lambda self: np.matrix_transpose(self))
Tracer.real = property(lambda self: np.real(self), partial(put_part, 'real'))
Tracer.imag = property(lambda self: np.imag(self), partial(put_part, 'imag'))
Tracer.size = property(lambda self: math.prod(self.shape))
Tracer.itemsize = property(lambda self: self.dtype.itemsize)
Tracer.nbytes = property(lambda self: self.size * self.itemsize)
Tracer.__setitem__ = lambda x, indices, value: seams.set_item.run(
    x, indices, value)
