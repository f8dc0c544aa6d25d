import numpy as np

import autodiff_mini as ad

SLOPES = {'a': 2.0, 'b': 1.0, 'c': -1.0}


def derivatives(f, x):
    """Returns the value, the slope, and the slope of the slope."""
    total = lambda f: lambda xs: np.sum(f(xs))
    xs = np.array([x, 2.0])     # in company
    slope = ad.grad(total(f))
    with np.errstate(all='ignore'):
        return [values[0] for values in
                (f(xs), slope(xs), ad.grad(total(slope))(xs))]


def check(exercise, name, bad):
    """Checks which derivatives are nan at the reader's x, and which not."""
    x = float(exercise.breaks_it()[name])
    right = derivatives(ad.vmap(exercise.branching(name)), x)
    holds, _, other = exercise.BRANCHES[name]
    assert not holds(x) and right == [other(x), SLOPES[name], 0.0]
    found = derivatives(exercise.chosen(name), x)
    assert [bool(np.isnan(y)) for y in found] == bad
    assert found[0] == right[0]
    return x


def test_a__values_that_are_finite_and_a_slope_that_is_not(exercise):
    x = check(exercise, 'a', [False, True, True])
    _, first, _ = exercise.BRANCHES['a']
    with np.errstate(all='ignore'):
        assert np.isfinite(first(x))


def test_b__a_branch_that_overflows(exercise):
    check(exercise, 'b', [False, True, True])


def test_c__a_second_derivative(exercise):
    check(exercise, 'c', [False, False, True])
