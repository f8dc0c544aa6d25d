"""Trees of arrays: what users pass, and what functions return."""

import numpy as np


# 2f. What users pass, and what functions return: trees of arrays.  Dicts,
# lists, and tuples are nodes; None is an empty tree.
def tree_map(f, tree, *others):
    """Apply `f` to the leaves in equal positions of several trees."""
    if isinstance(tree, dict):
        return {key: tree_map(f, *[t[key] for t in (tree, *others)])
                for key in tree}
    if isinstance(tree, (list, tuple)):
        return type(tree)([tree_map(f, *children) for children in
                           zip(tree, *others, strict=True)])
    return None if tree is None else f(tree, *others)


def tree_leaves(tree):
    leaves = []
    tree_map(leaves.append, tree)
    return leaves


def tree_like(tree, leaves):
    """Return a tree of the same structure with other leaves."""
    leaves = iter(leaves)
    return tree_map(lambda _: next(leaves), tree)


# 2g. Two trees that have to agree.
def check_shapes(what, expected, got):
    """Raise a TypeError unless two trees have equal structures and shapes."""
    expected, got = [tree_map(lambda x: f'shape {np.shape(x)}', tree)
                     for tree in (expected, got)]
    if expected != got:
        raise TypeError(f'{what}: expected {expected}, got {got}')
