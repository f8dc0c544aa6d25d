"""Predict: where is the dye?

The function `f` of this chapter doubles its input, and its rule says 3. Here
are five programs that use it with the old decorator. Does each of them return
3 or 2? (If the result is an array, all its elements are equal.)
"""

import numpy as np

from autodiff_mini.draft import jvp, vmap
from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import jvp_rules
from autodiff_mini.draft.vmap import vmap_rules, vmap_with

HINTS = (
    'The innermost transformation is asked about `f` first. If it is `jvp`, '
    'it uses the rule. If it is `vmap`, it opens the primitive.',
    'In `d`, the innermost transformation is `vmap`. But is the operand of '
    '`f` mapped? And what does `BatchTrace` do with a primitive that has no '
    'mapped operand?',
)


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
    # e.g. {'a': 3, 'b': 0, 'c': 0, 'd': 0, 'e': 0}
    raise NotImplementedError('exercise e04_1: write your five numbers here')
