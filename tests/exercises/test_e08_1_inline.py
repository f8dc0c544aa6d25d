import numpy as np

import autodiff_mini as ad
from autodiff_mini.api.checking import check_jaxpr
from autodiff_mini.higher_order.call import call
from autodiff_mini.jaxprs import Jaxpr

dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (dyed(*primals), 3 * tangents[0]))


def check(exercise, jaxpr, *args, left):
    """Checks that the equations that are left compute the same."""
    text = str(jaxpr)
    after = exercise.inline(jaxpr)
    check_jaxpr(after)
    assert [eqn.primitive.name for eqn in after.eqns] == left
    for x, y in zip(run(after)(*args), run(jaxpr)(*args), strict=True):
        assert np.array_equal(x, y)
    assert str(jaxpr) == text
    return after


def run(jaxpr):
    return lambda *args: ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)


def test_a_call(exercise):
    f = lambda x: 1 + call(lambda x, y: (x * y, x - y), x, 2.0)[1]
    check(exercise, ad.make_jaxpr(f)(5.0), 5.0, left=['mul', 'sub', 'add'])


def test_a_call_in_a_call(exercise):
    f = lambda x: np.cos(call(lambda x: 3 + call(np.sin, 2 * x), x))
    check(exercise, ad.make_jaxpr(f)(0.5), 0.5,
          left=['mul', 'sin', 'add', 'cos'])


def test_what_a_function_closes_over(exercise):
    table = np.arange(3.0)
    f = lambda x: call(lambda y: y + x * table, 2 * x)
    check(exercise, ad.make_jaxpr(f)(1.0), 1.0, left=['mul', 'mul', 'add'])


def test_a_function_that_only_passes_on(exercise):
    f = lambda x, y: call(lambda x, y: (y, 7.0, x), x, y)
    check(exercise, ad.make_jaxpr(f)(1.0, 2.0), 1.0, 2.0, left=[])


def test_one_function_called_twice(exercise):
    jaxpr = ad.make_jaxpr(lambda x: call(np.sin, x))(0.5)
    (eqn,) = jaxpr.eqns
    other = ad.make_jaxpr(lambda x: call(np.sin, x))(0.5)
    (again,) = other.eqns
    again.params['fun'] = eqn.params['fun']     # the very same
    twice = Jaxpr([], [*jaxpr.invars, *other.invars], [eqn, again],
                  [*jaxpr.outvars, *other.outvars], [])
    check(exercise, twice, 0.5, 0.6, left=['sin', 'sin'])


def test_the_rule_is_lost(exercise):
    jaxpr = ad.make_jaxpr(lambda x: 1 + dyed(x))(1.0)
    after = check(exercise, jaxpr, 1.0, left=['mul', 'add'])
    (slope,) = ad.jvp(run(after), (1.0,), (1.0,))[1]
    assert slope == 2.0     # not 3, as the rule says


def test_a_rule_that_has_been_used_is_not_lost(exercise):
    slope = lambda x: ad.jvp(dyed, (x,), (1.0,))[1] * dyed(x)
    after = exercise.inline(ad.make_jaxpr(slope)(1.0))
    check_jaxpr(after)
    assert not any(eqn.primitive.is_call for eqn in after.eqns)
    assert run(after)(1.0) == [6.0]
