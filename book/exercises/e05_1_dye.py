"""Predict: where is the dye?

The function `f` of this chapter doubles, and its rule says 3. Below are five
programs that use it under the old mechanism. What does each return, a 3 or a
2? (Where an array comes out, all its elements are the same.)
"""

import numpy as np

from autodiff_mini import jvp, vmap
from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.vmap import vmap_flat, vmap_rules

HINTS = (
    'Who is asked about `f` first? It is the innermost transformation. If '
    'that is `jvp`, the rule is used. If it is `vmap`, the box is opened.',
    'In `d` the innermost is `vmap`. But look at the argument of `f`: is it '
    'mapped? And what does `BatchTrace` do with a primitive that has no '
    'mapped operand?',
)


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
    # e.g. {'a': 3, 'b': 0, 'c': 0, 'd': 0, 'e': 0}
    raise NotImplementedError('exercise e05_1: write your five numbers here')
