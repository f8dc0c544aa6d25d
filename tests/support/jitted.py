"""Functions for jit: how often they are traced, and what they return."""

import functools

import numpy as np

import autodiff_mini as ad
from autodiff_mini.calls.call import call

KEPT = np.arange(4.0)


def counted(f, **options):
    """Return a jitted `f`, and a list that grows when it is traced."""
    runs = []

    @functools.wraps(f)
    def noisy(*args, **kwargs):
        runs.append(1)
        return f(*args, **kwargs)
    return ad.jit(noisy, **options), runs


RETURNED = {
    'argument': lambda x: x, 'view': lambda x: x[1:],
    'broadcast': lambda x: np.broadcast_to(x, (3, 4)),
    'constant_view': lambda x: ad.asarray(KEPT)[1:],
    'constants': lambda x: (KEPT, KEPT, x * KEPT),
    'same_twice': lambda x: (np.sin(x),) * 2,
    'result_and_view': lambda x: (lambda y: (y, y[1:], y[:1]))(np.cos(x)),
    'large': lambda x: (lambda y: (y[:2], y))(np.sin(ad.asarray(
        np.ones(2000)))),
    'inner_inner_constant': lambda x: ad.jit(ad.jit(lambda y: (
        y * 2, KEPT, KEPT)))(x),
    'call': lambda x: call(lambda y: (y, KEPT, y * KEPT), x),
    'checkpoint': ad.checkpoint(lambda x: (x, KEPT, x[1:])),
    'scan': lambda x: ad.scan(lambda c, y: (c, (y, KEPT)), x, x),
    'while_loop': lambda x: ad.while_loop(
        lambda c: c[1] < 1, lambda c: (KEPT, c[1] + 1, c[0]), (x, 0, x)),
    'no_loop': lambda x: ad.while_loop(lambda c: c[1] < 0, lambda c: c,
                                       (x, 0, KEPT)),
    'jvp': lambda x: ad.jvp(lambda x: (x, KEPT), (x,), (x,)),
}
