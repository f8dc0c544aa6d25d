"""The argument `out=` of ufuncs, their methods, and functions.

The result is computed without `out=` and then copied into it, with the same
checks as in NumPy.  Chapter 30.
"""

import numpy as np

from autodiff_mini.core.trace import function_table, ufunc_table
from autodiff_mini.core.types import typeof
from autodiff_mini.numpy_functions.arguments import as_mask


def call_ufunc(ufunc, method, define, *inputs, out=None, **kwargs):
    """Return the result of a ufunc, or of its method, called with options.

    Args:
        ufunc: the ufunc.
        method: the name of the method, or '__call__'.
        define: the function that computes the result without `out`.
        inputs: the operands.
        out: a tuple of arrays to write into, or of None.
        kwargs: the other options.
    """
    where = True
    if method == '__call__':
        kwargs = {k: x for k, x in kwargs.items() if x is not None}
        where = as_mask(kwargs.pop('where', True)) if out else True
        if not kwargs:
            define = ufunc_table[ufunc]
    elif out and method != 'outer' and ufunc in (np.add, np.multiply):
        kwargs = computed_for(out[0], inputs, kwargs)
    result = define(*inputs, **kwargs)
    if not out:
        return result
    several = isinstance(result, tuple)
    results = result if several else (result,)
    check_arrays(ufunc, *out)
    if method in ('__call__', 'outer'):
        results = write_each(results, out, where, core_axes(ufunc, inputs))
    elif out[0] is not None:
        check_place(f'{ufunc.__name__}.{method}', result, out[0], method,
                    kwargs.get('axis', 0))
        np.copyto(out[0], result, casting='unsafe')
        results = out
    return tuple(results) if several else results[0]


def call_function(function, *args, out, **kwargs):
    """Return `out`, with the result of a NumPy function written into it."""
    check_arrays(function, out)
    if function in SUMS:
        kwargs = computed_for(out, args, kwargs)
    result = function_table[function](*args, **kwargs)
    if function in AS_UFUNCS:
        return write_each([result], [out])[0]
    method = 'accumulate' if function in TOTALS else 'reduce'
    check_place(function.__name__, result, out, method, None)
    of_ufunc = function.__module__ == 'numpy.fft'
    casting = OUT_CASTING.get(function, 'same_kind' if of_ufunc else 'unsafe')
    if casting == 'no' and out.dtype != typeof(result).dtype:
        raise ValueError(f'numpy.{function.__name__}: the result is '
                         f'{typeof(result)}, but out= is {typeof(out)}')
    np.copyto(out, result, casting=casting)
    return out


def check_arrays(function, *out):
    """Raise a TypeError if one of `out` is not an array."""
    for place in out:
        if place is not None and not hasattr(place, 'shape'):
            raise TypeError(f'numpy.{function.__name__}: out= must be an '
                            f'array, but got a {type(place).__name__}')


def core_axes(ufunc, inputs):
    """Return the number of core dimensions in the result of a ufunc."""
    if ufunc is np.matmul:
        return sum(np.ndim(x) > 1 for x in inputs)
    return 0 if ufunc.signature in (None, '(n),(n)->()') else 1


def write_each(results, out, where=True, core=0):
    """Broadcast results to the shape of `out`, and write them into it."""
    places = [place for place in out if place is not None]
    if not places:
        return results
    shape = np.broadcast_shapes(
        np.shape(where), *map(np.shape, (*results, *places)))
    written = []
    for result, place in zip(results, out):
        ends = [x.shape[x.ndim - core:] for x in (result, place) if core]
        if place is None:
            place = np.copy(np.broadcast_to(result, shape))
        elif place.shape != shape or len(set(ends)) > 1:
            raise ValueError(
                f'the result of shape {np.shape(result)} needs an out= of '
                f'shape {shape}, but got {place.shape}')
        else:
            np.copyto(place, result, where=where)
        written.append(place)
    return written


def computed_for(place, args, kwargs):
    """Return the keywords of a sum, with the dtype to compute it in.

    It is the dtype of the array to write into, if that is wider.
    """
    dtype = getattr(place, 'dtype', None)
    if dtype is None or dtype.kind not in 'fc' or (
            kwargs.get('dtype') is not None or not np.can_cast(
                typeof(args[0]).dtype, dtype)):
        return kwargs
    return kwargs | {'dtype': dtype}


def check_place(name, result, place, method='reduce', axis=0):
    """Raise an error if a result does not fit the array to write into."""
    have, want = place.shape, np.shape(result)
    if have == want:
        return
    if method != 'reduce':
        broadcast = len(have) == len(want) > 1 and all(
            n in (1, m) for n, m in zip(want, have))
        if broadcast and axis is not None and have[axis] == want[axis]:
            return
        if broadcast or method == 'reduceat' and len(have) != len(want):
            raise NotImplementedError(
                f'numpy.{name}: out= has shape {have}, and NumPy would fill '
                'only part of it. Pass an array with the shape of the '
                f'result, {want}.')
    kind = TypeError if name == 'choose' else ValueError
    raise kind(f'numpy.{name}: the result has shape {want}, but out= has '
               f'shape {have}')


SUMS = {np.sum, np.prod, np.cumsum, np.cumprod, np.mean, np.nansum,
        np.nanprod, np.nanmean, np.trace}
TOTALS = {np.cumsum, np.cumprod, np.nancumsum, np.nancumprod}
AS_UFUNCS = {np.clip, np.outer, np.fix, np.isneginf, np.isposinf,
             np.percentile, np.quantile, np.nanpercentile, np.nanquantile,
             np.nanmedian}
OUT_CASTING = {np.round: 'same_kind', np.around: 'same_kind',
               np.concatenate: 'same_kind', np.stack: 'same_kind',
               np.std: 'same_kind', np.nanstd: 'same_kind',
               np.argmax: 'equiv', np.argmin: 'equiv', np.dot: 'no',
               np.linalg.multi_dot: 'no', np.einsum: 'safe'}
