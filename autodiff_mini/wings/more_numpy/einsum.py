"""`np.einsum`: multiply operands in pairs, as stacks of matrix products.

Chapter 30.
"""

import math
from string import ascii_letters

import numpy as np

from autodiff_mini.core.errors import refuse
from autodiff_mini.core.memory import as_new_result
from autodiff_mini.numpy_functions.arguments import promote
from autodiff_mini.numpy_functions.table import (
    as_is, as_view, asarray, implements)
from autodiff_mini.wings.more_numpy.more_composed import numpy_diagonal


@implements(np.einsum, as_is)
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
    return (as_view if is_view else as_new_result)(y, arrays)


def einsum_string(*operands):
    """Return subscripts and operands, given operands alternating with lists.

    The list after an operand has its axes, and a last one can have the axes
    of the result.
    """
    arrays, lists, result = operands[::2], operands[1::2], ''
    if len(arrays) > len(lists):
        *arrays, axes = arrays
        result = f'->{einsum_letters(axes)}'
    return ','.join(map(einsum_letters, lists)) + result, arrays


def einsum_letters(axes):
    """Return a letter for each number in a list."""
    return ''.join('...' if i is Ellipsis else chr(97 + i) for i in axes)


def einsum_terms(subscripts, ndims):
    """Return letters for the axes of the operands and of the result."""
    inputs, arrow, result = subscripts.replace(' ', '').partition('->')
    for i in (inputs + result).replace(',', '').replace('...', ''):
        if i not in ascii_letters:
            raise ValueError(f'invalid subscript {i!r} in einstein sum '
                             'subscripts string, subscripts must be letters')
    terms = inputs.split(',')
    unused = [chr(i) for i in range(97, 1000) if chr(i) not in subscripts]
    hidden = [ndim - len(term) + 3 if '...' in term else 0
              for ndim, term in zip(ndims, terms, strict=True)]
    dots = ''.join(unused[:max(hidden)])
    if not arrow:
        letters = inputs.replace(',', '').replace('.', '')
        result = '...' + ''.join(sorted(i for i in set(letters)
                                        if letters.count(i) == 1))
    if dots and '...' not in result:
        raise ValueError(
            'output has more dimensions than subscripts given in einstein '
            "sum, but no '...' ellipsis provided to broadcast the extra "
            'dimensions.')
    terms = [term.replace('...', dots[len(dots) - count:])
             for term, count in zip(terms, hidden)]
    result = result.replace('...', dots)
    if [len(term) for term in terms] != ndims:
        raise ValueError(f'einsum subscripts {subscripts!r} do not fit '
                         f'operands with {ndims} dimensions')
    if len({*result}) < len(result) or not {*result} <= {*''.join(terms)}:
        raise ValueError(f'einsum subscripts {subscripts!r}: each letter of '
                         'the output must appear in the input, and only once '
                         'in the output')
    return terms, result


def einsum_diagonal(a, letters):
    """Return the diagonal of `a` over the axes with repeated letters."""
    for i in letters:
        while letters.count(i) > 1:
            first, second = letters.index(i), letters.rindex(i)
            if a.shape[first] != a.shape[second]:
                raise ValueError(
                    f'einsum: the axes labeled {i!r} differ in length')
            a = numpy_diagonal(a, 0, first, second)
            letters = (letters[:first] + letters[first + 1:second]
                       + letters[second + 1:] + i)
    return a, letters


def einsum_sum(a, letters, needed):
    """Return `a` summed over the axes whose letters are not needed."""
    axes = tuple(k for k, i in enumerate(letters) if i not in needed)
    if not axes:
        return a, letters
    return (np.sum(a, axes, a.dtype),
            ''.join(i for i in letters if i in needed))


def einsum_pair(a, a_letters, b, b_letters, needed):
    """Return the product of two operands, as one stack of matrices."""
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
    """Return `a` with axes in this order, and merge each group but one."""
    order = [i for group in groups for i in group]
    a = np.transpose(a, [letters.index(i) for i in order])
    a = np.broadcast_to(a, [sizes[i] for i in order])
    batch, *ends = [[sizes[i] for i in group] for group in groups]
    return np.reshape(a, [*batch, *map(math.prod, ends)])
