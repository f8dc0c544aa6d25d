import numpy as np

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(2000, 50))


def same(exercise, x, block):
    """Checks the result, and that nothing else was written."""
    before, expected = x.copy(), exercise.plain(x)
    found = exercise.softmax(x, block)
    assert found.shape == x.shape and found.dtype == x.dtype
    assert np.array_equal(found, expected, equal_nan=True)
    assert np.array_equal(x, before, equal_nan=True)
    assert not np.shares_memory(found, x)


def passing(exercise, x, block):
    exercise.softmax(x[:3], block)      # what NumPy makes once
    return exercise.most_in_passing(exercise.softmax, x, block)


def test_the_softmax(exercise):
    same(exercise, TABLE, 1000)
    same(exercise, TABLE.astype('f4'), 1000)


def test_the_last_block_is_smaller(exercise):
    for rows in 1, 6, 7, 8, 15:
        same(exercise, TABLE[:rows], 7 * 50)


def test_three_axes(exercise):
    same(exercise, TABLE.reshape(100, 20, 50), 3000)
    same(exercise, TABLE[:40].reshape(2, 20, 50), 60)
    assert passing(exercise, TABLE.reshape(100, 20, 50), 3000) < 6500


def test_no_rows(exercise):
    same(exercise, TABLE[:0], 100)
    same(exercise, TABLE[:3].reshape(3, 50, 1), 100)


def test_no_large_temporary_array(exercise):
    assert exercise.most_in_passing(exercise.plain, TABLE) > TABLE.size
    for block in 1000, 5000, 20_000:
        assert passing(exercise, TABLE, block) < 2 * block + 500


def test_a_block_is_not_a_row(exercise):
    """Many rows at a time: a loop over rows would be slow."""
    calls = []

    class Rows(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            calls.append(ufunc)
            plain = lambda x: np.asarray(x) if isinstance(x, Rows) else x
            if 'out' in keywords:
                keywords['out'] = tuple(map(plain, keywords['out']))
            return getattr(ufunc, method)(*map(plain, inputs), **keywords)

    exercise.softmax(TABLE.view(Rows), 5000)
    assert len(calls) <= 20 * 8
