"""A wing: a second compiler, for speed alone.

Its modules are imported when a program is compiled or differentiated.
Without this folder, every program computes the same values more slowly.
"""

import sys
from importlib import import_module

import autodiff_mini.fast.simplify  # learns the rows as they are defined
from autodiff_mini import seams


@seams.lower.take
def compile_fast(jaxpr):
    """Compile a program to a function with the fast compiler."""
    if 'autodiff_mini.higher_order.loops' in sys.modules:
        import_module('autodiff_mini.fast.fission')     # opens loops
    return import_module('autodiff_mini.fast.compiler').FastLowered(jaxpr)


seams.linearize.take_from('fast.tape')
seams.recall.take_from('fast.twins')
