def asked(exercise, name):
    """Return who did it in one of the systems, and what was asked."""
    ask, questions = exercise.system(name), []

    def counted(*order):
        questions.append(order)
        return ask(*order)
    return exercise.culprit(counted), questions


def finds(name):
    def test(exercise):
        found, questions = asked(exercise, name)
        assert found == name, f'you asked {questions}'
    return test


test_it_was_batching = finds('batching')
test_it_was_staging = finds('staging')
test_it_was_partial_evaluation = finds('partial evaluation')
test_it_was_transposition = finds('transposition')
test_it_was_none_of_them = finds('none')


def test_one_question_is_enough(exercise):
    for name in exercise.SYSTEMS:
        questions = asked(exercise, name)[1]
        assert len(questions) == 1
