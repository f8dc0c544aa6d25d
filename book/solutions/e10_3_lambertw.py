"""The square stays empty, and the row is complete. The rule of forward mode
is asked, and what it does to the tangent is a product with a number. Only
that product is transposed. So a primitive that is not linear needs nothing
new for reverse mode, whatever the order of the derivative; and `check_grads`
agrees.

The abstract rule is asked only if the primals are written down as well. And
`jacrev` maps over the product, and not over the function.
"""

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core import Primitive
from autodiff_mini.interpreters.abstract import defabstract
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.vmap import defelementwise


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
    return {'a': {'jvp'}, 'b': {'jvp'}, 'c': {'jvp', 'vmap'},
            'd': {'jvp', 'abstract'}, 'e': {'jvp'}}
