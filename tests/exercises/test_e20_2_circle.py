import autodiff_mini as ad


def test_a_radius_is_a_leaf_and_a_color_is_not(exercise):
    exercise.register()
    assert ad.tree_leaves([exercise.Circle(2.0, 'red'), 3.0]) == [2.0, 3.0]


def test_a_circle_can_be_returned(exercise):
    exercise.register()

    def shrink(circle):
        return exercise.Circle(1 / circle.radius, circle.color)

    circle = exercise.Circle(2.0, 'red')
    _, dot = ad.jvp(shrink, (circle,), (circle,))
    assert dot.radius == -0.5 and dot.color == 'red'


def test_a_color_is_part_of_the_structure(exercise):
    exercise.register()
    red, blue, other = [ad.tree_structure(exercise.Circle(1.0, color))
                        for color in ('red', 'blue', 'red')]
    assert red == other != blue
