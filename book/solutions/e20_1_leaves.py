"""`None` and the empty tuple are containers without children. A string is a
leaf, and so is an instance of an unregistered class, although no interpreter
can use either. The edge refuses them by name.
"""

from collections import OrderedDict, namedtuple

Pair = namedtuple('Pair', 'left right')


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y


point = Point(7, 8)

TREES = {
    'a': {'b': 1, 'a': (2, None, [3])},
    'b': OrderedDict(b=1, a=2),
    'c': ['six', (), (7, 8)],
    'd': {'y': Pair(3, 4), 'x': point},
}


def prediction():
    return {
        'a': [2, 3, 1],      # keys in order; no leaf in None
        'b': [1, 2],         # its own order
        'c': ['six', 7, 8],
        'd': [point, 3, 4],  # 'x' before 'y'
    }
