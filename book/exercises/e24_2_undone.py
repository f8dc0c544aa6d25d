"""Extend: twice is nothing.

Programs that were not written by hand turn things around, and back again. The
transpose of a transpose is what was there before; so is the negation of a
negation. Our `simplify` sees neither, since it asks each equation by itself,
and here it takes two.

`tidy` walks through a program, and asks `undone` of each equation whether
its result has been there, before another equation changed it. Write `undone`,
for `neg_p`, `invert_p` (that is `~`) and `transpose_p`.

No bit may change, and no type. What *nearly* undoes itself is another matter:
`1 / (1 / x)` may differ in the last bit, and `0.0 - (0.0 - x)` in the first.
"""

from autodiff_mini.jaxprs import Equation, Jaxpr, Var, drop_dead
from autodiff_mini.primitives.arithmetic import neg_p
from autodiff_mini.primitives.comparisons import invert_p
from autodiff_mini.primitives.shapes import transpose_p


HINTS = (
    'The operand of the equation was made by another one: `made` says by '
    'which. An argument was made by none.',
    'A transposition is undone by its inverse, and not always by itself: '
    '`(1, 2, 0)` takes three times. Which axis of `x` is axis `i` of the '
    'result?',
    'Of True, Python makes -1, and of that 1. The value is the same, the '
    'type is not. Every variable has its type in `aval`.',
)


def tidy(jaxpr):
    """Returns the program without what is undone."""
    made, replaced, eqns = {}, {}, []
    for eqn in jaxpr.eqns:
        invars = [replaced.get(v, v) for v in eqn.invars]
        eqn = Equation(eqn.primitive, invars, eqn.params, eqn.outvars,
                       eqn.line)
        same = undone(eqn, made)
        if same is None:
            eqns.append(eqn)
            made.update((v, eqn) for v in eqn.outvars)
        else:
            replaced[eqn.outvars[0]] = same
    outvars = [replaced.get(v, v) for v in jaxpr.outvars]
    return drop_dead(Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, outvars,
                           jaxpr.consts))


def undone(eqn, made):
    """Returns the variable that the result of an equation is, or None.

    Args:
        eqn: the equation.
        made: for each variable that was computed, the equation it is from.
    """
    raise NotImplementedError('exercise e24_2: look two equations back here')
