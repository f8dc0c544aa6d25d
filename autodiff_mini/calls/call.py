"""`call`: a primitive that carries a Python function.

An interpreter does not look inside the function.  It transforms it into a new
function and binds that.  Chapter 6.
"""

from functools import partial

from autodiff_mini.calls.staged_calls import (
    inline_call, stage_call, staged_types)
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.names import own_name
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.trees import FlatFunction, tree_flatten
from autodiff_mini.core.zeros import (
    leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jaxpr, jvp, lowering, partial_eval, vmap)


def defcall(name):
    """Return a primitive that calls its parameter `fun`.

    Its other parameters are rules for this function.  Staging keeps them, but
    evaluation and lowering drop them.
    """
    primitive = Primitive(name, lambda *xs, fun, **rules: fun(*xs),
                          multiple_results=True, is_call=True)
    jaxpr.rules[primitive] = partial(stage_call, primitive)
    abstract.rules[primitive] = staged_types
    lowering.inline_rules[primitive] = inline_call
    return primitive


call_p = defcall('call')


def call(f, *args):
    """Apply `f` to the arguments, as one operation.

    Args:
        f: a function of arrays, or trees of arrays.
        args: its arguments.
    """
    xs, in_tree = tree_flatten(args)
    fun = FlatFunction(f, in_tree)
    outs = call_p.bind(*xs, fun=fun)
    return fun.out_tree.unflatten(own_memory(outs, xs))


class Store:
    """A place for the second result of a function that is bound.

    `bind` returns only the first, so `keep` stores the second for the rule
    that binds the function.  A function and its rules share one store, and
    the first to run fills it.

    Source: `Store` in JAX's `jax/_src/linear_util.py`.
    """

    value = None

    def keep(self, f, like):
        """Return `f` with the name of `like`, and store its second result."""
        def first(*args):
            out, self.value = f(*args)
            return out
        return named(first, like)


def named(f, like):
    """Name the function `f` after another one, for errors, and return it."""
    f.__qualname__ = own_name(like)
    return f


def call_jvp(tag, xs, x_dots, fun):
    out_moving = Store()
    fun_jvp = on_arrays(partial(jvp.jvp_flat, fun, tag=tag),
                        perturbed(x_dots), out_moving, fun)
    outs = call_p.bind(*leave_zeros_out(xs, x_dots), fun=fun_jvp)
    return put_zeros_back(outs, out_moving.value)


def on_arrays(rule, moving, out_moving, like):
    """Return a function of primals and tangents as a function of arrays.

    Symbolic zeros are not arrays, so they are left out.  The store
    `out_moving` records which output tangents are arrays.
    """
    def fun_jvp(*arrays):
        ys, y_dots = rule(*put_zeros_back(arrays, moving))
        return leave_zeros_out(ys, y_dots), perturbed(y_dots)
    return out_moving.keep(fun_jvp, like)


def call_vmap(axis, xs, dims, fun):
    out_dims = Store()
    fun_vmap = out_dims.keep(
        lambda *xs: vmap.vmap_flat(fun, axis, xs, dims), fun)
    return call_p.bind(*xs, fun=fun_vmap), out_dims.value


jvp.rules[call_p] = call_jvp
vmap.rules[call_p] = call_vmap
partial_eval.rules[call_p] = lambda trace, args, params: params['fun'](*args)
