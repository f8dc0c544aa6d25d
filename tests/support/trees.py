"""Trees in tests: a pair, and a comparison leaf by leaf."""

from collections import namedtuple

import autodiff_mini as ad
from tests.support.numerical import assert_same

Pair = namedtuple('Pair', 'x y')


def assert_trees(actual, expected):
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    for a, b in zip(ad.tree_leaves(actual), ad.tree_leaves(expected),
                    strict=True):
        assert_same(a, b)
