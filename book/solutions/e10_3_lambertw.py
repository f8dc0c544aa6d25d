"""There's no rule to write, because the row is complete. The forward rule
multiplies the tangent by a number, and only that product is transposed. It's
also the product that program b batches.

A primitive that isn't linear needs no rule for reverse mode, for
derivatives of any order.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.vmap import vmap_rules


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)
defjvp(lambertw_p, lambda x_dot, w, x: np.exp(-w) / (1 + w) * x_dot)
vmap_rules[lambertw_p] = lambda axis, x: lambertw_p.bind(x)


def lambertw(x):
    return lambertw_p.bind(x)


def total(xs):
    return np.sum(lambertw(xs))


PROGRAMS = {
    'a': lambda xs: ad.grad(total)(xs),
    'b': lambda xs: ad.vmap(ad.vjp(lambertw, xs)[1])(np.eye(len(xs)))[0],
    'c': lambda xs: ad.grad(lambda xs: np.sum(ad.vmap(lambertw)(xs)))(xs),
    'd': lambda xs: ad.make_jaxpr(ad.grad(total))(xs),
    'e': lambda xs: ad.check_grads(ad.grad(total), (xs,)),
}


def prediction():
    return {'a': {'jvp'}, 'b': {'jvp'}, 'c': {'jvp', 'vmap'}, 'd': {'jvp'},
            'e': {'jvp'}}
