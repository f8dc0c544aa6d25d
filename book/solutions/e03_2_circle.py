"""The children are arrays only when a user looks. Inside the library they
may be tracers, tangents (whose radius may well be negative) and asterisks.
So `unflatten` goes round `__init__`, and checks nothing.
"""

from autodiff_mini.pytree import register_pytree_node


class Circle:
    def __init__(self, radius, colour):
        if radius < 0:
            raise ValueError('a circle cannot have a negative radius')
        self.radius, self.colour = radius, colour

    def __repr__(self):
        return f'Circle({self.radius}, {self.colour!r})'


def flatten(circle):
    return [circle.radius], circle.colour


def unflatten(colour, children):
    circle = object.__new__(Circle)
    (circle.radius,), circle.colour = children, colour
    return circle


def register():
    register_pytree_node(Circle, flatten, unflatten)
