import numpy as np

A, B = np.random.default_rng(0).uniform(-1, 1, (2, 3, 3))


def count(exercise, program, returned=None):
    """Checks a plan; returns how many arrays were made.

    Without `returned`, the last result is.
    """
    returned = returned or [program[-1][0]]
    lines = [tuple(line) for line in program]
    into = exercise.places(program, returned)
    assert list(map(tuple, program)) == lines   # as it was
    given = {'x': A.copy(), 'y': B.copy()}
    expected, _ = exercise.run(program, given, returned, {})
    try:
        found, made = exercise.run(program, given, returned, into)
    except KeyError as error:
        raise AssertionError(f'{error} cannot be written, or is gone')
    assert np.array_equal(given['x'], A) and np.array_equal(given['y'], B)
    for y, z in zip(found, expected, strict=True):
        assert np.array_equal(y, z)
    return made


def test_one_array_for_a_chain(exercise):
    assert count(exercise, [
        ('a', 'sin', 'x'), ('b', 'neg', 'a'), ('c', '*', 'b', 'y'),
        ('d', '+', 'c', 'x')]) == 1


def test_a_returned_array_is_kept(exercise):
    chain = [('a', 'sin', 'x'), ('b', 'neg', 'a'), ('c', 'sin', 'b')]
    assert count(exercise, chain, ['b', 'c']) == 2
    assert count(exercise, chain, ['a', 'b', 'c']) == 3
    assert count(exercise, chain, ['c', 'c']) == 1


def test_the_second_operand(exercise):
    assert count(exercise, [('a', 'sin', 'y'), ('b', '*', 'x', 'a')]) == 1
    assert count(exercise, [
        ('a', 'sin', 'x'), ('b', 'sin', 'y'), ('c', '+', 'a', 'b'),
        ('d', '*', 'a', 'c')]) == 2


def test_both_operands_are_one(exercise):
    assert count(exercise, [('a', 'sin', 'x'), ('b', '*', 'a', 'a')]) == 1


def test_a_view_of_the_operand_is_used_later(exercise):
    assert count(exercise, [
        ('a', 'sin', 'x'), ('t', 'T', 'a'), ('b', 'sin', 'a'),
        ('c', '@', 'b', 't')]) == 3
    assert count(exercise, [
        ('a', 'sin', 'x'), ('t', 'T', 'a'), ('u', 'T', 't'),
        ('b', 'sin', 'a'), ('c', '+', 'b', 'u')]) == 2


def test_the_other_operand_is_a_view_of_it(exercise):
    program = [('a', 'sin', 'x'), ('t', 'T', 'a'), ('b', '+', 'a', 't')]
    assert 'b' not in exercise.places(program, ['b'])
    assert count(exercise, program) == 2


def test_many_programs(exercise):
    rng = np.random.default_rng(1)
    for _ in range(100):
        names, program = ['x', 'y'], []
        for i in range(8):
            operation = rng.choice(['sin', 'neg', '+', '*', 'T', '@'])
            operands = rng.choice(names, 2 if operation in '+*@' else 1)
            program.append((f'v{i}', str(operation), *map(str, operands)))
            names.append(f'v{i}')
        count(exercise, program, ['v7', str(rng.choice(names[2:]))])
