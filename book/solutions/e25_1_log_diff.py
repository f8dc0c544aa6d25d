"""Five rules. `def_transpose` is for linear functions, and this isn't one.
The rule is linear in the tangents, but it multiplies and adds them with
operations that have transpose rules. So reverse mode works without `def_vjp`,
too.

The abstract rule asks the implementation, since plain NumPy can be staged.
Dtypes and weak types are what NumPy would return. Then why a primitive at
all? A `custom_jvp` function over the same line of NumPy would have needed two
lines, for the slopes. All the other rules say what an interpreter could have
seen by looking inside.
"""

import numpy as np

import autodiff_mini as ad

log_diff_p = ad.Primitive('log_diff')


def log_diff(x, y):
    return log_diff_p.bind(x, y)


def define(p):
    """Define the rules of the primitive `p`."""
    @p.def_impl
    def implementation(x, y):
        return x + np.log(-np.expm1(y - x))

    @p.def_abstract_eval
    def abstract_eval(x, y):
        return ad.eval_shape(implementation, x, y)

    @p.def_jvp
    def jvp(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, map(ad.instantiate_zeros, tangents)
        minus = np.expm1(y - x)     # and not of x - y, which overflows
        y_dot = np.exp(y - x) * y_dot
        return p.bind(x, y), (y_dot - x_dot) / minus

    @p.def_vmap
    def vmap(args, dims):
        ranks = [np.ndim(x) - (dim == 0) for x, dim in zip(args, dims)]
        lengthened = [
            np.expand_dims(x, tuple(range(1, 1 + max(ranks) - rank)))
            if dim == 0 else x for x, dim, rank in zip(args, dims, ranks)]
        return p.bind(*lengthened), 0

    @p.def_lowering
    def lowering(emitter, x, y):
        return f'{x} + np.log(-np.expm1({y} - {x}))'


define(log_diff_p)
