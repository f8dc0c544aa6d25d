"""NumPy's functions that make arrays, as a traced program finds them.

What they make of traced values is traced, and other arrays can be filled.
Appendix W.
"""

from functools import wraps

import numpy as np

from autodiff_mini.core import Trace, current_trace, function_table
from autodiff_mini.memory import made
from autodiff_mini.numpy_api import asarray
from autodiff_mini.patch.fillable import (
    holds_traced, shown, to_fill, views_to_fill)
from autodiff_mini.patch.names import Patch, answer


def is_new(y, *args, **kwargs) -> bool:
    return True


def maker(name, of_traced=None, is_new=is_new):
    """Let a program that is traced make arrays with a NumPy function.

    Args:
        name: the name of the function.
        of_traced: what to call if an argument is traced and NumPy does not
            ask about it.
        is_new: tells from a result and the arguments whether the result has
            memory of its own.
    """
    numpys = vars(np)[name]

    @wraps(numpys)
    def make(*args, **kwargs):
        if not holds_traced((args, *kwargs.values())):
            y = numpys(*args, **kwargs)
            new = type(y) is np.ndarray and is_new(y, *args, **kwargs)
            return to_fill(y) if new else views_to_fill(y)
        args, kwargs = shown(args), shown(kwargs)
        if of_traced and kwargs.get('like') is None:
            return of_traced(*args, **kwargs)
        return numpys(*args, **kwargs)

    # With like=, NumPy asks about the name that it finds.
    function_table[make] = lambda *args, **kwargs: (
        function_table[numpys](*args, **kwargs))
    answer(name, make)


def as_table_says(function):
    """Return what a function of NumPy's does to tracers."""
    return lambda *args, **kwargs: current_trace().process_function(
        function, args, kwargs)


def is_of_list(y, a=None, *args, **kwargs) -> bool:
    return isinstance(a, (list, tuple))


def at_least_one(a, dtype=None, **kwargs):
    return np.atleast_1d(asarray(a, dtype))


def full_of(shape, fill_value, dtype=None, order='C', **kwargs):
    return made(np.broadcast_to(asarray(fill_value, dtype), shape))


for makes in ('zeros ones empty eye identity tri arange linspace logspace '
             'geomspace zeros_like ones_like empty_like full_like '
             'copy').split():
    maker(makes)
maker('array', as_table_says(np.array),
      lambda y, *args, copy=True, **kwargs: copy)
for takes in 'asarray', 'asanyarray', 'asfortranarray':
    maker(takes, as_table_says(np.asarray), is_of_list)
maker('ascontiguousarray', at_least_one, is_of_list)
maker('full', full_of)


class Glue:
    """`np.r_` or `np.c_`, also of what is traced.

    Args:
        numpys: NumPy's own.
        join: joins arrays as it does.
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
                f'np.r_[{parts[0]!r}, ...] is not supported on traced '
                'values: write np.concatenate or np.stack')
        return self.join([self.numpys[part] if isinstance(part, slice)
                          else asarray(shown(part)) for part in parts])

    def __getattr__(self, name):
        return getattr(self.numpys, name)


answer('r_', Glue(np.r_, lambda arrays: np.concatenate(
    [np.atleast_1d(a) for a in arrays])))
answer('c_', Glue(np.c_, lambda arrays: np.concatenate(
    [np.reshape(a, (-1, 1)) if a.ndim < 2 else a for a in arrays], -1)))

Trace.outermost_started = Patch.started
Trace.outermost_ended = Patch.ended
