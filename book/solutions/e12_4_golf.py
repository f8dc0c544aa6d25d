"""The cotangent of `w` is made of `x`, and that of `x` of `w`. So each is
kept if the *other* moves. If somebody holds the weights, and asks how the
input matters, no layer has to remember what it was given. And for the bias,
neither is wanted.

(Without a rule the library finds this out by itself, from what is known and
unknown. Whoever writes a rule takes that over.)

Of `y` one bit is wanted, and a boolean is one byte. (`np.packbits` would
bring it down to a bit, but it is not among the functions that our tracers
know.)

What is kept are the values that `fwd` was given, and not copies of numbers,
so a second derivative finds its way through them.
"""

import numpy as np

import autodiff_mini as ad


def layer(params, x):
    return np.maximum(x @ params['w'] + params['b'], 0.0)


def bytes_kept(f, params, x, moving):
    """Returns how many bytes the way back keeps, if these names move."""
    values = {**params, 'x': x}

    def of_moving(moved):
        now = {**values, **moved}
        return f({'w': now['w'], 'b': now['b']}, now['x'])

    _, pullback = ad.vjp(of_moving, {name: values[name] for name in moving})
    return sum(np.asarray(r).nbytes for r in ad.tree_leaves(pullback))


def with_rule():
    """Returns `layer`, with a rule for the way back."""
    f = ad.custom_vjp(layer)

    def fwd(params, x):
        w, b = params['w'], params['b']
        y = f({'w': w.value, 'b': b.value}, x.value)
        kept_w = w.value if x.perturbed else None
        kept_x = x.value if w.perturbed else None
        return y, (kept_w, kept_x, y > 0)

    def bwd(residuals, ct):
        w, x, passes = residuals
        ct = np.where(passes, ct, 0.0)
        w_bar = None if x is None else x.T @ ct
        x_bar = None if w is None else ct @ w.T
        return {'w': w_bar, 'b': np.sum(ct, 0)}, x_bar

    f.defvjp(fwd, bwd, symbolic_zeros=True)
    return f
