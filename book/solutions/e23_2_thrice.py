"""A loop calls the function for one number at a time, in `a` and in `b`, and
so there's no batch. In `d` there's a batch, but the operand of the call isn't
in it, so the call stays a call and ends with its function.

`c` is the program in which the draft lost the rule. In `e` the rule is used
twice, for 12 and then for three times its square. In `f` it's used once. The
inner `vmap` takes the rule, and the outer one is asked about the products in
it.

`g` is a second derivative without a batch. `h` is the same second
derivative, but a Hessian pushes a batch of tangents forward, even if the
batch has one element.
"""

import numpy as np

import autodiff_mini as ad

TWOS = np.array([2.0, 2.0])

square = ad.custom_vmap(lambda x: x * x)
square.def_vmap(lambda axis_size, in_batched, x: (3 * x * x, True))


def slope(x):
    return ad.jvp(square, (x,), (1.0,))[1]


PROGRAMS = {
    'a': lambda: np.stack([square(x) for x in TWOS])[0],
    'b': lambda: ad.scan(lambda c, x: (c, square(x)), 0.0, TWOS)[1][0],
    'c': lambda: ad.vmap(slope)(TWOS)[0],
    'd': lambda: ad.vmap(lambda x, y: x - square(y), (0, None))(TWOS, 2.0)[0],
    'e': lambda: ad.vmap(lambda x: square(square(x)))(TWOS)[0],
    'f': lambda: ad.vmap(ad.vmap(square))(np.stack([TWOS, TWOS]))[0, 0],
    'g': lambda: ad.grad(slope)(2.0),
    'h': lambda: ad.hessian(square)(2.0),
}


def prediction():
    return {'a': 4.0, 'b': 4.0, 'c': 12.0, 'd': -2.0, 'e': 432.0, 'f': 12.0,
            'g': 2.0, 'h': 6.0}
