"""Adding 2 moves nothing. Neither does the comparison, but its outcome is
kept, as an array of truth values. In `e` both products wait, because the
first one has the tangent in it: `x_dot * ((1 - y) * (1 + y))` would leave
one.
"""

import numpy as np

import autodiff_mini as ad


@ad.custom_jvp
def ruled(x):
    return np.tanh(x)


@ruled.defjvp
def ruled_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y = ruled(x)
    return y, x_dot * (1 - y) * (1 + y)


FUNCTIONS = {
    'a': lambda x: 3 * x + 2,
    'b': lambda x: np.exp(np.exp(x)),
    'c': lambda x: x * np.sin(x),
    'd': lambda x: np.where(x > 0, x, 0.0) / np.sum(np.ones(3)),
    'e': lambda x: ruled(x),
    'f': lambda x: np.sum(x) * x,
}


def prediction():
    return {
        'a': (['mul'], 0),
        'b': (['mul', 'mul'], 2),                   # the two exponentials
        'c': (['mul', 'mul', 'mul', 'add'], 3),     # cosine, sine, x
        'd': (['where', 'div'], 1),                 # the comparison
        'e': (['mul', 'mul'], 2),                   # 1 - y, 1 + y
        'f': (['reduce_sum', 'mul', 'mul', 'add'], 1),      # x
    }
