"""Add a row: a circle that checks its radius.

`Circle` has a radius, which is a number, and a color, which is a string. Make
it a container, with `register_pytree_node`, so that programs that take
circles can be differentiated. Circles of different colors should have
different structures.

This class checks its radius, as classes do. But the library also builds
circles around things other than radii, such as asterisks when it prints a
structure.
"""

from autodiff_mini.core.trees import register_pytree_node

HINTS = (
    'Two functions: `flatten(circle)` returns the children and `aux`; '
    '`unflatten(aux, children)` returns a circle. What can be differentiated '
    'is a child, and the rest belongs in `aux`.',
    'To build a circle without asking its class: '
    '`circle = object.__new__(Circle)`, and then set the attributes.',
)


class Circle:
    def __init__(self, radius, color):
        if radius < 0:
            raise ValueError('a circle cannot have a negative radius')
        self.radius, self.color = radius, color

    def __repr__(self):
        return f'Circle({self.radius}, {self.color!r})'


def register():
    raise NotImplementedError('exercise e20_2: register the class here')
