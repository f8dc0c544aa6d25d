"""Random programs of signs: masks, steps, and products of negative numbers.

A program is a list of statements. It returns the results that no statement
uses, so most results have one use, as in the gradient of a sum.
"""

import random

import numpy as np

from tests.tables.random_numbers import EDGES, MILD

SHAPES = [(1,), (3,), (7,), (2, 2), (3, 3)]
TESTS = [np.less, np.equal, np.greater, np.less_equal, np.greater_equal,
         np.not_equal]
ZEROS = [0, 0.0, -0.0]
FACTORS = [1.0, 0.5, 2.0, -1.0, -3.0, 1, -0.0, 0.1, 1e300]


def step(x, test, zero, number, rest, factor):
    return np.where(test(x, zero), number, rest) * factor


def two_steps(w, x, first, second, kind='sum'):
    """Add two steps to a value that depends on the sign of `x`.

    Or subtract the second, or add them to a value that is not NaN where `x`
    is, because the sign is hidden.
    """
    sign = np.sign(x)
    w = np.where(sign > 2, x, w) if kind == 'hidden' else w * sign
    both = w + step(x, *first), step(x, *second)
    return both[0] - both[1] if kind == 'difference' else both[0] + both[1]


def two_masks(w, x, y, tests, zero, is_second):
    """Select where both tests are true, or only the second."""
    inner = np.where(tests[1](x, y), w, zero)
    return np.where(tests[0](x, y), *(
        [zero, inner] if is_second else [inner, zero]))


def soft(x):
    return np.maximum(x, 0.0) + np.log1p(np.exp(-abs(x)))


# By name: how many operands there are, and a function of them, and of what is
# static.
STATEMENTS = {
    'neg': (1, lambda x: -x), 'abs': (1, abs), 'sign': (1, np.sign),
    'tanh': (1, np.tanh), 'relu': (1, lambda x: np.maximum(x, 0.0)),
    'least': (1, lambda x: np.minimum(x, 0)), 'soft': (1, soft),
    'flipped': (1, lambda x: x.T), 'scaled': (1, lambda x, y: x * y),
    'add': (2, lambda x, y: x + y), 'sub': (2, lambda x, y: x - y),
    'mul': (2, lambda x, y: x * y), 'div': (2, lambda x, y: x / y),
    'less': (2, lambda x, y: x + -y), 'against': (2, lambda x, y: -x - -y),
    'minus': (3, lambda x, y, z: -x * y + z),
    'more': (3, lambda x, y, z: x - -y / z), 'step': (1, step),
    'two_steps': (2, two_steps), 'two_masks': (3, two_masks),
}
OFTEN = ['neg', 'minus', 'more', 'less', 'two_masks', 'soft']


class Signs:
    """A random program, and arguments for it.

    Args:
        seed: decides about all of it.
    """

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.seed, shape = seed, rng.choice(SHAPES)
        dtype = rng.choice([np.float64, np.float64, np.float32])
        values = MILD + (EDGES + 4 * [0.0, -0.0, np.nan]) * (
            rng.random() < 0.7)
        with np.errstate(all='ignore'):
            self.args = [
                np.array(rng.choices(values, k=np.prod(shape))).astype(
                    dtype).reshape(shape, order=rng.choice('CF'))
                for _ in range(2)]
        names = rng.choice([[*STATEMENTS, *OFTEN], ['two_steps', 'neg']])
        self.program = [self.statement(n, rng.choice(names))
                        for n in range(2, 2 + rng.randint(1, 6))]

    def statement(self, n, name):
        """Return a name, the places of the operands, and what is static."""
        rng = self.rng
        places = [max(rng.randrange(n), rng.randrange(n))
                  for _ in range(STATEMENTS[name][0])]
        return name, places, *self.static(name)

    def static(self, name):
        rng = self.rng
        if name == 'scaled':
            return [rng.choice(FACTORS)]
        if name == 'step':
            return self.step()
        if name == 'two_steps':
            steps = [self.step(), self.step()]
            if rng.random() < 0.8:      # like the derivatives of a maximum
                steps = self.halves()
            return *rng.sample(steps, 2), rng.choice(
                3 * ['sum'] + ['difference', 'hidden'])
        return [rng.sample(TESTS, 2), rng.choice(ZEROS),
                rng.random() < 0.5] if name == 'two_masks' else []

    def halves(self):
        """Return two steps, of which one is often half of the other."""
        rng = self.rng
        seldom = lambda: rng.choice(7 * [0] + [1.0])
        sides = rng.choice([np.less, np.greater]), np.equal
        if rng.random() < 0.3:
            sides = rng.sample(TESTS, 2)
        half = rng.choice([0.5, 0.1, 1, -0.5])
        if rng.random() < 0.2:
            half, sides = 0.1, (np.greater_equal, np.greater)
        number = 2.0 if sides[1] is np.equal else 1.0
        return [(sides[0], seldom(), number, seldom(), half),
                (sides[1], 0.0, 1.0, seldom(), half)]

    def step(self):
        rng = self.rng
        return (rng.choice(TESTS), rng.choice([*ZEROS, 0.5]),
                rng.choice([1.0, 2.0, 1]), rng.choice([*ZEROS, 1]),
                rng.choice(FACTORS))

    def __call__(self, *xs):
        values, used = [*xs], set()
        for name, places, *static in self.program:
            values.append(STATEMENTS[name][1](
                *[values[i] for i in places], *static))
            used.update(places)
        return [y for i, y in enumerate(values) if i > 1 and i not in used]

    def __repr__(self):
        lines = [f'program {self.seed} of {self.args}']
        return '\n    '.join(lines + list(map(str, self.program)))
