"""Extend: a rule for tangents, written on the spot.

`custom_gradient` takes a function that returns its output and a rule for the
cotangent. Write its counterpart for tangents. The function returns its output
and a rule that takes a tangent for each argument and returns the tangent of
the output.

    @custom_tangent
    def length(v):
        n = np.sqrt(np.sum(v * v))
        direction = v / np.where(n == 0, 1.0, n)
        return n, lambda v_dot: np.sum(direction * v_dot)

It has to work wherever a `custom_jvp` function does, with keywords and trees,
in reverse mode too, and for derivatives of any order. In forward mode the
rule can also do what the rule of a `custom_gradient` can't: look at its
argument.
"""

import functools

import autodiff_mini as ad

HINTS = (
    'The rule of a `custom_jvp` is called at a moment when primals and '
    'tangents are both there. Nothing has to be kept for later.',
    'The output has to carry the rule, because someone could differentiate '
    '`f(x) ** 2` twice. So where does the output in your rule come from, '
    'and where does the tangent come from?',
    'A keyword is put into its position with the help of the signature. '
    '`functools.wraps` passes the signature on, together with the name.',
)


def custom_tangent(fun):
    """Return a function whose rule is made together with its value.

    Args:
        fun: returns a pair, its output and a rule, which takes a tangent for
            each argument and returns the tangent of the output.
    """
    raise NotImplementedError('exercise e22_3: write the decorator here')
