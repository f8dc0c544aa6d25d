"""Predict: which values are tracers?

In a differentiated program some values are tracers, and the others are plain
NumPy. Here are eight expressions of `x`, a tracer that stands for the array
[1, 2]. Which of them are tracers? Return their names. It's worth knowing,
because a plain value can be used anywhere, even in an `if`.
"""

import numpy as np

HINTS = (
    'Look at `pack`, at the end of `JVPTrace`. When does it make a tracer, '
    'and when does it return the primal?',
    'It asks whether the tangent is None, and doesn\'t look at its numbers. '
    'Which rules return None: those of a comparison? The rule of a product '
    'with 0?',
)


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
    # e.g. {'comparison', 'shape'}
    raise NotImplementedError('exercise e02_4: write the names here')
