import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.calls import call_p


def check(exercise, f, *args, left):
    """Check which equations are left, and that they compute the same."""
    before = ad.make_jaxpr(f)(*args)
    text = str(before)
    after = exercise.without_unused(before)
    assert [eqn.primitive.name for eqn in after.eqns] == left
    assert after.invars == before.invars
    for x, y in zip(after(*args), before(*args), strict=True):
        assert np.array_equal(x, y)
    assert str(before) == text


def test_a_chain_that_no_output_needs(exercise):
    def f(x):
        y = np.exp(x)
        np.tanh(np.cos(np.sin(y)))
        return y
    check(exercise, f, 0.5, left=['exp'])


def test_one_of_two_results(exercise):
    f = lambda x: call_p.bind(x, fun=lambda x: (x * x, x + 1))[1] * 3
    check(exercise, f, 2.0, left=['call', 'multiply'])


def test_returned_and_unused_arguments(exercise):
    check(exercise, lambda x, y: (x, 2.0, y * 3)[:2], 1.0, 2.0, left=[])


def test_array_constants(exercise):
    table = np.array([1.0, 2.0])

    def f(x):
        x * table
        return x + table
    check(exercise, f, np.ones(2), left=['add'])
