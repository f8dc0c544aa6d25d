"""primitives.py: each row is NumPy's own operation."""

import numpy as np
import pytest

from autodiff_mini.arrays import astype_p
from autodiff_mini.primitives.elementwise import (
    add_p, div_p, eq_p, ge_p, gt_p, le_p, lt_p, max_p, mul_p, ne_p, pow_p,
    sin_p, sub_p, where_p)
from autodiff_mini.primitives.indexing import index_p
from autodiff_mini.primitives.shapes import stack_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.indexing import OPERAND
from tests.numerical import assert_same


@pytest.mark.parametrize('primitive, expected', [
    (add_p, 7), (sub_p, 3), (mul_p, 10), (div_p, 2.5),
    (pow_p, 25), (lt_p, False), (le_p, False), (gt_p, True),
    (ge_p, True), (eq_p, False), (ne_p, True),
], ids=lambda x: str(x))
def test_operators_of_python_numbers_stay_python_numbers(primitive, expected):
    y = primitive.bind(5, 2)
    assert y == expected and type(y) is type(expected)


def test_ufuncs_of_python_numbers_are_numpy_s():
    assert type(sin_p.bind(0.5)) is np.float64
    assert type(max_p.bind(1.0, 2.0)) is np.float64


def test_stack_takes_its_arrays_as_operands():
    y = stack_p.bind(np.ones(2), np.zeros(2), axis=1)
    assert_same(y, np.array([[1., 0.], [1., 0.]]))


def test_astype_makes_arrays_numpy_scalars_and_python_numbers():
    def astype(x, dtype, weak):
        return astype_p.bind(x, dtype=np.dtype(dtype), weak_type=weak)

    assert_same(astype(np.ones(2), np.float32, False),
                np.ones(2, np.float32))
    assert type(astype(1, np.float32, False)) is np.float32
    assert type(astype(np.float64(1), np.float32, False)) is np.float32
    assert type(astype(np.float32(1), float, True)) is float
    assert type(astype(np.array(1), complex, True)) is complex


def test_index_puts_operands_in_their_places():
    x, rows = np.arange(12.).reshape(3, 4), np.array([2, 0])
    y = index_p.bind(x, rows, indices=(OPERAND, slice(1, 3)))
    assert_same(y, x[rows, 1:3])
    y = index_p.bind(x, rows, rows, indices=(OPERAND, None, OPERAND))
    assert_same(y, x[rows, None, rows])
    assert repr(OPERAND) == '.'


def test_primitives_broadcast_as_numpy_does():
    y = where_p.bind(np.array([[True], [False]]), np.arange(3.), 9.0)
    assert_same(y, np.array([[0., 1, 2], [9, 9, 9]]))
    assert matmul_p.bind(np.ones((4, 1, 2, 3)), np.ones((5, 3, 2))).shape \
        == (4, 5, 2, 2)
