import numpy as np

from autodiff_mini import draft as ad

A = np.array([[1.0, 2.0], [3.0, 4.0]])
X = np.array([0.5, -1.0])

dyed = ad.custom_jvp(lambda x: 2 * x)
dyed.defjvp(lambda primals, tangents: (dyed(*primals), 3 * tangents[0]))


def check(exercise, f, args, known, left):
    """Check which equations are left if some arguments are known."""
    jaxpr = ad.make_jaxpr(f)(*args)
    text = str(jaxpr)
    special, captured = exercise.specialize(
        jaxpr, [x if k else None for x, k in zip(args, known)])
    assert [eqn.primitive.name for eqn in special.eqns] == left
    assert captured == []
    outs = special(*[x for x, k in zip(args, known) if not k])
    for out, want in zip(outs, jaxpr(*args), strict=True):
        assert np.allclose(out, want)
    assert str(jaxpr) == text


def test_known_weights(exercise):
    layer = lambda w, x: np.tanh(np.sum(w * w) * x + np.exp(w)[0])
    check(exercise, layer, (A, X), (True, False),
          left=['multiply', 'add', 'tanh'])


def test_arguments_stay_in_order(exercise):
    f = lambda x, a, y, b: (x - a) * (y - b)
    check(exercise, f, (7.0, 5.0, 3.0, 2.0), (False, True, False, True),
          left=['subtract', 'subtract', 'multiply'])


def test_a_captured_tracer(exercise):
    def scaled(a):
        jaxpr = ad.make_jaxpr(lambda a, x: np.exp(a) * x)(a, 1.0)
        special, captured = exercise.specialize(jaxpr, [a, None])
        assert [eqn.primitive.name for eqn in special.eqns] == ['multiply']
        return special(*captured, 10.0)[0]
    assert np.allclose(ad.vmap(scaled)(X), 10 * np.exp(X))


def test_the_rule_survives(exercise):
    jaxpr = ad.make_jaxpr(lambda a, x: dyed(x) * dyed(a))(5.0, 1.0)
    special, _ = exercise.specialize(jaxpr, [5.0, None])
    f = lambda x: special(x)[0]
    assert ad.jvp(f, (1.0,), (1.0,)) == (20.0, 30.0)
