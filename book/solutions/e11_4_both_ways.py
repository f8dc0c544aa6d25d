"""The residuals are the arguments. On the way back the rule is asked, with
tangents that have no value yet, and what it does to them is written down and
turned round. That is what the library does with a `custom_jvp`; only it does
so on the way out, and nobody is there when the cotangent comes.

`g` in `fwd` and the `primals` in the residuals carry the second derivative:
whoever differentiates again finds a function with a rule, and the rule's own
dependence on the arguments.

The price is that the rule is run on the way back, too. To have it run on the
way out, `fwd` could return the transposed function as a residual, since it is
a pytree, like a pullback.
"""

import autodiff_mini as ad


def both_ways(f, rule, note):
    """Returns `f`, with `rule` for both ways.

    Args:
        f: a function of arrays, or trees of arrays.
        rule: `rule(primals, tangents) -> (primal_out, tangent_out)`, which
            may call the function that is returned here.
        note: is called with each cotangent that comes back.
    """
    g = ad.custom_vjp(f)

    def fwd(*primals):
        return g(*primals), primals     # not f, which has no rule

    def bwd(primals, ct):
        note(ct)
        linear = lambda *tangents: rule(primals, tangents)[1]
        return ad.linear_transpose(linear, *primals)(ct)

    g.defjvp(rule)
    g.defvjp(fwd, bwd)
    return g
