"""Functions with JVP rules that are wrong on purpose.

Most rules say three times the truth, so a result shows whether its rule was
used.
"""

import numpy as np

import autodiff_mini as ad
from tests.support.transforms import X


def custom(f, rule, *argnums, **options):
    """Return `f` with a rule."""
    f = ad.custom_jvp(f, nondiff_argnums=argnums)
    f.defjvp(rule, **options)
    return f


@ad.custom_jvp
def square(x):
    """Return x^2; the rule says 3x, and the truth is 2x."""
    return x * x


@square.defjvp
def square_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    return square(x), 3 * x * x_dot


@ad.custom_jvp
def sine(x):
    return np.sin(x)


sine.defjvps(lambda t, y, x: 10 * np.cos(x) * t)


@ad.custom_jvp
def power(x):
    """Return e^x, whose rule calls it again and says twice its value."""
    return np.exp(x)


power.defjvps(lambda t, y, x: 2 * power(x) * t)


def branching(x):
    return x if x > 0 else -2 * x


def branching_rule(primals, tangents):
    (x,), (t,) = primals, tangents
    return branching(x), 3 * t if x > 0 else -5 * t


ODD_THINGS = {
    'string': 'text', 'none': None, 'function': np.sin, 'list': [1, 'a'],
    'set': {1, 2}, 'class': dict, 'dtype': np.dtype(int),
    'string_array': np.array(['a']), 'objects': np.array([None]),
    'dict': {'a': [1, {2}]}, 'unsortable': {1: 'a', 'b': 2}, 'array': X,
    'module': np, 'ellipsis': ..., 'slice': np.s_[1:2]}


def lying(f):
    """Return a decorator that returns `f` with the decorated rule."""
    f = ad.custom_jvp(f)
    return lambda rule: f.defjvp(rule) and f


@lying(lambda x: np.sin(x))
def custom_sin(primals, tangents):
    return custom_sin(*primals), 3 * custom_cos(*primals) * tangents[0]


@lying(lambda x: np.cos(x))
def custom_cos(primals, tangents):
    return custom_cos(*primals), 2 * custom_sin(*primals) * tangents[0]


@lying(lambda x, y: x * np.sin(y))
def custom_product(primals, tangents):
    (x, y), (x_dot, y_dot) = primals, tangents
    terms = 3 * x_dot * np.sin(y) + x * y_dot
    return custom_product(x, y), terms
