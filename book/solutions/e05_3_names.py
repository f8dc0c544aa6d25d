"""Both functions are called `scale`, so the second rule took the place of the
first. The primitive itself can be the key: it is a new object for each
function. A rule that hangs on a name hangs on very little.
"""

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import jvp_rules

rules = {}


def custom(f, rule):
    """Returns `f` as a primitive, with `rule(x, x_dot)` for its tangent."""
    primitive = Primitive(f.__name__, f)
    key = primitive
    rules[key] = rule
    jvp_rules[primitive] = lambda primals, tangents: (
        primitive.bind(*primals), rules[key](*primals, *tangents))
    return primitive.bind


def scaled(factor):
    def scale(x):
        return factor * x
    return custom(scale, lambda x, x_dot: factor * x_dot)
