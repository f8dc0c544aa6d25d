import numpy as np

from autodiff_mini import draft as ad

SLOPES = {'a': 2.0, 'b': 1.0, 'c': -1.0}


def derivatives(f, x):
    """Return the value, the slope, and the slope of the slope."""
    def total(f):
        return lambda xs: np.sum(f(xs))
    xs = np.array([x, 2.0])     # in company
    slope = ad.grad(total(f))
    with np.errstate(all='ignore'):
        return [float(values[0]) for values in
                (f(xs), slope(xs), ad.grad(total(slope))(xs))]


def check(exercise, name, bad):
    """Check which derivatives are nan at the reader's x, and which aren't."""
    x = float(exercise.breaks_it()[name])
    right = derivatives(ad.vmap(exercise.branching(name)), x)
    test, _, second = exercise.BRANCHES[name]
    assert not test(x) and right == [second(x), SLOPES[name], 0.0]
    found = derivatives(exercise.chosen(name), x)
    assert [bool(np.isnan(y)) for y in found] == bad
    assert found[0] == right[0]
    return x


def test_a__finite_branches_and_a_slope_that_is_nan(exercise):
    x = check(exercise, 'a', [False, True, True])
    _, first, _ = exercise.BRANCHES['a']
    with np.errstate(all='ignore'):
        assert np.isfinite(first(np.float64(x)))


def test_b__a_branch_that_overflows(exercise):
    check(exercise, 'b', [False, True, True])


def test_c__a_second_derivative_that_is_nan(exercise):
    check(exercise, 'c', [False, False, True])
