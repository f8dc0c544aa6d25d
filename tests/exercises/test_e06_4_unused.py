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


def power(x, n):
    y = 1.0
    while n:
        if n % 2:
            y = y * x
        x, n = x * x, n // 2
    return y


def test_power(exercise):
    check(exercise, lambda x: power(x, 10), 1.5, left=['multiply'] * 5)


def test_a_chain_that_leads_nowhere(exercise):
    def f(x):
        y = np.exp(x)
        np.tanh(np.cos(np.sin(y)))
        return y
    check(exercise, f, 0.5, left=['exp'])


def test_a_value_that_is_used_twice_and_needed_once(exercise):
    def f(x):
        y = np.exp(x)
        np.tanh(y)
        return np.sin(y), y + 1
    check(exercise, f, 0.5, left=['exp', 'sin', 'add'])


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


def test_a_tangent_without_its_value(exercise):
    f = lambda x, v: ad.jvp(lambda x: 3 * np.sin(np.cos(x)), (x,), (v,))[1]
    jaxpr = ad.make_jaxpr(f)(0.5, 2.0)
    after = exercise.without_unused(jaxpr)
    # The outer sine goes, and so does three times the sine.
    assert len(after.eqns) == len(jaxpr.eqns) - 2
    assert after(0.5, 2.0) == [f(0.5, 2.0)]
