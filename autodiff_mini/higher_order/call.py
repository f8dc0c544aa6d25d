"""`call`: a primitive that carries a Python function.

Its one idea: an interpreter need not look inside.  It makes a new function
of the one that is carried, and calls that.  Chapter 5.
"""

from functools import partial

from autodiff_mini.core import Primitive
from autodiff_mini.errors import fun_name
from autodiff_mini.higher_order.staged_calls import (
    inline_call, stage_call, staged_types)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import staging_rules
from autodiff_mini.interpreters.jvp import jvp_flat, jvp_rules
from autodiff_mini.interpreters.lowering import inline_rules
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.vmap import vmap_flat, vmap_rules
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import tree_flatten
from autodiff_mini.signature import FlatFunction
from autodiff_mini.zeros import pack, unpack, which_zero

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
    return fun.out_tree.unflatten(own_memory(outs, xs))


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


jvp_rules[call_p] = call_jvp


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


vmap_rules[call_p] = call_vmap


staging_rules[call_p] = partial(stage_call, call_p)
abstract_rules[call_p] = staged_types


def call_partial_eval(trace, args, fun):
    return fun(*args)


partial_eval_rules[call_p] = call_partial_eval
inline_rules[call_p] = inline_call
