"""The fast compiler: two versions of a program, and a third for the rest.

Most arrays are NumPy's and lie in memory row by row.  One version makes use
of that, and a careful one takes NumPy arrays in any order.  Chapter 31.
"""

from functools import cache, cached_property, partial

import numpy as np

from autodiff_mini import seams
from autodiff_mini.core import NUMBERS
from autodiff_mini.errors import quote_line
from autodiff_mini.fast.emitter import FastEmitter
from autodiff_mini.fast.guard import write_guard
from autodiff_mini.fast.plan import are_new, c_ordered, plan
from autodiff_mini.fast.simplify import opened, simplify
from autodiff_mini.higher_order.programs import remember
from autodiff_mini.interpreters.lowering import MISS, Lowered
from autodiff_mini.memory import gc_paused
from autodiff_mini.source import functions_in, lines_within


class FastLowered:
    """A program as Python; a function of its arguments.

    There are two versions of it.  The fast one is for NumPy arrays in their
    usual order, and for numbers.  The careful one is for NumPy arrays in any
    order.  Arrays of other types are for the small compiler.

    Args:
        jaxpr: the program.
    """

    @gc_paused
    def __init__(self, jaxpr):
        self.guards = {}        # by trees and types: a guard, or None
        self.jaxpr = opened(jaxpr)
        # What the fast one falls back on must not hold it, or all stay.
        self.write_careful = write = cache(
            partial(Version, self.jaxpr, False))
        self.fast = Version(self.jaxpr, True, lambda *xs: write()(*xs))

    source = property(lambda self: self.fast.source)
    constants = property(lambda self: self.fast.constants)
    careful = cached_property(lambda self: self.write_careful())
    small = cached_property(lambda self: Lowered(simplify(self.jaxpr)))

    def __call__(self, *xs):
        if self.fast.takes_all(xs):
            return self.fast(*xs)
        if self.careful.takes_all(xs):
            return self.careful(*xs)
        return self.small(*xs)

    def work(self, jaxpr, ordered=True) -> list:
        """Return what its source does, or would do, for a program."""
        jaxpr = opened(jaxpr)
        return plan(simplify(jaxpr, c_ordered(jaxpr) if ordered else ()),
                    ordered)

    def guard(self, xs, in_tree, out_tree):
        """Return the guard for calls like this one, or None."""
        if not self.fast.takes_all(xs):
            return None
        key = in_tree, out_tree, *map(type, xs)
        guard = self.guards.get(key, MISS)
        return guard if guard is not MISS else remember(
            self.guards, key, write_guard(self, xs, in_tree, out_tree))


class Version:
    """Python source for a program, and the function that it defines.

    Args:
        jaxpr: a program without calls.
        fast: whether it is for arrays in order only; see FastLowered.
        careful: what a fast version calls where it cannot go on.
    """

    def __init__(self, jaxpr, fast, careful=None):
        emitter = FastEmitter(fast)
        jaxpr = emitter.simplified(jaxpr, fast)
        emitter.scope['careful'] = careful
        emitter.emit('program', jaxpr, fast)
        self.source, self.equations = emitter.text()
        self.in_order = emitter.in_order
        self.scalar = emitter.scalar
        self.owned = are_new(jaxpr)
        self.functions = functions_in(self.source, emitter.scope)
        self.function = self.functions['program']
        self.constants = [x for x in emitter.scope.values()
                          if isinstance(x, np.ndarray)]
        # Of an array that the program closes over.
        self.library = seams.library_of(emitter.scope.values())

    def takes_all(self, xs):
        """Return whether the fast version is for arguments like these."""
        return self.library is None and all(map(self.takes, xs))

    def takes(self, x):
        """Return whether it is for an argument like this one."""
        if type(x) is np.ndarray and (x.ndim or not self.scalar):
            return not self.in_order or x.flags.c_contiguous
        return type(x) in NUMBERS

    def __call__(self, *xs):
        try:
            return self.function(*xs)
        except Exception as error:
            self.quote(error)
            raise

    def quote(self, error):
        """Tell an error which line of the user's it comes from."""
        for line in lines_within(self.functions, error):
            quote_line(error, self.equations.get(line))
