"""Jacobians and Hessians: derivatives along all unit vectors, in one batch.

Chapter 10.
"""

import math
from itertools import accumulate

import numpy as np

from autodiff_mini.api.derivatives import (
    Options, Pullback, Pushforward, check_output_kinds, differentiating)
from autodiff_mini.api.forward import vmap
from autodiff_mini.core import seams
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.public import public
from autodiff_mini.core.trees import tree_flatten, tree_map
from autodiff_mini.core.types import float0, typeof


@public(takes_function=True)
def jacfwd(f, argnums=0, has_aux=False, holomorphic=False,
           allow_int=False):
    """Return a function that returns the Jacobian of `f`, column by column.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: the position of the argument to differentiate with respect
            to, or a tuple of positions.
        has_aux: whether `f` returns a pair whose second element is not
            differentiated.
        holomorphic: whether `f` takes complex numbers to complex numbers
            and has a complex derivative.
        allow_int: whether that argument and the output can hold integers
            and booleans.  Their Jacobians have the dtype `float0`.

    Returns:
        A function that takes the same arguments and returns a tree like the
        output of `f`, whose leaves are trees like the argument, with arrays
        of shape `(*out.shape, *in.shape)`.  With a tuple of positions, each
        leaf is a tuple of trees.  With `has_aux`, it returns
        `(jacobian, aux)`.

    Raises:
        TypeError: as for `grad`, or inputs are complex without `holomorphic`.

    Source: `jax.jacfwd`.

    Examples:
        >>> f = lambda x: np.stack([x[0] * x[1], x[1]])
        >>> jacfwd(f)(np.array([2.0, 3.0]))
        array([[3., 2.],
               [0., 1.]])
    """
    return differentiating('jacfwd', f, columns, Options(
        argnums, has_aux, holomorphic, allow_int, is_complex=False))


@public(takes_function=True)
def jacrev(f, argnums=0, has_aux=False, holomorphic=False,
           allow_int=False):
    """Return a function that returns the Jacobian of `f`, row by row.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: the positions of arguments, as for `jacfwd`.
        has_aux: whether `f` returns a pair, as for `jacfwd`.
        holomorphic: whether `f` has a complex derivative, as for `jacfwd`.
        allow_int: whether that argument can hold integers.

    Returns:
        As for `jacfwd`, but faster if there are fewer outputs than inputs.
        If the argument is complex and the output real, each row is what
        `grad` returns.

    Raises:
        TypeError: as for `grad`.

    Source: `jax.jacrev`.

    Examples:
        >>> f = lambda x: np.stack([x[0] * x[1], x[1]])
        >>> jacrev(f)(np.array([2.0, 3.0]))
        array([[3., 2.],
               [0., 1.]])
    """
    return differentiating('jacrev', f, rows, Options(
        argnums, has_aux, holomorphic, allow_int))


@public(takes_function=True)
def hessian(f, argnums=0, has_aux=False, holomorphic=False,
            allow_int=False):
    """Return a function that returns the second derivatives of `f`.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: the positions of arguments, as for `jacfwd`.
        has_aux: whether `f` returns a pair, as for `jacfwd`.
        holomorphic: whether `f` has complex derivatives, as for `jacfwd`.
        allow_int: whether that argument can hold integers.

    A custom_vjp function in `f` needs a rule for forward mode, too.  Without
    one, write `jacrev(jacrev(f))`.

    Returns:
        A function that takes the same arguments and returns the Jacobian of
        the Jacobian: for a scalar function of an array of shape `(n,)`, an
        array of shape `(n, n)`; with `has_aux`, `(hessian, aux)`.

    Raises:
        TypeError: as for `grad`.

    Source: `jax.hessian`: forward over reverse.

    Examples:
        >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
        array([[6., 4.],
               [4., 0.]])
    """
    gradient = jacrev(f, argnums, has_aux, holomorphic, allow_int)
    return jacfwd(gradient, argnums, has_aux, holomorphic, allow_int)


def columns(options, point, y, program, residuals):
    """Return the Jacobian, from the derivatives along unit vectors."""
    check_output_kinds(
        program, y, options.allow_int, options.holomorphic or None)
    xs, in_tree = tree_flatten(point)
    pushforward = Pushforward(program, residuals)

    def by_argument(column):
        batch = column.shape[:-1]
        return in_tree.unflatten(
            np.reshape(column[..., span], (*batch, *np.shape(x)))
            if moves(x) else np.zeros((*batch, *np.shape(x)), float0)
            for x, span in zip(xs, spans(xs)))
    return own_leaves(tree_map(by_argument, vmap(
        pushforward, out_axes=-1, axis_size=total_size(xs))(basis(point))))


def rows(options, point, y, program, residuals):
    """Return the Jacobian, from the pullbacks of unit vectors."""
    check_output_kinds(program, y, False, bool(options.holomorphic))
    ys, out_tree = tree_flatten(y)
    pullback = Pullback(program, residuals)
    [found] = vmap(pullback, axis_size=total_size(ys))(basis(y))

    def of_output(y, span):
        return tree_map(lambda row: np.reshape(
            row[span], (*np.shape(y), *row.shape[1:])), found)
    return own_leaves(out_tree.unflatten(map(of_output, ys, spans(ys))))


def moves(x) -> bool:
    """Return whether `x` has a derivative: integers have none."""
    return typeof(x).dtype.kind in 'fc'


def spans(xs) -> list[slice]:
    """Return the slice of each array in the concatenation of all."""
    stops = [0, *accumulate(map(dimension, xs))]
    return list(map(slice, stops, stops[1:]))


def dimension(x) -> int:
    """Return the number of differentiable elements; integers have none."""
    return math.prod(np.shape(x)) if moves(x) else 0


def total_size(xs) -> int:
    """Return the number of differentiable elements in some arrays."""
    return sum(map(dimension, xs))


def own_leaves(tree):
    """Return the tree, with leaves that are not views of other arrays."""
    leaves, treedef = tree_flatten(tree)
    return treedef.unflatten(own_memory(leaves, ()))


def basis(tree):
    """Return the unit vectors of the space of such trees, along axis 0."""
    xs, treedef = tree_flatten(tree)
    count = total_size(xs)

    def vectors(x, span):
        if not moves(x):
            return np.zeros((count, *np.shape(x)), float0)
        units = np.eye(count, dtype=typeof(x).dtype)
        if library := seams.library_of([x]):
            units = library.array(units)
        return np.reshape(units[:, span], (count, *np.shape(x)))
    return treedef.unflatten(map(vectors, xs, spans(xs)))
