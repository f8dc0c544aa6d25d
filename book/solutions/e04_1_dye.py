"""The innermost transformation is asked first. In `d`, that's `vmap`, but the
operand of `f` isn't mapped, so `vmap` passes the primitive on to `jvp`. With
the old decorator, whether a rule was lost depended on which argument you
mapped.
"""

import numpy as np

from autodiff_mini.draft import jvp, vmap
from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import jvp_rules
from autodiff_mini.draft.vmap import vmap_rules, vmap_with


def custom_transforms(f):
    primitive = Primitive(f.__name__, f)

    def batch_what_is_inside(axis, *vals):
        return vmap_with(axis, f)(*vals)

    vmap_rules[primitive] = batch_what_is_inside
    return primitive


@custom_transforms
def f(x):
    return 2 * x


jvp_rules[f] = lambda tag, primals, tangents: (
    f.bind(*primals), 3 * tangents[0])


def deriv(f):
    return lambda x: jvp(f, (x,), (1.0,))[1]


def along_ones(f, xs):
    return jvp(f, (xs,), (np.ones(np.shape(xs)),))[1]


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
        'c': 2,   # vmap was asked first and opened the primitive
        'd': 3,   # vmap was asked, but it had no mapped operand
        'e': 2,   # the inner vmap is enough
    }
