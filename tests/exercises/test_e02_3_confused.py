def test_slope_of_a_slope(exercise):
    slope = exercise.slope
    assert slope(lambda x: x * slope(lambda y: x + y, 3.0), 5.0) == 1.0


def test_inner_slope_of_a_product(exercise):
    slope = exercise.slope
    found = slope(lambda x: slope(lambda y: x * x * y, 3.0), 5.0)
    assert found == 10.0     # the inner slope is x * x


def test_two_applications_have_two_tags(exercise):
    seen = []
    for _ in range(2):
        exercise.slope(lambda x: seen.append(x.trace.tag) or x, 1.0)
    assert seen[0] is not seen[1]
