"""Loops: what `scan` and `while_loop` have in common.

The body is one program for all steps.  It is recorded for the types of the
first carry, and they must be those of the next.  If a carry can be perturbed,
mapped, or unknown at some step, it is treated so at every step.  Chapter 13.
"""

import operator
from dataclasses import replace

from autodiff_mini.arrays import convert
from autodiff_mini.core import Primitive, array_type, typeof
from autodiff_mini.higher_order.jit import run_compiled
from autodiff_mini.higher_order.programs import permute, remembered, run
from autodiff_mini.interpreters import abstract
from autodiff_mini.interpreters.jaxpr import stage_flat, stage_tree
from autodiff_mini.jaxprs import Equation, Jaxpr, Literal, Var
from autodiff_mini.pytree import leaf_names
from autodiff_mini.signature import map_leaves

CONSTANT, CARRY, ROW = range(3)     # the kinds of a loop's operands


def loop_primitive(name, key):
    """Return a primitive whose body is the parameter `key`.

    Evaluation compiles a program of nothing but the loop.
    """
    def run_loop(*operands, **params):
        program = one_equation(params.pop(key), key, primitive,
                               tuple(map(typeof, operands)), *params.items())
        return run_compiled(*operands, jaxpr=program)
    primitive = Primitive(name, run_loop, multiple_results=True)
    return primitive


@remembered
def one_equation(body, key, primitive, avals, *params):
    """Return a program of one equation, a loop; it is kept with the body.

    What is kept with a program must not hold it, or both would stay.  So the
    parameter `key` is a copy of the body.
    """
    params = {key: replace(body, cache={}), **dict(params)}
    operands = [*map(Var, avals)]
    outs = [*map(Var, abstract.rules[primitive](*avals, **params))]
    eqn = Equation(primitive, operands, params, outs)
    return Jaxpr([], operands, [eqn], outs, [])


def kinds_of(operands, counts) -> list:
    """Return the kinds of a loop's operands: constants, carry, rows."""
    rows = len(operands) - sum(counts)
    return [CONSTANT] * counts[0] + [CARRY] * counts[1] + [ROW] * rows


def counts_of(kinds) -> tuple:
    """Return the numbers of constants and carries."""
    return kinds.count(CONSTANT), kinds.count(CARRY)


def by_kind(kinds) -> tuple:
    """Return the order that groups values by kind, and keeps it in a group."""
    return tuple(sorted(range(len(kinds)), key=kinds.__getitem__))


def grouped(operands, kinds, body, out_order=None):
    """Return the operands of a scan, grouped by kind, and its parameters.

    Args:
        operands: the operands in the order of the arguments of `body`.
        kinds: for each of them, its kind.
        body: a program.
        out_order: the order of its outputs, if another than it has.
    """
    order = by_kind(kinds)
    body = permute(body, order, out_order or range(len(body.outvars)))
    return [operands[i] for i in order], {
        'jaxpr': body, 'counts': counts_of(kinds)}


def split(xs, counts):
    """Return constants, carry, and rows: three lists."""
    start, end = counts[0], counts[0] + counts[1]
    return list(xs[:start]), list(xs[start:end]), list(xs[end:])


def fixpoint(step, start):
    """Return the fewest marks, from `start` on, to which no step adds any.

    A mark says of a carry that it is perturbed, mapped, or unknown.

    Args:
        step: from marks at the beginning of the body, to those at its end.
        start: a tuple of booleans.
    """
    while True:
        end = tuple(a or b for a, b in zip(start, step(start), strict=True))
        if end == start:
            return start
        start = end


def at_all_steps(transform, jaxpr, marks, counts):
    """Return the marks of a loop's operands at all steps, and its body.

    Args:
        transform: `transform(jaxpr, marks, wanted)`, the last of whose
            results says which outputs are marked.
        jaxpr: the body of a loop.
        marks: the marks of its arguments at the first step.
        counts: how many of them are constants and carries.

    Returns:
        A tuple of booleans, and what `transform` returns for them.
    """
    n, (before, carry, rows) = counts[1], map(tuple, split(marks, counts))
    rest = (False,) * (len(jaxpr.outvars) - n)

    def body(carry):
        return transform(jaxpr, before + carry + rows, carry + rest)

    carry = fixpoint(lambda carry: body(carry)[-1][:n], carry)
    return before + carry + rows, body(carry)


@remembered
def hoist(jaxpr, count):
    """Split a program into what needs only its first arguments, and the rest.

    Args:
        jaxpr: a program that closes over arrays only.
        count: how many arguments are the first.

    Returns:
        A program from the first arguments to some values; and a program from
        them, these values, and the other arguments to the outputs.
    """
    fixed, first, rest = {*jaxpr.constvars, *jaxpr.invars[:count]}, [], []
    for eqn in jaxpr.eqns:
        if all(type(v) is Literal or v in fixed for v in eqn.invars):
            first.append(eqn)
            fixed.update(eqn.outvars)
        else:
            rest.append(eqn)
    used = {v for eqn in rest for v in eqn.invars} | {*jaxpr.outvars}
    values = [v for eqn in first for v in eqn.outvars if v in used]
    before, behind = jaxpr.invars[:count], jaxpr.invars[count:]
    return (Jaxpr(jaxpr.constvars, before, first, values, jaxpr.consts),
            Jaxpr(jaxpr.constvars, [*before, *values, *behind], rest,
                  jaxpr.outvars, jaxpr.consts))


def element_type(x):
    """Return the type of the elements of an array."""
    aval = typeof(x)
    if not aval.shape:
        raise ValueError('scan goes along the first axis, but this has none: '
                         f'{aval}. Close over what is the same at all steps.')
    return array_type(aval.shape[1:], aval.dtype)


def common_length(tag, rows, names, length):
    """Return the number of steps; raise a ValueError if it is unclear."""
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
    """Return the structure of the carry in what the body returns."""
    if out_tree.node_type is not tuple or len(out_tree.children) != 2:
        raise TypeError(f'{tag}: the body of a scan must return a pair '
                        f'(carry, y), but its output is {out_tree}. Return '
                        '(carry, None) if it puts nothing out.')
    return out_tree.children[0]


def stage_body(tag, f, carry_tree, avals, args, carry_of):
    """Return the body of a loop as a program, and the types of its carry.

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
            break
        avals = better
    map_leaves(check_carry, lambda: leaf_names(carry_tree, f'{tag}: carry'),
               avals, jaxpr.out_avals[:len(avals)])
    types = avals + jaxpr.out_avals[len(avals):]
    return fit_outputs(jaxpr, types, tag), avals, out_tree


def promote_carry(aval, out_aval):
    """Return the type of a carry, which may start as a Python number."""
    return aval.weak_type and common_type([aval, out_aval]) or aval


def check_carry(aval, out_aval):
    """Raise a TypeError if a carry has another type at the end of a step."""
    if (out_aval.shape, out_aval.dtype) != (aval.shape, aval.dtype):
        raise TypeError(
            'body function carry input and carry output must have equal '
            'types (e.g. shapes and dtypes of arrays), but they differ: '
            f'the input is {aval}, and the output {out_aval}. Begin '
            'with the type of the output.')


def common_type(avals):
    """Return the type of an output that has several, or None.

    A Python number becomes an array's if it can do so and lose nothing: an
    integer can become a float, and a float no integer.
    """
    def rank(aval):
        return 'bifc'.index(aval.dtype.kind.replace('u', 'i'))

    strong = [aval for aval in avals if not aval.weak_type]
    if not strong:
        return max(avals, key=rank)
    fits = [aval.shape == strong[0].shape and (
                rank(aval) <= rank(strong[0]) if aval.weak_type
                else aval.dtype == strong[0].dtype) for aval in avals]
    return strong[0] if all(fits) else None


def fit_outputs(jaxpr, types, tag):
    """Return a program whose outputs have these types."""
    if jaxpr.out_avals == types:
        return jaxpr

    def fitted(*xs):
        return [convert(y, aval.dtype, aval.weak_type)
                for y, aval in zip(run(jaxpr, *xs), types)]
    return stage_flat(fitted, jaxpr.in_avals, tag)
