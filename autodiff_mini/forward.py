"""Forward-mode differentiation, for users: `jvp` over trees.

Its one idea: check at the edge, where the user's own names are known, so
that nothing inside needs to.  Chapter 3.
"""

import numpy as np

from autodiff_mini.core import TraceTag, Tracer, float0, typeof
from autodiff_mini.errors import fun_name
from autodiff_mini.interpreters.jvp import (
    Zero,
    instantiate_zeros,
    jvp_flat,
    match,
    stop_gradient_p,
    tangent_type,
)
from autodiff_mini.numpy_api import convert
from autodiff_mini.pytree import leaf_names, tree_flatten, tree_map
from autodiff_mini.signature import FlatFunction, map_leaves


def jvp(f, primals, tangents, has_aux=False):
    """Returns the output of `f`, and its derivative along the tangents.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: a tuple of its arguments: the point.
        tangents: a tuple of the same structure: the direction.  Each tangent
            has the shape and the dtype of its primal; the tangent of an
            integer or boolean primal has the dtype `float0`.
        has_aux: whether `f` returns a pair, of which the second half is not
            to be differentiated; it may hold anything.

    Returns:
        `(primals_out, tangents_out)`, trees of the same structure; with
        `has_aux`, `(primals_out, tangents_out, aux)`.

    Raises:
        TypeError: the structures or dtypes of primals and tangents differ,
            or something that goes into `f` or comes out of it is no array.
        ValueError: the shapes of a primal and its tangent differ.

    Source: R. E. Wengert, "A simple automatic derivative evaluation
    program", CACM 7(8), 1964.  The interface is that of `jax.jvp`.

    Examples:
        >>> def area(circle):
        ...     return np.pi * circle['radius'] ** 2
        >>> jvp(area, ({'radius': 1.0},), ({'radius': 1.0},))
        (3.141592653589793, 6.283185307179586)
    """
    for arguments in (primals, tangents):
        if not isinstance(arguments, (tuple, list)):
            raise TypeError(
                f'jvp of {fun_name(f)}: primals and tangents must be tuples '
                'or lists with an entry for each argument, but found '
                f'{arguments!r}')
    xs, in_tree = tree_flatten(tuple(primals))
    x_dots, tangent_tree = tree_flatten(tuple(tangents))
    if in_tree != tangent_tree:
        raise TypeError(
            f'jvp of {fun_name(f)}: primals and tangents must have the same '
            f'tree structure, but the primals have {in_tree} and the '
            f'tangents {tangent_tree}')
    names = lambda: leaf_names(in_tree, f'jvp of {fun_name(f)}: primals')
    x_dots = map_leaves(fit_tangent, names, xs, x_dots)
    flat_f = FlatFunction(f, in_tree, has_aux)
    ys, y_dots = jvp_flat(flat_f, xs, x_dots, TraceTag('jvp', f))
    ys, aux = flat_f.split(ys)
    map_leaves(typeof, flat_f.out_names, ys)
    y_dots = map(whole_tangent, ys, y_dots)
    y = flat_f.out_tree.unflatten(ys)
    y_dot = flat_f.out_tree.unflatten(y_dots)
    return (y, y_dot, aux) if has_aux else (y, y_dot)


def whole_tangent(y, y_dot):
    """Returns the tangent of an output as users get it: an array like `y`."""
    if type(y_dot) is Zero:
        return instantiate_zeros(y_dot)
    return match(y_dot, y)


def fit_tangent(x, x_dot):
    """Returns `x_dot` as the tangent of `x`; raises where it cannot be."""
    aval, got = typeof(x), typeof(x_dot)
    wanted = tangent_type(aval)
    if got is aval is wanted:
        return x_dot
    same_kind = np.can_cast(got.dtype, wanted.dtype, 'same_kind')
    if got.dtype != wanted.dtype and not (got.weak_type and same_kind):
        raise TypeError(
            'primal and tangent dtypes must be equal, or the tangent dtype '
            'float0 where the primal is an integer or a boolean, which has '
            f'no derivative; but the primal is {aval} and the tangent {got}')
    if got.shape != aval.shape:
        raise ValueError('primal and tangent shapes must be equal, but the '
                         f'primal is {aval} and the tangent {got}')
    if wanted.dtype == float0:
        return Zero(x)
    return convert(x_dot, aval.dtype, aval.weak_type)


def stop_gradient(x):
    """Returns `x`, as a constant: its derivative is zero.

    Args:
        x: an array, or a tree of arrays.

    Source: `jax.lax.stop_gradient`.

    Examples:
        >>> jvp(lambda x: x * stop_gradient(x), (3.0,), (1.0,))
        (9.0, 3.0)
    """
    return tree_map(stop_leaf, x)


def stop_leaf(x):
    return stop_gradient_p.bind(x) if isinstance(x, Tracer) else x
