"""Predict: what comes out as a tracer?

In a differentiated program some values are tracers, and the others are plain
NumPy. Here are eight expressions of `x`, a tracer that stands for the array
[1, 2]. Which of them are tracers? Return their names. It is worth being
right: on a plain value Python may do whatever it likes.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Look at `join`, at the end of `JVPTrace`. When does it make a tracer, '
    'and when does it hand out the primal?',
    'It asks for the *type* of the tangent, not for its numbers. Who returns '
    'a `Zero`: the rule of a comparison? The rule of a product with 0?',
)

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
    # e.g. {'comparison', 'shape'}
    raise NotImplementedError('exercise e02_4: write the names here')
