import autodiff_mini as ad


def square(exercise):
    """Return a square whose rule says 3 x in place of 2 x."""
    return exercise.custom_tangent(
        lambda x: (x * x, lambda x_dot: 3 * x * x_dot))


def deriv(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def test_value_and_slope(exercise):
    f = square(exercise)
    assert f(2.0) == 4.0 and ad.jvp(f, (2.0,), (0.5,)) == (4.0, 3.0)


def test_second_derivatives_follow_the_rule(exercise):
    f = square(exercise)
    assert deriv(deriv(f))(2.0) == ad.grad(ad.grad(f))(2.0) == 3.0
    # The slope of f(x) ** 2 is 2 f(x) * 3 x, and the slope of f(x) is 3 x.
    outer = lambda x: f(x) ** 2
    assert ad.grad(ad.grad(outer))(2.0) == 2 * 6.0 * 6.0 + 2 * 4.0 * 3


def test_keywords_and_several_arguments(exercise):
    @exercise.custom_tangent
    def scaled(x, y, factor=10.0):
        return x * y, lambda x_dot, y_dot, factor_dot: (
            factor * (y * x_dot + x * y_dot))

    assert scaled(y=3.0, x=2.0) == 6.0
    assert ad.grad(lambda y: scaled(2.0, factor=1.0, y=y))(3.0) == 2.0


def test_the_rule_can_read_the_tangent(exercise):
    def calm(x):
        def rule(x_dot):
            seen.append(float(x_dot))
            return x_dot if abs(x_dot) < 1 else x_dot / abs(x_dot)
        return x, rule

    seen, f = [], exercise.custom_tangent(calm)
    assert ad.jvp(f, (2.0,), (0.5,)) == (2.0, 0.5)
    assert ad.jvp(f, (2.0,), (-5.0,)) == (2.0, -1.0)
    assert seen == [0.5, -5.0]
