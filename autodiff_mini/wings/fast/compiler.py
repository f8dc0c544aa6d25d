"""The fast compiler: two versions of a program, and a third for the rest.

Most arrays are NumPy arrays in row order.  One version relies on that, and a
careful version takes NumPy arrays in any order.  See the page *A second
compiler*.
"""

import sys
from functools import cache, cached_property, partial
from importlib import import_module

import numpy as np

from autodiff_mini.calls.programs import remember
from autodiff_mini.core import seams
from autodiff_mini.core.generated import functions_in, lines_within
from autodiff_mini.core.lines import line_note, quote_line
from autodiff_mini.core.types import NUMBERS
from autodiff_mini.interpreters.lowering import MISS, Lowered
from autodiff_mini.wings.fast.emitter import FastEmitter
from autodiff_mini.wings.fast.guard import write_guard
from autodiff_mini.wings.fast.plan import are_new, plan
from autodiff_mini.wings.fast.simplify import opened, simplify


@seams.lower.take
class FastLowered:
    """A program compiled to Python, called with its arguments.

    There are two versions of it.  The fast one takes numbers and NumPy arrays
    in row order.  The careful one takes NumPy arrays in any order.  The small
    compiler handles arrays of other types.

    Args:
        jaxpr: the program.
    """

    def __init__(self, jaxpr):
        if 'autodiff_mini.calls.loops' in sys.modules:
            import_module('autodiff_mini.wings.fast.fission')   # opens loops
        self.guards = {}        # by trees and types: a guard, or None
        self.jaxpr = simplify(opened(jaxpr))
        # The fallback must not refer to self: a cycle would keep it alive.
        self.write_careful = write = cache(
            partial(Version, self.jaxpr, False))
        self.fast = self.version(
            self.jaxpr, True, lambda *xs: write()(*xs))

    version = property(lambda self: Version)
    source = property(lambda self: self.fast.source)
    constants = property(lambda self: self.fast.constants)
    careful = cached_property(lambda self: self.write_careful())
    small = cached_property(lambda self: Lowered(self.jaxpr))

    def __call__(self, *xs):
        if self.fast.takes_all(xs):
            return self.fast(*xs)
        if self.careful.takes_all(xs):
            return self.careful(*xs)
        return self.small(*xs)

    def work(self, jaxpr, ordered=True) -> list:
        """Return the plan that the source of a program follows."""
        return plan(simplify(opened(jaxpr), ordered=ordered), ordered)

    def guard(self, xs, in_tree, out_tree):
        """Return the guard for calls like this one, or None."""
        if not self.fast.takes_all(xs):
            return None
        key = in_tree, out_tree, seams.off.get(), *map(type, xs)
        guard = self.guards.get(key, MISS)
        return guard if guard is not MISS else remember(
            self.guards, key, write_guard(self, xs, in_tree, out_tree))


class Version:
    """Python source for a program, and the function that it defines.

    Args:
        jaxpr: a simplified program without calls.
        fast: whether it takes only arrays in row order; see FastLowered.
        careful: the function that a fast version falls back on.
    """

    emitter = FastEmitter

    def __init__(self, jaxpr, fast, careful=None):
        emitter, jaxpr = self.write(jaxpr, fast, careful)
        self.source, self.equations = emitter.text()
        self.in_order = emitter.in_order
        self.scalar, self.boxes = emitter.scalar, emitter.boxes
        self.short = emitter.short
        self.owned = are_new(jaxpr)
        self.functions = functions_in(self.source, emitter.scope)
        self.function = self.functions['program']
        self.constants = [x for x in emitter.scope.values()
                          if isinstance(x, np.ndarray)]
        # The library of an array that the program closes over.
        self.library = seams.library_of(emitter.scope.values())

    def write(self, jaxpr, fast, careful):
        """Return an emitter that has written the program, and the program."""
        emitter = self.emitter(fast, Version)
        emitter.scope['careful'] = careful
        return emitter, emitter.emit('program', jaxpr, fast)

    def takes_all(self, xs):
        """Return whether this version can take these arguments."""
        return self.library is None and all(map(self.takes, xs))

    def takes(self, x):
        """Return whether this version can take this argument."""
        if type(x) is np.ndarray and (x.ndim or not self.boxes):
            return not self.in_order or x.flags.c_contiguous
        return type(x) in NUMBERS

    def __call__(self, *xs):
        try:
            return self.function(*xs)
        except Exception as error:
            self.quote(error)
            raise

    def quote(self, error):
        """Add a note to an error that names the user's line.

        The fallback of a loop is a version, too, and has named the loop.
        """
        named = tuple(getattr(error, '__notes__', ()))
        for line in lines_within(self.functions, error):
            eqn = self.equations.get(line)
            if eqn and eqn.line and line_note(eqn) not in named:
                quote_line(error, eqn)
