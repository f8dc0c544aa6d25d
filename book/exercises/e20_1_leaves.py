"""Predict: which leaves, in which order?

Write down the list of leaves of each of these trees, as `tree_leaves` would
return it.
"""

from collections import OrderedDict, namedtuple

HINTS = (
    'The leaves of a dict are sorted by its keys. An `OrderedDict` keeps its '
    'own order.',
    'Tuples, lists, dicts, namedtuples, and `None` are containers. All other '
    'objects are leaves, whether they can be differentiated or not.',
)

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
    # e.g. {'a': [1, 2, None, 3], 'b': [], 'c': [], 'd': []}
    raise NotImplementedError('exercise e20_1: write your four lists here')
