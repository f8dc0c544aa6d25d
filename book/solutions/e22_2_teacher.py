"""The equation for cotangents has the transposed matrix in it. The pullback
was there already, and its second half is that product, since it returns the
cotangent that `f` passes from its value to `x`. The wrong line pushed the
cotangent forwards, as if it were a tangent. The teacher listens to no one, so
she got nothing.

A number is its own transpose, so the chapter could divide in both modes.
`custom_root`, in chapter 27, transposes the solver in the same place.
"""

from functools import partial

import autodiff_mini as ad


def repeat(step, x):
    for _ in range(100):
        x = step(x)
    return x


@partial(ad.custom_vjp, nondiff_argnums=(0,))
def settle(f, params, x0):
    """Return the x with x == f(params, x), found from x0."""
    return repeat(lambda x: f(params, x), x0)


def settle_fwd(f, params, x0):
    x = settle(f, params, x0)
    return x, (params, x)


def settle_bwd(f, residuals, ct):
    params, x = residuals
    _, pullback = ad.vjp(f, params, x)
    slope = lambda u: pullback(u)[1]
    u = repeat(lambda u: ct + slope(u), ct)
    params_bar, _ = pullback(u)
    return params_bar, None


settle.defvjp(settle_fwd, settle_bwd)
