"""Programs, for users: `make_jaxpr` and `eval_shape`.

Chapter 7.
"""

import operator

import numpy as np

from autodiff_mini.calls.programs import stage_tree
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import (
    argument_positions, hold_arguments, named_after, names_of)
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import tree_map
from autodiff_mini.core.types import ShapedArray, array_type, is_array


def as_type(x):
    """Return the type that `x` describes, or `x` if it describes none."""
    if isinstance(x, (type, np.ndarray, Tracer, ShapedArray)) or is_array(x):
        return x
    try:
        return array_type(tuple(map(operator.index, x.shape)),
                          np.dtype(x.dtype))
    except (AttributeError, TypeError):
        return x    # a later error names the argument


@public(takes_function=True)
def make_jaxpr(f, static_argnums=(), return_shape=False):
    """Return a function that records `f` as a program, a jaxpr.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        static_argnums: the positions of arguments that are not traced and
            can be anything.
        return_shape: whether to return the types of the outputs, too.

    Returns:
        A function that takes the same arguments and returns a Jaxpr, with
        `consts`, `eqns`, `in_avals`, and `out_avals`; with `return_shape`,
        `(jaxpr, types)`, where the types are a tree like the output.  Only
        the arguments' types matter, so anything with a shape and a dtype,
        such as a ShapedArray, can replace an array.

    Raises:
        TypeError: an input or output of `f` is not an array, or Python asks
            for a value, as `if x > 0` does.
        ValueError: there is no such argument.

    Source: `jax.make_jaxpr`.

    Examples:
        >>> make_jaxpr(lambda x: np.sin(x) * 2)(np.ones(3))
        { lambda ; a:float64[3] . let
            b:float64[3] = sin a
            c:float64[3] = mul b 2
          in (c,) }
    """
    static = argument_positions(f, static_argnums, ())
    held = {*static, *names_of(f, static)}

    @public
    @named_after(f)
    def jaxpr_of_f(*args, **kwargs):
        tag = TraceTag('make_jaxpr', f)
        args, kwargs, g, _ = hold_arguments(f, args, kwargs, held)
        args, kwargs = tree_map(as_type, (args, kwargs))
        jaxpr, out_tree = stage_tree(g, args, kwargs, tag)
        types = out_tree.unflatten(jaxpr.out_avals)
        return (jaxpr, types) if return_shape else jaxpr
    return jaxpr_of_f


@public(takes_function=True)
def eval_shape(f, *args, **kwargs):
    """Return the types of the outputs of `f`, without computing them.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        args: its arguments.  Anything with a shape and a dtype, such as a
            ShapedArray, can replace an array.
        kwargs: its keyword arguments.

    Returns:
        A tree of ShapedArrays.

    Raises:
        TypeError: as for `make_jaxpr`.

    Source: `jax.eval_shape`.

    Examples:
        >>> print(eval_shape(np.matmul, np.ones((2, 3)), np.ones(3)))
        float64[2]
    """
    tag = TraceTag('eval_shape', f)
    args, kwargs = tree_map(as_type, (args, kwargs))
    jaxpr, out_tree = stage_tree(f, args, kwargs, tag)
    return out_tree.unflatten(jaxpr.out_avals)
