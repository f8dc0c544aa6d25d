"""Residual golf: keep what the others need.

`layer` is a layer of a network, `max(x @ w + b, 0)`. Below is a rule for it,
and it works. But it keeps everything, whatever is being differentiated, so
it's worse than no rule at all. The table says how many bytes are kept for `x`
of 64 × 100 numbers and `w` of 100 × 50, and par:

| with respect to | without a rule | with this rule | par   |
|-----------------|---------------:|---------------:|------:|
| w, b, x         | 97616          | 117200         | 94400 |
| w, b            | 57616          | 117200         | 54400 |
| x               | 46416          | 117200         | 43200 |
| b               | 6416           | 117200         | 3200  |

All derivatives have to stay right, second derivatives too, with respect to
any of the arguments.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    '`bwd` needs to know one thing about each number of `y`. Which dtype '
    'can hold that?',
    'With `symbolic_zeros=True`, `fwd` gets a record for each array, with a '
    "`value`, and whether it's `perturbed`. `bwd` gets the residuals as "
    'you returned them, and None can be one.',
    'What is `x` needed for in the reverse pass: the cotangent of `x`, or '
    'the cotangent of `w`?',
)


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
    raise NotImplementedError('exercise e22_4: let this rule keep less')
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
