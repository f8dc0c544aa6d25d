"""Programs, for users: `make_jaxpr` and `eval_shape`.

Chapter 7.
"""

from functools import wraps

from autodiff_mini.core import TraceTag
from autodiff_mini.interpreters.jaxpr import stage_tree


def make_jaxpr(f):
    """Returns a function that returns `f` as a program, a jaxpr.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.

    Returns:
        A function of the same arguments.  Of these only the types matter, so
        a ShapedArray may stand for an array.  It returns a Jaxpr, with
        `consts`, `eqns`, `in_avals` and `out_avals`.

    Raises:
        TypeError: something that goes into `f` or comes out of it is no
            array, or Python asks for a value, as `if x > 0` does.

    Source: `jax.make_jaxpr`.

    Examples:
        >>> make_jaxpr(lambda x: np.sin(x) * 2)(np.ones(3))
        { lambda ; a:float64[3] . let
            b:float64[3] = sin a
            c:float64[3] = mul b 2
          in (c,) }
    """
    @wraps(f, updated=())
    def jaxpr_of_f(*args, **kwargs):
        return stage_tree(f, args, kwargs, TraceTag('make_jaxpr', f))[0]
    return jaxpr_of_f


def eval_shape(f, *args, **kwargs):
    """Returns the types of what `f` returns, without computing it.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        args: its arguments; a ShapedArray may stand for an array.
        kwargs: those given by keyword.

    Returns:
        A tree of ShapedArrays.

    Raises:
        TypeError: as make_jaxpr.

    Source: `jax.eval_shape`.

    Examples:
        >>> print(eval_shape(np.matmul, np.ones((2, 3)), np.ones(3)))
        float64[2]
    """
    tag = TraceTag('eval_shape', f)
    jaxpr, out_tree = stage_tree(f, args, kwargs, tag)
    return out_tree.unflatten(jaxpr.out_avals)
