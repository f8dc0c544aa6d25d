"""`custom_gradient`: a rule made together with the value.

Chapter 22.
"""

from autodiff_mini.calls.custom_vjp import custom_vjp
from autodiff_mini.core.names import TraceTag, fun_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import named_after
from autodiff_mini.core.trees import tree_map
from autodiff_mini.core.types import tangent_type, typeof
from autodiff_mini.wings.applications.closures import open_closure


@public(takes_function=True)
def custom_gradient(fun):
    """Return a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule.  The rule takes the
            cotangent of the output and returns a tuple of the arguments'
            cotangents, or just one if there is one argument.  It can close
            over values that `fun` computed.  It is staged, so it cannot ask
            for the value of the cotangent.

    Returns:
        A function that takes the same arguments and returns the output.

    Raises:
        TypeError: at a call, if `fun` does not return such a pair; in a
            derivative, if the rule does not return cotangents like the
            arguments.

    Source: `jax.custom_gradient`, after TensorFlow's function of that name.

    Examples:
        >>> from autodiff_mini import grad
        >>> @custom_gradient
        ... def square(x):
        ...     return x ** 2, lambda ct: 3 * x * ct
        >>> square(2.0), grad(square)(2.0)
        (4.0, 6.0)

        In a second derivative, the output is `x ** 2` as `fun` computes it,
        so its slope is 2x and does not come from the rule.

        >>> slope = grad(lambda x: square(x) ** 2)  # 2 * x ** 2 * 3 * x
        >>> slope(1.0), grad(slope)(1.0)
        (6.0, 18.0)

        To apply the rule at every order, use a `custom_vjp`:

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
    """Return the output of a function, and its rule."""
    out = fun(*args, **kwargs)
    if not isinstance(out, tuple) or len(out) != 2 or not callable(out[1]):
        raise TypeError(
            f'{fun_name(fun)} is a custom_gradient function, so it must '
            'return a pair (output, rule), where rule is a function of the '
            f'cotangent, but it returned {out!r}')
    return out
