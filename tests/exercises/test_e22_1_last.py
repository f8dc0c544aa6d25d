def predicts(name, *words):
    """Return a test of a program's outcome and of the words of its error."""
    def test(exercise):
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
    return test


test_a__a_string_as_an_ordinary_argument = predicts(
    'a', 'str', 'cannot be traced')
test_b__a_rule_that_is_never_used = predicts('b')
test_c__an_output_without_residuals = predicts('c', 'must produce a pair')
test_d__forward_mode = predicts('d', 'only a rule for reverse mode')
test_e__one_cotangent_for_two_arguments = predicts(
    'e', 'one cotangent per argument')
test_f__a_cotangent_of_none = predicts('f')
test_g__a_pair_for_a_number = predicts('g', 'structure')
test_h__a_unit_with_a_tangent = predicts('h', 'nondiff_argnums')
