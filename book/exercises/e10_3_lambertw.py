"""Predict: what does reverse mode need for your row?

Here's the row of Lambert's W with the rules that you wrote. It has no
transpose rule, and `w * exp(w) = x` isn't linear. Which rule should we write
so that `grad` works?

For each of the five programs below, predict which rules of `lambertw_p` are
asked for: 'jvp', 'vmap', 'transpose'.
"""

import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.core import Primitive
from autodiff_mini.draft.jvp import defjvp
from autodiff_mini.draft.vmap import vmap_rules

HINTS = (
    '`grad` linearizes first. Which rule replaces `lambertw_p` with its '
    'slope, and what does the linear program contain after that?',
    'Program b batches the pullback, which runs a linear program. Does that '
    'program contain `lambertw_p`?',
)


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
    # for example {'a': {'jvp', 'transpose'}, 'b': set(), 'c': set(),
    #              'd': set(), 'e': set()}
    raise NotImplementedError('exercise e10_3: write the rules here')
