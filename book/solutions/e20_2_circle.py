"""Inside the library, the children can be tracers, tangents (whose radius can
be negative), and asterisks. So `unflatten` doesn't call `__init__`, and it
checks nothing.
"""

from autodiff_mini.core.trees import register_pytree_node


class Circle:
    def __init__(self, radius, color):
        if radius < 0:
            raise ValueError('a circle cannot have a negative radius')
        self.radius, self.color = radius, color

    def __repr__(self):
        return f'Circle({self.radius}, {self.color!r})'


def flatten(circle):
    return [circle.radius], circle.color


def unflatten(color, children):
    circle = object.__new__(Circle)
    (circle.radius,), circle.color = children, color
    return circle


def register():
    register_pytree_node(Circle, flatten, unflatten)
