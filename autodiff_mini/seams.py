"""Seams: all that a wing may replace, and nothing else is replaced.

A wing is a folder that can be deleted.  Each seam is a step of the library
that a wing may take over: the module that owns the step defines its plain
way, and the wing, when it is imported, its own.
"""

from contextlib import contextmanager
from contextvars import ContextVar

wings_off = ContextVar('wings_off', default=False)


class Seam:
    """A step of the library that a wing may take over.

    Call it as the function that it stands for.
    """

    def __init__(self):
        self.plain = self.wing = None

    @property
    def way(self):
        """The function that takes this step now."""
        if self.wing is None or wings_off.get():
            return self.plain
        return self.wing

    def __call__(self, *args):
        return self.way(*args)

    def define(self, function):
        """Define the plain way; use it as a decorator."""
        self.plain = function
        return function

    def take(self, function):
        """Take the step over for a wing; use it as a decorator."""
        self.wing = function
        return function


lower = Seam()          # lower(jaxpr): the program as a compiled function
linearize = Seam()      # linearize(f, primals, tag): outputs and derivative
recall = Seam()         # recall(jaxpr): an equal program that was met before


@contextmanager
def plain():
    """Let the core alone compute, inside a `with` block.

    Gradients are then computed by the interpreters of the book, and programs
    run as the plain compiler writes them.

    Examples:
        >>> import autodiff_mini as ad
        >>> with plain():
        ...     print(ad.grad(lambda x: x * x)(3.0))
        6.0
    """
    token = wings_off.set(True)
    try:
        yield
    finally:
        wings_off.reset(token)
