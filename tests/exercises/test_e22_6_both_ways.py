import numpy as np

import autodiff_mini as ad


def ten(exercise, note=lambda ct: None):
    """Return an exponential whose rule says ten times the truth."""
    def rule(primals, tangents):
        y = f(*primals)
        return y, 10 * y * tangents[0]
    f = exercise.both_ways(lambda x: np.exp(x), rule, note)
    return f


def product(exercise):
    """Return `x * sin(y)`, of a tree, and a rule that is right."""
    def rule(primals, tangents):
        (p, y), (p_dot, y_dot) = primals, tangents
        return f(p, y), (p_dot['x'] * np.sin(y)
                         + p['x'] * np.cos(y) * y_dot)
    f = exercise.both_ways(lambda p, y: p['x'] * np.sin(y), rule,
                           lambda ct: None)
    return f


def test_both_modes_follow_the_rule(exercise):
    f = ten(exercise)
    assert ad.jvp(f, (0.0,), (2.0,)) == (1.0, 20.0)
    assert ad.grad(f)(0.0) == 10.0


def test_only_the_reverse_pass_is_noted(exercise):
    seen = []
    f = ten(exercise, seen.append)
    assert f(0.0) == 1.0 and ad.jvp(f, (0.0,), (1.0,)) == (1.0, 10.0)
    assert ad.linearize(f, 0.0)[1](1.0) == 10.0
    assert seen == []
    assert ad.grad(lambda x: 3 * f(x))(0.0) == 30.0
    assert seen == [3.0]


def test_second_derivative_of_its_square(exercise):
    f = ten(exercise)
    slope = ad.grad(lambda x: f(x) ** 2)        # 2 y * 10 y
    assert ad.grad(slope)(0.0) == 400.0         # and y moves by 10 y


def test_trees_and_several_arguments(exercise):
    f = product(exercise)
    found = ad.grad(f, (0, 1))({'x': 2.0}, 0.5)
    assert np.allclose(found[0]['x'], np.sin(0.5))
    assert np.allclose(found[1], 2 * np.cos(0.5))
