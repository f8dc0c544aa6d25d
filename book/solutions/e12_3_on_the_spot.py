"""`open_closure` is for values that have to last until the cotangent comes.
A tangent is there at the same time as its primal, so the rule is called as
soon as it has been made, and may close over whatever `fun` has computed.
There is nothing to keep. When the program is turned round, the library finds
out what the tangent still needs.

`fun` makes the rule, and `f` the output. That `fun` has an output, too, does
not help: it is a plain function, and whoever differentiates what it returns
gets the derivative of its code.
"""

import functools

import autodiff_mini as ad


def custom_tangent(fun):
    """Returns a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule, which takes a tangent for
            each argument, and returns that of the output.
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
