import numpy as np

from autodiff_mini import draft as ad
from autodiff_mini.draft.jaxpr import stage

xs = np.array([-1.0, 0.0, 2.0])


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (np.ones(np.shape(x)),))[1]


def recorded(exercise, f, *args):
    """Return `f`, recorded by the exercise, as a function again."""
    program, _, _ = stage(f, args, exercise.RuleTrace)
    return lambda *args: program(*args)[0]


dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (
    dyed(*primals), 3 * tangents[0] + 0 * dyed(*primals)))


def test_the_recording_ends(exercise):
    program, _, _ = stage(dyed, (xs,), exercise.RuleTrace)
    assert [eqn.primitive.name for eqn in program.eqns] == ['custom_jvp_call']


def test_the_rule_is_used(exercise):
    assert deriv(recorded(exercise, dyed, 1.0))(1.0) == 3.0


def test_second_derivative(exercise):
    again = recorded(exercise, lambda x: x * dyed(x), 1.0)
    assert deriv(deriv(again))(5.0) == 6.0     # and 4 without the rule


def test_the_rule_is_not_called_before_it_is_needed(exercise):
    calls = []
    f = ad.custom_jvp(lambda x: 2 * x)
    f.defjvp(lambda primals, tangents: (
        calls.append('rule') or f(*primals), 2 * tangents[0]))
    again = recorded(exercise, f, 1.0)
    again(1.0)
    ad.vmap(again)(xs)
    assert calls == []
    deriv(again)(1.0)
    assert calls == ['rule']
