"""Products of arrays: each becomes one stack of matrix products.

Chapter 25.
"""

import math

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from autodiff_mini.core import typeof
from autodiff_mini.errors import refuse
from autodiff_mini.memory import handed, handed_array
from autodiff_mini.numpy_api import (
    asarray, composed_ufunc, implements, promote, seen, unchanged)
from autodiff_mini.numpy_functions.selection import numpy_diagonal


@composed_ufunc(np.vecdot)
def numpy_vecdot(x, y):
    x = np.conj(x) if typeof(x).dtype.kind == 'c' else x
    return (x[..., None, :] @ y[..., :, None])[..., 0, 0]


@implements(np.dot)
def numpy_dot(a, b, out=None):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    if a.ndim > 1 and b.ndim > 2:
        return np.tensordot(a, b, (-1, -2))
    return a @ b


@implements(np.inner)
def numpy_inner(a, b):
    a, b = asarray(a), asarray(b)
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return np.tensordot(a, b, (-1, -1))


@implements(np.outer)
def numpy_outer(a, b, out=None):
    return np.ravel(a)[:, None] * np.ravel(b)


@implements(np.tensordot, handed_array)
def numpy_tensordot(a, b, axes=2):
    a, b = asarray(a), asarray(b)
    if not np.iterable(axes):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    axes_a = normalize_axis_tuple(axes[0], a.ndim)
    axes_b = normalize_axis_tuple(axes[1], b.ndim)
    if [a.shape[i] for i in axes_a] != [b.shape[i] for i in axes_b]:
        raise ValueError('shape-mismatch for sum')
    free_a = [i for i in range(a.ndim) if i not in axes_a]
    free_b = [i for i in range(b.ndim) if i not in axes_b]
    size = math.prod(a.shape[i] for i in axes_a)
    rows = [a.shape[i] for i in free_a]
    columns = [b.shape[i] for i in free_b]
    a = np.transpose(a, (*free_a, *axes_a))
    b = np.transpose(b, (*axes_b, *free_b))
    product = (np.reshape(a, (math.prod(rows), size))
               @ np.reshape(b, (size, math.prod(columns))))
    return np.reshape(product, (*rows, *columns))


@implements(np.einsum, unchanged)
def numpy_einsum(subscripts, *operands, out=None, optimize=False, **kwargs):
    refuse(np.einsum, out=out, **kwargs)
    if not isinstance(subscripts, str):
        subscripts, operands = einsum_string(subscripts, *operands)
    arrays = promote(*map(asarray, operands))
    terms, result = einsum_terms(subscripts, [a.ndim for a in arrays])
    parts = [einsum_diagonal(*part) for part in zip(arrays, terms)]
    while len(parts) > 1:
        needed = {*result, *''.join(letters for _, letters in parts[2:])}
        parts[:2] = [einsum_pair(*parts[0], *parts[1], needed)]
    (a, letters), = parts
    a, letters = einsum_sum(a, letters, result)
    y = np.transpose(a, [letters.index(i) for i in result])
    is_view = result and len(operands) == 1 and (
        set(terms[0]) == set(result))
    return (seen if is_view else handed)(y, arrays)


def einsum_string(*operands):
    """Returns the subscripts and the operands, where lists stand between.

    Behind each operand is the list of its axes, and at the end, perhaps,
    that of the result.
    """
    arrays, lists, result = operands[::2], operands[1::2], ''
    if len(arrays) > len(lists):
        *arrays, axes = arrays
        result = f'->{einsum_letters(axes)}'
    return ','.join(map(einsum_letters, lists)) + result, arrays


def einsum_letters(axes):
    """Returns a letter for each number in a list."""
    return ''.join('...' if i is Ellipsis else chr(97 + i) for i in axes)


def einsum_terms(subscripts, ndims):
    """Returns a letter for each axis of each operand, and of the result."""
    inputs, arrow, result = subscripts.replace(' ', '').partition('->')
    terms = inputs.split(',')
    unused = [chr(i) for i in range(97, 1000) if chr(i) not in subscripts]
    hidden = [ndim - len(term) + 3 if '...' in term else 0
              for ndim, term in zip(ndims, terms, strict=True)]
    dots = ''.join(unused[:max(hidden)])
    if not arrow:
        letters = inputs.replace(',', '').replace('.', '')
        result = '...' + ''.join(sorted(i for i in set(letters)
                                        if letters.count(i) == 1))
    terms = [term.replace('...', dots[len(dots) - count:])
             for term, count in zip(terms, hidden)]
    result = result.replace('...', dots)
    if [len(term) for term in terms] != ndims:
        raise ValueError(f'einsum subscripts {subscripts!r} do not fit '
                         f'operands with {ndims} dimensions')
    if len({*result}) < len(result) or not {*result} <= {*''.join(terms)}:
        raise ValueError(f'einsum subscripts {subscripts!r}: each letter of '
                         'the output must be there once, and in the input')
    return terms, result


def einsum_diagonal(a, letters):
    """Returns `a` without the axes whose letters are there before."""
    for i in letters:
        while letters.count(i) > 1:
            first, second = letters.index(i), letters.rindex(i)
            if a.shape[first] != a.shape[second]:
                raise ValueError(f'einsum: the axes {i!r} differ in length')
            a = numpy_diagonal(a, 0, first, second)
            letters = (letters[:first] + letters[first + 1:second]
                       + letters[second + 1:] + i)
    return a, letters


def einsum_sum(a, letters, needed):
    """Returns `a` summed over the axes whose letters are not needed."""
    axes = tuple(k for k, i in enumerate(letters) if i not in needed)
    if not axes:
        return a, letters
    return (np.sum(a, axes, a.dtype),
            ''.join(i for i in letters if i in needed))


def einsum_pair(a, a_letters, b, b_letters, needed):
    """Returns the product of two operands, as one stack of matrices."""
    a, a_letters = einsum_sum(a, a_letters, {*b_letters, *needed})
    b, b_letters = einsum_sum(b, b_letters, {*a_letters, *needed})
    both = [i for i in a_letters if i in b_letters]
    batch = [i for i in both if i in needed]
    inner = [i for i in both if i not in needed]
    rows = [i for i in a_letters if i not in both]
    columns = [i for i in b_letters if i not in both]
    sizes = dict(zip(a_letters, a.shape))
    for i, size in zip(b_letters, b.shape):
        sizes[i] = size if sizes.get(i, 1) == 1 else sizes[i]
    a = einsum_matrices(a, a_letters, sizes, batch, rows, inner)
    b = einsum_matrices(b, b_letters, sizes, batch, inner, columns)
    product = np.matmul(a, b) if inner else np.multiply(a, b)
    letters = [*batch, *rows, *columns]
    return (np.reshape(product, [sizes[i] for i in letters]),
            ''.join(letters))


def einsum_matrices(a, letters, sizes, *groups):
    """Returns `a` with the axes in this order, the last groups made one."""
    order = [i for group in groups for i in group]
    a = np.transpose(a, [letters.index(i) for i in order])
    a = np.broadcast_to(a, [sizes[i] for i in order])
    batch, *ends = [[sizes[i] for i in group] for group in groups]
    return np.reshape(a, [*batch, *map(math.prod, ends)])
