"""The real and the imaginary part of a complex array, which are views of it.

A write into a part makes a complex array of it and of the other part.
Chapter 30.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.memory import ONLY_SEEN
from autodiff_mini.core.trace import elementwise
from autodiff_mini.core.types import convert, full, typeof
from autodiff_mini.interpreters.jvp import defjvp, match
from autodiff_mini.interpreters.transpose import deflinear
from autodiff_mini.numpy_functions.table import as_is, implements, operand
from autodiff_mini.primitives.elementwise import real_p

imag_p = elementwise('imag', np.imag)
deflinear(imag_p, lambda ct, x: -1j * ct)


@implements(np.imag, as_is)
def numpy_imag(val):
    val = operand(val)
    aval = typeof(val)
    if aval.dtype.kind == 'c':
        return seams.view_of.run(val, imag_p.bind(val), (imag_p, (), {}))
    zero = full(val, aval.shape, 0, aval.dtype)[()]
    zero = convert(zero, aval.dtype, aval.weak_type)
    if seams.is_a_number.run(val):
        return zero
    return seams.view_of.run(val, zero, None, ONLY_SEEN)


def complex_of(real, imag):
    """Return an array with these parts."""
    if seams.library_of((real, imag)):
        return real + 1j * imag     # NaN where only one part is infinite
    shape = np.broadcast_shapes(real.shape, imag.shape)
    y = np.empty(shape, np.result_type(real, np.complex64))
    y.real, y.imag = real, imag
    return y[()]


complex_p = elementwise('complex', complex_of)
defjvp(complex_p, lambda real_dot, y, real, imag: match(real_dot, y),
                  lambda imag_dot, y, real, imag: match(1j * imag_dot, y))


def with_real(whole, part):
    return complex_p.bind(part, imag_p.bind(whole))


def with_imag(whole, part):
    return complex_p.bind(real_p.bind(whole), part)
