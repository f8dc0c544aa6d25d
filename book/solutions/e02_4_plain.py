"""A value is plain if its tangent is a *symbolic* zero. `x * 0.0` and `x - x`
do not move either. But the rules of product and difference do not look at
numbers, so they compute a tangent, and it happens to be full of zeros.
"""

import numpy as np

import autodiff_mini as ad

EXPRESSIONS = {
    'comparison': lambda x: x > 1.5,
    'choice': lambda x: np.where(x > 1.5, x, 0.0),
    'product with zero': lambda x: x * 0.0,
    'constant': lambda x: np.sin(2.0),
    'integers': lambda x: x.astype(int),
    'stopped': lambda x: ad.stop_gradient(x),
    'shape': lambda x: x.shape,
    'difference': lambda x: x - x,
}


def prediction():
    return {'choice', 'product with zero', 'difference'}
