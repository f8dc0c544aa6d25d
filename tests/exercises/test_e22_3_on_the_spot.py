import numpy as np

import autodiff_mini as ad

X = np.array([0.5, 1.0, 2.0])


def square(exercise):
    """Return a square whose rule says 3 x in place of 2 x."""
    return exercise.custom_tangent(
        lambda x: (x * x, lambda x_dot: 3 * x * x_dot))


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def test_value_and_slope(exercise):
    f = square(exercise)
    assert f(2.0) == 4.0 and ad.jvp(f, (2.0,), (0.5,)) == (4.0, 3.0)


def test_the_length_of_the_task(exercise):
    @exercise.custom_tangent
    def length(v):
        n = np.sqrt(np.sum(v * v))
        direction = v / np.where(n == 0, 1.0, n)
        return n, lambda v_dot: np.sum(direction * v_dot)

    assert np.allclose(ad.grad(length)(np.array([3.0, 4.0])), [0.6, 0.8])
    assert np.array_equal(ad.grad(length)(np.zeros(2)), np.zeros(2))
    assert np.allclose(ad.vmap(ad.grad(length))(np.eye(2)), np.eye(2))


def test_second_derivatives_follow_the_rule(exercise):
    f = square(exercise)
    assert deriv(deriv(f))(2.0) == ad.grad(ad.grad(f))(2.0) == 3.0
    # The slope of y ** 2 is 2 y * 3 x, and y moves by 3 x again.
    outer = lambda x: f(x) ** 2
    assert deriv(deriv(outer))(2.0) == 2 * 6.0 * 6.0 + 2 * 4.0 * 3
    assert ad.grad(ad.grad(outer))(2.0) == 96.0


def test_keywords_and_several_arguments(exercise):
    @exercise.custom_tangent
    def scaled(x, y, factor=10.0):
        return x * y, lambda x_dot, y_dot, factor_dot: (
            factor * (y * x_dot + x * y_dot))

    assert scaled(y=3.0, x=2.0) == 6.0
    slope = ad.grad(lambda x: scaled(x, y=3.0))(2.0)
    assert slope == 30.0
    assert ad.grad(lambda y: scaled(2.0, factor=1.0, y=y))(3.0) == 2.0


def test_trees(exercise):
    @exercise.custom_tangent
    def both(p):
        s, c = np.sin(p['x']), np.cos(p['x'])
        return (s, c), lambda p_dot: (c * p_dot['x'], -s * p_dot['x'])

    found = ad.jacfwd(both)({'x': 0.5})
    assert np.isclose(found[0]['x'], np.cos(0.5))
    assert np.isclose(found[1]['x'], -np.sin(0.5))


def test_mapped(exercise):
    f = square(exercise)
    assert np.allclose(ad.vmap(ad.grad(f))(X), 3 * X)
    found = ad.grad(lambda xs: np.sum(ad.vmap(f)(xs)))(X)
    assert np.allclose(found, 3 * X)


def test_through_a_jaxpr(exercise):
    jaxpr = ad.make_jaxpr(square(exercise))(0.0)
    again = lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0]
    assert ad.grad(again)(2.0) == 6.0 and ad.grad(ad.grad(again))(2.0) == 3.0


def test_the_rule_may_look_at_the_tangent(exercise):
    def calm(x):
        def rule(x_dot):
            seen.append(float(x_dot))
            return x_dot if abs(x_dot) < 1 else x_dot / abs(x_dot)
        return x, rule

    seen, f = [], exercise.custom_tangent(calm)
    assert ad.jvp(f, (2.0,), (0.5,)) == (2.0, 0.5)
    assert ad.jvp(f, (2.0,), (-5.0,)) == (2.0, -1.0)
    assert seen == [0.5, -5.0]
