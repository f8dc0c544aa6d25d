"""Loops: what they have in common.

Its one idea: the body is one program for all steps.  What may be so at some
step is so at every step.  Chapter 13.
"""

from autodiff_mini.higher_order.programs import remembered
from autodiff_mini.jaxprs import Jaxpr, Literal


def fixpoint(step, start):
    """Returns the fewest marks, from `start` on, to which no step adds any.

    A mark says of a carry that it moves, is mapped, or is unknown.

    Args:
        step: from marks at the beginning of the body, to those at its end.
        start: a tuple of booleans.
    """
    while True:
        end = tuple(a or b for a, b in zip(start, step(start), strict=True))
        if end == start:
            return start
        start = end


def at_all_steps(transform, jaxpr, consts, carry, xs):
    """Returns the marks of the carry at all steps, and the body for them.

    Args:
        transform: `transform(jaxpr, marks, wanted)`, the last of whose
            results says which outputs are marked.
        jaxpr: the body of a loop.
        consts, carry, xs: the marks of its arguments at the first step.

    Returns:
        A tuple of booleans, and what `transform` returns for them.
    """
    rest = (False,) * (len(jaxpr.outvars) - len(carry))

    def body(carry):
        return transform(jaxpr, (*consts, *carry, *xs), (*carry, *rest))

    carry = fixpoint(lambda carry: body(carry)[-1][:len(carry)],
                     tuple(carry))
    return carry, body(carry)


def split(xs, counts):
    """Returns constants, carry, and what is scanned over: three lists."""
    start, end = counts[0], counts[0] + counts[1]
    return list(xs[:start]), list(xs[start:end]), list(xs[end:])


def beside(groups) -> tuple:
    """Returns the order that puts companions right behind their group.

    Args:
        groups: for each group of values, which of them have a companion.
            The companions of all groups stand behind all values, and are to
            stand behind the values of their group.
    """
    order, value, companion = [], 0, sum(map(len, groups))
    for has in groups:
        order += range(value, value + len(has))
        order += range(companion, companion + sum(has))
        value, companion = value + len(has), companion + sum(has)
    return tuple(order)


@remembered
def hoist(jaxpr, count):
    """Returns what needs only the first arguments of a program, and the rest.

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
