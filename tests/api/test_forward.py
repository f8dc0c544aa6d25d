"""Guard forward.py: `jvp` for users, over trees.

D10 is a row of the page what_the_documents_ask.
"""

from collections import OrderedDict, namedtuple

import numpy as np

import autodiff_mini as ad
from tests.support.numerical import assert_same

Circle = namedtuple('Circle', 'center radius')


def test_tangents_of_several_arguments_add_up():
    f = lambda x, y: x * y + y
    assert ad.jvp(f, (2.0, 3.0), (1.0, 0.0)) == (9.0, 3.0)
    assert ad.jvp(f, [2.0, 3.0], [1.0, 1.0]) == (9.0, 6.0)
    assert ad.jvp(lambda: 3.0, (), ()) == (3.0, 0.0)


def test_jvp_takes_and_returns_trees():
    """D10: arguments and results are any containers; None has no leaf."""
    def area(circle, options):
        x, y = circle.center
        return {'area': options['pi'] * circle.radius**2, 'none': None,
                'sum': [x + y, OrderedDict(b=x, a=y)]}

    primals = (Circle((1.0, 2.0), 3.0), {'pi': 3.0, 'log': None})
    tangents = (Circle((0.5, 0.0), 1.0), {'pi': 0.0, 'log': None})
    y, y_dot = ad.jvp(area, primals, tangents)
    assert y == {'area': 27.0, 'none': None,
                 'sum': [3.0, OrderedDict(b=1.0, a=2.0)]}
    assert y_dot == {'area': 18.0, 'none': None,
                     'sum': [0.5, OrderedDict(b=0.5, a=0.0)]}
    assert type(y_dot['sum'][1]) is OrderedDict


def test_outputs_can_repeat_be_inputs_or_have_no_leaves():
    assert ad.jvp(lambda x: (x, x, 1.0), (2.0,), (3.0,)) == (
        (2.0, 2.0, 1.0), (3.0, 3.0, 0.0))
    assert ad.jvp(lambda x: None, (1.0,), (1.0,)) == (None, None)


def test_has_aux_passes_the_second_output_on():
    y, y_dot, (twice, text, f) = ad.jvp(
        lambda x: (x * x, (2 * x, 'text', np.sin)), (3.0,), (1.0,),
        has_aux=True)
    assert (y, y_dot, text, f) == (9.0, 6.0, 'text', np.sin)
    assert_same(twice, 6.0)


def test_weak_tangents_take_the_dtype_of_the_primal():
    for x, t, expected in ((np.float32(2), 1.0, np.float32(1)),
                           (2.0, 1, 1.0), (2.0, np.float64(1), 1.0),
                           (np.float64(2), 1.0, np.float64(1)),
                           (2j, 1, 1 + 0j)):
        assert_same(ad.jvp(lambda x: x, (x,), (t,))[1], expected)


def test_primals_and_tangents_can_be_read_only():
    t = np.broadcast_to(1.0, (3,))
    x = np.arange(3.)
    x.flags.writeable = False
    _, y_dot = ad.jvp(lambda x: np.sin(x) * 2, (x,), (t,))
    np.testing.assert_array_equal(y_dot, 2 * np.cos(x))
