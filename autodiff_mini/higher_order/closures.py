"""Closures, opened: what a function closes over becomes its arguments.

Its one idea: a rule speaks of arguments only.  So write the function down,
and see which values its program has closed over.  Chapter 22.
"""


from autodiff_mini.core import TraceTag, Tracer, typeof
from autodiff_mini.errors import fun_name, public
from autodiff_mini.higher_order.custom_vjp import custom_vjp
from autodiff_mini.higher_order.programs import interleave
from autodiff_mini.interpreters.jaxpr import eval_jaxpr, stage_tree
from autodiff_mini.pytree import (
    leaf_names, tree_flatten, tree_map, tree_structure)
from autodiff_mini.signature import map_leaves, named_after
from autodiff_mini.zeros import tangent_type


def open_closure(tag, fun, example_args):
    """Returns `fun` as a function of what it closes over, and the values.

    Args:
        tag: which application of which transformation this is.
        fun: a function of arrays, or trees of arrays.
        example_args: its arguments, or their types.

    Returns:
        `opened(values, *args)`, and a list of values.
    """
    in_tree = tree_structure(example_args)
    jaxpr, out_tree = stage_tree(fun, example_args, {}, tag)
    values, jaxpr.consts = jaxpr.consts, []
    value_avals = list(map(typeof, values))

    def opened(values, *args):
        xs, tree = tree_flatten(args)
        if tree != in_tree:
            raise TypeError(f'{tag}: expected arguments with the structure '
                            f'{in_tree} of the examples, but got {tree}')
        names = lambda: leaf_names(in_tree, f'{tag}: arguments')
        map_leaves(check_type, names, jaxpr.in_avals, xs)
        names = lambda: [f'{tag}: values[{i}]' for i in range(len(values))]
        map_leaves(check_type, names, value_avals, values)
        return out_tree.unflatten(eval_jaxpr(jaxpr, values, *xs))
    return opened, values


def check_type(aval, x):
    """Raises a TypeError if `x` is no array of this type."""
    have = typeof(x)
    if (have.shape, have.dtype) != (aval.shape, aval.dtype):
        raise TypeError(f'expected {aval}, but got {have}')


@public
def closure_convert(fun, *example_args):
    """Returns `fun` with traced values as arguments, and these values.

    A function that a library is given may close over values that are being
    differentiated, and no rule can speak of those.  The converted function
    has them as further arguments.  What has no derivative, such as an array
    or an integer, it closes over as before.

    Args:
        fun: a function of arrays, or trees of arrays.  It is written down,
            so it may not ask for the values of its arguments.
        example_args: its arguments, or their types.

    Returns:
        `(converted, values)`, where `converted(*args, *values)` is
        `fun(*args)`, and `values` is a list of arrays.

    Raises:
        TypeError: an argument is no array, or `fun` asks for its value; or,
            when the converted function is called, the arguments are not like
            the examples.

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
    opened, values = open_closure(tag, fun, example_args)
    moving = [isinstance(x, Tracer) and x.dtype.kind in 'fc' for x in values]
    fixed = [x for x, moves in zip(values, moving) if not moves]
    count = len(example_args)

    @public
    def converted(*args):
        if len(args) != count + sum(moving):
            raise TypeError(
                f'{tag}: expected {count} arguments, and behind them the '
                f'{sum(moving)} values that it returned, but got '
                f'{len(args)}: call converted(*args, *values)')
        values = interleave(moving, args[count:], fixed)
        return opened(values, *args[:count])
    converted.__qualname__ = fun_name(fun)
    return converted, [x for x, moves in zip(values, moving) if moves]


def custom_gradient(fun):
    """Returns a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule.  The rule takes the
            cotangent of the output, and returns those of the arguments, as a
            tuple, or alone if there is one argument.  It may close over what
            `fun` has computed.  It is written down, so it may not ask for
            the value of the cotangent.

    Returns:
        A function of the same arguments, which returns the output.

    Raises:
        TypeError: when it is called: `fun` returns no such pair; when it is
            differentiated: the rule does not return cotangents like the
            arguments.

    Source: `jax.custom_gradient`, after TensorFlow's function of that name.

    Examples:
        >>> from autodiff_mini import grad
        >>> @custom_gradient
        ... def square(x):
        ...     return x ** 2, lambda ct: 3 * x * ct
        >>> square(2.0), grad(square)(2.0)
        (4.0, 6.0)

        To be differentiated once more, the output is `x ** 2` as `fun`
        computes it: its slope is 2x then, and not that of the rule.

        >>> slope = grad(lambda x: square(x) ** 2)  # 2 * x ** 2 * 3 * x
        >>> slope(1.0), grad(slope)(1.0)
        (6.0, 18.0)

        Where the rule is to hold at every order, a `custom_vjp` can say so:

        >>> from autodiff_mini import custom_vjp
        >>> square = custom_vjp(lambda x: x ** 2)
        >>> square.defvjp(lambda x: (square(x), x),
        ...               lambda x, ct: (3 * x * ct,))
        >>> slope(1.0), grad(slope)(1.0)
        (6.0, 24.0)
    """
    @custom_vjp
    @named_after(fun)
    def f(*args, **kwargs):
        return with_rule(fun, args, kwargs)[0]

    def fwd(*args, **kwargs):
        y, rule = with_rule(fun, args, kwargs)
        ct = tree_map(lambda y: tangent_type(typeof(y)), y)
        return y, open_closure(TraceTag('custom_gradient', rule), rule, (ct,))

    def bwd(residuals, ct):
        rule, values = residuals
        cts = rule(values, ct)
        return cts if isinstance(cts, tuple) else (cts,)

    f.defvjp(fwd, bwd)
    return f


def with_rule(fun, args, kwargs):
    """Returns the output of a function, and its rule."""
    out = fun(*args, **kwargs)
    if not isinstance(out, tuple) or len(out) != 2 or not callable(out[1]):
        raise TypeError(
            f'{fun_name(fun)} is a custom_gradient function, and must return '
            'a pair of its output and a rule, a function of the cotangent, '
            f'but it returned {out!r}')
    return out
