import numpy as np

import autodiff_mini as ad
from autodiff_mini.api.checking import check_jaxpr


def check(exercise, f, *args, left, consts=0):
    """Checks which equations are left, and that they compute the same."""
    before = ad.make_jaxpr(f)(*args)
    text = str(before)
    after = exercise.without_unused(before)
    check_jaxpr(after)
    assert [eqn.primitive.name for eqn in after.eqns] == left
    assert len(after.constvars) == len(after.consts) == consts
    assert after.in_avals == before.in_avals
    for x, y in zip(ad.eval_jaxpr(after, after.consts, *args),
                    ad.eval_jaxpr(before, before.consts, *args), strict=True):
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
    check(exercise, lambda x: power(x, 10), 1.5, left=['mul'] * 5)


def test_a_chain_that_leads_nowhere(exercise):
    def f(x):
        y = np.exp(x)
        np.sqrt(np.cos(np.sin(y)))
        return y
    check(exercise, f, 0.5, left=['exp'])


def test_a_value_that_is_used_in_vain_and_in_earnest(exercise):
    def f(x):
        y = np.exp(x)
        np.tanh(y)
        return np.sin(y), y + 1
    check(exercise, f, 0.5, left=['exp', 'sin', 'add'])


def test_one_of_two_results(exercise):
    f = lambda x: np.linalg.slogdet(x)[1] + 1
    check(exercise, f, 3 * np.eye(2), left=['slogdet', 'add'])


def test_an_argument_that_is_returned_and_one_that_is_not(exercise):
    check(exercise, lambda x, y: (x, 2.0, y * 3)[:2], 1.0, 2.0, left=[])


def test_constants(exercise):
    used, unused = np.array([1.0, 2.0]), np.array([3.0, 4.0])

    def f(x):
        x * unused
        return x + used
    check(exercise, f, np.ones(2), left=['add'], consts=1)


def test_values_of_which_only_the_tangent_is_returned(exercise):
    f = lambda x, v: ad.jvp(lambda x: 3 * np.sin(np.cos(x)), (x,), (v,))[1]
    jaxpr = ad.make_jaxpr(f)(0.5, 2.0)
    after = exercise.without_unused(jaxpr)
    check_jaxpr(after)
    # The outer sine goes, and three times that.
    assert len(after.eqns) == len(jaxpr.eqns) - 2
    assert ad.eval_jaxpr(after, [], 0.5, 2.0) == [f(0.5, 2.0)]
