"""The innermost transformation is asked first. In `d` that is `vmap`, but the
operand of `f` is the same for all elements. So `vmap` has nothing to do, and
passes the primitive on as it is. Whether a rule was lost could depend on
which argument one maps over.
"""

import numpy as np

from autodiff_mini import jvp, vmap
from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.vmap import vmap_flat, vmap_rules


def custom_transforms(f):
    primitive = Primitive(f.__name__, f)

    def batch_what_is_inside(axis, vals, dims):
        (out,), (dim,) = vmap_flat(lambda *xs: [f(*xs)], axis, vals, dims)
        return out, dim

    vmap_rules[primitive] = batch_what_is_inside
    return primitive


@custom_transforms
def f(x):
    return 2 * x


jvp_rules[f] = lambda primals, tangents: (f.bind(*primals), 3 * tangents[0])


def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def along_ones(f, xs):
    return jvp(f, (xs,), (np.ones_like(xs),))[1]


ones = np.ones(3)

PROGRAMS = {
    'a': lambda: deriv(f.bind)(1.0),
    'b': lambda: vmap(deriv(f.bind))(ones),
    'c': lambda: along_ones(vmap(f.bind), ones),
    'd': lambda: deriv(lambda x: vmap(lambda y: f.bind(x) * y)(ones))(1.0),
    'e': lambda: vmap(lambda row: along_ones(vmap(f.bind), row))(
        np.ones((2, 3))),
}


def prediction():
    return {
        'a': 3,
        'b': 3,
        'c': 2,   # vmap was asked first, and opened the box
        'd': 3,   # it was asked, but nothing there is mapped
        'e': 2,   # the inner vmap is enough
    }
