"""Functions with rules for reverse mode that are wrong on purpose.

Most rules say three times the truth, so a result shows whether its rule was
used.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace


def custom(f, fwd, bwd, *argnums, **options):
    """Return `f` with a rule for reverse mode."""
    f = ad.custom_vjp(f, nondiff_argnums=argnums)
    f.defvjp(fwd, bwd, **options)
    return f


@ad.custom_vjp
def square(x):
    """Return x^2; the rule says 3x, and the truth is 2x."""
    return x * x


square.defvjp(lambda x: (square(x), x), lambda x, ct: (3 * x * ct,))


def refused(f, words, error=TypeError, x=3.0):
    """Assert that grad of `f` is a named error, and the library still works.
    """
    with pytest.raises(error, match=f'(?s){words}') as info:
        ad.grad(f)(x)
    assert current_trace() is Trace.base
    assert ad.grad(square)(1.0) == 3.0
    return info.value


def scale(a, x):
    return (a['w'] if isinstance(a, dict) else a) * x


def held(kind):
    """Return a function with a nondiff argument, and the factor of its rules.
    """
    f = (ad.custom_jvp if kind == 'jvp' else ad.custom_vjp)(
        scale, nondiff_argnums=0)
    if kind != 'vjp':
        f.defjvp(lambda a, p, t: (f(a, *p), 5 * scale(a, t[0])))
    if kind != 'jvp':
        f.defvjp(lambda a, x: (f(a, x), None),
                 lambda a, r, ct: (3 * scale(a, ct),))
    return f, {'jvp': 5}.get(kind, 3)


@ad.custom_vjp
def both(x, y):
    """The forward rule says three times the truth, the reverse rule five."""
    return np.sin(x) * y


both.defjvp(lambda p, t: (both(*p), 3 * (
    np.cos(p[0]) * p[1] * t[0] + both(p[0], 1.0) * t[1])))
both.defvjp(lambda x, y: (both(x, y), (x, y)),
            lambda r, ct: (5 * ct * np.cos(r[0]) * r[1],
                           5 * gather(ct * both(r[0], 1.0), r[1])))


@ad.custom_vjp
def back(x, y):
    """It has only a backward rule."""
    return np.sin(x) * y


back.defvjp(lambda x, y: (back(x, y), (np.cos(x), back(x, 1.0), y)),
            lambda r, ct: (3 * ct * r[0] * r[2], gather(ct * r[1], r[2])))


def gather(ct, y):
    """Return the cotangent of a value that was broadcast from `y`."""
    return ct if np.shape(ct) == np.shape(y) else np.sum(ct)
