"""Cold case: the rule of another function.

The report: "I made two functions with `scaled`. One doubles its input and the
other triples it. Both return the right values, but the derivative of the
first is 3." No `vmap` was involved this time. One line of `custom` is wrong.
Where does the 3 come from?
"""

from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import jvp_rules

HINTS = (
    'How many entries does `rules` have after two functions were made?',
    'A name does not identify a function. Any two functions can have the '
    'same name, and all lambdas do. What does `custom` have that no two '
    'functions share?',
)

rules = {}


def custom(f, rule):
    """Return `f` as a primitive, with `rule(x, x_dot)` for its tangent."""
    primitive = Primitive(f.__name__, f)
    key = f.__name__
    rules[key] = rule
    jvp_rules[primitive] = lambda tag, primals, tangents: (
        primitive.bind(*primals), rules[key](*primals, *tangents))
    return primitive.bind


def scaled(factor):
    def scale(x):
        return factor * x
    return custom(scale, lambda x, x_dot: factor * x_dot)

# exercise e04_3: one line above is wrong. Fix it.
