"""When this wing comes in: when NumPy, or an error, asks for what it has.

Its one idea: a table that does not know a function asks its sources first.
Chapter 25.
"""

import sys
from importlib import import_module

from autodiff_mini import seams

MODULES = (
    'arranging', 'averages', 'borrowed', 'decompositions', 'elements',
    'fft', 'linear_algebra', 'polynomials', 'products')


def module(name):
    """Returns a module of this wing, imported."""
    return import_module(f'autodiff_mini.more.{name}')


def bring(function):
    """Imports what this wing defines; SciPy's rows, if SciPy is at work.

    Args:
        function: what a table lacks: a NumPy function, or a ufunc and
            the name of a method.
    """
    for name in MODULES:
        module(name)
    if 'scipy.special' in sys.modules:
        module('special')
    if isinstance(function, tuple):
        module('ufuncs').define_method(*function)
    else:
        module('arranging').refuse_by_size(function)


seams.bring.take(bring)
