"""The table of the gallery, and the decorator that adds a program.

A piece is a function that returns a number and a point to differentiate it
at, made of arrays, numbers, or dictionaries of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

GALLERY = []


@dataclass(frozen=True)
class Piece:
    """A program of the gallery.

    Args:
        function: of the arguments, to a number.
        args: the point.
        branches: what Python decides by a traced value, where it does; such
            a program has no jit and no vmap.
        jax: why `jax.numpy` cannot run it.
    """

    function: Callable
    args: tuple
    branches: str = ''
    jax: str = ''

    @property
    def theme(self):
        return self.function.__module__.rpartition('.')[2]

    def __str__(self):
        return f'{self.theme}.{self.function.__name__}'


def piece(*args, **remarks):
    """Return a decorator that adds the function and returns it unchanged."""
    def hang(function):
        GALLERY.append(Piece(function, args, **remarks))
        return function
    return hang
