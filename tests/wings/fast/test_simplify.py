"""Simplification: the remaining equations give the same bits."""

import re
import subprocess
import sys
from ast import literal_eval
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast.loop_source import loop_p
from autodiff_mini.wings.fast.simplify import opened, simplify
from tests.support.identical import assert_identical, outcome
from tests.support.jaxpr_checks import check_jaxpr
from tests.support.wings import needs
from tests.tables.random_numbers import Outcome, difference
from tests.tables.random_signs import two_steps

V, A = np.arange(3.0) + 0.5, np.arange(6.0).reshape(2, 3) + 0.5


@needs('more_numpy')
def test_elementwise_rows_do_not_depend_on_import_order():
    """All rows of the wing `more_numpy` used to count if they were imported."""
    code = ('import numpy as np, autodiff_mini as ad; {}; '
            'from autodiff_mini.wings.fast.plan import UFUNCS; '
            'from autodiff_mini.wings.fast.simplify import ELEMENTWISE; '
            'print(sorted(map(str, ELEMENTWISE))); '
            'print(sorted(map(str, UFUNCS)))')
    steps = ['ad.grad(np.log10)(1.0)', 'ad.jit(abs)(1.0)']
    found = [subprocess.run(
        [sys.executable, '-c', code.format('; '.join(order))],
        text=True, capture_output=True, check=True).stdout
        for order in (steps, steps[::-1])]
    assert found[0] == found[1]
    alike, ufuncs = [{*literal_eval(line)} for line in found[0].splitlines()]
    assert {'sin', 'log10', 'arctan2'} < ufuncs < alike
    assert not {'ldexp', 'bessel_i0', 'gcd'} & alike


def lines(jaxpr):
    """Return the text of a program, without its arguments and its types."""
    return tuple(re.sub(r':\S+ +=', ' =', line).strip()
                 for line in str(jaxpr).split('\n')[1:])


SIMPLIFIED = {
    # equal equations
    'cse': (lambda x: np.sin(x * 2) + np.sin(x * 2), [V], (
        'b = mul a 2', 'c = sin b', 'd = add c c', 'in (d,) }')),
    'numbers_of_three_types': (
        lambda x: (x + 1, x + 1.0, x + True, x + 1, x + np.float64(1),
            x + 1.0), [V], ('b = add a 1', 'c = add a 1.0', 'd = add a True',
        'e = add a 1.0', 'in (b, c, d, b, e, c) }')),
    'zeros_of_two_signs': (lambda x: (x * 0.0, x * -0.0, x * 0.0), [V], (
        'b = mul a 0.0', 'c = mul a -0.0', 'in (b, c, b) }')),
    'slices': (
        lambda x: (x[1:], x[:1], x[::2], x[1:], x[1], x[None, 1:], x[1]),
        [V], ('b = index[indices=(1:,)] a', 'c = index[indices=(:1,)] a',
        'd = index[indices=(::2,)] a', 'e = index[indices=(1,)] a',
        'f = index[indices=(None, 1:)] a', 'in (b, c, d, b, e, f, e) }')),

    # only numbers
    'not_where_it_divides_by_zero': (
        lambda x: x * ad.jit(lambda a: 1 / a)(0.0), [V], (
        'b = div 1 0.0', 'c = mul a b', 'in (c,) }')),

    # operands that have the type already
    'identities': (
        lambda y: (lambda x: (x * 1, 1 * x, x * 1.0, True * x, x / 1, x / 1.0,
            x - 0, x - 0.0, x + -0.0, -0.0 + x, x ** 1, x * np.float64(1)))(
            np.sin(y)), [V], (
        'b = sin a', 'in (b, b, b, b, b, b, b, b, b, b, b, b) }')),
    'none_at_zero': (lambda x: (x + 0, x + 0.0, 0.0 + x, x - -0.0), [V], (
        'b = add a 0', 'c = add a 0.0', 'd = add 0.0 a', 'e = sub a -0.0',
        'in (b, c, d, e) }')),
    'shapes': (
        lambda x: (np.reshape(x, 3), np.reshape(x, (1, 3)),
            np.broadcast_to(x, 3), np.broadcast_to(x, (1, 3))), [V], (
        'b = reshape[shape=(1, 3)] a', 'c = broadcast_to[shape=(1, 3)] a',
        'in (a, b, a, c) }')),
    'complex': (
        lambda y: (lambda x: (x.real, np.conj(x), ad.stop_gradient(x), x - 0,
            x * 1))(np.sin(y)), [V + 1j], (
        'b = sin a', 'c = real b', 'd = conj b', 'e = sub b 0', 'f = mul b 1',
        'in (c, d, b, e, f) }')),

    # NumPy has other code for complex powers, and compares complex numbers
    'powers_of_complex_numbers': (lambda x: (x ** 0, x ** 3), [V + 1j], (
        'b = pow a 0', 'c = pow a 3', 'in (b, c) }')),
    'real_part_of_a_constant': (
        lambda x: x < np.real(ad.asarray(np.broadcast_to(2 + 3j, 3))), [V], (
        'c = real a', 'd = lt b c', 'in (d,) }')),

    # small powers of arrays
    'powers': (lambda x: (x * x, x ** 2, x ** 3, x ** 4, x ** 8), [V], (
        'b = mul a a', 'c = mul b a', 'd = mul b b', 'e = mul d d',
        'in (b, b, c, d, e) }')),

    # broadcasting is left to NumPy
    'broadcast_and_returned': (
        lambda x, y: (lambda z: (z * x, z))(np.broadcast_to(y, (2, 3))),
        [A, V], (
        'c = broadcast_to[shape=(2, 3)] b', 'd = mul b a', 'in (d, c) }')),
    'broadcast_condition': (
        lambda c, x: np.where(np.broadcast_to(c, (2, 3)), x,
            np.broadcast_to(0.0, (2, 3))), [V > 1, A], (
        'c = where a b 0.0', 'in (c,) }')),
    'constant_number': (
        lambda x: x * np.reshape(np.broadcast_to(2.0, 6), (2, 3)), [A], (
        'b = mul a 2.0', 'in (b,) }')),
    'constant_rows': (
        lambda x: x * ad.asarray(np.broadcast_to(V, (2, 3))), [A], (
        'c = mul b a', 'in (c,) }')),
    'constant_with_an_index': (
        lambda x, i: x * ad.asarray(np.broadcast_to(2.0, 6))[i],
        [A, np.int64(1)], ('d = index[indices=(.,)] a c',
        'e = mul b d', 'in (e,) }')),

    # one selection instead of two
    'one_mask': (
        lambda x: (lambda y: (np.where(x > 1, y, 0), np.where(x > 1, 0, y)))(
            np.where(x < 2, x, 0)), [V], (
        'b = lt a 2', 'c = gt a 1', 'd = and c b', 'e = where d a 0',
        'f = lt c b', 'g = where f a 0', 'in (e, g) }')),
    'zeros_of_two_complex_signs': (
        lambda c, x: np.where(c, np.where(c, x, 0j), complex(0, -0.0)),
        [V > 1, V], ('c = where a b 0j', 'd = where a c -0j', 'in (d,) }')),
    'derivative_of_a_maximum': (
        ad.grad(lambda x: np.sum(np.maximum(x, 0))), [V], (
        'b = eq a 0', 'c = where b 1.0 0', 'd = gt a 0', 'e = where d 1.0 0',
        'f = mul c 0.5', 'g = add e f', 'in (g,) }')),
    'tests_of_other_numbers': (
        lambda x, y: np.where(x < 1, np.where(y < 1, x, 0), 0), [V, V], (
        'c = lt a 1', 'd = lt b 1', 'e = and c d', 'f = where e a 0',
        'in (f,) }')),
    'derivative_of_softplus': (
        ad.grad(lambda x: np.sum(np.maximum(x, 0.0) - abs(x) / 3)), [V], (
        'b = sign a', 'c = mul -0.3333333333333333 b', 'd = mul b 0.5',
        'e = add d 0.5', 'f = add c e', 'in (f,) }')),

    # a minus sign less
    'signs': (
        lambda x, y: (x + -y, -x * y + y, x - -y, x - y / -(x * 2)), [V, V], (
        'c = sub a b', 'd = mul a b', 'e = sub b d', 'f = add a b',
        'g = mul a 2', 'h = div b g', 'i = add a h', 'in (c, e, f, i) }')),
    'signs_that_stay': (
        lambda x, y: (-x - y, -x + -y * 2, (lambda z: (x + z, z))(-y)), [V, V], (
        'c = neg a', 'd = sub c b', 'e = neg b', 'f = mul b 2', 'g = sub c f',
        'h = sub a b', 'in (d, g, h, e) }')),
    'sign_of_a_complex_number': (
        lambda z, x: z + -x, [V * 1j, V], (
        'c = neg b', 'd = add a c', 'in (d,) }')),
    'sign_of_a_broadcast_array': (
        lambda x, y: x.T + -np.broadcast_to(y, (3, 2)), [A, V[:2]], (
        'c = transpose[axes=(1, 0)] a', 'd = broadcast_to[shape=(3, 2)] b',
        'e = neg d', 'f = add c e', 'in (f,) }')),

    # a constant of equal elements
    'equal_elements': (
        lambda x: (x * np.full(3, 2.0), x * np.zeros(3), x + np.array(
            [0.0, -0.0, 0.0])), [V], (
        'd = mul c 2.0', 'e = mul c a', 'f = add c b', 'in (d, e, f) }')),
    'equal_elements_of_two_axes': (
        lambda x: x.T * np.full((3, 2), 2.0), [A], (
        'c = transpose[axes=(1, 0)] b', 'd = mul c a', 'in (d,) }')),

    # a product of an array with itself
    'product_that_would_become_one': (
        lambda x: np.sin(x) @ np.sin(x).T, [A], (
        'b = sin a', 'c = transpose[axes=(1, 0)] b', 'd = mul c 1',
        'e = matmul b d', 'in (e,) }')),

    # of a matrix and a vector, `y @ x` has the bits of `x.T @ y`
    'transpose_of_a_factor': (
        lambda a, x: (a.T @ x, a.T @ a[:, :1], x @ a, np.reshape(
            np.reshape(x, (1, 2)) @ a, 3) @ a.T, np.transpose(a, (0, 1)) @ (
            x @ a)), [A, V[:2]], ('c = transpose[axes=(1, 0)] a',
        'd = matmul b a', 'e = index[indices=(:, :1)] a', 'f = matmul c e',
        'g = matmul a d', 'h = transpose[axes=(0, 1)] a', 'i = matmul h d',
        'in (d, f, d, g, i) }')),

    # a copy of a possible view needs less memory
    'copy_of_a_view': (
        lambda x: (lambda y: (y * 1, y / 1, y - 0.0, y ** 1,
            2 * y ** 1, np.sin(y * 1) + y * (y * 1)))(x.T), [A], (
        'b = transpose[axes=(1, 0)] a', 'c = mul b 1', 'd = div b 1',
        'e = sub b 0.0', 'f = pow b 1', 'g = mul 2 b', 'h = sin c',
        'i = mul b c', 'j = add h i', 'in (c, d, e, f, g, j) }')),
    'copy_of_a_result': (
        lambda x: (lambda y: (y * 1, y / 1, y - 0.0, y ** 1, y.T * 1, np.cos(
            y.T * 1)))(np.exp(x)), [A], (
        'b = exp a', 'c = transpose[axes=(1, 0)] b', 'd = mul c 1',
        'e = cos c', 'in (b, b, b, b, d, e) }')),
    'copy_of_a_constant': (ad.grad(lambda x: np.sum(np.sin(x) * A)), [A], (
        'c = cos b', 'd = mul a c', 'in (d,) }')),
    'ones_of_one_axis_and_of_two': (
        lambda x, y: (np.sin(y) * (1 * x ** 0), np.sin(y) * (1 * y ** 0)),
        [V, A], ('c = sin b', 'd = broadcast_to[shape=(2, 3)] 1.0',
        'e = mul 1 d', 'f = mul c e', 'in (c, f) }')),
}


@pytest.mark.parametrize('name', SIMPLIFIED)
def test_exactly_these_equations_remain(name):
    """They compute and warn alike, and nothing more can be simplified."""
    f, args, expected = SIMPLIFIED[name]
    jaxpr = opened(ad.make_jaxpr(f)(*args))
    before = str(jaxpr)
    small = simplify(jaxpr)
    check_jaxpr(small)
    assert lines(small) == expected
    assert lines(simplify(small)) == expected
    assert str(jaxpr) == before
    (actual, heard), (result, said) = (
        outcome(partial(ad.eval_jaxpr, x, x.consts), args, {})
        for x in (small, jaxpr))
    assert_identical(actual, result)
    assert heard == said


def test_remaining_equations_keep_their_lines():
    f = lambda x: (x ** 3, (lambda y: (y * 1.0) @ y)(np.sin(x)))
    jaxpr = opened(ad.make_jaxpr(f)(V))
    power, sin, _, product = [eqn.line for eqn in jaxpr.eqns]
    assert power[0].co_filename == __file__
    small = simplify(jaxpr)
    assert [eqn.line for eqn in small.eqns] == [power, power, sin,
                                                product, product]


def test_a_loop_keeps_no_rows_that_are_not_used():
    f = lambda x: ad.scan(lambda c, y: (np.sin(c) * y, (c, np.cos(c))),
                          np.float64(1), x)
    for wanted, outs, rows in [
            (lambda c, ys: c, 1, 0), (lambda c, ys: ys[0], 2, 1),
            (lambda c, ys: ys, 2, 1)]:
        small = simplify(opened(ad.make_jaxpr(lambda x: wanted(*f(x)))(V)))
        check_jaxpr(small)
        loop, body = small.eqns[0], small.eqns[0].params['jaxpr']
        assert loop.primitive is loop_p and loop_p.name == 'scan'
        assert len(loop.outvars) == len(body.outvars) == outs == 1 + rows
        assert [eqn.primitive.name for eqn in body.eqns] == ['sin', 'mul']


def test_a_product_of_two_types_keeps_its_transpose():
    rng = np.random.default_rng(0)
    for shape in [(2, 3), (3, 2), (5, 7), (20, 30)]:
        x = rng.standard_normal(shape).astype('f')
        y = rng.standard_normal(shape[0])
        for f in (lambda x, y: x.T @ y, lambda x, y: y @ x):
            assert_identical(ad.jit(f)(x, y), f(x, y))


def test_two_steps_become_one_only_if_all_bits_stay():
    numbers = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.3, -1e300]
    w, x = map(np.ravel, np.meshgrid(numbers, numbers))
    more, same, some = np.greater, np.equal, np.greater_equal
    half = (more, 0, 2.0, 0, 0.5), (same, 0.0, 1.0, 0, 0.5)
    for *steps, kind in (
            (*half, 'sum'), (*half, 'difference'), (*half, 'hidden'),
            ((more, 0, 2.0, 0, -0.5), (same, 0.0, 1.0, 0, -0.5), 'sum'),
            ((some, 0, 1.0, 0, 0.1), (more, 0, 1.0, 0, 0.1), 'sum'),
            (half[0], (same, 1.0, 1.0, 0, 0.5), 'sum')):
        f = partial(two_steps, first=steps[0], second=steps[1], kind=kind)
        found = difference(Outcome(ad.jit(f), [w, x]), Outcome(f, [w, x]))
        assert found is None, (steps, kind)
