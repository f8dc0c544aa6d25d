def check(exercise, name, *words):
    """Checks what comes of a program, and that its error has these words."""
    prediction = exercise.prediction()[name]
    exercise.ran.clear()
    message = ''
    try:
        outcome = exercise.PROGRAMS[name]()
    except (TypeError, ValueError) as error:
        outcome, message = (['neither'] + exercise.ran)[-1], str(error)
    assert prediction == outcome
    assert bool(message) == bool(words)
    assert all(word in message for word in words)


def test_a__a_string_as_an_ordinary_argument(exercise):
    check(exercise, 'a', 'str', 'cannot be traced')


def test_b__a_rule_that_is_never_used(exercise):
    check(exercise, 'b')


def test_c__an_output_without_residuals(exercise):
    check(exercise, 'c', 'must produce a pair')


def test_d__forward_mode(exercise):
    check(exercise, 'd', 'only a rule for reverse mode')


def test_e__one_cotangent_for_two_arguments(exercise):
    check(exercise, 'e', 'one cotangent per argument')


def test_f__a_cotangent_of_none(exercise):
    check(exercise, 'f')


def test_g__a_pair_for_a_number(exercise):
    check(exercise, 'g', 'structure')


def test_h__a_unit_with_a_tangent(exercise):
    check(exercise, 'h', 'nondiff_argnums')
