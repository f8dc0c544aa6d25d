"""The hard points in real JAX: equal slopes, or the table says why not.

Run it with `make test-jax`; without JAX it is skipped.
"""

from functools import partial

import numpy as np
import pytest

from tests.support.point_slopes import SLOPED, is_complex, pull
from tests.support.real_jax import by_version, jax
from tests.tables.hard_points import POINTS
from tests.tables.programs import is_inexact

pytestmark = [pytest.mark.rest, pytest.mark.filterwarnings('ignore'),
              pytest.mark.usefixtures('silent')]

ASKED = [point for point in POINTS
         if point.jax and not is_complex(point)]


# Points where JAX no longer differs, and where it now differs.
REPAIRED = by_version({'0.10.2': set(), '0.12': {
    'arccosh-at -1.0', 'arccosh-at 1e+300', 'arccosh-at -1e+300',
    'arccosh-at -inf', 'arcsinh-at 1e+300', 'arcsinh-at -1e+300',
    'hypot-at 1e+300, 1e+300', 'hypot-at 1e-300, 1e-300'}})
BROKEN = by_version({'0.10.2': set(), '0.12': {
    'det-overflow'}})   # inf and nan, where the slopes are 1e300 and 0


def asked(point):
    """Return JAX's value and, if the result has slopes, its slopes."""
    f = partial(point.function, jax.numpy)
    args = [x if isinstance(x, float) else jax.numpy.asarray(x)
            for x in point.args]
    if point not in SLOPED:
        return f(*args), []
    where = [i for i, x in enumerate(point.args) if is_inexact(x)]

    def of_inexact(*xs):
        both = dict(zip(where, xs))
        return f(*[both.get(i, x) for i, x in enumerate(args)])

    y, pull = jax.vjp(of_inexact, *[args[i] for i in where])
    return y, pull(jax.numpy.ones_like(y))


def agree(xs, ys):
    """Return whether values agree; JAX does not keep the sign of zero."""
    return all(np.shape(x) == np.shape(y)
               and np.allclose(x, y, 1e-13, 0, equal_nan=True)
               for x, y in zip(xs, ys, strict=True))


@pytest.mark.parametrize('point', ASKED, ids=str)
def test_jax_agrees_where_the_table_does_not_say_why(point):
    y, slopes = asked(point)
    ours = [x_bar for x, x_bar in zip(point.args, pull(point))
            if is_inexact(x)] if point in SLOPED else []
    same = agree([point.function(np, *point.args), *ours], [y, *slopes])
    differs = bool(point.why) or str(point) in BROKEN
    assert same == (not differs or str(point) in REPAIRED), (ours, y, slopes)


def test_every_point_whose_answer_changed_is_in_the_table():
    assert REPAIRED <= {str(point) for point in ASKED if point.why}
    assert BROKEN <= {str(point) for point in ASKED if not point.why}
