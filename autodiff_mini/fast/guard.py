"""The guard: is this call like the last one?

A call finds its compiled program by its trees and types, which rarely change
between calls.  So the guard checks them with a few comparisons.  If one of
them fails, the call is looked up as usual.  Chapter 34.
"""

from itertools import count

import numpy as np

from autodiff_mini.core import NUMBERS, Trace, current_trace
from autodiff_mini.interpreters.lowering import MISS
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import LEAF


class GuardWriter:
    """Write the comparisons of a guard, and name the leaves."""

    def __init__(self, in_order):
        self.in_order = in_order    # whether arrays must be C-contiguous
        self.lines, self.leaves = [], []
        self.scope = {'MISS': MISS, 'current_trace': current_trace,
                      'base': Trace.base, 'ndarray': np.ndarray}
        self.numbers = count(1)

    def constant(self, name, x) -> str:
        """Return a name for a value."""
        name = f'{name}_{next(self.numbers)}'
        self.scope[name] = x
        return name

    def unless(self, test):
        """Add a comparison."""
        self.lines += [f'if not ({test}):', '    return MISS']

    def take_apart(self, name, tree, leaves):
        """Add comparisons for the structure of a value, and name its leaves.

        Raises:
            KeyError: the value has a container of an unknown type.
        """
        if tree == LEAF:
            return self.compare(name, next(leaves))
        if tree.node_type is type(None):
            return self.unless(f'{name} is None')
        keys = keys_of(tree)
        if name != 'args':      # which is always a tuple
            self.unless(f'type({name}) is {tree.node_type.__name__}')
        parts = [f'{name}_{i}' for i in range(len(keys))]
        if tree.node_type is dict:
            self.unless(f'len({name}) == {len(keys)}')
            self.lines += [f'{part} = {name}[{key!r}]'
                           for part, key in zip(parts, keys, strict=True)]
        else:
            self.lines.append(f'[{", ".join(parts)}] = {name}')
        for part, child in zip(parts, tree.children, strict=True):
            self.take_apart(part, child, leaves)

    def compare(self, name, x):
        """Add a comparison of a leaf's type with the type of `x`."""
        self.leaves.append(name)
        if type(x) in NUMBERS:
            kind = self.constant('kind', type(x))
            self.unless(f'type({name}) is {kind}')
        elif type(x) is np.ndarray:
            dtype = self.constant('dtype', x.dtype)
            order = f' and {name}.flags.c_contiguous' * self.in_order
            self.unless(f'type({name}) is ndarray and {name}.dtype is {dtype}'
                        f' and {name}.shape == {x.shape}{order}')
        else:
            raise KeyError(type(x))


BRACKETS = {dict: ('{', '}'), list: ('[', ']'), tuple: ('(', ')')}


def keys_of(tree):
    """Return the keys of a Python container, if source text can hold them.

    Raises:
        KeyError: the container has another type, or other keys.
    """
    if BRACKETS[tree.node_type] != ('{', '}'):
        return range(len(tree.children))
    for key in tree.aux:
        if type(key) not in (str, int):
            raise KeyError(key)
    return tree.aux


def put_together(tree, names) -> str:
    """Return the text of a tree with these leaves."""
    if tree == LEAF:
        return next(names)
    if tree.node_type is type(None):
        return 'None'
    parts = [put_together(child, names) for child in tree.children]
    if tree.node_type is dict:
        parts = [f'{key!r}: {part}'
                 for key, part in zip(keys_of(tree), parts, strict=True)]
    first, last = BRACKETS[tree.node_type]
    return first + ''.join(f'{part}, ' for part in parts) + last


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
    version = program.fast
    writer = GuardWriter(version.in_order)
    outs = [f'out_{i}' for i in range(out_tree.num_leaves)]
    try:
        writer.unless('current_trace() is base')
        writer.take_apart('args', in_tree.children[0], iter(xs))
        result = put_together(out_tree, iter(outs))
    except KeyError:
        return None
    leaves = ', '.join(writer.leaves)
    call = f'{writer.constant("program", version.function)}({leaves})'
    if not version.owned:
        own = writer.constant('own_memory', own_memory)
        constants = writer.constant('constants', program.constants)
        call = f'{own}({call}, [{leaves}, *{constants}])'
    quote = writer.constant('quote', version.quote)
    source = '\n'.join(['def guard(args):', *['    ' + x for x in [
        'try:', *['    ' + line for line in writer.lines],
        'except (KeyError, ValueError):', '    return MISS',
        'try:', f'    [{", ".join(outs)}] = {call}',
        'except Exception as error:', f'    {quote}(error)', '    raise',
        f'return {result}']]])
    try:
        exec(compile(source, '<autodiff_mini guard>', 'exec'), writer.scope)
    except SyntaxError:     # too many nested parentheses
        return None
    guard = writer.scope.pop('guard')   # avoids a reference cycle
    guard.source = source
    return guard
