"""Extend: both ways, from one rule.

`root` had two rules, and only `check_grads` knew that they say the same. A
`custom_jvp` has one, which is run forwards or backwards; but then nobody can
look at the cotangent, as `peek` did. Let us have both.

Write a function that is given `f`, a forward rule as for `defjvp`, and a
`note`. On the way out the rule is used as it is. On the way back `note` is
called with the cotangent, and the cotangents of the arguments come from the
same rule, transposed. So the two ways agree by construction, whatever the
rule says. Arguments may be trees, and derivatives of any order have to follow
the rule.
"""

import autodiff_mini as ad

HINTS = (
    'With the primals held, a rule is a linear function of the tangents: '
    '`lambda *tangents: rule(primals, tangents)[1]`. How does one run a '
    'linear function backwards?',
    'What does `bwd` need in order to ask the rule? Hand it over as '
    'residuals. A value that `bwd` closes over cannot be mapped, and cannot '
    'be differentiated again.',
    '`fwd` needs the output, and for a second derivative it has to carry '
    'the rule. Whom does `fwd` call?',
)


def both_ways(f, rule, note):
    """Returns `f`, with `rule` for both ways.

    Args:
        f: a function of arrays, or trees of arrays.
        rule: `rule(primals, tangents) -> (primal_out, tangent_out)`, which
            may call the function that is returned here.
        note: is called with each cotangent that comes back.
    """
    raise NotImplementedError('exercise e11_4: define the rules here')
