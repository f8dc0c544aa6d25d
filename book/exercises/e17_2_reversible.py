"""Extend: a network that keeps one pair.

A checkpoint keeps its starting point. You don't even need that, if you can
walk backwards from where you are. A step

    (a, b)  ->  (b, a + f(w, b))

can be undone, whatever `f` is. The first of the two results is `b`, and once
you have `b`, you get `a` by subtracting `f(w, b)` from the second. So a chain
of such steps, with a weight for each, can be run backwards from its last pair
while the derivative is computed. Networks built like this are called
reversible.

Write `reversible(f)`, which returns a function of all weights and the first
pair. For the reverse pass it can keep the weights and a single pair, whatever
the number of steps. A `checkpoint` of the whole chain would do that too, but
in the reverse pass it would keep every pair. Here, no array can ever have a
row for each step's pair. The derivatives have to be right in a batch and
when they are compiled, and so do the second derivatives by `grad`.
"""

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map

HINTS = (
    'The chain is a `scan` over the weights. Give it a rule with '
    '`custom_vjp`, whose `fwd` returns the last pair and keeps it.',
    '`bwd` is a scan over the weights too, from the last to the first. A '
    'tree of weights is reversed by `tree_map(lambda w: w[::-1], ws)`. The '
    'carry is the pair and its cotangents, and each step outputs the '
    'cotangent of its weight, so reverse those at the end.',
    'Let (b, c) be the pair after a step, with c = a + f(w, b). The '
    'cotangent of `a` is that of c. The cotangent of `b` is its own, plus '
    'what `f` sends back for the cotangent of c. `ad.vjp(f, w, b)` gives you '
    'both f(w, b), to undo the step, and the pullback.',
)


def reversible(f):
    """Return `run(ws, a, b)`, which makes a step for each weight.

    Args:
        f: a function of a weight, which can be a tree, and an array like
            `b`.  It returns an array like `a`.
    """
    raise NotImplementedError('exercise e17_2: write the chain and its rule')
