"""Check what a user passes to a transformation, a loop, or a branch.

Without these checks such a program fails later, with a less specific error.
See the page *Errors explained*.
"""

import operator
import sys

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.signature import names_of
from autodiff_mini.core.trees import (
    LEAF, leaf_names, map_leaves, tree_flatten)
from autodiff_mini.core.types import common_type, typeof
from autodiff_mini.wings.messages.lambda_names import name_in_code


@seams.check.take
def check(topic, tag, *details):
    """Raise an error if the user made a mistake.

    Args:
        topic: a key of CHECKERS.
        tag: which application of which transformation is checked, or just
            its function or its name.
        details: what the check needs to know.
    """
    CHECKERS[topic](tag, *details)


def check_primals(f, *both):
    """Check the primals and the tangents of a jvp."""
    for arguments in both:
        if not isinstance(arguments, (tuple, list)):
            raise TypeError(
                f'jvp of {fun_name(f)}: primals and tangents must be tuples '
                f'or lists, but found {arguments!r}. For one argument, '
                f'write ad.jvp({name_in_code(f)}, (x,), (x_dot,)).')


def check_in_axes(f, in_axes):
    if isinstance(in_axes, bool) or not isinstance(
            in_axes, (int, tuple, type(None))):
        raise TypeError(
            f'vmap of {fun_name(f)}: vmap in_axes must be an int, None, or a '
            'tuple of entries corresponding to the positional arguments '
            f'passed to the function, but got {in_axes!r}' + (
                '. To call the batched function, write '
                f'ad.vmap({name_in_code(f)})(x).'
                if isinstance(in_axes, (float, np.ndarray)) else ''))


def check_axis_for_each(tag, in_axes, args):
    """Check that there is an axis for each positional argument."""
    raise ValueError(
        f'{tag}: vmap in_axes must be an int, None, or a tuple of entries '
        'corresponding to the positional arguments passed to the function, '
        f'but got len(in_axes)={len(in_axes)}, len(args)={len(args)}. A '
        'tuple in_axes must have an entry for each positional argument '
        f'({len(args)}), but got {in_axes}. For an argument that is the same '
        'for all examples, write None.')


def check_argnums(tag, argnums):
    """Check that argnums are positions."""
    several = isinstance(argnums, (tuple, list))
    try:
        list(map(operator.index, argnums if several else [argnums]))
    except TypeError:
        f, names = name_in_code(tag.function), names_of(tag.function)
        cure = (f'Write {names.index(argnums)}' if isinstance(argnums, str)
                and argnums in names else
                'Pass the arguments of the function in a second call: '
                f'ad.{tag.transform}({f})(x)')
        raise TypeError(f'{tag}: argnums must be an int or a tuple of ints, '
                        f'but got {argnums!r}. {cure}.') from None


def check_static_argnums(f, argnums):
    """Check that the positions of static arguments are integers."""
    try:
        list(map(operator.index, argnums))
    except TypeError:
        transform, name = who_checks(), name_in_code(f)
        what = (f'the positions of static arguments of {fun_name(f)} must be '
                'integers' if 'custom' not in transform else
                f'nondiff_argnums of {fun_name(f)} must be integers')
        x, *others = argnums if isinstance(argnums, (list, tuple)) else 'x'
        x = repr(x) if isinstance(x, float) and not others else 'x'
        cure = (f'Write static_argnames={argnums!r}'
                if isinstance(argnums, str) else 'Pass the arguments of the '
                f'function in a second call: ad.{transform}({name})({x})')
        raise TypeError(f'{what}, but got {argnums!r}. {cure}.') from None


def who_checks():
    """Return the name of the transformation whose argument is checked."""
    frame = sys._getframe(1)
    while frame.f_globals.get('__name__') != 'autodiff_mini.core.signature':
        frame = frame.f_back
    while frame.f_globals.get('__name__') == 'autodiff_mini.core.signature':
        frame = frame.f_back
    owner = type(frame.f_locals.get('self')).__name__
    return owner if 'self' in frame.f_locals else frame.f_code.co_name


def check_fields(kind, names, data, meta):
    """Check that two lists name each field of a dataclass once."""
    if sorted(data + meta) != sorted(names):
        raise ValueError(
            'data_fields and meta_fields must name each field of '
            f'{kind.__name__} once: {names}, but got {[*data, *meta]}')


def check_rows(tag, xs):
    """Check the arrays that a scan iterates over."""
    rows, tree = tree_flatten(xs)
    if rows and isinstance(xs, list) and all(np.ndim(x) == 0 for x in rows):
        raise ValueError(f'{tag}: xs is a list of numbers, not an array. '
                         'Write np.array(xs).')
    map_leaves(check_row, lambda: leaf_names(tree, f'{tag}: xs'), rows)


def check_row(x):
    if not typeof(x).shape:
        raise ValueError('scan got value with no leading axis to scan over: '
                         'scan iterates over the first axis of its inputs, '
                         f'but this input has no axes: {typeof(x)}. If a '
                         'value is the same at every step, let the body '
                         'close over it.')


def check_length(tag, xs, length):
    """Check that a scan has one length, which can be given twice."""
    rows, tree = tree_flatten(xs)
    lengths = [x.shape[0] for x in rows]
    if length is not None:
        lengths += map_leaves(number_of_steps, lambda: [f'{tag}: length'],
                              [length])
    if not lengths:
        raise ValueError(f'{tag}: scan got no values to scan over and '
                         '`length` not provided: it needs xs to iterate '
                         'over, or a length')
    if len({*lengths}) > 1:
        names = [*leaf_names(tree, 'xs'), 'length']
        have = ', '.join(map('{} has {}'.format, names, lengths))
        sizes = {*lengths[:len(rows)]}
        wrong = ('scan got values with different leading axis sizes'
                 if len(sizes) > 1 else
                 f'scan got `length` argument of {lengths[-1]} which '
                 f'disagrees with leading axis sizes {[*sizes]}')
        raise ValueError(f'{tag}: {wrong}: {have}. They must be equal.')


def number_of_steps(length):
    """Return a length as an integer, or raise."""
    length = operator.index(length)
    if length < 0:
        raise ValueError(f'must not be negative, but got {length}')
    return length


def check_carry_tree(tag, tree, out_tree):
    """Check that a step returns a carry of this structure, and an output."""
    if out_tree.node_type is not tuple or len(out_tree.children) != 2:
        raise TypeError(f'{tag}: scan body output must be a pair: the body '
                        'of a scan must return a pair (carry, y), but its '
                        f'output is {out_tree}. Return (carry, None) if the '
                        'steps have no output.')
    found = out_tree.children[0]
    if found != tree:
        cure = ('Is a `return` missing?' if found.node_type is type(None)
                else 'Start with a carry that has the structure of the '
                'output.')
        raise TypeError(
            f'{tag}: body function carry input and carry output must have '
            'the same pytree structure, but they differ: the input is '
            f'{tree}, and the output is {found}. {cure}')


def check_carry_types(tag, tree, avals, out_avals):
    """Check that a carry keeps its types from step to step."""
    map_leaves(check_carry_type, lambda: leaf_names(tree, f'{tag}: carry'),
               avals, out_avals[:len(avals)])


def check_carry_type(aval, out_aval):
    if (out_aval.shape, out_aval.dtype) != (aval.shape, aval.dtype):
        raise TypeError(
            'body function carry input and carry output must have equal '
            'types (e.g. shapes and dtypes of arrays), but they differ: '
            f'the input is {aval}, and the output is {out_aval}. Start with '
            'a carry that has the type of the output.')


def check_condition(tag, cond_fun, test, tree):
    """Check that the condition of a while_loop is a boolean scalar."""
    types = ', '.join(map(str, test.out_avals))
    if tree is not LEAF or types != 'bool[]':
        raise TypeError(f'{tag}: cond_fun must return a boolean scalar, but '
                        f'{fun_name(cond_fun)}, the condition of a '
                        f'while_loop, returns {types or tree}')


def check_bounds(tag, *bounds):
    """Check that the bounds of a fori_loop are integers."""
    for bound in bounds:
        if callable(bound):
            raise TypeError(
                'fori_loop takes its bounds first. Write ad.fori_loop(lower, '
                f'upper, {name_in_code(bound)}, init_val).')
        if typeof(bound).shape or typeof(bound).dtype.kind not in 'iu':
            raise TypeError(f'{tag}: lower and upper arguments to fori_loop '
                            f'must be integers, but got {typeof(bound)}')


def check_functions(transform, functions):
    """Check that a cond, a switch, or a loop is passed functions."""
    wrong = ([functions] if callable(functions) else
             [f for f in functions if not callable(f)])
    if wrong:
        cure = ' To choose between two values, write np.where(pred, a, b).'
        raise TypeError(f'{transform} takes {TAKES[transform]}, but got '
                        f'something of type {type(wrong[0]).__name__}.'
                        + cure * (transform == 'cond'))


TAKES = {'cond': 'two functions after its condition',
         'switch': 'a list of functions after its index',
         'while_loop': 'two functions first',
         'fori_loop': 'a function after its bounds'}


def check_scalar(tag, what, x):
    """Check that a predicate is a scalar, or an index an integer scalar."""
    if x is None:
        raise TypeError(f'{tag}: {what.lower()} is None')
    try:
        aval = typeof(x)
    except TracerError:
        raise
    except TypeError:
        raise TypeError(f'{tag}: {what} must be a scalar, but got {x!r} of '
                        f'type {type(x).__name__}') from None
    if aval.shape != ():
        raise TypeError(f'{tag}: {what} must be a scalar, but got {aval}. To '
                        'choose for each element of an array, use np.where.')
    if what == 'Index' and aval.dtype.kind not in 'iu':
        raise TypeError(f'{tag}: Index must be an integer, but got {aval}')
    if aval.dtype.kind not in 'biuf':
        raise TypeError(f'{tag}: {what} type must be either boolean or '
                        f'number, but got {aval}')


def check_branches(tag, functions, trees, types):
    """Check that all branches return values of one structure and one type.

    Args:
        functions: the branches.
        trees: the structure of each branch's result.
        types: the types in each branch's result.
    """
    for f, tree in zip(functions, trees):
        if tree != trees[0]:
            raise TypeError(
                f'{tag}: {tag.transform} branch outputs must have the same '
                'pytree structure, but they differ: '
                f'{fun_name(functions[0])} returns {trees[0]}, and '
                f'{fun_name(f)} returns {tree}')
    for avals in zip(*types):
        if common_type(avals) is None:
            strong = next(aval for aval in avals if not aval.weak_type)
            g, other = next((g, aval) for g, aval in zip(functions, avals)
                            if common_type([strong, aval]) is None)
            f = functions[avals.index(strong)]
            raise TypeError(
                f'{tag}: {tag.transform} branches must have equal output '
                f'types but they differ: {fun_name(f)} returns {strong}, and '
                f'{fun_name(g)} returns {other}')


def check_policy(tag, policy):
    """Check that the policy of a checkpoint is a function."""
    if policy is not None and not callable(policy):
        raise TypeError(
            f'{tag}: policy must be a function (primitive, *avals, **params) '
            '-> bool, such as checkpoint_policies.dots_saveable, but got '
            f'{policy!r}')


CHECKERS = {      # by topic
    'primals': check_primals, 'in_axes': check_in_axes,
    'axis_for_each': check_axis_for_each, 'argnums': check_argnums,
    'static': check_static_argnums, 'fields': check_fields,
    'rows': check_rows, 'length': check_length, 'carry': check_carry_tree,
    'carry_types': check_carry_types, 'condition': check_condition,
    'bounds': check_bounds, 'functions': check_functions,
    'scalar': check_scalar, 'branches': check_branches,
    'policy': check_policy}
