"""NumPy functions that are written in Python: their own code, on tracers.

Such a function looks up `asarray`, `zeros`, and the like in its module.  A
copy whose globals support tracers runs on traced values, and computes what
NumPy computes.  Chapter 30.
"""

import sys
from functools import lru_cache
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

import autodiff_mini.numpy_functions.creation  # noqa: F401
from autodiff_mini.core.trace import Tracer, function_table
from autodiff_mini.numpy_functions.table import operand


def array_or_tracer(a, dtype=None, **kwargs):
    """Return `a` as an array, or as a tracer if it contains one."""
    a = operand(a)
    make = function_table[np.asarray] if isinstance(a, Tracer) else np.asarray
    return make(a, dtype, **kwargs)


FOR_TRACERS = {
    'asarray': array_or_tracer, 'asanyarray': array_or_tracer,
    'array': function_table[np.array], 'empty': function_table[np.empty],
    'ones': function_table[np.ones], 'zeros': function_table[np.zeros]}


@lru_cache
def names_for_tracers(module):
    """Return the globals of a module, adapted to tracers."""
    names, plain = {}, vars(sys.modules[module])
    for name, x in plain.items():
        if isinstance(x, FunctionType) and x.__globals__ is plain:
            x = with_names(x, names)
        if isinstance(x, ModuleType) and hasattr(x, 'asarray'):
            x = SimpleNamespace(**vars(x) | FOR_TRACERS)
        names[name] = FOR_TRACERS.get(name, x)
    return names


def with_names(function, names):
    """Return a function with the same code and these globals."""
    copy = FunctionType(function.__code__, names, function.__name__,
                        function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    return copy


def borrow(*functions):
    """Register copies of NumPy functions that run on tracers."""
    for function in functions:
        code = function.__wrapped__
        names = names_for_tracers(code.__globals__['__name__'])
        function_table[function] = with_names(code, names)


borrow(np.shape, np.ndim, np.size)
borrow(np.expand_dims, np.moveaxis, np.atleast_1d)
