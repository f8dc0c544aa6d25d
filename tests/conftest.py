"""Fixtures for all tests, and the folders that `make test` leaves out.

`make next` and `make watch` try the exercises. The other folder imports
systems that need not be installed.
"""

import numpy as np
import pytest

import autodiff_mini as ad

collect_ignore = ['exercises', 'lie_test/systems']


@pytest.fixture
def node():
    """Register a class of nodes of trees for one test."""
    class Node:
        def __init__(self, x, unit):
            self.x, self.unit = x, unit

        def __eq__(self, other):
            return (self.x, self.unit) == (other.x, other.unit)

    ad.register_pytree_node(Node, lambda n: ((n.x,), n.unit),
                            lambda unit, xs: Node(*xs, unit))
    yield Node
    from autodiff_mini.core.trees import node_types
    del node_types[Node]


@pytest.fixture
def silent():
    """Let NumPy ignore all errors of arithmetic."""
    with np.errstate(all='ignore'):
        yield
