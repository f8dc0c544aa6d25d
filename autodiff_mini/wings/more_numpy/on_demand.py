"""Import the modules of the wings when a program needs them.

A table that lacks a NumPy function asks here first, and so does a call of a
function with a batching rule.  Chapter 27.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

from autodiff_mini.core import seams
from autodiff_mini.core.trace import function_table, ufunc_table

# The most used modules come first.  Two wings beside this one define NumPy
# functions, too.
MODULES = [name for name in (
    'writing.assignment', 'more_numpy.more_composed', 'more_numpy.along_axis',
    'more_numpy.selection', 'more_numpy.statistics',
    'more_numpy.more_borrowed', 'writing.filling', 'more_numpy.rows',
    'more_numpy.tables', 'more_numpy.matrices', 'more_numpy.einsum',
    'more_numpy.products', 'more_numpy.elements', 'more_numpy.linear_algebra',
    'more_numpy.arranging', 'more_numpy.averages',
    'more_numpy.decompositions', 'more_numpy.fft', 'more_numpy.polynomials',
    'more_numpy.options', 'more_calls.custom_vmap',
    'more_calls.optimize_remat')
    if find_spec(f'autodiff_mini.wings.{name.partition(".")[0]}')]


def module(name):
    """Return a module of a wing, imported."""
    return import_module(f'autodiff_mini.wings.{name}')


def bring(function):
    """Import modules of the wings until one of them defines a function.

    Args:
        function: the key that a table lacks: a NumPy function, or a ufunc
            and the name of a method.
    """
    if isinstance(function, tuple):
        if 'writing.filling' in MODULES:
            module('writing.filling')   # np.add.at
        module('more_numpy.options')
        if function not in function_table and function not in ufunc_table:
            module('more_numpy.ufuncs').define_method(*function)
        return
    for name in MODULES:
        module(name)
        if function in function_table or function in ufunc_table:
            return
    if 'scipy.special' in sys.modules:
        module('more_numpy.scipy_special')
    module('more_numpy.arranging').refuse_by_size(function)


seams.bring.take(bring)
seams.stage.take_from('more_numpy.error_states')
seams.replace_masks.take_from('more_numpy.options')
