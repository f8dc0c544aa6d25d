"""The guard: is this call like the last one?

A call finds its compiled program by its trees and types, which rarely change
between calls.  So the guard checks them with a few comparisons.  If one of
them fails, the call is looked up as usual.  See the page *A second compiler*.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.generated import functions_in
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.core.trees import LEAF
from autodiff_mini.interpreters.lowering import MISS

SHORT = 12      # lines: a longer program hides the cost of its call


class GuardWriter:
    """Write the comparisons of a guard, and name the leaves.

    Args:
        xs: the leaves: numbers and NumPy arrays.
        in_order: whether the arrays must be C-contiguous.
    """

    def __init__(self, xs, in_order):
        self.xs, self.in_order = iter(xs), in_order
        self.lines, self.leaves, self.scope = [], [], {}

    def unless(self, test):
        """Add a comparison."""
        self.lines += [f'if not ({test}):', '    return MISS']

    def take_apart(self, name, tree):
        """Add comparisons for a value's structure, and name its leaves."""
        if tree == LEAF:
            return self.compare(name, next(self.xs))
        if tree.node_type is type(None):
            return self.unless(f'{name} is None')
        if name != 'args':      # which is always a tuple
            self.unless(f'type({name}) is {tree.node_type.__name__}')
        parts = [f'{name}_{i}' for i in range(len(tree.children))]
        if tree.node_type is dict:
            self.unless(f'len({name}) == {len(parts)}')
            self.lines += [f'{part} = {name}[{key!r}]'
                           for part, key in zip(parts, tree.aux, strict=True)]
        else:
            self.lines.append(f'[{", ".join(parts)}] = {name}')
        for part, child in zip(parts, tree.children, strict=True):
            self.take_apart(part, child)

    def compare(self, name, x):
        """Add a comparison of a leaf's type with the type of `x`."""
        self.leaves.append(name)
        self.scope[f'kind_{name}'] = type(x)
        self.unless(f'type({name}) is kind_{name}')
        if type(x) is np.ndarray:
            self.scope[f'dtype_{name}'] = x.dtype
            order = f' and {name}.flags.c_contiguous' * self.in_order
            self.unless(f'{name}.dtype is dtype_{name} and '
                        f'{name}.shape == {x.shape}{order}')


def is_plain(tree):
    """Return whether source text can hold the containers of a tree."""
    keys = tree.aux if tree.node_type is dict else ()
    return tree == LEAF or (
        tree.node_type in (dict, list, tuple, type(None))
        and all(type(key) in (str, int) for key in keys)
        and all(map(is_plain, tree.children)))


class Name(str):
    """A name that is printed without quotes, even inside a tree."""

    __repr__ = str.__str__


def write_guard(program, xs, in_tree, out_tree):
    """Return a function that runs a program for calls like this one.

    Args:
        program: the compiled program.
        xs: the leaves of the arguments of a call, all positional, which the
            fast version must take.
        in_tree: the structure of `(args, {})`.
        out_tree: the structure of the result.

    Returns:
        A function of a tuple of arguments.  It returns the result or MISS,
        and its `source` is an attribute.  None if a container has an unknown
        type or is nested too deeply.
    """
    if not (is_plain(in_tree) and is_plain(out_tree)):
        return None
    version, here = program.fast, seams.off.get()
    elsewhere = 'off() != here' if here else 'off()'
    writer = GuardWriter(xs, version.in_order)
    writer.take_apart('args', in_tree.children[0])
    outs = [Name(f'out_{i}') for i in range(out_tree.num_leaves)]
    leaves = ', '.join(writer.leaves)
    call = f'program({leaves})'
    if not version.owned:
        call = f'own_memory({call}, [{leaves}, *constants])'
    source = '\n'.join(['def guard(args, kwargs):', *['    ' + x for x in [
        f'if (kwargs or {elsewhere} or note.taken',
        '        or current_trace() is not base):',
        '    return MISS',
        'try:', *['    ' + line for line in writer.lines],
        'except (KeyError, ValueError):', '    return MISS',
        *written_out(version.short, leaves, out_tree),
        'try:', f'    {outs} = {call}',
        'except Exception as error:', '    quote(error)', '    raise',
        f'return {out_tree.unflatten(outs)}']]])
    try:
        functions = functions_in(source, {
            **version.function.__globals__, **writer.scope, 'MISS': MISS,
            'current_trace': current_trace, 'base': Trace.base,
            'here': here, 'off': seams.off.get, 'note': seams.note,
            'program': version.function, 'quote': version.quote,
            'own_memory': own_memory, 'constants': program.constants})
    except SyntaxError:     # too many nested parentheses
        return None
    guard = functions['guard']
    guard.source = source
    return guard


def written_out(short, leaves, out_tree):
    """Return the lines of a short program of numbers, to spare its call.

    If they give up, the program is called after all.
    """
    given, lines, errors, outs = short or ([], [], [], [])
    if not 0 < len(lines) <= SHORT:
        return []
    start = [f'{", ".join(given)} = {leaves}'] * bool(leaves)
    return [*start, 'try:', *['    ' + line for line, _ in lines],
            f'    return {out_tree.unflatten(map(Name, outs))}',
            f'except ({", ".join(sorted(errors))}):', '    pass']
