"""Random programs of single numbers and short vectors, of every dtype.

A program is a list of statements. Each one applies an operation to the
arguments and to earlier results, and the program returns all of them, so no
operation is dead. The body of a branch or a loop is such a program, too.
"""

import random
import warnings

import numpy as np

import autodiff_mini as ad
from tests.support.control_flow import unrolled

# Arguments

PYTHON = {'bool': bool, 'int': int, 'float': float, 'complex': complex}
CODES = ['?', 'i1', 'u1', 'i4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']
KINDS = [*CODES, *PYTHON, *3 * ['f8'], *2 * ['float']]
INTEGERS = [0, 1, 2, 3, 5, 100, -1, -2, -3]
MILD = [0.5, 1.0, -1.0, 2.0, -2.5, 0.75, 3.0, -0.3, 1.7]
EDGES = [0.0, -0.0, 1e200, -1e300, 6e4, -6e4, 5e-324, 1e-200, np.inf,
         -np.inf, np.nan]


def kind_of(x):
    return np.result_type(x).kind


def draw_number(rng, kind, values):
    """Return a number of a kind: NumPy's, by its code, or Python's."""
    dtype = np.dtype(PYTHON.get(kind, kind))
    if dtype.kind == 'b':
        x = rng.random() < 0.5
    elif dtype.kind in 'iu':
        x = rng.choice(INTEGERS)
        x = abs(x) if dtype.kind == 'u' else x
    else:
        x = rng.choice(values)
        x = complex(x, rng.choice(values)) if dtype.kind == 'c' else x
    with np.errstate(all='ignore'):
        return PYTHON.get(kind, dtype.type)(x)


def draw_value(rng, kind, size, values):
    """Return a vector of this size, or a number if the size is 0."""
    if not size or kind in PYTHON:
        return draw_number(rng, kind, values)
    return np.array([draw_number(rng, kind, values) for _ in range(size)])


# Functions with rules. Of the first three nothing is left when a program is
# simplified, and the rules of the last two are wrong on purpose.

same = ad.custom_jvp(lambda x: x)
same.defjvp(lambda p, t: (same(*p), t[0]))
peek = ad.custom_vjp(lambda x: x)
peek.defvjp(lambda x: (peek(x), None), lambda _, ct: (ct,))
once = ad.custom_jvp(lambda x: x * 1)
once.defjvp(lambda p, t: (once(*p), t[0]))
sine = ad.custom_jvp(lambda x: np.sin(x))
sine.defjvp(lambda p, t: (sine(*p), 3 * np.cos(p[0]) * t[0]))
lost = ad.custom_vjp(lambda x: x * 2)
lost.defvjp(lambda x: (lost(x), x), lambda x, ct: (ct * 5,))

# Operations. The type of a power of Python's numbers depends on their values,
# and NumPy has two functions for the absolute value of a complex number. Only
# its operators, not its functions, warn of the overflow of a single integer.

def strong(x):
    """Return `x`, as a NumPy number if it is a Python number."""
    return np.asarray(x, dtype=np.result_type(x))[()]


def power(x, y):
    """Traced arrays multiply for a small integer, NumPy's do not."""
    y = y if kind_of(x) in 'fc' else magnitude(y)
    return strong(x) ** (float(y) if np.ndim(x) and type(y) is int and (
        kind_of(x) == 'f') else y)


def in_order(x):
    return np.real(x) if kind_of(x) == 'c' else x


def magnitude(x):
    return np.hypot(np.real(x), np.imag(x)) if kind_of(x) == 'c' else abs(x)


def cast(x, dtype):
    """Convert with the method of an array."""
    if kind_of(x) == 'c' and np.dtype(dtype).kind != 'c':
        x = np.real(x)
    return strong(x).astype(dtype)


def as_array(x, dtype):
    """Convert with a function, which refuses numbers out of bounds."""
    return np.asarray(x, dtype=dtype)[()]


UNARY = {
    'neg': lambda x: -x, 'invert': lambda x: ~x, 'square': lambda x: x * x,
    'pos': lambda x: +x if kind_of(x) in 'bfc' else x, 'abs': magnitude,
    'real': lambda x: np.real(strong(x)),
    **{name: getattr(np, name) for name in (
        'sqrt', 'sin', 'cos', 'exp', 'tanh', 'log', 'sign', 'reciprocal',
        'isfinite', 'isnan', 'signbit', 'floor', 'conj', 'logical_not',
        'rint', 'arctan')},
    'same': same, 'peek': peek, 'once': once, 'sine': sine, 'lost': lost,
}
BINARY = {
    'add': lambda x, y: x + y, 'sub': lambda x, y: x - y,
    'mul': lambda x, y: x * y, 'div': lambda x, y: x / y,
    'floordiv': lambda x, y: x // y, 'mod': lambda x, y: x % y,
    'pow': power,
    'lt': lambda x, y: in_order(x) < in_order(y),
    'le': lambda x, y: in_order(x) <= in_order(y),
    'gt': lambda x, y: in_order(x) > in_order(y),
    'ge': lambda x, y: in_order(x) >= in_order(y),
    'eq': lambda x, y: x == y, 'ne': lambda x, y: x != y,
    'and': lambda x, y: x & y, 'or': lambda x, y: x | y,
    'xor': lambda x, y: x ^ y, 'lshift': lambda x, y: x << (y & 7),
    'rshift': lambda x, y: x >> (y & 7),
    **{name: getattr(np, name) for name in (
        'maximum', 'minimum', 'arctan2', 'hypot', 'copysign', 'logical_and',
        'logical_or', 'logical_xor', 'fmax')},
}
OFTEN = ['add', 'sub', 'mul', 'mul', 'div', 'pow', 'lt', 'gt', 'maximum',
         'minimum', 'and', 'xor']
LITERALS = [0, 1, 2, 3, -1, 0.5, 1.0, 2.0, -1.0, 0.0, -0.0, True, False,
            np.float64(2.0), np.float32(0.5), np.int64(3), np.float16(1.0),
            np.complex64(1j)]
OF_VECTORS = {
    'first': lambda x: x[0], 'total': lambda x: np.sum(x),
    # A function of x[::-1] itself can have other bits in NumPy.
    'flipped': lambda x: np.stack(list(x[::-1])), 'twice': lambda x: np.stack([x, x])[1],
    'column': lambda x: np.reshape(x, (-1, 1))[:, 0],
}
OPERATIONS = UNARY | BINARY | {'where': np.where} | {
    name: lambda x, f=f: f(x) if np.ndim(x) else x
    for name, f in OF_VECTORS.items()}
CASTS = {'cast': cast, 'asarray': as_array}
DTYPES = [*CODES, *2 * [bool, float, int]]


# Bodies

class twin(unrolled):
    """Python's control flow. The branch that is not taken is run, too.

    Staging it finds its wrong types. An error about values can hide them.
    """

    is_unsure = False

    @staticmethod
    def cond(pred, true_fun, false_fun, *operands):
        taken, other = [true_fun, false_fun] if pred else [
            false_fun, true_fun]
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.simplefilter('ignore')
            try:
                other(*operands)
            except (ArithmeticError, ValueError):
                twin.is_unsure = True
        return taken(*operands)


def fit(y, x):
    """Return `y` with the shape and the dtype of `x`."""
    if np.ndim(y) > np.ndim(x):
        y = y[0]
    if np.ndim(x) > np.ndim(y):
        y = np.stack([y] * np.shape(x)[0])
    return cast(y, np.result_type(x))


def step_of(lib, body, x):
    """Return a function of two values whose result is like `x`."""
    return lambda c, y: fit(run(lib, body, [c, y])[-1], x)


def cond(lib, test, x, y, yes, no):
    x = strong(x)
    return lib.cond(np.sum(magnitude(test)) > 1.5, step_of(lib, yes, x),
                    step_of(lib, no, x), x, y)


def scan(lib, x, y, body, steps, reverse):
    x, rows = strong(x), np.stack([y] * steps)
    step = step_of(lib, body, x)
    c, ys = lib.scan(lambda c, y: (step(c, y), c), x, rows, reverse=reverse)
    return np.sum(ys[-1]) + np.sum(c)


def fori_loop(lib, x, y, body, steps):
    x = strong(x)
    step = step_of(lib, body, x)
    return lib.fori_loop(0, steps, lambda i, c: step(c, y), x)


def while_loop(lib, x, y, body, steps):
    """The counter is a float in some programs, which can run on floats."""
    x = strong(x)
    step, zero = step_of(lib, body, x), 0 if steps == 3 else 0.0
    return lib.while_loop(lambda s: s[0] < steps, lambda s: (
        s[0] + 1, step(s[1], y)), (zero, x))[1]


WEAK = {    # steps that leave a Python number one
    'double': lambda c: c * 2, 'more': lambda c: c + 1, 'neg': lambda c: -c,
    'square': lambda c: c * c if kind_of(c) in 'fc' else c, 'twice': lambda c: (c + c) * 1,
    'same': lambda c: c, 'peek': peek, 'once': once, 'swap': lambda c: 1 - c,
}


def weak_scan(lib, x, step, steps):
    """Return the last carry, which can be a Python number."""
    x = x + 1 if kind_of(x) == 'b' else x
    return lib.scan(lambda c, _: (WEAK[step](c), c), x, None, steps)[0]


ROWS = [lambda y: y, lambda y: y * 2, lambda y: y * -3, lambda y: y / 3]


def added(lib, x, y, steps, reverse):
    """Return a carry that only adds up rows."""
    x, rows = strong(x), np.stack([f(y) for f in ROWS[:steps]])
    return lib.scan(lambda c, y: (c + fit(y, x), None), x, rows,
                    reverse=reverse)[0]


NESTED = {'cond': cond, 'scan': scan, 'fori_loop': fori_loop,
          'while_loop': while_loop, 'weak_scan': weak_scan, 'added': added}


def run(lib, program, values):
    """Return the arguments and the results of all statements.

    Args:
        lib: the control flow: the library, or `twin`.
        program: a list of statements: the name of an operation, the places
            of its operands, where a tuple holds a literal, and what is
            static.
        values: the arguments.
    """
    values = list(values)
    for name, places, *static in program:
        xs = [values[i] if type(i) is int else i[0] for i in places]
        if name in NESTED:
            values.append(NESTED[name](lib, *xs, *static))
        else:
            values.append((OPERATIONS | CASTS)[name](*xs, *static))
    return values


class Numbers:
    """A random program, and two lists of arguments of the same types.

    Args:
        seed: decides about all of it.
        reverse: whether reverse mode must work, which excludes while_loop.
    """

    def __init__(self, seed, reverse=False):
        rng = self.rng = random.Random(seed)
        self.seed, self.reverse = seed, reverse
        size = rng.choice([0, 0, 0, 1, 2, 3])
        values = MILD + EDGES * (rng.random() < 0.25)
        kinds = [rng.choice(KINDS) for _ in range(2)]
        sizes = [size * (rng.random() < 0.7) for _ in kinds]
        self.args, self.others = (
            [draw_value(rng, *each, values) for each in zip(kinds, sizes)]
            for _ in range(2))
        self.program = self.draw(rng.randint(1, 5), 2, False)

    def draw(self, length, depth, inside=True):
        """Return a program of two arguments.

        In a body, each statement uses the last result, so none is dead.
        """
        return [self.statement(n, depth, inside)
                for n in range(2, 2 + length)]

    def statement(self, n, depth, inside):
        rng, share = self.rng, self.rng.random()
        recent = lambda: max(rng.randrange(n), rng.randrange(n))
        first = n - 1 if inside else recent()

        def other():
            return recent() if rng.random() < 0.75 else (
                rng.choice(LITERALS),)
        if share < 0.3:
            return rng.choice([*UNARY]), (first,)
        if share < 0.6:
            places = [first, other()]
            rng.shuffle(places)
            return rng.choice([*OFTEN, *BINARY]), tuple(places)
        if share < 0.7:
            return rng.choice([*CASTS]), (first,), rng.choice(DTYPES)
        if share < 0.76:
            return 'where', (first, other(), other())
        if share < 0.82 or not depth:
            return rng.choice([*OF_VECTORS]), (first,)
        return self.nested(first, recent, depth - 1)

    def nested(self, first, recent, depth):
        rng, steps = self.rng, self.rng.choice([1, 2, 3, 3, 9])
        body = lambda: self.draw(rng.randint(1, 3), depth)
        name = rng.choice([*NESTED])
        if name == 'cond':
            return name, (first, recent(), recent()), body(), body()
        if name == 'weak_scan':
            return name, (first,), rng.choice([*WEAK]), steps
        if name == 'added':
            steps = min(steps, 4)
            return name, (recent(), first), steps, rng.random() < 0.5
        if name == 'scan':
            return name, (first, recent()), body(), steps, rng.random() < 0.5
        if name == 'while_loop' and self.reverse:
            name = 'fori_loop'
        return name, (first, recent()), body(), steps

    def of(self, lib):
        """Return the program as a function."""
        return lambda *xs: run(lib, self.program, xs)

    def __repr__(self):
        lines = [f'program {self.seed} of {self.args} or {self.others}']
        return '\n    '.join(lines + list(map(str, self.program)))


# Comparison

class Outcome:
    """What a function returns or raises, and the kinds of its warnings."""

    def __init__(self, f, args):
        self.error, self.leaves, twin.is_unsure = None, [], False
        with warnings.catch_warnings(record=True) as caught, \
                np.errstate(all='warn', under='ignore'):
            warnings.simplefilter('always')
            try:
                self.leaves = ad.tree_leaves(f(*args))
            except (ArithmeticError, TypeError, ValueError) as error:
                self.error = error
        self.said = {(w.category, str(w.message).split(' encountered')[0])
                     for w in caught}


def difference(actual, expected, digits=False, dead=False, zeros=False):
    """Return how two outcomes differ, in words, or None.

    Args:
        actual, expected: the outcomes.
        digits: whether the last digits can differ.
        dead: whether an error or a warning can be missing.
        zeros: whether a result can be NaN, with a warning.
    """
    if expected.error and (dead or actual.error):
        return None     # two errors can be found in another order
    if actual.error:
        return None if twin.is_unsure else f'raises {actual.error!r}'
    if expected.error:
        return f'does not raise {expected.error!r}'
    pairs = zip(actual.leaves, expected.leaves, strict=True)
    for i, (x, y) in enumerate(pairs):
        x, y = (z[()] if isinstance(z, np.ndarray) else z for z in (x, y))
        if (type(x), kind_of(x), np.shape(x)) != (
                type(y), kind_of(y), np.shape(y)):
            return f'[{i}] is {x!r}, not {y!r}'
        x, y = np.asarray(x), np.asarray(y)
        same = equal(x, y, digits)
        if zeros and x.dtype.kind == 'f':
            same |= np.isnan(x)
        if x.dtype != y.dtype or not np.all(same):
            return f'[{i}] is {x!r}, not {y!r}'
    if not zeros and (actual.said - expected.said or not dead
                      and actual.said != expected.said):
        return f'warns of {actual.said}, not {expected.said}'
    return None


def equal(x, y, digits=False):
    """Return where numbers are equal, the signs of zeros included.

    NumPy multiplies an array of complex numbers with other instructions.
    """
    if x.dtype.kind == 'c':
        return equal(x.real, y.real, True) & equal(x.imag, y.imag, True)
    if x.dtype.kind != 'f':
        return x == y
    with np.errstate(all='ignore'):
        same = np.isnan(x) & np.isnan(y)
        if not digits:
            return same | (x == y) & (np.signbit(x) == np.signbit(y))
        scale = np.max(np.abs(y), initial=1, where=np.isfinite(y))
        near = np.abs(x - y) <= 1000 * np.finfo(x.dtype).eps * scale
    return same | (x == y) | near
