"""The residuals are the arguments. In the reverse pass the rule is called
with tangents that have no value yet, and the operations on them are recorded
and transposed. The library does that with a `custom_jvp` function, too, but
in the forward pass, so you can't see the cotangent.

`g` in `fwd` and the `primals` in the residuals carry the second derivative.
Another transformation finds a function with a rule, and it finds how the rule
depends on the arguments.

The price is that the rule runs in the reverse pass as well. To run it only in
the forward pass, `fwd` could return the transposed function as a residual,
since it's a tree of arrays, like a pullback.
"""

import autodiff_mini as ad


def both_ways(f, rule, note):
    """Return `f`, with `rule` for both modes.

    Args:
        f: a function of arrays, or trees of arrays.
        rule: `rule(primals, tangents) -> (primal_out, tangent_out)`, which
            can call the function that is returned here.
        note: is called with each cotangent of the output.
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
