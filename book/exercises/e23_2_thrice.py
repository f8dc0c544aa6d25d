"""Predict: is it a batch?

`square` is a number times itself, and its rule says that a batch of squares
is three times the squares. Each of these programs returns a number. Would it
be the same without the rule? Predict all eight.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'The rule is used where the interpreter of a `vmap` is asked about '
    'the call and one of the operands has its batch axis. A loop isn\'t a '
    '`vmap`, whatever it loops over.',
    "A Jacobian or a Hessian is made of many tangents. How are they pushed "
    'forward?',
    'If two `vmap`s are nested, the inner one is asked first. What does the '
    'outer one see of the call after that?',
)

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
    # e.g. {'a': 4.0, 'b': 12.0, …}, with a number for each of a to h
    raise NotImplementedError('exercise e23_2: write your answers here')
