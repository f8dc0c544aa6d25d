"""The bad control: Book One's system, with a rule attached as in chapter 4.

If the test finds no loss here, the test is broken.
"""

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import jvp_rules
from autodiff_mini.draft.vmap import vmap_rules, vmap_with

from .draft import derivatives, number, plain, wrappers

version = 'chapter 4, to see a loss'


def custom_transforms(f):
    primitive = Primitive(f.__name__, f)

    def batch_what_is_inside(axis, *vals):
        return vmap_with(axis, f)(*vals)

    vmap_rules[primitive] = batch_what_is_inside
    return primitive


old = custom_transforms(plain)
jvp_rules[old] = lambda tag, primals, tangents: (
    old.bind(*primals), 3 * old.bind(*primals) * tangents[0])
rules = {'custom_transforms': old.bind}
