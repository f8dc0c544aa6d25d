"""Import the modules of this wing when a program needs them.

A table that lacks a NumPy function asks here first, and so does a call of a
function with a batching rule.  Chapter 27.
"""

import sys
from importlib import import_module

from autodiff_mini import seams
from autodiff_mini.core import function_table, ufunc_table

# The most used modules come first.
MODULES = (
    'writing', 'composed', 'along_axis', 'selection', 'statistics',
    'borrowed', 'filling', 'rows', 'tables', 'matrices', 'einsum', 'products',
    'elements', 'linear_algebra', 'arranging', 'averages', 'decompositions',
    'fft', 'polynomials', 'options', 'calls.custom_vmap',
    'calls.optimize_remat')


def module(name):
    """Return a module of this wing, imported."""
    return import_module(f'autodiff_mini.more.{name}')


def bring(function):
    """Import modules of this wing until one of them defines a function.

    Args:
        function: the key that a table lacks: a NumPy function, or a ufunc
            and the name of a method.
    """
    if isinstance(function, tuple):
        module('filling')   # np.add.at
        module('options')
        if function not in function_table and function not in ufunc_table:
            module('ufuncs').define_method(*function)
        return
    for name in MODULES:
        module(name)
        if function in function_table or function in ufunc_table:
            return
    if 'scipy.special' in sys.modules:
        module('special')
    module('arranging').refuse_by_size(function)


seams.bring.take(bring)
seams.stage.take_from('more.error_states')
seams.set_item.take_from('more.writing')
seams.replace_masks.take_from('more.options')
seams.call_with_batching.take_from('more.calls.custom_vmap')
seams.leave_closure.take_from('more.calls.closing_calls')
seams.bind_both_ways.take_from('more.calls.pulling_twice')
seams.call_if_unused.take_from('more.calls.optimize_remat')
