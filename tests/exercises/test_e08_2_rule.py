import numpy as np

import autodiff_mini as ad
from autodiff_mini.higher_order.custom_jvp import custom_jvp_call_p
from autodiff_mini.interpreters.jaxpr import staging_rules

xs = np.array([-1.0, 0.0, 2.0])


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (np.ones_like(x),))[1]


def staged(exercise, f, *args):
    """Return the jaxpr of `f`, for which the library asks the exercise."""
    assert staging_rules[custom_jvp_call_p] is exercise.staging
    return ad.make_jaxpr(f)(*args)


def there_and_back(exercise, f, *args):
    """Return `f`, written down, as a function again."""
    jaxpr = staged(exercise, f, *args)
    return lambda *args: ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)[0]


expit = ad.custom_jvp(lambda x: 1 / (1 + np.exp(-x)))


@expit.defjvp
def expit_jvp(primals, tangents):
    (x,), (x_dot,) = primals, tangents
    y = expit(x)
    return y, y * (1 - y) * x_dot


dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (
    dyed(*primals), 3 * tangents[0] + 0 * dyed(*primals)))


def test_it_comes_to_an_end(exercise):
    jaxpr = staged(exercise, expit, xs)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ['custom_jvp_call']


def test_the_rule_is_used(exercise):
    assert deriv(there_and_back(exercise, dyed, 1.0))(1.0) == 3.0
    with np.errstate(over='ignore'):
        assert deriv(there_and_back(exercise, expit, 0.0))(-800.0) == 0.0


def test_higher_derivatives(exercise):
    again = there_and_back(exercise, expit, xs)
    assert np.allclose(deriv(deriv(again))(xs), deriv(deriv(expit))(xs))
    assert np.allclose(deriv(deriv(deriv(again)))(xs),
                       deriv(deriv(deriv(expit)))(xs))


def test_what_the_function_closes_over(exercise):
    f = ad.custom_jvp(lambda x: x * xs)
    f.defjvp(lambda primals, tangents: (
        f(*primals), 5 * tangents[0] + 0 * f(*primals)))
    again = there_and_back(exercise, f, 2.0)
    assert np.all(again(2.0) == 2 * xs)
    assert np.all(ad.jvp(again, (2.0,), (1.0,))[1] == 5.0)


def test_nothing_is_written_before_somebody_asks(exercise):
    calls = []
    f = ad.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda primals, tangents: (
        calls.append('rule') or f(*primals), 2 * tangents[0]))
    again = there_and_back(exercise, f, 1.0)
    again(1.0)
    ad.vmap(again)(xs)
    assert calls == []
    deriv(again)(1.0)
    assert calls == ['rule']
