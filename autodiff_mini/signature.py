"""Signatures: between the user's functions and the interpreters' lists.

Its one idea: users call with trees and keywords, interpreters with flat
lists, and one small object stands between the two.  Chapter 3.
"""

import inspect

from autodiff_mini.errors import TracerError, fun_name
from autodiff_mini.pytree import leaf_names, tree_flatten


class FlatFunction:
    """A user's function, as a function from a flat list to a flat list.

    After a call, `out_tree` is the structure of what the function returned.

    Args:
        f: the function; with `has_aux` it returns a pair, whose second half
            is not to be transformed.  Its leaves follow in the flat list.
        in_tree: the structure of the tuple of its arguments.
    """

    def __init__(self, f, in_tree, has_aux=False):
        self.f = f
        self.in_tree = in_tree
        self.has_aux = has_aux

    def __call__(self, *leaves):
        out = self.f(*self.in_tree.unflatten(leaves))
        aux = []
        if self.has_aux:
            out, aux = self.pair(out)
            aux, self.aux_tree = tree_flatten(aux)
        outs, self.out_tree = tree_flatten(out)
        return outs + aux

    def pair(self, out):
        """Returns `out`; raises a TypeError if it is no pair."""
        if not isinstance(out, tuple) or len(out) != 2:
            raise TypeError(f'With has_aux=True, {self} must return a pair '
                            f'(output, aux), but it returned {out!r}')
        return out

    def split(self, outs):
        """Returns the leaves of the output, and the tree of the aux."""
        n = self.out_tree.num_leaves
        return outs[:n], self.has_aux and self.aux_tree.unflatten(outs[n:])

    def __str__(self):
        return fun_name(self.f)


def map_leaves(check, tree, name, *leaves) -> list:
    """Returns what `check` returns for each leaf of the tree `name()`.

    Raises:
        TypeError, ValueError: whatever `check` raised, with the leaf named.
    """
    try:
        return list(map(check, *leaves))
    except TracerError:
        raise
    except (TypeError, ValueError):
        for place, *arguments in zip(leaf_names(tree, name()), *leaves):
            try:
                check(*arguments)
            except (TypeError, ValueError) as error:
                raise type(error)(f'{place}: {error}') from None
        raise


def resolve_kwargs(f, args, kwargs) -> tuple:
    """Returns the arguments of a call, all in their positions.

    Arguments that were left out take their default values.

    Args:
        f: any callable.
        args: the arguments given by position.
        kwargs: the arguments given by keyword.

    Raises:
        TypeError: the call does not fit the signature of `f`, or a keyword
            has no position, or the signature cannot be read.

    Source: `resolve_kwargs` in JAX's `jax/_src/api_util.py`.

    Examples:
        >>> def f(x, n=2, *, scale=1.0): ...
        >>> resolve_kwargs(f, (), {'x': 3})
        (3, 2)
    """
    try:
        signature = inspect.signature(f)
    except ValueError:
        if not kwargs:
            return tuple(args)
        raise TypeError(
            f'The keyword arguments {", ".join(kwargs)} of {fun_name(f)} '
            'could not be resolved to positions, since it has no signature '
            'that can be read: pass them by position') from None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f'{fun_name(f)}{signature}: {error}') from None
    bound.apply_defaults()
    unresolved = [key for key in bound.kwargs if key in kwargs]
    if unresolved:
        raise TypeError(
            f'The following keyword arguments of {fun_name(f)}{signature} '
            f'could not be resolved to positions: {", ".join(unresolved)}. '
            'Close over them, with functools.partial')
    return bound.args
