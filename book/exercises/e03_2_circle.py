"""Add a row: a circle of a colour.

`Circle` has a radius, which is a number, and a colour, which is a string.
Make it a container, with `register_pytree_node`, so that programs that take
circles can be differentiated. Circles of two colours should be two
structures.

Mind one thing. The class checks its radius, as classes do. But the library
also builds circles around other things than radii: around asterisks, for
example, when it prints a structure.
"""

from autodiff_mini.pytree import register_pytree_node

HINTS = (
    'Two functions: `flatten(circle)` returns the children and `aux`; '
    '`unflatten(aux, children)` returns a circle. What can move is a child, '
    'and what says *which* structure it is belongs in `aux`.',
    'To build a circle without asking its class: '
    '`circle = object.__new__(Circle)`, and then set the attributes.',
)


class Circle:
    def __init__(self, radius, colour):
        if radius < 0:
            raise ValueError('a circle cannot have a negative radius')
        self.radius, self.colour = radius, colour

    def __repr__(self):
        return f'Circle({self.radius}, {self.colour!r})'


def register():
    raise NotImplementedError('exercise e03_2: register the class here')
