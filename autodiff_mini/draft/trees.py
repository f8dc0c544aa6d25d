"""Trees of arrays: what users pass, and what functions return."""

import numpy as np


# 2g. What users pass, and what functions return: trees of arrays.  Dicts,
# lists, and tuples are nodes; None is an empty tree.
def tree_map(f, tree, *others):
    """Apply `f` to the leaves in equal positions of several trees."""
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: tree_map(f, tree[key], *[other[key] for other in others])
                for key in tree}
    if isinstance(tree, (list, tuple)):
        children = zip(tree, *others, strict=True)
        return type(tree)([tree_map(f, *group) for group in children])
    return f(tree, *others)


# 2h. Two trees that have to agree.
def check_shapes(what, expected, got):
    """Raise a TypeError unless two trees have equal structures and shapes."""
    expected = tree_map(shape_text, expected)
    got = tree_map(shape_text, got)
    if expected != got:
        raise TypeError(f'{what}: expected {expected}, got {got}')


def shape_text(x):
    return f'shape {np.shape(x)}'


# 3c. From a tree to a list of its leaves,
def tree_leaves(tree):
    leaves = []
    tree_map(leaves.append, tree)
    return leaves


# 5c. and from a list of leaves back to a tree.
def tree_like(tree, leaves):
    """Return a tree of the same structure with other leaves."""
    leaves = iter(leaves)
    return tree_map(lambda _: next(leaves), tree)
