"""The reverse pass undoes each step and then differentiates it. That costs
one more run of `f`, like a checkpoint, but nothing is kept between steps,
however long the chain is.

Floats aren't real numbers, so `a + y - y` is only close to `a`. After ten
thousand steps, the pair that you walk back to can differ from the first pair
in a few digits, and so can the gradient. That's the price.
"""

from autodiff_mini import draft as ad
from autodiff_mini.draft.trees import tree_map


def reversible(f):
    """Return `run(ws, a, b)`, which makes a step for each weight.

    Args:
        f: a function of a weight, which can be a tree, and an array like
            `b`.  It returns an array like `a`.
    """
    def chain(ws, a, b):
        def step(pair, w):
            a, b = pair
            return (b, a + f(w, b)), None
        return ad.scan(step, (a, b), ws)[0]

    run = ad.custom_vjp(chain)

    def fwd(ws, a, b):
        pair = run(ws, a, b)
        return pair, (ws, pair)

    def bwd(residuals, cts):
        ws, pair = residuals

        def back(carry, w):
            (b, c), (b_bar, c_bar) = carry
            y, pullback = ad.vjp(f, w, b)
            w_bar, from_f = pullback(c_bar)
            return ((c - y, b), (c_bar, b_bar + from_f)), w_bar

        (_, (a_bar, b_bar)), ws_bar = ad.scan(
            back, (pair, cts), reverse(ws))
        return reverse(ws_bar), a_bar, b_bar

    run.defvjp(fwd, bwd)
    return run


def reverse(ws):
    return tree_map(lambda w: w[::-1], ws)
