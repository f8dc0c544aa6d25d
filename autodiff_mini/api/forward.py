"""Forward mode and batching, for users: `jvp` and `vmap` over trees.

Arguments are checked here, where the user's own names are known, so the
interpreters need no checks.  Chapter 20.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TypeOrValueError
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.names import TraceTag, fun_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import (
    apply, argument_names, hold_arguments, named_after)
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import (
    LEAF, FlatFunction, leaf_names, map_leaves, open_as, tree_flatten,
    tree_structure)
from autodiff_mini.core.types import typeof, typeof_result
from autodiff_mini.core.zeros import Zero, fit_tangent, instantiate_zeros
from autodiff_mini.interpreters.jvp import jvp_flat, match
from autodiff_mini.interpreters.vmap import Axis, Dim, spread, vmap_flat


@public(takes_function=True)
def jvp(f, primals, tangents, has_aux=False):
    """Return the output of `f` and its derivative along the tangents.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        primals: a tuple of the arguments at which to differentiate.
        tangents: a tuple of the same structure, the direction.  Each tangent
            has the shape and dtype of its primal, except that the tangent
            of an integer or boolean primal has the dtype `float0`.
        has_aux: whether `f` returns a pair whose second element is not
            differentiated and can be anything.

    Returns:
        `(primals_out, tangents_out)`, trees of the same structure; with
        `has_aux`, `(primals_out, tangents_out, aux)`.

    Raises:
        TypeError: the structures or dtypes of primals and tangents differ,
            or an input or output of `f` is not an array.
        ValueError: the shapes of a primal and its tangent differ.

    Source: R. E. Wengert, "A simple automatic derivative evaluation
    program", CACM 7(8), 1964.  The interface follows `jax.jvp`.

    Examples:
        >>> def area(circle):
        ...     return np.pi * circle['radius'] ** 2
        >>> jvp(area, ({'radius': 1.0},), ({'radius': 1.0},))
        (3.141592653589793, 6.283185307179586)
    """
    return seams.jvp(f, primals, tangents, has_aux)


@seams.jvp.define
def jvp_of_trees(f, primals, tangents, has_aux):
    """Return what `jvp` returns, for arguments of any kind."""
    if not type(primals) is type(tangents) is tuple:
        seams.check('primals', f, primals, tangents)
    xs, in_tree = tree_flatten(tuple(primals))
    x_dots, tangent_tree = tree_flatten(tuple(tangents))
    if in_tree != tangent_tree:
        raise TypeError(
            f'jvp of {fun_name(f)}: primal and tangent arguments to jvp must '
            f'have the same tree structure, but the primals have {in_tree} '
            f'and the tangents {tangent_tree}')
    names = lambda: leaf_names(in_tree, f'jvp of {fun_name(f)}: primals')
    x_dots = map_leaves(fit_argument, names, xs, x_dots)
    flat_f = FlatFunction(f, in_tree, has_aux)
    outs, y_dots = jvp_flat(flat_f, xs, x_dots, TraceTag('jvp', f))
    return results_of_jvp(flat_f, outs, y_dots, [*xs, *x_dots])


def results_of_jvp(flat_f, outs, y_dots, inputs):
    """Return outputs and tangents as trees that the caller can change.

    Args:
        flat_f: the function, which has been called.
        outs: the leaves of what it returned.
        y_dots: their tangents.
        inputs: its arguments and their tangents.
    """
    ys = outs[:flat_f.out_tree.num_leaves]
    map_leaves(typeof_result, flat_f.out_names, ys)
    y_dots = list(map(whole_tangent, ys, y_dots))
    map_leaves(typeof_result, flat_f.out_names, y_dots)
    owned = own_memory([*outs, *y_dots], inputs)
    ys, aux = flat_f.split(owned[:len(outs)])
    y, y_dot = map(flat_f.out_tree.unflatten, (ys, owned[len(outs):]))
    return (y, y_dot, aux) if flat_f.has_aux else (y, y_dot)


def whole_tangent(y, y_dot):
    """Return the tangent of an output for the user, as an array like `y`."""
    if type(y_dot) is Zero:
        return instantiate_zeros(y_dot)
    return match(y_dot, y)


def fit_argument(x, x_dot):
    """Return `x_dot` as the tangent of the argument `x`, or raise."""
    return fit_tangent(
        x, x_dot, 'jvp called with different primal and tangent shapes:')


@public(takes_function=True)
def vmap(f, in_axes=0, out_axes=0, axis_size=None):
    """Return a function that maps `f` over an axis of its arguments.

    `vmap(f)(xs)` is `np.stack([f(x) for x in xs])`, in one run of `f`.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        in_axes: which axis of the arguments to map over: an integer, None
            for no axis, or a tuple or list with an entry for each argument.
            An entry can be a tree like its argument, or a prefix of one.
            An unmapped argument can be anything and is passed unchanged,
            except that its arrays are read-only.
            Keyword arguments are mapped over axis 0.
        out_axes: the position of the axis in the outputs, in the same form.
        axis_size: the length of the axis, if no argument is mapped.

    Returns:
        A function that takes the same arguments, with one more axis in the
        mapped arguments and in the outputs.

    Raises:
        TypeError: `in_axes` is not an integer, None, a tuple, or a list, an
            entry is not an axis, or a mapped argument or an output of `f` is
            not an array.
        ValueError: an argument has no such axis, axes differ in length,
            there is no mapped argument and no `axis_size`, or a tree of axes
            does not fit.

    Source: `jax.vmap`; the rules are in the style of JAX's
    `jax/_src/interpreters/batching.py`.

    Examples:
        >>> vmap(lambda x, y: x * y, in_axes=(0, None))(np.arange(3.0), 2.0)
        array([0., 2., 4.])
    """
    in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    seams.check('in_axes', f, in_axes)

    @public
    @named_after(f)
    def vmap_of_f(*args, **kwargs):
        return seams.vmap(f, in_axes, out_axes, axis_size, args, kwargs)
    return vmap_of_f


@seams.vmap.define
def vmap_of_trees(f, in_axes, out_axes, axis_size, args, kwargs):
    """Return what `vmap(f)` returns, for arguments of any kind."""
    tag, still = TraceTag('vmap', f), ()
    if isinstance(in_axes, tuple):
        still = {i for i, entry in enumerate(in_axes) if entry is None}
        if len(in_axes) != len(args):
            seams.check('axis_for_each', tag, in_axes, args)
    args, kwargs, g, _ = hold_arguments(f, args, kwargs, still)
    xs, in_tree = tree_flatten((args, kwargs))
    axes = flatten_axes(tag, 'in_axes', (in_axes, 0), in_tree)
    names = lambda: argument_names(in_tree, tag)
    vals = map_leaves(batch_to_front, names, xs, axes)
    axis = Axis(batch_size(tag, names, vals, axes, axis_size), tag)
    dims = [None if axis is None else 0 for axis in axes]
    flat_f = FlatFunction(apply(g), in_tree)
    outs, dims = vmap_flat(flat_f, axis, vals, dims)
    return results_of_vmap(flat_f, axis, outs, dims, out_axes, xs)


def results_of_vmap(flat_f, axis, outs, dims, out_axes, inputs):
    """Return outputs as a tree that the caller can change.

    Args:
        flat_f: the function, which has been called.
        axis: the axis that was mapped over.
        outs: the leaves of what it returned, batched.
        dims: for each of them 0, Dim.SHARED, or None.
        out_axes: as for `vmap`.
        inputs: the arguments.
    """
    map_leaves(typeof_result, flat_f.out_names, outs)
    axes = flatten_axes(axis.tag, 'out_axes', out_axes, flat_f.out_tree)
    outs = map_leaves(batch_from_front, flat_f.out_names, outs, dims, axes,
                      [axis.size] * len(outs))
    return flat_f.out_tree.unflatten(own_memory(outs, inputs))


def flatten_axes(tag, what, axes, tree) -> list:
    """Return an axis, or None, for each leaf of the tree.

    Raises:
        ValueError: `axes` is not a prefix of the tree.
        TypeError: a leaf is not an axis.
    """
    if axes is None or isinstance(axes, int) and not isinstance(axes, bool):
        return [axes] * tree.num_leaves
    opened = open_as(tree, axes)
    if tree_structure(axes) == LEAF:
        raise TypeOrValueError(
            f'{tag}: vmap {what} must be an int, None, or (nested) container '
            f'with those types as leaves, but got {axes!r}')
    if opened is None:
        raise ValueError(
            f'{tag}: vmap {what} specification must be a tree prefix of the '
            f'corresponding value, {tree}, but got {axes!r}')
    return [axis for child, subtree in zip(opened, tree.children)
            for axis in flatten_axes(tag, what, child, subtree)]


def batch_to_front(x, axis):
    """Return the array `x` with the axis to be mapped over in front."""
    if axis is None:
        return x
    ndim = typeof(x).ndim
    if not -ndim <= axis < ndim:
        raise ValueError(
            f'vmap was requested to map its argument along axis {axis}, '
            'which implies that the rank should be at least '
            f'{max(axis + 1, -axis)}, but it is only {ndim} (the type is '
            f'{typeof(x)}). For an argument that has no batch axis, set '
            'in_axes to None.')
    return move_axis(x, axis % ndim, 0)


def batch_size(tag, names, vals, axes, axis_size):
    """Return the length of the batch axis, or raise if there are several."""
    sizes = [x.shape[0] for x, axis in zip(vals, axes) if axis is not None]
    if axis_size is not None:
        sizes.append(axis_size)
    if len({*sizes}) != 1:
        words = f': vmap needs axes of equal length, but got {sizes}'
        raise ValueError(f'{tag}' + seams.advise(
            'axis_sizes', words, tag, names, axes, sizes))
    return sizes[0]


def batch_from_front(x, dim, axis, size):
    """Return the output `x`, with its batch axis in the position `axis`."""
    if axis is None:
        if dim is None:
            return x
        if dim is Dim.SHARED and size:
            return x[0] if isinstance(x, Tracer) else x[0].copy()
        raise ValueError('vmap has mapped output but out_axes is None. Set '
                         'out_axes to the position of the batch axis, for '
                         'example out_axes=0.')
    ndim = typeof(x).ndim + (dim is None)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f'axis {axis} is out of bounds for array of dimension {ndim}: '
            f'out_axes is {axis}, but the output has {ndim} axes, including '
            f'the batch axis, so out_axes must be between {-ndim} and '
            f'{ndim - 1}')
    if dim is None:
        x = spread(x, dim, size)
        x = x if isinstance(x, Tracer) else x.copy()
    return move_axis(x, 0, axis % ndim)


def move_axis(x, source, destination):
    """Return `x` with one axis moved to another place."""
    if source == destination:
        return x
    axes = [*range(np.ndim(x))]
    axes.insert(destination, axes.pop(source))
    return np.transpose(x, axes)
