def test_slope_of_a_slope(exercise):
    slope = exercise.slope
    assert slope(lambda x: x * slope(lambda y: x + y, 3.0), 5.0) == 1.0


def test_inner_slope_of_a_product(exercise):
    slope = exercise.slope
    found = slope(lambda x: slope(lambda y: x * x * y, 3.0), 5.0)
    assert found == 10.0     # the inner slope is x * x
