"""`custom_gradient` has to keep values until the cotangent arrives. A tangent
is there at the same time as its primal, so the rule is called as soon as it
has been made, and it can capture whatever `fun` computed. When the program is
transposed, partial evaluation finds out what to keep.

The rule is made by `fun`, but the output has to be computed by `f`. The
output of `fun` doesn't carry the rule, so its derivative would be the
derivative of the code.
"""

import functools

import autodiff_mini as ad


def custom_tangent(fun):
    """Return a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule, which takes a tangent for
            each argument and returns the tangent of the output.
    """
    @ad.custom_jvp
    @functools.wraps(fun)
    def f(*args):
        return fun(*args)[0]

    @f.defjvp
    def on_the_spot(primals, tangents):
        _, rule = fun(*primals)     # its output has no rule
        return f(*primals), rule(*tangents)

    return f
