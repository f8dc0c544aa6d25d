"""The functions that a traced program finds under NumPy's names.

They return a tracer if an argument is traced, and otherwise an array that the
program can fill.  See the page *Arrays made inside*.
"""

from functools import wraps
from weakref import ref

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.trace import Tracer, current_trace, function_table
from autodiff_mini.numpy_functions.table import asarray, operand
from autodiff_mini.wings.writing.boxes import writable
from autodiff_mini.wings.writing.patch.fillable import (
    Filled, holds_traced, shown, to_fill, views_to_fill)
from autodiff_mini.wings.writing.patch.traced_numpy import (
    answer, ended, started)


def maker(name, of_traced=None, is_new=lambda *args, **kwargs: True):
    """Let a traced program make arrays with a NumPy function.

    Args:
        name: the name of the function.
        of_traced: the function to call if an argument is traced, or None if
            NumPy asks the tracer itself.
        is_new: takes a result and the arguments, and says whether the result
            has memory of its own.
    """
    numpys = vars(np)[name]

    @wraps(numpys)
    def make(*args, **kwargs):
        if not holds_traced((args, *kwargs.values())):
            y = numpys(*args, **kwargs)
            fill = to_fill if is_new(*args, **kwargs) else views_to_fill
            return fill(y)
        args, kwargs = shown(args), shown(kwargs)
        if of_traced and kwargs.get('like') is None:
            return of_traced(*args, **kwargs)
        return numpys(*args, **kwargs)

    # With like=, NumPy looks the function up in np and finds ours.
    function_table[make] = lambda *args, **kwargs: (
        function_table[numpys](*args, **kwargs))
    answer(name, make)


def as_table_says(function):
    """Return a function that applies the table's entry for a NumPy one."""
    return lambda *args, **kwargs: current_trace().process_function(
        function, args, kwargs)


LISTS = {list, tuple}


def as_array(x):
    """Return a list with a traced value in it as an array."""
    return operand(x) if type(x) in LISTS and holds_traced(x) else x


def as_arrays(x):
    """Return a list of arrays with each as `as_array` says."""
    return list(map(as_array, x)) if type(x) in LISTS else x


def taker(name, ready=as_array, module=np):
    """Let a NumPy function accept lists with traced values in them.

    Args:
        name: the name of the function.
        ready: a function that returns an argument as NumPy accepts it.
        module: np, or np.linalg.
    """
    numpys = vars(module)[name]

    @wraps(numpys)
    def take(*args, **kwargs):
        args = list(map(ready, args))
        kwargs = {key: x if key == 'out' else ready(x)
                  for key, x in kwargs.items()}
        y = numpys(*args, **kwargs)
        if isinstance(y, Tracer) or is_view(y, (*args, *kwargs.values())):
            return y
        return to_fill(y)
    answer(name, take, module)


def is_view(y, arguments) -> bool:
    """Return whether a result may share memory with an argument."""
    results = y if type(y) in LISTS else [y]
    return any(isinstance(x, (Tracer, Filled)) or (
        type(result) is np.ndarray and isinstance(x, np.ndarray)
        and np.may_share_memory(x, result))
        for x in arguments for result in results)


def is_of_list(a=None, *args, **kwargs) -> bool:
    return isinstance(a, (list, tuple))


def at_least_one(a, dtype=None, **kwargs):
    return np.atleast_1d(asarray(a, dtype))


def full_of(shape, fill_value, dtype=None, order='C', **kwargs):
    return writable(np.broadcast_to(asarray(fill_value, dtype), shape))


for makes in ('zeros', 'ones', 'empty', 'eye', 'identity', 'tri', 'arange',
              'zeros_like', 'ones_like', 'empty_like', 'full_like'):
    maker(makes)
for takes in ('linspace', 'logspace', 'geomspace', 'copy', 'repeat', 'diag',
              'diagflat', 'append', 'sum', 'prod', 'mean', 'std', 'var',
              'median', 'max', 'min', 'amax', 'amin', 'argmax', 'argmin',
              'dot', 'inner', 'outer', 'cross', 'kron', 'cumsum', 'cumprod',
              'diff', 'trapezoid', 'average', 'sort', 'clip', 'where',
              'polyval', 'vander', 'interp', 'convolve', 'trace', 'tile',
              'triu', 'tril', 'meshgrid'):
    taker(takes)
for joins in ('concatenate', 'stack', 'vstack', 'hstack', 'column_stack',
              'dstack'):
    taker(joins, as_arrays)
for takes in ('norm', 'det', 'inv', 'solve', 'slogdet', 'eigh', 'eigvalsh',
              'cholesky', 'svd', 'lstsq', 'matrix_power'):
    taker(takes, module=np.linalg)
maker('array', as_table_says(np.array),
      lambda *args, copy=True, **kwargs: copy)
for takes in 'asarray', 'asanyarray', 'asfortranarray':
    maker(takes, as_table_says(np.asarray), is_of_list)
maker('ascontiguousarray', at_least_one, is_of_list)
maker('full', full_of)


class Glue:
    """`np.r_` or `np.c_`, for traced values too.

    Args:
        numpys: NumPy's own `r_` or `c_`.
        join: a function that joins a list of arrays in the same way.
    """

    def __init__(self, numpys, join):
        self.numpys = numpys
        self.join = join

    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        if not holds_traced(parts):
            return to_fill(self.numpys[key])
        if isinstance(parts[0], str):
            raise NotImplementedError(
                f'a string such as {parts[0]!r} in np.r_ or np.c_ is not '
                'supported on traced values. Write np.concatenate.')
        return self.join([self.numpys[part] if isinstance(part, slice)
                          else asarray(shown(part)) for part in parts])


answer('r_', Glue(np.r_, lambda arrays: np.concatenate(
    [np.atleast_1d(a) for a in arrays])))
answer('c_', Glue(np.c_, lambda arrays: np.concatenate(
    [np.reshape(a, (-1, 1)) if a.ndim < 2 else a for a in arrays], -1)))

seams.enter_outermost.take(started)
seams.leave_outermost.take(lambda trace: ended(ref(trace)))
