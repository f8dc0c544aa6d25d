"""A wing: a second compiler, for speed alone.

It is imported when the first program is compiled or differentiated.  Without
this folder, every program computes the same values more slowly.
"""

from importlib import import_module

import autodiff_mini.fast.simplify  # knows the rows till now
from autodiff_mini import seams


@seams.lower.take
def compile_fast(jaxpr):
    """Compile a program to a function with the fast compiler."""
    import_module('autodiff_mini.fast.fission')     # opens loops
    return import_module('autodiff_mini.fast.compiler').FastLowered(jaxpr)


@seams.linearize.take
def record(f, primals, tag):
    """Return the outputs of `f`, and its derivative as a tape."""
    from autodiff_mini.fast.tape import record_flat
    return record_flat(f, primals, tag)


@seams.recall.take
def recall_twin(jaxpr):
    """Return the first recorded program that equals this one."""
    from autodiff_mini.fast.twins import twin_of
    return twin_of(jaxpr)
