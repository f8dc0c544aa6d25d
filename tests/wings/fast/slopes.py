"""The derivatives of random programs of numbers."""

import numpy as np

import autodiff_mini as ad
from tests.tables.random_numbers import kind_of


def plainly(f):
    """Return `f`, which runs without the wing."""
    def plain_f(*args):
        with ad.plain():
            return f(*args)
    return plain_f


def floats(numbers, kinds='f'):
    """Return the positions of the arguments that can be differentiated."""
    return [i for i, x in enumerate(numbers.args) if kind_of(x) in kinds]


def total(f):
    """Return a function that adds up the floats among the results of `f`."""
    def total_f(*xs):
        ys = [np.real(y) for y in f(*xs) if kind_of(y) in 'fc']
        return sum(i * np.sum(np.where(np.isfinite(y), y, 0))
                   for i, y in enumerate(ys, 1))
    return total_f


def slope(numbers, lib=ad):
    """Return the value and the gradient of a program."""
    return ad.value_and_grad(total(numbers.of(lib)), tuple(floats(numbers)))


def along(numbers):
    """Return the derivative of a program along its arguments."""
    f, moving = numbers.of(ad), floats(numbers, 'fc')

    def derivative(*xs):
        def of_moving(*ys):
            both = {**dict(enumerate(xs)), **dict(zip(moving, ys))}
            return f(*map(both.get, range(len(xs))))
        ys = tuple(xs[i] for i in moving)
        return ad.jvp(of_moving, ys, ys)
    return derivative
