"""Cold case: the line that promotes.

The report: "I train in float32. After the first step, my weights are float64.
The data is float32, the loss is float32, and I've never asked for float64
anywhere." Find the line that does, and change it. The weights and the
velocities should stay float32, and so should everything that's computed in
between, so converting them at the end of a step isn't enough.
"""

import numpy as np

import autodiff_mini as ad

HINTS = (
    'Print the dtype of every value in `loss` and in `update`. A Python '
    'number has none, and is innocent.',
    '`np.pi` is a Python float. What\'s the type of a cosine of one?',
    'NumPy\'s functions return NumPy numbers, even for Python numbers, and a '
    'NumPy number insists on its dtype. The functions in `math` return '
    'Python numbers.',
)

STEPS = 200
x = np.linspace(-2.0, 2.0, 40, dtype=np.float32)
y = np.sin(np.pi * x / 2)


def start(units=6):
    """Return the first weights, and their velocities."""
    weights = {'in': np.linspace(-1, 1, units, dtype=np.float32),
               'shift': np.zeros(units, np.float32),
               'out': np.ones(units, np.float32)}
    return weights, ad.tree_map(np.zeros_like, weights)


def loss(weights):
    hidden = np.tanh(np.outer(x, weights['in']) + weights['shift'])
    error = hidden @ weights['out'] / len(weights['out']) ** 0.5 - y
    return np.mean(error * error) + 1e-5 * np.sum(weights['out'] ** 2)


def update(step, weights, velocities):
    """Return the weights and the velocities after another step."""
    rate = 0.05 * (1 + np.cos(np.pi * step / STEPS))
    slopes = ad.grad(loss)(weights)
    velocities = ad.tree_map(lambda v, slope: 0.9 * v - rate * slope,
                             velocities, slopes)
    weights = ad.tree_map(np.add, weights, velocities)
    return weights, velocities

# exercise e21_1: find the line, and change it.
