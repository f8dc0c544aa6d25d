"""A wing: a second compiler, for speed, and nothing but speed.

It is imported when the first program is compiled, or differentiated.  Without
this folder, all programs compute the same, and take their time.
"""

from importlib import import_module

import autodiff_mini.fast.simplify  # knows the rows till now
from autodiff_mini.api.reverse import linearizers
from autodiff_mini.higher_order.programs import recallers
from autodiff_mini.interpreters.lowering import compilers


def fast_program(jaxpr):
    """Returns a program as a function, as the compiler of this wing does."""
    import_module('autodiff_mini.fast.fission')     # opens loops
    return import_module('autodiff_mini.fast.compiler').FastLowered(jaxpr)


def recorder(f, primals, tag):
    """Returns the outputs of `f`, and its derivative, as a tape."""
    from autodiff_mini.fast.tape import record_flat
    return record_flat(f, primals, tag)


def recaller(jaxpr):
    """Returns the first program that was like this one."""
    from autodiff_mini.fast.twins import twin_of
    return twin_of(jaxpr)


compilers.append(fast_program)
linearizers.append(recorder)
recallers.append(recaller)
