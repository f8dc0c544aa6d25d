import numpy as np

import autodiff_mini as ad
from autodiff_mini.api.checking import check_jaxpr

A = np.array([[1.0, 2.0], [3.0, 4.0]])
X = np.array([0.5, -1.0])

dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (dyed(*primals), 3 * tangents[0]))


def check(exercise, f, args, known, left):
    """Checks which equations are left if some arguments are known."""
    jaxpr = ad.make_jaxpr(f)(*args)
    text = str(jaxpr)
    special = exercise.specialise(
        jaxpr, [x if k else None for x, k in zip(args, known)])
    check_jaxpr(special)
    assert [eqn.primitive.name for eqn in special.eqns] == left
    outs = ad.eval_jaxpr(special, special.consts,
                         *[x for x, k in zip(args, known) if not k])
    wanted = ad.eval_jaxpr(jaxpr, jaxpr.consts, *args)
    for out, want in zip(outs, wanted, strict=True):
        assert np.allclose(out, want)
    assert str(jaxpr) == text
    return special


def test_weights_are_prepared(exercise):
    layer = lambda w, x: np.tanh((w.T @ w) @ x + np.sum(w))
    special = check(exercise, layer, (A, X), (True, False),
                    left=['matmul', 'add', 'tanh'])
    assert len(special.consts) == 2


def test_inputs_are_known(exercise):
    layer = lambda w, x: w @ np.exp(x)
    check(exercise, layer, (A, X), (False, True), left=['matmul'])


def test_arguments_stay_in_order(exercise):
    f = lambda x, a, y, b: (x - a) * (y - b)
    check(exercise, f, (7.0, 5.0, 3.0, 2.0), (False, True, False, True),
          left=['sub', 'sub', 'mul'])


def test_a_value_that_is_used_twice(exercise):
    f = lambda a, x: (np.exp(a) * x, np.exp(a) - x, a * x + a)
    special = check(exercise, f, (A, A), (True, False),
                    left=['mul', 'sub', 'mul', 'add'])
    assert len(special.consts) == len(set(special.constvars)) == 3


def test_results_that_are_known(exercise):
    f = lambda a, x: (2 * a, x, a, 5.0)
    check(exercise, f, (A, X), (True, False), left=[])


def test_constants(exercise):
    f = lambda a, x: x * (A + a)
    check(exercise, f, (2.0, X), (True, False), left=['mul'])


def test_two_results(exercise):
    def f(a, x):
        sign, log = np.linalg.slogdet(a)
        return sign * x + log
    check(exercise, f, (A, X), (True, False), left=['mul', 'add'])


def test_everything_is_known_or_nothing(exercise):
    f = lambda a, x: np.sin(a @ x)
    check(exercise, f, (A, X), (True, True), left=[])
    check(exercise, f, (A, X), (False, False), left=['matmul', 'sin'])


def test_a_rule_survives(exercise):
    jaxpr = ad.make_jaxpr(lambda a, x: dyed(x) * dyed(a))(5.0, 1.0)
    special = exercise.specialise(jaxpr, [5.0, None])
    check_jaxpr(special)
    f = lambda x: ad.eval_jaxpr(special, special.consts, x)[0]
    assert ad.jvp(f, (1.0,), (1.0,)) == (20.0, 30.0)
