"""Indexing: read and write some elements of an array.

The static part of an index (numbers, slices, None, an ellipsis) is a
parameter; index arrays are operands.  Writing is the transpose of reading.
"""

import math
import operator
from functools import partial

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.jaxprs import Var, param_text
from autodiff_mini.core.trace import Primitive, Tracer, unwrapped
from autodiff_mini.core.types import full, typeof
from autodiff_mini.core.zeros import Zero, instantiate_zeros
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.numpy_functions.table import asarray, operand


class Operand:
    """A placeholder in a static index for an index array."""

    def __repr__(self):
        return '.'

    def __reduce__(self):
        return 'OPERAND'    # a copy is this object, too


OPERAND = Operand()


def filled(indices, arrays):
    """Return the indices, with each OPERAND replaced by its array."""
    rest = iter(arrays)
    return indices if not arrays else tuple(
        next(rest) if i is OPERAND else i for i in indices)


index_p = Primitive('index', lambda x, *arrays, indices: (
    x[filled(indices, arrays)]))


def getitem(x, indices):
    """Return `x[indices]`, with index arrays as operands."""
    x, static, arrays = as_operands(x, indices)
    y = index_p.bind(x, *arrays, indices=static)
    return seams.part_of.run(x, y, static, arrays)


def as_operands(x, indices):
    """Return the array to index, the static indices, and the arrays."""
    if not isinstance(indices, tuple):
        indices = (indices,)
    indices = [operand(i) if isinstance(i, (list, tuple, range)) and i
               else unwrapped(i) for i in indices]
    if any(getattr(i, 'dtype', type(i)) == bool for i in indices):
        x, indices = seams.replace_masks(x, indices)
    static, arrays = [], []
    for i in indices:
        if i is None or i is Ellipsis or isinstance(i, slice):
            static.append(i)
        elif isinstance(i, (int, np.integer)) and not isinstance(i, bool):
            static.append(operator.index(i))
        else:
            static.append(OPERAND)
            arrays.append(index_array(i))
    return x, tuple(static), arrays


def index_array(i):
    """Return `i` as an array to index with."""
    empty = isinstance(i, (list, range)) and not i
    i = asarray(i, np.intp if empty else None)
    if i.dtype.kind not in 'biu':
        raise IndexError('arrays used as indices must be of integer (or '
                         f'boolean) type, but got {typeof(i)}')
    return i


def length(x):
    if not x.shape:
        raise TypeError('len() of unsized object: a traced array of shape ()')
    return x.shape[0]


def iterate(x):
    """Return an iterator over the first axis of `x`."""
    if not x.shape:
        raise TypeError('iteration over a 0-d array, which is traced')
    return (x[i] for i in range(len(x)))


Tracer.__getitem__ = getitem
Tracer.__len__ = length
Tracer.__iter__ = iterate


def index_jvp(primals, tangents, indices):
    (x, *arrays), x_dot = primals, tangents[0]
    y = index_p.bind(x, *arrays, indices=indices)
    return y, index_p.bind(x_dot, *arrays, indices=indices)


jvp.rules[index_p] = index_jvp


def index_rule(axis, vals, dims, indices):
    (x, *arrays), (x_dim, *dims) = vals, dims
    if any(array.dtype == bool for array in arrays):
        return mask_rule(x, arrays, dims, indices)
    mapped = x_dim is not None
    indices, arrays, source, destination = index_of_batch(
        axis, np.ndim(x) - mapped, arrays, dims, indices, mapped)
    out = index_p.bind(x, *arrays, indices=indices)
    return move_axes(out, source, destination), 0


def mask_rule(x, arrays, dims, indices):
    if 0 in dims:
        raise TracerError(
            'Under vmap, a boolean index would select a different number of '
            'elements for each example. Use np.where(mask, x, 0) instead of '
            'x[mask].')
    # With the batch axis last, the index applies to an element's axes.
    y = np.moveaxis(x, 0, -1)[*filled(indices, arrays), slice(None)]
    return np.moveaxis(y, -1, 0), 0


def index_of_batch(axis, ndim, arrays, dims, indices, mapped=True):
    """Return the index that applies an index to each element of a batch.

    Args:
        axis: the axis of the batch.
        ndim: how many axes an element has.
        arrays: index arrays.
        dims: for each of them 0, or None if it is not mapped.
        indices: the static indices, with OPERAND for each array.
        mapped: whether the indexed array has the batch axis.

    Returns:
        The indices, the arrays, and for `move_axes` the axes of NumPy's
        result and their destinations.
    """
    ranks = [a.ndim - (dim is not None) for a, dim in zip(arrays, dims)]
    rank, whole = max(ranks, default=0), (slice(None), *indices)
    if {*dims} <= {None}:
        in_front = arrays and index_place(whole, ndim + 1) == 0
        return whole, arrays, [rank if in_front else 0], [0]
    arrays = [a if d is None else vmap.lengthen(a, rank - n)
              for a, d, n in zip(arrays, dims, ranks)]
    place = index_place(indices, ndim)
    if not mapped:
        return indices, arrays, [place], [0]
    rows = np.reshape(np.arange(axis.size), (-1, *[1] * rank))
    block = [*range(1, rank + 1)]
    return (OPERAND, *indices), [rows, *arrays], block, [
        place + i for i in block]


def move_axes(x, source, destination):
    return x if source == destination else np.moveaxis(x, source, destination)


def index_place(indices, ndim):
    """Return the position of the index arrays' axes in `x[indices]`.

    To find it, NumPy indexes an array whose axes have length 1 with index
    arrays of two elements.
    """
    if indices[:1] == (OPERAND,):
        return 0
    indices = [[0, 0] if i is OPERAND else 0 if isinstance(i, int) else i
               for i in indices]
    shape = np.empty((1,) * ndim, np.void)[*indices].shape
    return shape.index(2) if 2 in shape else 0


vmap.rules[index_p] = index_rule


def index_shape(shape, *arrays, indices):
    """Return the shape of `x[indices]`, if `x` has this shape."""
    if any(array.dtype == bool for array in arrays):
        raise TracerError(
            'Array boolean indices must be concrete: the shape of x[mask] '
            'depends on values that are not known yet. Use '
            'np.where(mask, x, 0) instead of x[mask].')
    # NumPy computes the shape, for index arrays that select nothing.
    nothing = [np.empty(0, int)] * len(arrays)
    found = np.empty(shape, np.void)[filled(indices, nothing)].shape
    if not arrays:
        return found
    place = index_place(indices, len(shape))
    try:
        block = np.broadcast_shapes(*[array.shape for array in arrays])
    except ValueError as error:
        raise IndexError(f'indexing arrays: {error}') from None
    return (*found[:place], *block, *found[place + 1:])


abstract.defview(index_p, index_shape)


def check_known(arrays):
    """Raise a TypeError if an index array depends on linear inputs."""
    for i in arrays:
        if type(i) is Var:
            i.refuse()


def index_transpose(ct, x, *arrays, indices):
    """Write the cotangent into zeros.  Index arrays can repeat an element."""
    check_known(arrays)
    write = add_at_p if OPERAND in indices else scatter_p
    zeros = zeros_to_copy(ct, x.shape)
    x_bar = write.bind(zeros, ct, *arrays, indices=indices)
    return [x_bar, *[None] * len(arrays)]


def zeros_to_copy(ct, shape):
    """Return zeros to be copied; a NumPy array stores only one of them."""
    dtype = typeof(ct).dtype
    if library := seams.library_of([ct]):
        return library.full(shape, 0, dtype)
    return np.ndarray(shape, dtype, bytes(dtype.itemsize),
                      strides=(0,) * len(shape))


transpose.rules[index_p] = index_transpose


def index_lowering(emitter, x, *arrays, indices):
    places = [index_text(emitter, i) for i in filled(indices, arrays)]
    return f'{x}[{", ".join(places) or "()"}]'


def index_text(emitter, i):
    """Return the source code of an index; a str is source code already."""
    if i is Ellipsis:
        return '...'
    if type(i) is slice:
        return param_text(i)
    return str(i) if type(i) in (int, str) else emitter.value(i)


lowering.rules[index_p] = index_lowering


def scatter(x, part, *arrays, indices, write=operator.setitem):
    """Return a copy of `x`, from any library, with a part overwritten."""
    if type(x) is np.ndarray:
        out = x.copy('K')
    else:
        out = x.copy() if seams.library_of([x]) else np.array(x)
    write(out, filled(indices, arrays), part)
    return out[()]


scatter_p = Primitive('scatter', scatter)
add_at_p = Primitive('add_at', partial(scatter, write=np.add.at))


def defwrite(primitive):
    """Define the rules of a write, which is linear in both array and part."""
    def jvp_rule(primals, tangents, indices):
        (x, part, *arrays), (x_dot, part_dot, *_) = primals, tangents
        y = primitive.bind(x, part, *arrays, indices=indices)
        if type(x_dot) is Zero:
            x_dot = zeros_to_copy(y, np.shape(y))
        return y, primitive.bind(x_dot, instantiate_zeros(part_dot),
                                 *arrays, indices=indices)

    def vmap_rule(axis, vals, dims, indices):
        x, part = [vmap.spread(x, dim, axis.size)
                   for x, dim in zip(vals[:2], dims)]
        indices, arrays, source, destination = index_of_batch(
            axis, x.ndim - 1, vals[2:], dims[2:], indices)
        part = move_axes(part, destination, source)
        return primitive.bind(x, part, *arrays, indices=indices), 0

    def transpose_rule(ct, x, part, *arrays, indices):
        check_known(arrays)
        x_bar = part_bar = None
        if type(x) is Var:
            x_bar = ct if primitive is add_at_p else scatter_p.bind(
                ct, full(ct, part.shape, 0, typeof(ct).dtype), *arrays,
                indices=indices)
        if type(part) is Var:
            part_bar = index_p.bind(ct, *arrays, indices=indices)
            if primitive is scatter_p and any(np.size(i) > 1 for i in arrays):
                part_bar = lasting_part(part_bar, ct, arrays, indices)
        return [x_bar, part_bar, *[None] * len(arrays)]

    jvp.rules[primitive] = jvp_rule
    vmap.rules[primitive] = vmap_rule
    abstract.rules[primitive] = lambda x, *operands, indices: x
    transpose.rules[primitive] = transpose_rule


def lasting_part(part, whole, arrays, indices):
    """Return a part, with 0 where another element overwrote it."""
    order = np.arange(math.prod(part.shape)).reshape(part.shape)
    last = scatter_p.bind(np.zeros(np.shape(whole), int), order, *arrays,
                          indices=indices)
    last = index_p.bind(last, *arrays, indices=indices)
    return np.where(np.equal(last, order), part, typeof(part).dtype.type(0))


defwrite(scatter_p)
defwrite(add_at_p)
