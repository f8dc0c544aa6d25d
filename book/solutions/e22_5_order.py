"""One adapter. The document's order reads well here, since primals and
tangents are always there and the others aren't. But a reverse rule has
residuals and a cotangent instead of primals and tangents. With the other
arguments in front, both kinds of rule begin the same way, and that's the
order that was released.
"""

import functools

import autodiff_mini as ad


class custom_jvp(ad.custom_jvp):
    """As `ad.custom_jvp`, with `rule(primals, tangents, *nondiff)`."""

    def defjvp(self, rule, symbolic_zeros=False):
        @functools.wraps(rule)
        def released(*args):
            *nondiff, primals, tangents = args
            return rule(primals, tangents, *nondiff)
        super().defjvp(released, symbolic_zeros)
        return rule   # and not `released`: the name is the user's
