"""`np.cos` of a Python float returns an `np.float64`, which insists on its
dtype. So the rate turned the velocities into float64, and the velocities
turned the weights. `np.pi`, 0.9, `len(…) ** 0.5`, and 1e-5 are Python
numbers, which take on the dtype of the array they meet.
"""

import math

import numpy as np

import autodiff_mini as ad

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
    rate = 0.05 * (1 + math.cos(np.pi * step / STEPS))
    slopes = ad.grad(loss)(weights)
    velocities = ad.tree_map(lambda v, slope: 0.9 * v - rate * slope,
                             velocities, slopes)
    weights = ad.tree_map(np.add, weights, velocities)
    return weights, velocities
