"""Extend: both modes, from one rule.

`solve` had two rules, which could have contradicted each other. A
`custom_jvp` function has one rule, which forward mode runs and reverse mode
transposes, but then you can't look at the cotangent, as chapter 11's `peek`
did. Let's have both.

Write a function that is given `f`, a forward rule as for `defjvp`, and a
`note`. In forward mode the rule is used unchanged. In the reverse pass `note`
is called with the cotangent, and the cotangents of the arguments come from
the same rule, transposed. So the two modes agree by construction, whatever
the rule says. Arguments can be trees, and derivatives of any order have to
follow the rule.
"""

import autodiff_mini as ad

HINTS = (
    'With the primals fixed, a rule is a linear function of the tangents, '
    '`lambda *tangents: rule(primals, tangents)[1]`. How do you run a '
    'linear function backwards?',
    'What does `bwd` need so that it can call the rule? Pass it as '
    "residuals. A value that `bwd` captures can't be batched, and can't "
    'be differentiated again.',
    '`fwd` needs the output, and for a second derivative the output has to '
    'carry the rule. Which function does `fwd` call?',
)


def both_ways(f, rule, note):
    """Return `f`, with `rule` for both modes.

    Args:
        f: a function of arrays, or trees of arrays.
        rule: `rule(primals, tangents) -> (primal_out, tangent_out)`, which
            can call the function that is returned here.
        note: is called with each cotangent of the output.
    """
    raise NotImplementedError('exercise e22_6: define the rules here')
