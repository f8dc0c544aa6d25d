"""The cotangent of `w` is computed from `x`, and the cotangent of `x` from
`w`. So each is kept if the *other* is being differentiated. If you ask only
how the input matters, no layer has to keep its input. The bias needs neither.

(Without a rule the library finds this out by itself, from what's known and
unknown. If you write a rule, that becomes your job.)

One bit of each number of `y` is needed, and a boolean takes one byte.
(`np.packbits` would get it down to a bit, but it isn't among the functions
that our tracers know.)

The residuals are the values that `fwd` was given and not copies of their
numbers, so a second derivative can follow them.
"""

import numpy as np

import autodiff_mini as ad


def layer(params, x):
    return np.maximum(x @ params['w'] + params['b'], 0.0)


def bytes_kept(f, params, x, moving):
    """Return how many bytes a pullback for these names keeps."""
    values = {**params, 'x': x}

    def of_moving(moved):
        now = {**values, **moved}
        return f({'w': now['w'], 'b': now['b']}, now['x'])

    _, pullback = ad.vjp(of_moving, {name: values[name] for name in moving})
    return sum(np.asarray(r).nbytes for r in ad.tree_leaves(pullback))


def with_rule():
    """Return `layer`, with a rule for reverse mode."""
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
