"""Each step back is undone first, and differentiated then. That costs one
more run of `f`, as with a checkpoint; but nothing is kept between, however
long the chain is.

Floats are not numbers: `a + y - y` is nearly `a`. After ten thousand steps
the beginning that one finds may differ in some digits from the one that there
was, and so does the gradient. That is the price.
"""

import autodiff_mini as ad


def reversible(f):
    """Returns `run(ws, a, b)`, which makes a step for each weight.

    Args:
        f: a function of a weight, which may be a tree, and an array like `b`.
            It returns an array like `a`.
    """
    @ad.custom_vjp
    def run(ws, a, b):
        step = lambda pair, w: ((pair[1], pair[0] + f(w, pair[1])), None)
        return ad.scan(step, (a, b), ws)[0]

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
            back, (pair, cts), ws, reverse=True)
        return ws_bar, a_bar, b_bar

    run.defvjp(fwd, bwd)
    return run
