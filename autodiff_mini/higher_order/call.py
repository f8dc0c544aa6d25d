"""`call`: a primitive that carries a Python function.

Its one idea: an interpreter need not look inside.  It makes a new function
of the one that is carried, and calls that.  Chapter 6.
"""

from autodiff_mini.core import Primitive
from autodiff_mini.errors import fun_name
from autodiff_mini.interpreters.jvp import Zero, jvp_flat, jvp_rules
from autodiff_mini.interpreters.vmap import vmap_flat, vmap_rules
from autodiff_mini.pytree import tree_flatten
from autodiff_mini.signature import FlatFunction

call_p = Primitive('call', lambda *xs, fun: fun(*xs),
                   multiple_results=True, is_call=True)


def call(f, *args):
    """Returns `f(*args)`, as one operation.

    Args:
        f: a function of arrays, or trees of arrays.
        args: its arguments.
    """
    xs, in_tree = tree_flatten(args)
    fun = FlatFunction(f, in_tree)
    outs = call_p.bind(*xs, fun=fun)
    return fun.out_tree.unflatten(outs)


def call_vmap(axis, xs, dims, fun):
    fun_vmap, out_dims = vmap_of(fun, axis, dims)
    return call_p.bind(*xs, fun=fun_vmap), out_dims


def vmap_of(fun, axis, dims):
    """Returns `fun` mapped over an axis; and a list.

    When the function has run, the list holds the dims of its outputs.
    """
    out_dims = []

    def fun_vmap(*xs):
        ys, out_dims[:] = vmap_flat(fun, axis, xs, dims)
        return ys
    fun_vmap.__qualname__ = fun_name(fun)
    return fun_vmap, out_dims


def call_jvp(tag, xs, x_dots, fun):
    def jvp(xs, x_dots):
        return jvp_flat(fun, xs, x_dots, tag)

    fun_jvp, out_zeros = on_arrays(jvp, which_zero(x_dots), fun)
    outs = call_p.bind(*pack(xs, x_dots), fun=fun_jvp)
    return unpack(outs, out_zeros)


def on_arrays(jvp, in_zeros, fun):
    """Returns a function of primals and tangents, as one of arrays; a list.

    Symbolic zeros are no arrays, so they are left out.  When the function
    has run, the list says which tangents of its outputs are zeros.
    """
    out_zeros = []

    def fun_jvp(*arrays):
        ys, y_dots = jvp(*unpack(arrays, in_zeros))
        out_zeros[:] = which_zero(y_dots)
        return pack(ys, y_dots)
    fun_jvp.__qualname__ = fun_name(fun)
    return fun_jvp, out_zeros


def which_zero(x_dots) -> list[bool]:
    """Returns which tangents are symbolic zeros."""
    return [type(t) is Zero for t in x_dots]


def pack(xs, x_dots) -> list:
    """Returns the primals and those tangents that are arrays, in a row."""
    return [*xs, *(t for t in x_dots if type(t) is not Zero)]


def unpack(arrays, zeros):
    """Returns the primals and the tangents that `pack` put in a row."""
    xs, moving = list(arrays[:len(zeros)]), iter(arrays[len(zeros):])
    return xs, [Zero(x) if zero else next(moving)
                for x, zero in zip(xs, zeros, strict=True)]


vmap_rules[call_p] = call_vmap
jvp_rules[call_p] = call_jvp
