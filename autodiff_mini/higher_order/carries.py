"""Carries: what a loop carries has one type.

Its one idea: the body is written down for the types of the first carry, and
they must be those of the next.
"""

import operator

from autodiff_mini.arrays import convert
from autodiff_mini.core import array_type, typeof
from autodiff_mini.higher_order.programs import run
from autodiff_mini.interpreters.jaxpr import stage_flat, stage_tree
from autodiff_mini.pytree import leaf_names
from autodiff_mini.signature import map_leaves


def element_type(x):
    """Returns the type of the elements of an array."""
    aval = typeof(x)
    if not aval.shape:
        raise ValueError('scan goes along the first axis, but this has none: '
                         f'{aval}. Close over what is the same at all steps.')
    return array_type(aval.shape[1:], aval.dtype)


def common_length(tag, rows, names, length):
    """Returns the number of steps; raises a ValueError if it is unclear."""
    lengths = [x.shape[0] for x in rows]
    if length is not None:
        try:
            lengths.append(operator.index(length))
        except TypeError:
            raise TypeError(f'{tag}: length must be an integer, but got '
                            f'{length!r}') from None
        if lengths[-1] < 0:
            raise ValueError(f'{tag}: length must not be negative, but got '
                             f'{length}')
    if not lengths:
        raise ValueError(f'{tag}: scan needs xs to go along, or a length')
    if len({*lengths}) > 1:
        short = [name.removeprefix(f'{tag}: ') for name in names()]
        have = ', '.join(map('{} has {}'.format, [*short, 'length'], lengths))
        raise ValueError(f'{tag}: scan got values with different leading '
                         f'axis sizes: {have}. They must be equal.')
    return lengths[0]


def carry_of_pair(tag, out_tree):
    """Returns the structure of the carry in what the body returns."""
    if out_tree.node_type is not tuple or len(out_tree.children) != 2:
        raise TypeError(f'{tag}: the body of a scan must return a pair '
                        f'(carry, y), but its output is {out_tree}. Return '
                        '(carry, None) if it puts nothing out.')
    return out_tree.children[0]


def stage_body(tag, f, carry_tree, avals, args, carry_of):
    """Returns the body of a loop as a program, and the types of its carry.

    Args:
        tag: which application of which transformation this is.
        f: the body, a function of a carry and the `args`.
        carry_tree: the structure of the carry.
        avals: the types of its leaves.  A Python number may become an
            array's, if the body makes it one.
        args: the types of other arguments, a tuple of trees.
        carry_of: finds the structure of the carry in that of the output.

    Returns:
        The program, the types, and the structure of the output.
    """
    while True:
        jaxpr, out_tree = stage_tree(
            f, (carry_tree.unflatten(avals), *args), {}, tag)
        found = carry_of(tag, out_tree)
        if found != carry_tree:
            cure = ('Is a `return` missing?' if found.node_type is type(None)
                    else 'Begin with the structure of the output.')
            raise TypeError(
                f'{tag}: body function carry input and carry output must '
                'have the same pytree structure, but they differ: the input '
                f'is {carry_tree}, and the output {found}. {cure}')
        better = list(map(promote_carry, avals, jaxpr.out_avals))
        if better == avals:
            return fit_carry(jaxpr, avals, tag, carry_tree), avals, out_tree
        avals = better


def promote_carry(aval, out_aval):
    """Returns the type of a carry that starts as a Python number."""
    if aval.weak_type and out_aval.shape == () and gives_way(aval, out_aval):
        return out_aval
    return aval


def gives_way(weak, aval) -> bool:
    """Returns whether a Python number can have this type, and lose nothing.

    An integer can become a float, and a float no integer.
    """
    kinds = [x.dtype.kind.replace('u', 'i') for x in (weak, aval)]
    return 'bifc'.index(kinds[0]) <= 'bifc'.index(kinds[1])


def fit_carry(jaxpr, avals, tag, carry_tree):
    """Returns the body, so that its carry is at the end as it began."""
    def check(aval, out_aval):
        if (out_aval.shape, out_aval.dtype) != (aval.shape, aval.dtype):
            raise TypeError(
                'body function carry input and carry output must have equal '
                'types (e.g. shapes and dtypes of arrays), but they differ: '
                f'the input is {aval}, and the output {out_aval}. Begin '
                'with the type of the output.')
    map_leaves(check, lambda: leaf_names(carry_tree, f'{tag}: carry'),
               avals, jaxpr.out_avals[:len(avals)])
    if jaxpr.out_avals[:len(avals)] == avals:
        return jaxpr

    def fitted(*args):
        outs = run(jaxpr, *args)
        return [*[convert(y, aval.dtype, aval.weak_type)
                  for y, aval in zip(outs, avals)], *outs[len(avals):]]
    return stage_flat(fitted, jaxpr.in_avals, tag)
