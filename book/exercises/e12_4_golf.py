"""Residual golf: keep what the others need.

`layer` is a layer of a network, `max(x @ w + b, 0)`. Below is a rule for it,
and it works. But it keeps everything, whatever moves, and so it is worse than
no rule at all. Here is what is kept for `x` of 64 × 100 numbers and `w` of
100 × 50, in bytes, and par:

| what moves | without a rule | with this rule | par   |
|------------|----------------|----------------|-------|
| w, b, x    | 97616          | 117200         | 94400 |
| w, b       | 57616          | 117200         | 54400 |
| x          | 46416          | 117200         | 43200 |
| b          | 6416           | 117200         | 3200  |

All derivatives have to stay right, the second too, whatever moves.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Of `y`, `bwd` wants to know one thing for each number. Which dtype can '
    'tell it?',
    'With `symbolic_zeros=True`, `fwd` gets a record for each array, with a '
    '`value`, and whether it is `perturbed`. `bwd` gets the residuals as you '
    'returned them, and None may be one.',
    'Who needs `x` on the way back: the cotangent of `x`, or that of `w`?',
)


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
    raise NotImplementedError('exercise e12_4: let this rule keep less')
    f = ad.custom_vjp(layer)

    def fwd(params, x):
        y = f(params, x)
        return y, (params, x, y)

    def bwd(residuals, ct):
        params, x, y = residuals
        ct = np.where(y > 0, ct, 0.0)
        w_bar, b_bar = x.T @ ct, np.sum(ct, 0)
        return {'w': w_bar, 'b': b_bar}, ct @ params['w'].T

    f.defvjp(fwd, bwd)
    return f
