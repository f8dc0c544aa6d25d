"""Cold case: the rule of another function.

The report: "I make two functions with `scaled`, one that doubles and one
that triples. Both compute what they should. But the derivative of the first
is 3." Nothing was mapped; this time it was not `vmap`. One line of `custom`
is wrong. Find out where the 3 comes from.
"""

from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.jvp import jvp_rules

HINTS = (
    'How many entries has `rules` when two functions have been made?',
    'A name does not say which function is meant: any two functions may '
    'share one, and all lambdas do. What is there, in `custom`, that no two '
    'functions share?',
)

rules = {}


def custom(f, rule):
    """Returns `f` as a primitive, with `rule(x, x_dot)` for its tangent."""
    primitive = Primitive(f.__name__, f)
    key = f.__name__
    rules[key] = rule
    jvp_rules[primitive] = lambda primals, tangents: (
        primitive.bind(*primals), rules[key](*primals, *tangents))
    return primitive.bind


def scaled(factor):
    def scale(x):
        return factor * x
    return custom(scale, lambda x, x_dot: factor * x_dot)

# exercise e05_3: one line above is wrong. Mend it.
