"""Extend: a network that forgets everything.

A checkpoint remembers where it began. Even that is not needed, if one can
walk back from where one is. A step

    (a, b)  ->  (b, a + f(w, b))

can be undone, whatever `f` is: of the two results, the first is `b`, and with
it `a` is the second minus `f(w, b)`. So a chain of such steps, with a weight
for each, can be run backwards from its two results, and the derivative goes
along. Networks that are built so are called reversible.

Write `reversible(f)`, a function of all weights and the first pair. For the
way back it may keep the weights and a single pair, whatever the number of
steps. A `checkpoint` of the whole chain would do that, too; but on the way
back it would keep everything. Here, at no time, may there be a state for
each step. The derivatives have to be right, also the second ones, and mapped
and compiled.
"""

import autodiff_mini as ad

HINTS = (
    'The chain is a `scan` over the weights. Give it a rule with '
    '`custom_vjp`: `fwd` returns the last pair, and keeps it.',
    '`bwd` is a scan over the weights, too, with `reverse=True`. Its carry '
    'is the pair and the cotangents of the pair. What it puts out at each '
    'step is the cotangent of the weight.',
    'Of (b, c) with c = a + f(w, b) there are two cotangents. `a` gets that '
    'of c. `b` gets its own, and through `f` that of c once more. '
    '`ad.vjp(f, w, b)` gives you both `f(w, b)`, to undo the step, and the '
    'way back.',
)


def reversible(f):
    """Returns `run(ws, a, b)`, which makes a step for each weight.

    Args:
        f: a function of a weight, which may be a tree, and an array like `b`.
            It returns an array like `a`.
    """
    raise NotImplementedError('exercise e19_2: write the chain and its rule')
