"""Your row, the last square: what does reverse mode need?

Here is the row of Lambert's W, with the three squares that you wrote, and a
fourth that is empty: it has no transpose rule. What rule should one write
there, so that `grad` works? `w * exp(w) = x` is not linear.

Below are five programs. Predict for each of them which rules of `lambertw_p`
are asked for: 'jvp', 'vmap', 'abstract', 'transpose'.
"""

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defabstract
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.vmap import defelementwise

HINTS = (
    '`grad` linearizes first. Which rule takes `lambertw_p` to its slope, '
    'and what is in the linear program afterwards?',
    'The abstract rule is asked when an equation is written down. In '
    '`grad`, are the equations of the primals written down?',
    '`jacrev` maps over cotangents. The pullback that it maps is a linear '
    'program: is there a `lambertw` in it?',
)


def implementation(x):
    w = np.log1p(x)
    for _ in range(20):
        w = w - (w - x * np.exp(-w)) / (1 + w)
    return w


lambertw_p = Primitive('lambertw', implementation)
defjvp(lambertw_p, lambda x_dot, w, x: np.exp(-w) / (1 + w) * x_dot)
defelementwise(lambertw_p)
defabstract(lambertw_p)


def lambertw(x):
    return lambertw_p.bind(x)


def total(xs):
    return np.sum(lambertw(xs))


PROGRAMS = {
    'a': lambda xs: ad.grad(total)(xs),
    'b': lambda xs: ad.jacrev(lambertw)(xs),
    'c': lambda xs: ad.grad(lambda xs: np.sum(ad.vmap(lambertw)(xs)))(xs),
    'd': lambda xs: ad.make_jaxpr(ad.grad(total))(xs),
    'e': lambda xs: ad.check_grads(lambertw, (xs,), order=2),
}


def prediction():
    # e.g. {'a': {'jvp', 'transpose'}, 'b': set(), 'c': set(), 'd': set(),
    #       'e': set()}
    raise NotImplementedError('exercise e10_3: write the rules here')
