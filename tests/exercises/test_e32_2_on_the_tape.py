import numpy as np
import pytest

from autodiff_mini import draft


def lying(k):
    """Return a function of x * x with the slope k * x * x."""
    @draft.custom_jvp
    def f(x):
        return x * x

    f.defjvp(lambda xs, dots: (f(*xs), k * f(*xs) * dots[0]))
    return f


def test_the_rule_is_called(exercise):
    assert exercise.tape_grad(lying(7))(2.0) == 28.0


def test_operations_around_the_call(exercise):
    f = lying(7)
    g = lambda x: np.sin(f(3.0 * x)) * x
    assert exercise.tape_grad(g)(0.5) == pytest.approx(
        draft.grad(g)(0.5), rel=1e-12)


def test_two_functions_have_two_rules(exercise):
    slopes = [exercise.tape_grad(lying(k))(2.0) for k in (7, 11, 13)]
    assert slopes == [28.0, 44.0, 52.0]


def test_a_new_rule_is_called(exercise):
    f = lying(7)
    slope = exercise.tape_grad(f)
    assert slope(2.0) == 28.0
    f.defjvp(lambda xs, dots: (f(*xs), 11 * dots[0]))
    assert slope(2.0) == 11.0


def test_a_rule_is_called_once_in_each_gradient(exercise):
    f, asked = lying(7), []

    def rule(xs, dots):
        asked.append(xs)
        return xs[0] * xs[0], 7 * dots[0]
    f.defjvp(rule)
    for x in 1.0, 2.0, 3.0:
        exercise.tape_grad(f)(x)
    assert asked == [(1.0,), (2.0,), (3.0,)]


def test_a_rule_can_branch_on_a_value(exercise):
    f = lying(7)
    f.defjvp(lambda xs, dots: (
        xs[0] * xs[0], (7 if xs[0] > 0 else 11) * dots[0]))
    assert exercise.tape_grad(f)(2.0) == 7.0
    assert exercise.tape_grad(f)(-2.0) == 11.0


def test_a_bwd_rule_gets_values_and_residuals(exercise):
    @draft.custom_vjp
    def f(x, y):
        return x * y

    def bwd(res, ct):
        given.append((res, ct))
        return 7 * ct, 11 * ct

    given = []
    f.defvjp(lambda x, y: (f(x, y), (x, y)), bwd)
    assert exercise.tape_grad(lambda x: 2.0 * f(x, x + 1.0))(3.0) == 36.0
    assert given == [((3.0, 4.0), 2.0)]


def test_second_derivatives_call_the_rule_twice(exercise):
    second = exercise.tape_grad(exercise.tape_grad(lying(7)))
    assert second(2.0) == 7 * 7 * 4.0


def test_calls_are_not_kept(exercise):
    slope = exercise.tape_grad(lambda x: np.sin(lying(7)(x)))
    slope(2.0)
    kept = {*exercise.prepared}
    slope(3.0)
    assert {*exercise.prepared} == kept
    assert not any(primitive.is_call for primitive, *_ in kept)
