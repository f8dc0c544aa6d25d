"""`closure_convert`: the values a function closes over become arguments.

A rule covers only arguments, so we stage the function, and its program shows
which values it closes over.  Chapter 22.
"""

from autodiff_mini.calls.programs import (
    interleave, others, picked, stage_tree)
from autodiff_mini.calls.staged_calls import open_program
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.names import TraceTag, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import (
    leaf_names, map_leaves, tree_flatten, tree_structure)
from autodiff_mini.core.types import typeof


def open_closure(tag, fun, example_args):
    """Return `fun` with its closed-over values as an argument, and them.

    Args:
        tag: which application of which transformation this is.
        fun: a function of arrays, or trees of arrays.
        example_args: its arguments, or their types.

    Returns:
        `converted(values, *args)`, and a list of values.
    """
    in_tree = tree_structure(example_args)
    jaxpr, out_tree = stage_tree(fun, example_args, {}, tag)
    staged, values = open_program(fun, jaxpr, jaxpr.invars)

    def converted(values, *args):
        xs, tree = tree_flatten(args)
        if tree != in_tree:
            raise TypeError(f'{tag}: expected arguments with the structure '
                            f'{in_tree} of the examples, but got {tree}')
        names = lambda: [
            *(f'{tag}: values[{i}]' for i in range(len(values))),
            *leaf_names(in_tree, f'{tag}: arguments')]
        map_leaves(check_type, names, staged.jaxpr.in_avals, [*values, *xs])
        outs = staged(*values, *xs)
        return out_tree.unflatten(own_memory(outs, [*values, *xs]))
    return converted, values


def check_type(aval, x):
    """Raise a TypeError unless `x` is an array of this type."""
    have = typeof(x)
    if (have.shape, have.dtype) != (aval.shape, aval.dtype):
        raise TypeError(f'expected {aval}, but got {have}')


@public(takes_function=True)
def closure_convert(fun, *example_args):
    """Convert the traced values that `fun` captures to extra arguments.

    A function passed to a library can close over values that are being
    differentiated, which no rule covers.  The converted function takes them
    as extra arguments.  It still closes over values without a derivative,
    such as untraced arrays and integers.

    Args:
        fun: a function of arrays, or trees of arrays.  It is staged, so it
            cannot ask for the values of its arguments.
        example_args: its arguments, or their types.

    Returns:
        `(converted, values)`, where `converted(*args, *values)` is
        `fun(*args)`, and `values` is a list of arrays.

    Raises:
        TypeError: an argument is not an array, `fun` asks for its value, or
            the converted function is called with arguments unlike the
            examples.

    Source: `jax.closure_convert`.

    Examples:
        >>> from autodiff_mini import grad
        >>> def loss(scale):
        ...     f, values = closure_convert(lambda x: scale * x, 1.0)
        ...     return f(5.0, *values) + len(values)
        >>> loss(2.0), grad(loss)(2.0)
        (10.0, 5.0)
    """
    tag = TraceTag('closure_convert', fun)
    with_values, values = open_closure(tag, fun, example_args)
    moving = [isinstance(x, Tracer) and x.dtype.kind in 'fc' for x in values]
    fixed, count = others(values, moving), len(example_args)

    @public
    def converted(*args):
        if len(args) != count + sum(moving):
            raise TypeError(
                f'{tag}: expected the arguments ({count}), followed by the '
                f'values that closure_convert returned ({sum(moving)}), but '
                f'got {len(args)}. Call converted(*args, *values).')
        return with_values(interleave(moving, args[count:], fixed),
                           *args[:count])
    converted.__qualname__ = own_name(fun)
    return converted, picked(values, moving)
