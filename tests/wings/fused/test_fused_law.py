"""The law of the fused backend: it equals the usual one, to the bit.

Random programs run with both, in different error states. Values, classes,
dtypes, signs of zeros, errors, and warnings must be equal.
3,400 programs run with
`python -m pytest tests/wings/fused/test_fused_law.py --examples 100 -n 2`.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support import amount
from tests.support.wings import needs
from tests.tables.gallery import GALLERY
from tests.tables.gallery.each import each_piece
from tests.tables.random_numbers import Numbers
from tests.wings.fast.slopes import along, floats, slope
from tests.wings.fused.programs import Arrays, Exactly

pytest.importorskip('numba', reason='numba compiles the kernels')

MODES = {'usual': {'under': 'ignore'}, 'warn': {'all': 'warn'},
         'raise': {'all': 'raise'}, 'ignore': {'all': 'ignore'},
         'call': {'all': 'call'}, 'some': {'all': 'ignore', 'under': 'warn'},
         'mixed': {'divide': 'raise', 'over': 'warn', 'under': 'call',
                   'invalid': 'ignore'}}
WAYS = [lambda numbers: numbers.of(ad), slope, along]


def what_differs(numbers, way, modes):
    """Return how the fused results of a program differ, or None."""
    if way > 0 and not floats(numbers):
        return None
    f = WAYS[way](numbers)
    usual, fused = ad.jit(f), ad.jit(f, backend='fused')
    for args in numbers.args, numbers.args, numbers.others:
        expected = Exactly(usual, args, **modes)
        found = Exactly(fused, args, **modes).difference(expected)
        if found:
            return found
    return None


@pytest.mark.parametrize('mode', MODES)
def test_a_program_of_arrays_equals_the_usual_one(mode):
    start = 1_000_000 * [*MODES].index(mode)
    for seed in range(start, start + 2 * amount.TIMES):
        way = seed % 3
        numbers = Arrays(seed, way == 1)
        found = what_differs(numbers, way, MODES[mode])
        assert found is None, f'{seed}, {way}: {found}\n{numbers}'


def test_a_program_of_numbers_equals_the_usual_one():
    """Most of its loops are kernels."""
    for seed in range(20 * amount.TIMES):
        way = seed % 3
        numbers = Numbers(seed, way == 1)
        found = what_differs(numbers, way, MODES['usual'])
        assert found is None, f'{seed}, {way}: {found}\n{numbers}'


@pytest.mark.rest
@needs('more_numpy')
@needs('applications')
@each_piece(piece for piece in GALLERY if not piece.branches)
def test_a_piece_of_the_gallery_equals_the_usual_one(piece):
    f = ad.value_and_grad(piece.function, tuple(range(len(piece.args))))
    fused = ad.jit(f, backend='fused')
    found = Exactly(fused, piece.args)
    assert found.difference(Exactly(ad.jit(f), piece.args)) is None
    said = [x for x in fused.source.splitlines() if x.startswith('#')]
    assert 'operations are fused' in said[0], said
    assert said[0].split()[1] == said[0].split()[3] or len(said) > 2


def test_the_comparison_tells_results_apart():
    """Or the law would hold for any backend."""
    different = [1.0, np.float64(1), np.float32(1), True, 0.0, -0.0, np.nan,
                 np.inf, np.ones(1), np.ones((1, 1)), 1 + 0j, -0j]
    outcomes = [Exactly(lambda x=x: x, ()) for x in different]
    outcomes += [Exactly(lambda: np.float64(1) / 0 * 0 + 1, ()),
                 Exactly(lambda: np.array('a') + 1, ())]
    for i, x in enumerate(outcomes):
        for j, y in enumerate(outcomes):
            assert (x.difference(y) is None) == (i == j), (i, j)
