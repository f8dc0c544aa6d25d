"""The methods and attributes that arrays have for functions of NumPy's.

Chapter 25.
"""

import math
from functools import partial

import numpy as np

from autodiff_mini.core import Tracer
from autodiff_mini.memory import handed, is_a_number
from autodiff_mini.numpy_api import Flat, method, shape_method


def conjugate(a):
    """Returns the conjugate; of what is real, the array itself."""
    return np.conjugate(a) if a.dtype.kind == 'c' else a


def copy_of(x, order='C'):
    """Return a copy; of a number, which does not change, a number."""
    return handed(x, (x,)) if is_a_number(x) else np.copy(x, order)


def refuse_attribute(name, x):
    """Refuse an attribute of an array's memory, which a tracer lacks.

    An AttributeError would be caught by `hasattr`, as if `x` were no array.
    """
    raise NotImplementedError(
        f'numpy.ndarray.{name} is not supported on traced values: '
        f'{x.describe()} has no memory of its own.')


method('sum', np.sum)
method('astype', np.astype)
method('prod', np.prod)
method('max', np.max)
method('min', np.min)
method('mean', np.mean)
method('var', np.var)
method('std', np.std)
method('any', np.any)
method('all', np.all)
method('argmax', np.argmax)
method('argmin', np.argmin)
method('argsort', np.argsort)
method('cumsum', np.cumsum)
method('cumprod', np.cumprod)
method('clip', np.clip)
method('round', np.round)
method('conj', conjugate)
method('conjugate', conjugate)
method('ravel', np.ravel)
method('flatten', lambda a, *order, **named: np.copy(
    np.ravel(a, *order, **named)))
method('squeeze', np.squeeze)
method('swapaxes', np.swapaxes)
method('take', np.take)
method('repeat', np.repeat)
method('diagonal', np.diagonal)
method('trace', np.trace)
method('dot', np.dot)
method('copy', copy_of)
method('__copy__', copy_of)
method('__deepcopy__', lambda x, memo: copy_of(x))
method('searchsorted', np.searchsorted)
method('__round__', np.round)
method('nonzero', np.nonzero)
method('argpartition', np.argpartition)
method('compress', lambda a, condition, axis=None, out=None: np.compress(
    condition, a, axis, out=out))
method('choose', np.choose)
method('__contains__', lambda a, x: bool(np.any(np.equal(a, x))))
shape_method('reshape', np.reshape)
shape_method('transpose', np.transpose)
for name in ('base', 'byteswap', 'ctypes', 'data', 'device', 'dump', 'dumps',
             'flags', 'getfield', 'resize', 'setfield', 'setflags', 'strides',
             'to_device', 'tobytes', 'tofile', 'view'):
    setattr(Tracer, name, property(partial(refuse_attribute, name)))
Tracer.T = property(np.transpose)
Tracer.flat = property(Flat, lambda self, v: self.flat.__setitem__(..., v))
Tracer.mT = property(lambda self: np.matrix_transpose(self))
Tracer.real = property(lambda self: np.real(self))
Tracer.imag = property(lambda self: np.imag(self))
Tracer.size = property(lambda self: math.prod(self.shape))
Tracer.itemsize = property(lambda self: self.dtype.itemsize)
Tracer.nbytes = property(lambda self: self.size * self.itemsize)
