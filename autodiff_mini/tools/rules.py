"""Explain a JVP rule that takes its tuples for arrays.

The page *Errors explained*.
"""

from autodiff_mini import seams
from autodiff_mini.core import typeof
from autodiff_mini.pytree import tree_leaves


@seams.check_unpacked.take
def check_unpacked(rule, operands, tuples, ys):
    """Raise a TypeError if a JVP rule has taken the primals for an array.

    Its output is then the tuple stacked, or several times the tuple.

    Args:
        rule: the rule, a FlatRule.
        operands: those of the call.
        tuples: the tuples of primals and tangents that it was given.
        ys: the leaves of its output.
    """
    call, primals = rule.call, tree_leaves(tuples[0])
    if is_of_tuple(ys, primals):
        found = call.out_tree
        want = call(*operands)
        if call.out_tree != found or (
                typeof(want[0]).shape != typeof(ys[0]).shape):
            raise TypeError(how_to_unpack(rule, 'primals', 'tangents'))


def is_of_tuple(ys, primals) -> bool:
    """Return whether an output is made of the tuple of primals."""
    shapes = {typeof(x).shape for x in primals}
    if len(ys) == len(shapes) == 1:
        return typeof(ys[0]).shape == (len(primals), *shapes.pop())
    return len(ys) > len(primals) and all(
        any(y is x for x in primals) for y in ys)


def how_to_unpack(rule, *names):
    """Return what an error says where tuples are taken for arrays."""
    return (f'{rule} is called with two tuples. Unpack them: '
            f'(x,), (x_dot,) = {", ".join(names)}.')
