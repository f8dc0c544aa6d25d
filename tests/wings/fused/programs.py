"""Random programs of arrays, and a comparison to the bit."""

import random
import warnings

import numpy as np

import autodiff_mini as ad
from tests.tables.random_numbers import EDGES, MILD, Numbers, draw_value

SHAPES = [(40,), (9,), (3, 5), (17,), (1,), (12, 1), (20_000,)]
CODES = ['f8', 'f8', 'f8', 'f4', 'f4', '?', 'f8', 'f8', 'i8']
LITERALS = [0.5, 2.0, -1.0, 0.0, -0.0, 3, True, 1e300, -0.3, np.float64(2.0),
            np.float32(0.1), float('inf'), 2**60, 1e-310]
UNARY = ['neg', 'abs', 'sqrt', 'sign', 'floor', 'square', 'isfinite',
         'invert', 'real']
TESTS = ['lt', 'le', 'gt', 'ge', 'eq', 'ne', 'and', 'or', 'xor']


class Arrays(Numbers):
    """A random program of arrays, most of it arithmetic.

    Args:
        seed: decides about all of it.
        reverse: whether reverse mode must work.
    """

    def __init__(self, seed, reverse=False):
        super().__init__(seed, reverse)
        rng = self.rng = random.Random(-1 - seed)
        values = MILD + EDGES * (rng.random() < 0.3)
        shape = rng.choice(SHAPES)
        self.types = [(rng.choice(CODES), shape if rng.random() < 0.8 else ())
                      for _ in range(2)]
        self.args, self.others = (
            [self.array(*each, values) for each in self.types]
            for _ in range(2))
        self.program = self.draw(rng.randint(4, 12), 1, False)

    def array(self, code, shape, values):
        """Return an array of random numbers, some of them repeated."""
        x = draw_value(self.rng, code, 97 if shape else 0, values)
        return np.resize(x, shape) if shape else x

    def statement(self, n, depth, inside):
        rng, share = self.rng, self.rng.random()
        if inside or share < 0.12:
            return super().statement(n, depth, inside)

        def first():
            return max(rng.randrange(n), rng.randrange(n))

        def other():
            return first() if rng.random() < 0.75 else (rng.choice(LITERALS),)
        pair = tuple(rng.sample([first(), other()], 2))
        if share < 0.24:
            return rng.choice(['exp', 'tanh', 'sin', 'log']), (first(),)
        if share < 0.4:
            return rng.choice(UNARY), (first(),)
        if share < 0.52:
            return 'where', (first(), other(), other())
        if share < 0.65:
            return rng.choice(TESTS), pair
        if share < 0.73:
            return rng.choice(['maximum', 'minimum']), pair
        if share < 0.78:
            return 'cast', (first(),), rng.choice([float, 'f4', 'f8'])
        return rng.choice(['add', 'sub', 'mul', 'mul', 'div', 'div']), pair


class Exactly:
    """What a function returns or raises, its warnings, and calls of NumPy's
    error callback.

    Args:
        f: the function.
        args: its arguments.
        modes: what NumPy does about floating-point errors.
    """

    def __init__(self, f, args, **modes):
        self.error, self.leaves, called = None, [], []
        note = lambda kind, flag: called.append((kind, flag))
        with warnings.catch_warnings(record=True) as caught, \
                np.errstate(call=note, **modes):
            warnings.simplefilter('always')
            try:
                self.leaves = ad.tree_leaves(f(*args))
            except (ArithmeticError, TypeError, ValueError) as error:
                self.error = f'{type(error).__name__}: {error}'
        self.said = called + [
            (w.category.__name__, str(w.message)) for w in caught]

    def difference(self, other):
        """Return how another outcome differs, in words, or None.

        Two operations can find their errors in another order.
        """
        if bool(self.error) != bool(other.error):
            return f'{self.error} and not {other.error}'
        for i, pair in enumerate(zip(self.leaves, other.leaves)):
            x, y = map(np.asarray, pair)
            if (type(pair[0]), x.dtype, x.shape) != (
                    type(pair[1]), y.dtype, y.shape):
                return f'[{i}] is {pair[0]!r}, not {pair[1]!r}'
            if not np.array_equal(words(x), words(y)):
                return f'[{i}] is {x}, not {y}'
        if sorted(self.said) != sorted(other.said):
            return f'says {self.said}, not {other.said}'
        return None


def words(x):
    """Return the bits of an array, with one NaN for all."""
    if x.dtype.kind == 'c':
        return np.stack([words(x.real), words(x.imag)])
    if x.dtype.kind == 'f':
        x = np.where(x == x, x, np.nan).astype(x.dtype)
    return np.frombuffer(x.tobytes(), np.uint8)
