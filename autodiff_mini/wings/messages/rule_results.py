"""Check what a user's rule returns, and say how a rule is called.

See the page *Errors explained*.
"""

from importlib import import_module

from autodiff_mini.calls.custom_vjp import CustomVJPPrimal, is_residual
from autodiff_mini.core import seams
from autodiff_mini.core.memory import read_by
from autodiff_mini.core.trees import (
    LEAF, containers, flatten_up_to, tree_leaves, tree_structure)
from autodiff_mini.core.types import typeof


@seams.ask_rule.take
def ask_rule(rule, function, args):
    """Call a rule, and return its result, checked.

    Args:
        rule: the rule, a UserRule.
        function: what the user defined.
        args: the arguments to call it with.

    Raises:
        TypeError: the rule takes other arguments, or its result does not fit.
    """
    try:
        out = read_by(function, rule, *args)
    except TypeError as error:
        wrong_calls().explain_rule(error, rule, args)
        raise
    if rule.name == 'bwd':
        check_cotangents(rule, out)
    elif not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(
            f'{rule} must produce a pair (list or tuple of length two) '
            f'{PAIRS[rule.name]} {out!r}')
    if rule.name == 'jvp':
        check_tangents(rule, out, args)
    if rule.name == 'fwd' and rule.call.rules.symbolic_zeros_back and any(
            isinstance(x, CustomVJPPrimal) for x in tree_leaves(out[1])):
        raise TypeError(f'{rule}: a CustomVJPPrimal describes an argument '
                        'and cannot be a residual. Return its .value.')
    return out


PAIRS = {   # by rule: of what
    'jvp': 'representing primal and tangent outputs, but got',
    'fwd': 'where the first element represents the primal output and the '
           'second element represents residuals (i.e. values stored from '
           'the forward pass for use on the backward pass), but instead of '
           'a pair it produced',
    'vmap': '(out, out_batched), where out_batched is a tree of booleans '
            'like out, but got'}


def wrong_calls():
    """Return the module that explains a call, imported for an error."""
    return import_module('autodiff_mini.wings.messages.wrong_calls')


def check_tangents(rule, out, args):
    """Raise a TypeError if the tangents do not fit the outputs of a rule."""
    y, y_dot = out
    in_tree, _, nondiff, *_ = rule.call.arguments
    if containers[type(y)] or containers[type(y_dot)]:
        tree, dot_tree = tree_structure(y), tree_structure(y_dot)
        if dot_tree != tree:
            raise TypeError(
                f'{rule} must produce primal and tangent outputs with equal '
                f'container (pytree) structures, but got {tree} and '
                f'{dot_tree} respectively')
    elif getattr(y, 'shape', ())[:1] != (in_tree.num_leaves,):
        return      # not a tuple of primals, stacked
    *held, primals, _ = args
    ys = tree_leaves(y) if is_opened(y) else [y]
    xs = tree_leaves(primals) if any(map(is_opened, primals)) else primals
    if is_of_tuple(ys, xs):
        call = rule.call
        args, kwargs = call.in_place(dict(zip(nondiff, held)), xs)
        want = call.function.fun(*args, **kwargs)
        if tree_structure(want) != tree_structure(y) or (
                typeof(tree_leaves(want)[0]).shape != typeof(ys[0]).shape):
            raise TypeError(wrong_calls().how_to_unpack(
                rule, 'primals', 'tangents'))


def is_opened(x) -> bool:
    """Return whether `x` is a container, and not a leaf of a tree."""
    return bool(containers[type(x)])


def is_of_tuple(ys, xs) -> bool:
    """Return whether a rule seems to take the tuple of primals for an array.

    Its output is the tuple stacked, or several times the tuple.
    """
    shapes = {getattr(x, 'shape', ()) for x in xs}
    if len(ys) == len(shapes) == 1:
        return getattr(ys[0], 'shape', ()) == (len(xs), *shapes.pop())
    return len(ys) > len(xs) and all(any(y is x for x in xs) for y in ys)


def check_cotangents(rule, out):
    """Raise a TypeError if bwd does not return a tree like the arguments."""
    tree, *_, left_out = rule.call.arguments
    count = len(tree.children)
    if not isinstance(out, tuple | list) or (
            len(out) not in (count, count + left_out)):
        raise TypeError(
            f'{rule} must produce a tuple with one cotangent per argument of '
            f'the function ({count}), but got {describe(out)}. Return '
            '`(ct,)` if there is one argument. In general, bwd must produce '
            'an output with the same container (pytree) structure as the '
            'args tuple of the primal function.')
    if tree.children == (LEAF,) * count and not any(map(is_opened, out)):
        return
    try:
        cts = flatten_up_to(tree, tuple(out[:count]), or_none=True)
    except ValueError:
        cts = [()]
    if any(x is not None and is_opened(x) for x in cts):
        raise TypeError(
            f'{rule} must produce an output with the same container (pytree) '
            f'structure as the args tuple of the primal function, {tree}, or '
            'a prefix of it with None for zeros, but got '
            f'{tree_structure(out)}')


def describe(out):
    """Describe, for an error, a result that is not such a tuple."""
    if isinstance(out, tuple | list):
        return f'a tuple of {len(out)}'
    return f'an array {typeof(out)}' if is_residual(out) else repr(out)
