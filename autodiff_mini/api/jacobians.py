"""Jacobians and Hessians: derivatives along all unit vectors at once.

Chapter 9.
"""

import math
from functools import partial
from itertools import accumulate

import numpy as np

from autodiff_mini import seams
from autodiff_mini.api.forward import vmap
from autodiff_mini.api.reverse import (
    Pullback, Pushforward, check_differentiable, chosen_arguments,
    linearize_tree, positions_of, select)
from autodiff_mini.core import TraceTag, float0, typeof
from autodiff_mini.errors import public
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import (
    leaf_names, tree_flatten, tree_leaves, tree_map)
from autodiff_mini.signature import map_leaves, named_after


def moves(x) -> bool:
    """Return whether `x` has a derivative: integers have none."""
    return typeof(x).dtype.kind in 'fc'


@public
def jacfwd(f, argnums=0, has_aux=False, holomorphic=False,
           allow_int=False):
    """Returns a function that returns the Jacobian of `f`, column by column.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: the position of the argument to differentiate by, or a tuple
            of positions.
        has_aux: whether `f` returns a pair, of which the second half is not
            to be differentiated.
        holomorphic: whether `f` takes complex numbers to complex numbers,
            and has a complex derivative.
        allow_int: whether that argument, and the output, may hold integers
            and booleans.  Their Jacobians have the dtype `float0`.

    Returns:
        A function of the same arguments.  It returns a tree like the output
        of `f`, in whose leaves stand trees like the argument: arrays of shape
        `(*out.shape, *in.shape)`.  With a tuple of positions, a tuple of
        trees stands there; with `has_aux`, `(jacobian, aux)`.

    Raises:
        TypeError: as grad; or complex numbers, and no word of `holomorphic`.

    Source: `jax.jacfwd`.

    Examples:
        >>> f = lambda x: np.stack([x[0] * x[1], x[1]])
        >>> jacfwd(f)(np.array([2.0, 3.0]))
        array([[3., 2.],
               [0., 1.]])
    """
    positions = positions_of(TraceTag('jacfwd', f), argnums)

    @public
    @named_after(f)
    def jacfwd_of_f(*args, **kwargs):
        tag = TraceTag('jacfwd', f)
        g, point, names = select(tag, f, argnums, positions, args, kwargs)
        check = partial(check_differentiable, tag, 'inputs', allow_int,
                        bool(holomorphic))
        y, program, residuals, aux = linearize_tree(
            tag, g, point, has_aux, check=check, names=names)
        check_output_kinds(tag, y, allow_int, holomorphic or None)
        f_jvp = Pushforward(program, residuals)
        columns = vmap(f_jvp, out_axes=-1, axis_size=total_size(point))(
            *basis(point))
        xs, in_tree = tree_flatten(point)

        def columns_by_argument(column):
            parts = [np.reshape(column[..., span],
                                (*column.shape[:-1], *np.shape(x)))
                     if moves(x) else
                     np.zeros((*column.shape[:-1], *np.shape(x)), float0)
                     for x, span in zip(xs, spans(xs))]
            return chosen_arguments(argnums, in_tree.unflatten(parts))
        jacobian = own_leaves(tree_map(columns_by_argument, columns))
        return (jacobian, aux) if has_aux else jacobian
    return jacfwd_of_f


@public
def jacrev(f, argnums=0, has_aux=False, holomorphic=False,
           allow_int=False):
    """Returns a function that returns the Jacobian of `f`, row by row.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: by which arguments to differentiate, as for jacfwd.
        has_aux: whether `f` returns a pair, the second half as it is.
        holomorphic: whether `f` has a complex derivative, as for jacfwd.
        allow_int: whether that argument may hold integers.

    Returns:
        As jacfwd.  Take this one if there are fewer outputs than inputs.  By
        a complex argument, a row of a real function is as from grad.

    Raises:
        TypeError: as grad.

    Source: `jax.jacrev`.

    Examples:
        >>> f = lambda x: np.stack([x[0] * x[1], x[1]])
        >>> jacrev(f)(np.array([2.0, 3.0]))
        array([[3., 2.],
               [0., 1.]])
    """
    positions = positions_of(TraceTag('jacrev', f), argnums)

    @public
    @named_after(f)
    def jacrev_of_f(*args, **kwargs):
        tag = TraceTag('jacrev', f)
        g, point, names = select(tag, f, argnums, positions, args, kwargs)
        check = partial(check_differentiable, tag, 'inputs', allow_int,
                        holomorphic or None)
        y, program, residuals, aux = linearize_tree(
            tag, g, point, has_aux, check=check, names=names)
        check_output_kinds(tag, y, False, bool(holomorphic))
        pullback = Pullback(program, residuals)
        rows = vmap(pullback, axis_size=total_size(y))(basis(y))
        rows = chosen_arguments(argnums, rows)
        ys, out_tree = tree_flatten(y)

        def rows_of_output(y, span):
            return tree_map(lambda row: np.reshape(
                row[span], (*np.shape(y), *row.shape[1:])), rows)
        jacobian = own_leaves(out_tree.unflatten(
            map(rows_of_output, ys, spans(ys))))
        return (jacobian, aux) if has_aux else jacobian
    return jacrev_of_f


def check_output_kinds(tag, tree, allow_int, holomorphic):
    """Raise a TypeError if an output has no derivative of the kind wanted."""
    ys, treedef = tree_flatten(tree)
    map_leaves(partial(check_differentiable, tag, 'outputs', allow_int,
                       holomorphic),
               lambda: leaf_names(treedef, f'{tag}: outputs'), ys)


def spans(xs) -> list[slice]:
    """Returns where the elements of each array stand in a row of all."""
    sizes = list(map(dimension, xs))
    return [slice(stop - size, stop)
            for size, stop in zip(sizes, accumulate(sizes))]


def total_size(tree) -> int:
    """Returns in how many directions a tree of arrays can move."""
    return sum(map(dimension, tree_leaves(tree)))


def dimension(x) -> int:
    """Returns how many elements of an array can move: of integers, none."""
    return math.prod(np.shape(x)) if moves(x) else 0


def own_leaves(tree):
    """Returns the tree, with leaves that are no views of other arrays."""
    leaves, treedef = tree_flatten(tree)
    return treedef.unflatten(own_memory(leaves, ()))


def basis(tree):
    """Returns the unit vectors of the space of such trees, along axis 0."""
    xs, treedef = tree_flatten(tree)
    count = total_size(tree)

    def columns(x, span):
        if not moves(x):
            return np.zeros((count, *np.shape(x)), float0)
        units = np.eye(count, dtype=typeof(x).dtype)
        if library := seams.library_of([x]):
            units = library.array(units)
        return np.reshape(units[:, span], (count, *np.shape(x)))
    return treedef.unflatten(map(columns, xs, spans(xs)))


@public
def hessian(f, argnums=0, has_aux=False, holomorphic=False,
            allow_int=False):
    """Returns a function that returns the second derivatives of `f`.

    Args:
        f: a function of arrays, or trees of arrays.
        argnums: by which arguments to differentiate, as for jacfwd.
        has_aux: whether `f` returns a pair, the second half as it is.
        holomorphic: whether `f` has complex derivatives, as for jacfwd.
        allow_int: whether that argument may hold integers.

    Returns:
        A function of the same arguments.  It returns the Jacobian of the
        Jacobian: for a scalar function of an array of shape `(n,)`, an array
        of shape `(n, n)`; with `has_aux`, `(hessian, aux)`.

    Raises:
        TypeError: as grad.

    Source: `jax.hessian`: forward over reverse.

    Examples:
        >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
        array([[6., 4.],
               [4., 0.]])
    """
    gradient = jacrev(f, argnums, has_aux, holomorphic, allow_int)
    return jacfwd(gradient, argnums, has_aux, holomorphic, allow_int)
