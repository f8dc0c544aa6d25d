"""Extend: the order that the design document proposed.

JAX's design document put the arguments that aren't differentiated *after* the
primals and tangents, `rule(primals, tangents, a)`. The released JAX put them
first, and so do we. Write the document's variant, a subclass of `custom_jvp`
that differs only in that order. Everything else has to keep working, even the
error messages, which call the rule by its name.
"""

import functools

import autodiff_mini as ad

HINTS = (
    'The library calls `rule(*nondiff, primals, tangents)`. Give it a small '
    'function that takes its arguments in this order and passes them on in '
    'the other: `*nondiff, primals, tangents = args`.',
    '`functools.wraps(rule)` gives the small function the name of the rule. '
    'And `defjvp` can be used as a decorator, so what does it have to '
    'return?',
)


class custom_jvp(ad.custom_jvp):
    """As `ad.custom_jvp`, with `rule(primals, tangents, *nondiff)`."""

    def defjvp(self, rule, symbolic_zeros=False):
        raise NotImplementedError('exercise e22_5: change the order here')
