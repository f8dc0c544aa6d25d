"""`None` and the empty tuple are containers of nothing. A string is a leaf,
and so is a class that nobody registered, although no interpreter can use
either: it is for them to complain, by name.
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
