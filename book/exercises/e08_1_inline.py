"""Extend: open every call.

Write `inline`, which takes a program and returns one that computes the same
values without calls. In place of each call, it has the equations of the
function inside. A call can contain a call, and a program can be called twice.

This puts all equations into one list, where exercise e07_4 finds the unused
ones and e08_3 finds every exponential. What do you lose? There's a test for
that.
"""

from autodiff_mini.draft.jaxpr import Equation, Jaxpr, Var
from autodiff_mini.draft.trees import tree_leaves, tree_map

HINTS = (
    'The program inside is `eqn.params[\'fun\']`. It has as many `invars` as '
    'the call has operands.',
    'Keep a dictionary, as `Jaxpr.__call__` does. Where that one keeps the '
    'value of a variable, keep the variable that replaces it in the new '
    'program. A known value replaces itself.',
    'Each variable must be the result of one equation only. If a program is '
    'called twice, its equations appear twice, so their results need new '
    'variables. `Var(v.aval)` makes one.',
    'A function `spill(jaxpr, env, eqns)` that appends the equations of a '
    'program to a list, and returns what replaces its outputs, can call '
    'itself for the program inside.',
)


def inline(jaxpr):
    """Return the program without calls."""
    raise NotImplementedError('exercise e08_1: open the calls here')
