"""Extend: a rule that is made on the spot, for the way out.

`custom_gradient` takes a function that returns its output and a rule for the
cotangent. Write its brother for tangents: the function returns its output and
a rule that takes a tangent for each argument, and returns the tangent of the
output.

    @custom_tangent
    def length(v):
        n = np.sqrt(np.sum(v * v))
        direction = v / np.where(n == 0, 1.0, n)
        return n, lambda v_dot: np.sum(direction * v_dot)

It has to work in all the ways in which a `custom_jvp` does, with keywords and
trees, backwards too, and for derivatives of any order. And in forward mode
the rule may do what that of `custom_gradient` may not: look at what it is
given. Do you need `open_closure`?
"""

import functools

import autodiff_mini as ad

HINTS = (
    'The rule of a `custom_jvp` is called at a moment when primals and '
    'tangents are both there. Nothing has to be kept from one moment to '
    'another.',
    'The output has to carry the rule, for whoever differentiates '
    '`f(x) ** 2` twice. So where does the output in your rule come from, and '
    'where the tangent?',
    'A keyword is put into its position with the help of the signature. '
    '`functools.wraps` hands it on, together with the name.',
)


def custom_tangent(fun):
    """Returns a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule, which takes a tangent for
            each argument, and returns that of the output.
    """
    raise NotImplementedError('exercise e12_3: write the decorator here')
