"""A value is plain if its tangent is None. `x * 0.0` and `x - x` don't change
with `x` either. But their rules don't look at numbers, so they compute a
tangent, which happens to be full of zeros. The mask is chosen between two
constants by a comparison, and neither has a tangent.
"""

import numpy as np


EXPRESSIONS = {
    'comparison': lambda x: x > 1.5,
    'choice': lambda x: np.where(x > 1.5, x, 0.0),
    'mask': lambda x: np.where(x > 1.5, 1.0, 0.0),
    'product with zero': lambda x: x * 0.0,
    'constant': lambda x: np.sin(2.0),
    'shape': lambda x: x.shape,
    'length': lambda x: np.sum(x - x + 1.0),
    'difference': lambda x: x - x,
}


def prediction():
    return {'choice', 'product with zero', 'length', 'difference'}
