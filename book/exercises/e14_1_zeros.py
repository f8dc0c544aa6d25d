"""Add a rule: `jit`, cut in two.

`grad(jit(f))` isn't compiled, because the JVP rule of `jit` answers with a
`call` of a Python function. Write a better rule, which cuts the program
with `linearize_jaxpr` and answers with two operations that are `jit` again:
one for the primals, and one for the tangents.

In reverse mode, the first of them is computed and the second is recorded, so
half of the gradient will be compiled.
"""

from autodiff_mini.draft.jit import jit_p
from autodiff_mini.draft.jvp import instantiate, jvp_rules
from autodiff_mini.draft.programs import linearize_jaxpr

HINTS = (
    '`fun` is the program. `known, linear = linearize_jaxpr(fun)` cuts it.',
    '`jit_p.bind(*operands, fun=program)` returns a list. How many of the '
    'values that `known` returns are residuals? Compare its `outvars` with '
    'those of `fun`.',
    'A tangent can be None. `instantiate(x, x_dot)` turns it into zeros.',
)


def jit_jvp(tag, primals, tangents, fun):
    """Return the outputs of a compiled program, and their tangents."""
    raise NotImplementedError('exercise e14_1: write the rule here')


jvp_rules[jit_p] = jit_jvp
