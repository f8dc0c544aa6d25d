"""Simplification: given these equations, exactly those come out."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.fast.plan import c_ordered
from autodiff_mini.fast.simplify import (
    opened, simplify, uniform)
from autodiff_mini.higher_order.jit import frozen
from autodiff_mini.higher_order.programs import picked
from autodiff_mini.jaxprs import (
    Equation, Jaxpr, Literal, Var, dead_rules, drop_dead)
from autodiff_mini.primitives.elementwise import add_p, mul_p, sub_p
from autodiff_mini.zeros import Zero
from tests.jaxpr_checks import check_jaxpr
from tests.test_jit_equals_eager import assert_identical, outcome
from tests.wings import needs

V, A = np.arange(3.0) + 0.5, np.arange(6.0).reshape(2, 3) + 0.5


@needs('more')
def test_which_rows_are_alike_does_not_depend_on_what_ran_before():
    """It took all rows of the wing `more`, where that had come in earlier."""
    steps = ['ad.grad(np.log10)(1.0)', 'ad.jit(abs)(1.0)']
    found = []
    for code in steps, steps[::-1]:
        code = ['import numpy as np, autodiff_mini as ad', *code,
                'from autodiff_mini.fast.plan import OVERWRITING',
                'from autodiff_mini.fast.simplify import ELEMENTWISE',
                'print(*sorted(map(str, ELEMENTWISE)))',
                'print(*sorted(map(str, OVERWRITING)))']
        ran = subprocess.run([sys.executable, '-c', '\n'.join(code)],
                             text=True, capture_output=True, check=True)
        found.append([*map(str.split, ran.stdout.splitlines())])
    alike, overwriting = found[0]
    assert found[0] == found[1]
    assert {'sin', 'log10', 'arctan2'} < {*overwriting} < {*alike}
    assert not {'ldexp', 'bessel_i0', 'gcd'} & {*alike}


def lines(jaxpr):
    """Returns the text of a program, but for its arguments."""
    return tuple(' '.join(line.split()) for line in
                 str(jaxpr).split('\n')[1:])


def values(jaxpr, args):
    """Returns what a program returns, and the kinds of its warnings."""
    return outcome(partial(ad.eval_jaxpr, jaxpr, jaxpr.consts), args, {})


# Inlining

half = ad.jit(lambda x: x / 2)
sums = lambda c, y: (np.sin(c) * y, c)
INLINED = {
    'a_call': (half, [V], ('b:float64[3] = div a 2', 'in (b,) }')),
    'twice': (lambda x: half(half(x)), [V], (
        'b:float64[3] = div a 2', 'c:float64[3] = div b 2', 'in (c,) }')),
    'in_another': (ad.jit(lambda x: half(x) + 1), [V], (
        'b:float64[3] = div a 2', 'c:float64[3] = add b 1', 'in (c,) }')),
    'arguments_and_literals': (
        lambda x: ad.jit(lambda x, y: (y, 2.0, x))(x, x),
        [V], (
        'in (a, 2.0, a) }',)),
    'constants_of_both': (
        lambda x: ad.jit(lambda x: x * V + x * A)(x * V),
        [V], (
        'e:float64[3] = mul d a', 'f:float64[3] = mul e b',
        'g:float64[2,3] = mul e c', 'h:float64[2,3] = add f g',
        'in (h,) }')),
    'a_loop': (lambda x: ad.scan(sums, np.float64(1), x), [V], (
        'b:float64[] c:float64[3] = loop[length=3 reverse=False counts=(0, '
        '1)] 1.0 a',
        'jaxpr={ lambda ; a:float64[] b:float64[] . let',
        'c:float64[] = sin a', 'd:float64[] = mul c b', 'in (d, a) }',
        'in (b, c) }')),
    'a_loop_that_is_a_sum': (
        lambda x: ad.scan(lambda c, y: (c + y * 2, None), np.float64(1),
            x)[0],
        [V], (
        'b:float64[3] = mul a 2',
        'c:float64[] = reduce_sum[axis=(0,) keepdims=False] b',
        'd:float64[] = add 1.0 c', 'in (d,) }')),
    'a_loop_in_a_call': (
        lambda x: ad.jit(lambda x: ad.scan(sums, np.float64(1), x))(x)[0],
        [V], (
        'b:float64[] c:float64[3] = loop[length=3 reverse=False counts=(0, '
        '1)] 1.0 a',
        'jaxpr={ lambda ; a:float64[] b:float64[] . let',
        'c:float64[] = sin a', 'd:float64[] = mul c b', 'in (d, a) }',
        'in (b,) }')),
    'no_checkpoint': (ad.checkpoint(lambda x: half(x)), [V], (
        'b:float64[3] = checkpoint[name=<lambda>] a',
        'jaxpr={ lambda ; a:float64[3] . let',
        'b:float64[3] = jit[name=<lambda>] a',
        'jaxpr={ lambda ; a:float64[3] . let', 'b:float64[3] = div a 2',
        'in (b,) }', 'in (b,) }', 'in (b,) }')),
    'no_branch': (lambda i, x: ad.switch(i, [half, np.cos], x), [1, V], (
        'c:int64[] = astype[dtype=int64 weak_type=False] a',
        'd:int64[] = max c 0', 'e:int64[] = min d 1',
        'f:float64[3] = cond e b',
        'branches[0]={ lambda ; a:float64[3] . let',
        'b:float64[3] = jit[name=<lambda>] a',
        'jaxpr={ lambda ; a:float64[3] . let', 'b:float64[3] = div a 2',
        'in (b,) }', 'in (b,) }',
        'branches[1]={ lambda ; a:float64[3] . let',
        'b:float64[3] = cos a', 'in (b,) }', 'in (f,) }')),
}


@pytest.mark.parametrize('name', INLINED)
def test_inlining_makes_exactly_these_equations(name):
    f, args, expected = INLINED[name]
    jaxpr = ad.make_jaxpr(f)(*args)
    before = str(jaxpr)
    flat = opened(jaxpr)
    check_jaxpr(flat)
    assert lines(flat) == expected
    assert str(jaxpr) == before


def test_constants_keep_their_values_and_order():
    f = lambda x: ad.jit(lambda x: x * V + x * A)(x * V)
    flat = opened(ad.make_jaxpr(f)(V))
    assert [x.shape for x in flat.consts] == [(3,), (3,), (2, 3)]
    assert_identical(values(flat, [V])[0], [f(V)])


def test_one_program_is_inlined_many_times():
    inner = ad.jit(lambda x, y: (y, np.sin(x), 2.0, V))

    def f(x):
        y, z = x, x
        for _ in range(3):
            y, z, _, v = inner(y, z)
        return y + z + v

    x = np.float64(0.5)
    jaxpr = ad.make_jaxpr(f)(x)
    assert len({id(eqn.params['jaxpr']) for eqn in jaxpr.eqns[:3]}) == 1
    flat = opened(jaxpr)
    check_jaxpr(flat)
    assert len(flat.eqns) == 5 and len(flat.consts) == 1
    assert_identical(values(flat, [x])[0], [f(x)])


# Simplification

SIMPLIFIED = {
    # the same again
    'cse': (lambda x: np.sin(x * 2) + np.sin(x * 2), [V], (
        'b:float64[3] = mul a 2', 'c:float64[3] = sin b',
        'd:float64[3] = add c c', 'in (d,) }')),
    'numbers_of_three_types': (
        lambda x: (x + 1, x + 1.0, x + True, x + 1, x + np.float64(1),
            x + 1.0),
        [V], (
        'b:float64[3] = add a 1', 'c:float64[3] = add a 1.0',
        'd:float64[3] = add a True', 'e:float64[3] = add a 1.0',
        'in (b, c, d, b, e, c) }')),
    'zeros_of_two_signs': (lambda x: (x * 0.0, x * -0.0, x * 0.0), [V], (
        'b:float64[3] = mul a 0.0', 'c:float64[3] = mul a -0.0',
        'in (b, c, b) }')),
    'not_a_number': (lambda x: (x * np.nan, x * np.nan), [V], (
        'b:float64[3] = mul a nan', 'in (b, b) }')),
    'complex_zeros': (
        lambda x: (x * 0j, x * -0j, x * (0 - 0j), x * 0j),
        [V], (
        'b:complex128[3] = mul a 0j', 'c:complex128[3] = mul a (-0-0j)',
        'in (b, c, b, b) }')),
    'order_matters': (lambda x: (x + V, V + x, x + V), [V], (
        'c:float64[3] = add b a', 'd:float64[3] = add a b',
        'in (c, d, c) }')),
    'slices': (
        lambda x: (x[1:], x[:1], x[1:2], x[::2], x[1:], x[1], x[None, 1:],
            x[1]),
        [V], (
        'b:float64[2] = index[indices=(1:,)] a',
        'c:float64[1] = index[indices=(:1,)] a',
        'd:float64[1] = index[indices=(1:2,)] a',
        'e:float64[2] = index[indices=(::2,)] a',
        'f:float64[] = index[indices=(1,)] a',
        'g:float64[1,2] = index[indices=(None, 1:)] a',
        'in (b, c, d, e, b, f, g, f) }')),
    'traced_places': (lambda x, i: (x[i], x[i], x[i, None]), [V, 1], (
        'c:int64[] = astype[dtype=int64 weak_type=False] b',
        'd:float64[] = index[indices=(.,)] a c',
        'e:float64[1] = index[indices=(., None)] a c', 'in (d, d, e) }')),
    'parameters': (
        lambda x: (np.sum(x, 0), np.sum(x, 1), np.sum(x, 0, keepdims=True),
            np.sum(x, 0)),
        [A], (
        'b:float64[3] = reduce_sum[axis=(0,) keepdims=False] a',
        'c:float64[2] = reduce_sum[axis=(1,) keepdims=False] a',
        'd:float64[1,3] = reduce_sum[axis=(0,) keepdims=True] a',
        'in (b, c, d, b) }')),
    'dtypes': (
        lambda x: (x.astype('f4'), x.astype('f2'), x.astype('f4')),
        [V], (
        'b:float32[3] = astype[dtype=float32 weak_type=False] a',
        'c:float16[3] = astype[dtype=float16 weak_type=False] a',
        'in (b, c, b) }')),
    'several_results': (
        lambda a: (np.linalg.slogdet(a)[1], np.linalg.slogdet(a)[0]),
        [np.eye(2)], (
        'b:float64[] c:float64[] = slogdet a', 'in (c, b) }')),
    'done_twice_by_checkpoint': (
        lambda x: (np.sin(x), ad.checkpoint(np.sin)(x),
            ad.checkpoint(np.sin)(x)),
        [V], (
        'b:float64[3] = sin a', 'c:float64[3] = checkpoint[name=sin] a',
        'jaxpr={ lambda ; a:float64[3] . let', 'b:float64[3] = sin a',
        'in (b,) }', 'd:float64[3] = checkpoint[name=sin] a',
        'jaxpr={ lambda ; a:float64[3] . let', 'b:float64[3] = sin a',
        'in (b,) }', 'in (b, c, d) }')),

    # numbers alone
    'folded': (lambda x: x * ad.jit(lambda a: (a * 2 + 1) / 4)(3), [V], (
        'b:float64[3] = mul a 1.75', 'in (b,) }')),
    'folded_ufunc': (lambda x: x * ad.jit(np.sqrt)(4.0), [V], (
        'b:float64[3] = mul a 2.0', 'in (b,) }')),
    'folded_comparison': (lambda x: x + ad.jit(lambda a: a < 2)(1.0), [V], (
        'b:float64[3] = add a True', 'in (b,) }')),
    'folded_infinity': (lambda x: x * ad.jit(lambda a: a - 1)(np.inf), [V], (
        'b:float64[3] = mul a inf', 'in (b,) }')),
    'not_where_it_divides_by_zero': (
        lambda x: x * ad.jit(lambda a: 1 / a)(0.0),
        [V], (
        'b:float = div 1 0.0', 'c:float64[3] = mul a b', 'in (c,) }')),
    'not_where_it_warns': (lambda x: x * ad.jit(np.log)(0.0), [V], (
        'b:float64[] = log 0.0', 'c:float64[3] = mul a b', 'in (c,) }')),
    'not_where_it_overflows': (
        lambda x: x * ad.jit(lambda a: a * a)(np.float64(1e200)),
        [V], (
        'b:float64[] = mul 1e+200 1e+200', 'c:float64[3] = mul a b',
        'in (c,) }')),
    'not_where_it_underflows': (lambda x: x * ad.jit(np.exp)(-800.0), [V], (
        'b:float64[] = exp -800.0', 'c:float64[3] = mul a b', 'in (c,) }')),
    'not_an_array': (lambda x: x * np.sum(ad.asarray(2.0)), [V], (
        'b:float64[] = astype[dtype=float64 weak_type=False] 2.0',
        'c:float64[] = reduce_sum[axis=() keepdims=False] b',
        'd:float64[3] = mul a c', 'in (d,) }')),

    # what it is already
    'identities': (
        lambda x: (x * 1, 1 * x, x * 1.0, True * x, x / 1, x / 1.0, x - 0,
            x - 0.0, x + -0.0, -0.0 + x, x ** 1, x * np.float64(1)),
        [V], (
        'in (a, a, a, a, a, a, a, a, a, a, a, a) }',)),
    'none_at_zero': (lambda x: (x + 0, x + 0.0, 0.0 + x, x - -0.0), [V], (
        'b:float64[3] = add a 0', 'c:float64[3] = add a 0.0',
        'd:float64[3] = add 0.0 a', 'e:float64[3] = sub a -0.0',
        'in (b, c, d, e) }')),
    'none_at_all': (
        lambda x: (x * -1, x / -1, 1 / x, 0 - x, 1 ** x),
        [V], (
        'b:float64[3] = mul a -1', 'c:float64[3] = div a -1',
        'd:float64[3] = div 1 a', 'e:float64[3] = sub 0 a',
        'f:float64[3] = pow 1 a', 'in (b, c, d, e, f) }')),
    'none_of_another_dtype': (
        lambda x: (x * 1.0, x + -0.0, x / 1, x * np.int8(1)),
        [np.arange(3)], (
        'b:float64[3] = mul a 1.0', 'c:float64[3] = add a -0.0',
        'd:float64[3] = div a 1', 'in (b, c, d, a) }')),
    'integers': (
        lambda x: (x * 1, x + 0, 0 + x, x - 0, x ** 1, x * True),
        [np.arange(3)], (
        'in (a, a, a, a, a, a) }',)),
    'booleans': (lambda x: (x * True, x * 1, x + False), [V > 1], (
        'b:int64[3] = mul a 1', 'in (a, b, a) }')),
    'single': (
        lambda x: (x * 1.0, x * np.float32(1), x * np.float64(1)),
        [np.ones(3, 'f4')], (
        'b:float64[3] = mul a 1.0', 'in (a, a, b) }')),
    'python_numbers': (lambda x: (x * 1, x * 1.0, x + 0, x - 0), [2], (
        'b:float = mul a 1.0', 'in (a, b, a, a) }')),
    'a_float': (
        lambda x: (x * 1, x - 0.0, x + 0.0, x * np.float64(1)),
        [2.0], (
        'b:float = add a 0.0', 'c:float64[] = mul a 1.0',
        'in (a, a, b, c) }')),
    'that_broadcasts': (lambda x: x * np.ones((2, 1)), [V], (
        'c:float64[2,3] = mul b a', 'in (c,) }')),
    'types': (lambda x: (x.astype('f8'), x.astype('>f8')), [V], (
        'b:>f8[3] = astype[dtype=>f8 weak_type=False] a', 'in (a, b) }')),
    'shapes': (
        lambda x: (np.reshape(x, 3), np.reshape(x, (1, 3)),
            np.broadcast_to(x, 3), np.broadcast_to(x, (1, 3))),
        [V], (
        'b:float64[1,3] = reshape[shape=(1, 3)] a',
        'c:float64[1,3] = broadcast_to[shape=(1, 3)] a',
        'in (a, b, a, c) }')),
    'real': (lambda x: (x.real, ad.stop_gradient(x)), [V], ('in (a, a) }',)),
    'complex': (
        lambda x: (x.real, np.conj(x), ad.stop_gradient(x), x - 0),
        [V + 1j], (
        'b:float64[3] = real a', 'c:complex128[3] = conj a',
        'd:complex128[3] = sub a 0', 'in (b, c, a, d) }')),
    'chain': (lambda x: np.sin(x * 1 - 0.0) / 1, [V], (
        'b:float64[3] = sin a', 'in (b,) }')),

    # small powers of arrays
    'powers': (lambda x: (x * x, x ** 2, x ** 3, x ** 4, x ** 8), [V], (
        'b:float64[3] = mul a a', 'c:float64[3] = mul b a',
        'd:float64[3] = mul b b', 'e:float64[3] = mul d d',
        'in (b, b, c, d, e) }')),
    'larger_powers': (lambda x: (x ** 5, x ** 6, x ** 7, x ** 9), [V], (
        'b:float64[3] = mul a a', 'c:float64[3] = mul b b',
        'd:float64[3] = mul c a', 'e:float64[3] = mul b a',
        'f:float64[3] = mul e e', 'g:float64[3] = mul f a',
        'h:float64[3] = pow a 9', 'in (d, f, g, h) }')),
    'powers_that_are_none': (
        lambda x: (x ** 2.0, x ** np.float64(2), x ** -2),
        [V], (
        'b:float64[3] = pow a 2.0', 'c:float64[3] = pow a 2.0',
        'd:float64[3] = pow a -2', 'in (b, c, d) }')),
    'power_two': (lambda x, n: (x ** n, x ** True), [V, 2], (
        'c:float64[3] = pow a b', 'in (c, a) }')),
    'power_of_a_number': (lambda x: (x ** 2, x * x), [2.0], (
        'b:float = pow a 2', 'c:float = mul a a', 'in (b, c) }')),
    'power_of_a_scalar': (lambda x: (x ** 2, x * x), [np.float64(2)], (
        'b:float64[] = pow a 2', 'c:float64[] = mul a a', 'in (b, c) }')),
    'power_of_integers': (lambda x: (x ** 2, x * x), [np.arange(3)], (
        'b:int64[3] = pow a 2', 'c:int64[3] = mul a a', 'in (b, c) }')),
    'power_of_complex': (lambda x: (x ** 2, x * x), [V + 1j], (
        'b:complex128[3] = pow a 2', 'c:complex128[3] = mul a a',
        'in (b, c) }')),
    'derivative_of_a_power': (ad.grad(lambda x: np.sum(x ** 4)), [V], (
        'b:float64[3] = mul a a', 'c:float64[3] = mul b a',
        'd:float64[3] = mul 4 c', 'in (d,) }')),

    # broadcasting is left to NumPy
    'broadcast_number': (
        lambda x, y: np.broadcast_to(y, (2, 3)) * x,
        [A, np.float64(2)], (
        'c:float64[2,3] = mul b a', 'in (c,) }')),
    'broadcast_row': (
        lambda x, y: (x * np.broadcast_to(y, (2, 3)),
            np.maximum(np.broadcast_to(y, (2, 3)), x)),
        [A, V], (
        'c:float64[2,3] = mul a b', 'd:float64[2,3] = max b a',
        'in (c, d) }')),
    'broadcast_both': (
        lambda x, y: np.broadcast_to(x, (2, 3)) + np.broadcast_to(y, (2, 3)),
        [V, V], (
        'c:float64[2,3] = broadcast_to[shape=(2, 3)] b',
        'd:float64[2,3] = add a c', 'in (d,) }')),
    'broadcast_to_each_other': (
        lambda x, y: np.broadcast_to(x, (2, 3)) + np.broadcast_to(y, (2, 3)),
        [V, np.ones((2, 1))], (
        'c:float64[2,3] = add a b', 'in (c,) }')),
    'broadcast_and_returned': (
        lambda x, y: (lambda z: (z * x, z))(np.broadcast_to(y, (2, 3))),
        [A, V], (
        'c:float64[2,3] = broadcast_to[shape=(2, 3)] b',
        'd:float64[2,3] = mul b a', 'in (d, c) }')),
    'broadcast_and_added': (
        lambda x, y: np.sum(np.broadcast_to(y, (2, 3)), 0) * x,
        [A, V], (
        'c:float64[2,3] = broadcast_to[shape=(2, 3)] b',
        'd:float64[3] = reduce_sum[axis=(0,) keepdims=False] c',
        'e:float64[2,3] = mul d a', 'in (e,) }')),
    'broadcast_of_another_dtype': (
        lambda x, y: x.astype('f4') * np.broadcast_to(y, 3),
        [V, np.float64(2)], (
        'c:float32[3] = astype[dtype=float32 weak_type=False] a',
        'd:float64[3] = mul c b', 'in (d,) }')),
    'broadcast_condition': (
        lambda c, x: np.where(np.broadcast_to(c, (2, 3)), x,
            np.broadcast_to(0.0, (2, 3))),
        [V > 1, A], (
        'c:float64[2,3] = where a b 0.0', 'in (c,) }')),
    'constant_number': (lambda x: x * np.broadcast_to(2.0, (2, 3)), [A], (
        'b:float64[2,3] = mul a 2.0', 'in (b,) }')),
    'constant_integer': (lambda x: x * np.broadcast_to(2, (2, 3)), [A], (
        'b:float64[2,3] = mul a 2', 'in (b,) }')),
    'constant_single': (
        lambda x: x * np.broadcast_to(np.float32(2), (2, 3)),
        [A], (
        'b:float64[2,3] = mul a 2.0', 'in (b,) }')),
    'constant_on_single': (
        lambda x: x * np.broadcast_to(np.float32(2), 3),
        [np.ones(3, 'f4')], (
        'b:float32[3] = mul a 2.0', 'in (b,) }')),
    'constant_wider': (
        lambda x: x * np.broadcast_to(2.0, 3),
        [np.ones(3, 'f4')], (
        'b:float64[3] = mul a 2.0', 'in (b,) }')),
    'constant_alone': (lambda x: x * np.broadcast_to(2.0, (2, 3)), [V], (
        'c:float64[2,3] = mul b a', 'in (c,) }')),
    'constant_row': (lambda x: x * np.broadcast_to(V, (2, 3)), [A], (
        'c:float64[2,3] = mul b a', 'in (c,) }')),
    'constant_one': (lambda x: x * np.broadcast_to(1.0, (2, 3)), [A], (
        'in (a,) }',)),
    'constant_that_is_whole': (lambda x: x * np.full((2, 3), 2.0), [A], (
        'b:float64[2,3] = mul a 2.0', 'in (b,) }')),
    'constant_of_one_element': (lambda x: x * np.array([2.0]), [V], (
        'c:float64[3] = mul b a', 'in (c,) }')),
    'constant_that_is_added': (
        lambda x: x + np.sum(np.broadcast_to(2.0, (2, 3))),
        [A], (
        'b:float64[2,3] = add a 12.0', 'in (b,) }')),

    # a product of an array with itself
    'product_of_a_square': (lambda x: x @ x.T, [A], (
        'b:float64[3,2] = transpose[axes=(1, 0)] a',
        'c:float64[2,2] = matmul a b', 'in (c,) }')),
    'product_that_would_become_one': (
        lambda x: np.sin(x) @ np.sin(x).T,
        [A], (
        'b:float64[2,3] = sin a',
        'c:float64[3,2] = transpose[axes=(1, 0)] b',
        'd:float64[3,2] = mul c 1', 'e:float64[2,2] = matmul b d',
        'in (e,) }')),
    'product_twice': (lambda x: (np.sin(x) @ np.sin(x).T) @ (x @ x.T), [A], (
        'b:float64[2,3] = sin a',
        'c:float64[3,2] = transpose[axes=(1, 0)] b',
        'd:float64[3,2] = mul c 1', 'e:float64[2,2] = matmul b d',
        'f:float64[3,2] = transpose[axes=(1, 0)] a',
        'g:float64[2,2] = matmul a f', 'h:float64[2,2] = matmul e g',
        'in (h,) }')),
    'product_with_a_copy': (lambda x: (x * 1.0) @ x.T, [A], (
        'b:float64[3,2] = transpose[axes=(1, 0)] a',
        'c:float64[3,2] = mul b 1', 'd:float64[2,2] = matmul a c',
        'in (d,) }')),
    'product_of_vectors': (lambda x: np.sin(x) @ np.sin(x), [V], (
        'b:float64[3] = sin a', 'c:float64[3] = mul b 1',
        'd:float64[] = matmul b c', 'in (d,) }')),
    'product_of_a_result': (lambda x: (lambda y: y @ y.T)(np.sin(x)), [A], (
        'b:float64[2,3] = sin a',
        'c:float64[3,2] = transpose[axes=(1, 0)] b',
        'd:float64[2,2] = matmul b c', 'in (d,) }')),
    'product_of_two': (lambda x: np.sin(x) @ np.cos(x).T, [A], (
        'b:float64[2,3] = sin a', 'c:float64[2,3] = cos a',
        'd:float64[3,2] = transpose[axes=(1, 0)] c',
        'e:float64[2,2] = matmul b d', 'in (e,) }')),
    'product_with_a_view': (
        lambda x: np.sin(x)[:, :2] @ np.sin(x)[:, 1:].T,
        [A], (
        'b:float64[2,3] = sin a',
        'c:float64[2,2] = index[indices=(:, :2)] b',
        'd:float64[2,2] = index[indices=(:, 1:)] b',
        'e:float64[2,2] = transpose[axes=(1, 0)] d',
        'f:float64[2,2] = mul e 1', 'g:float64[2,2] = matmul c f',
        'in (g,) }')),

    # nothing is multiplied by a power of 0
    'zeroth_power': (
        lambda x: (np.sin(x) * x ** 0, x[:2] ** 0 + x[1:], x[0] ** 0), [V], (
        'b:float64[3] = sin a', 'c:float64[2] = index[indices=(1:,)] a',
        'd:float64[2] = add 1.0 c', 'e:float64[] = index[indices=(0,)] a',
        'f:float64[] = pow e 0', 'in (b, d, f) }')),

    # of a matrix and a vector, `y @ x` has the bits of `x.T @ y`
    'transpose_of_a_factor': (
        lambda a, x: (a.T @ x, a.T @ a[:, :1], x @ a), [A, V[:2]], (
        'c:float64[3,2] = transpose[axes=(1, 0)] a',
        'd:float64[3] = matmul b a',
        'e:float64[2,1] = index[indices=(:, :1)] a',
        'f:float64[3,1] = matmul c e', 'in (d, f, d) }')),

    # of what may be a view of something larger, a copy is none
    'copy_of_a_view': (
        lambda x: (lambda y: (y * 1, y / 1, y - 0.0, y ** 1))(x.T),
        [A], (
        'b:float64[3,2] = transpose[axes=(1, 0)] a',
        'c:float64[3,2] = mul b 1', 'd:float64[3,2] = div b 1',
        'e:float64[3,2] = sub b 0.0', 'f:float64[3,2] = pow b 1',
        'in (c, d, e, f) }')),
    'copy_of_a_piece': (
        lambda x: (lambda y: (y * 1, y / 1, y - 0.0, y ** 1))(x[1:]),
        [A], (
        'b:float64[1,3] = index[indices=(1:,)] a', 'in (b, b, b, b) }')),
    'copy_of_a_result': (
        lambda x: (lambda y: (y * 1, y / 1, y - 0.0, y ** 1))(np.exp(x.T)),
        [A], (
        'b:float64[3,2] = transpose[axes=(1, 0)] a',
        'c:float64[3,2] = exp b', 'in (c, c, c, c) }')),
    'copy_of_a_scalar': (lambda x: (x[0] * 1, x[0] - 0.0), [V], (
        'b:float64[] = index[indices=(0,)] a', 'in (b, b) }')),
    'copy_by_conj': (lambda x: (np.conj(x[::2]), np.conj(x)), [V], (
        'b:float64[2] = index[indices=(::2,)] a', 'c:float64[2] = conj b',
        'in (c, a) }')),
}


@pytest.mark.parametrize('name', SIMPLIFIED)
def test_exactly_these_equations_are_left(name):
    """They compute the same, and warn alike; and nothing more is to do."""
    f, args, expected = SIMPLIFIED[name]
    jaxpr = opened(ad.make_jaxpr(f)(*args))
    before = str(jaxpr)
    small = simplify(jaxpr, c_ordered(jaxpr))
    check_jaxpr(small)
    assert lines(small) == expected
    again = simplify(small, c_ordered(small))
    assert lines(again) == expected
    assert str(jaxpr) == before
    (actual, heard), (result, said) = (values(x, args)
                                       for x in (small, jaxpr))
    assert_identical(actual, result)
    assert heard == said


def test_what_is_left_remembers_its_line():
    f = lambda x: (x ** 3, (x * 1.0) @ x)
    jaxpr = opened(ad.make_jaxpr(f)(V))
    power, _, product = [eqn.line for eqn in jaxpr.eqns]
    assert power[0].co_filename == __file__
    small = simplify(jaxpr, c_ordered(jaxpr))
    assert [eqn.line for eqn in small.eqns] == [power, power, product,
                                                product]


@pytest.mark.parametrize('state', [{}, {'all': 'ignore'}, {'all': 'raise'}])
def test_folding_asks_nobody_for_the_state_of_errors(state):
    f = lambda x: x * ad.jit(lambda a: a / 0.0)(np.float64(1)) + 1
    jaxpr = opened(ad.make_jaxpr(f)(V))
    with np.errstate(**state):
        assert len(simplify(jaxpr).eqns) == 3


def test_a_symbolic_zero_is_no_number():
    zero = Literal(Zero(ad.typeof(V)))
    for primitive in (add_p, sub_p, mul_p):
        for other in (Var(ad.typeof(V)), Literal(Zero(ad.typeof(V)))):
            invars = [v for v in (other,) if type(v) is Var]
            y = Var(ad.typeof(V))
            jaxpr = Jaxpr([], invars, [
                Equation(primitive, [other, zero], {}, [y])], [y], [])
            assert len(simplify(jaxpr).eqns) == 1


COMPLEX = [complex(x, y) for x in (0.0, -0.0, 1.5, np.inf, -np.inf, np.nan)
           for y in (0.0, -0.0, -2.0, np.inf, np.nan)]
NO_IDENTITIES = {
    'times_one': lambda x: x * 1, 'one_times': lambda x: 1.0 * x,
    'over_one': lambda x: x / 1, 'plus_zero': lambda x: x + 0,
    'zero_plus': lambda x: 0 + x, 'plus_minus_zero': lambda x: x + -0.0,
    'minus_zero': lambda x: x - 0, 'minus_zero_float': lambda x: x - 0.0,
    'minus_complex_zero': lambda x: x - 0j, 'conj': np.conj,
}


@pytest.mark.parametrize('name', NO_IDENTITIES)
def test_few_identities_hold_for_complex_numbers(name):
    """x * 1 was dropped, where NumPy makes 0.0 of -0.0, and nan of inf."""
    f = NO_IDENTITIES[name]
    g, parts = ad.jit(f), lambda z: (np.real(z), np.imag(z))
    with np.errstate(all='ignore'):
        for x in COMPLEX:
            for z in (x, np.complex128(x), np.array([x, x, x])):
                assert_identical(parts(g(z)), parts(f(z)))


STRIDED = {
    'backwards': lambda x: x[::-1], 'mirrored': lambda x: x[:, ::-1],
    'columns': lambda x: x[:, ::3], 'transposed': lambda x: x.T,
    'repeated_row': lambda x: np.broadcast_to(x[:1], x.shape),
    'repeated_column': lambda x: np.broadcast_to(x[:, :1], x.shape),
    'rows': lambda x: x[1:],
}
COPIES = {
    'times_one': lambda x: x * 1, 'over_one': lambda x: x / 1,
    'minus_zero': lambda x: x - 0.0, 'power_one': lambda x: x ** 1,
    'plus_minus_zero': lambda x: x + -0.0,
    'conj': np.conj,
}


@pytest.mark.parametrize('copy', COPIES)
@pytest.mark.parametrize('view', STRIDED)
def test_a_copy_of_a_view_is_no_view(view, copy):
    """NumPy adds up what has other strides in another order."""
    f = lambda x: (lambda y: (np.sum(y), np.sum(y, 0), y @ np.ones(
        np.shape(y)[1]), y @ y.T))(COPIES[copy](STRIDED[view](x)))
    x = np.random.default_rng(3).normal(size=(120, 99))
    assert_identical(ad.jit(f)(x), f(x))


# Keys

SAME = [(), 1, 1.0, True, None, 'a', (1, 2), (1, (2.0, 'a')), slice(1, None),
        slice(None, 2), slice(0, None, 2), (slice(1), Ellipsis, None),
        np.dtype('f8'), np.dtype('>f8'), 0.0, -0.0, [1],
        slice(0, None, 1)]


def test_equal_parameters_have_one_key_and_others_have_others():
    keys = list(map(frozen, SAME))
    assert len({*keys}) == len(SAME)
    for x, key in zip(SAME, keys):
        assert frozen(x) == key
    assert frozen((1, slice(2, 3))) == frozen((1, slice(2, 3)))
    assert frozen(([1],)) != frozen(([1],))     # it may change


def test_a_primitive_of_the_user_s_is_computed_once_per_parameter():
    p = ad.Primitive('p')
    p.def_impl(lambda x, n: x * n)
    p.def_abstract_eval(lambda x, n: x)
    f = lambda x: [p.bind(x, n=n) for n in (1, 1.0, 1, True, 1.0, 0.0, -0.0)]
    small = simplify(ad.make_jaxpr(f)(V))
    assert [eqn.params['n'] for eqn in small.eqns] == [1, 1.0, True, 0.0, 0.0]
    b, c, d, e, g = [eqn.outvars[0] for eqn in small.eqns]
    assert small.outvars == [b, c, b, d, c, e, g]


UNIFORM = [     # an array, its number, and whether it was broadcast
    (np.broadcast_to(2.5, 3), [2.5, np.float64(2.5)], True),
    (np.broadcast_to(np.float32(2.5), (2, 3)), [2.5, np.float32(2.5)], True),
    (np.broadcast_to(np.array([[7]]), (2, 3)), [7, np.int64(7)], True),
    (np.broadcast_to(True, 2), [True, np.True_], True),
    (np.broadcast_to(V[:1, None], (1, 3)), [0.5, np.float64(0.5)], True),
    (np.full((2, 3), 2.5), [2.5, np.float64(2.5)], False),
    (np.broadcast_to(np.ones(3), (2, 3)), [1.0, np.float64(1)], False),
    (np.zeros(2, 'i4'), [0, np.int32(0)], False),
    (np.full(3, -0.0), [-0.0, np.float64(-0.0)], False),
    *[(x, [], False) for x in (
        np.broadcast_to(V, (1, 3)), np.broadcast_to(V[:, None], (3, 2)),
        V, V[:1], V[:0], np.ones(()), np.broadcast_to(2.5, (1,)),
        np.array([0.0, -0.0]), np.broadcast_to(np.zeros((), ad.float0), 3),
        np.float64(2.5), None)]]


@pytest.mark.parametrize('x, expected, is_broadcast', UNIFORM)
def test_what_is_one_number_everywhere(x, expected, is_broadcast):
    for ordered, numbers in ((True, expected),
                             (False, expected if is_broadcast else [])):
        found = [v.val for v in uniform(x, lambda: ordered)]
        assert list(map(repr, found)) == list(map(repr, numbers))
        assert list(map(type, found)) == list(map(type, numbers))


# Dead code

def test_an_equation_is_trimmed_by_its_rule():
    q = ad.Primitive('q', multiple_results=True)
    q.def_abstract_eval(lambda x, n: [x] * n)

    def trim(eqn, used):
        kept = picked(eqn.outvars, used)
        return Equation(q, [Literal(2.0)], {'n': len(kept)}, kept)

    def f(x):
        y, _, z = q.bind(np.sin(x), n=3)
        return z, y

    jaxpr = ad.make_jaxpr(f)(V)
    assert lines(drop_dead(jaxpr)) == lines(jaxpr)
    dead_rules[q] = trim
    try:
        small = drop_dead(jaxpr)
        (eqn,) = small.eqns     # of the sine there is no need any more
        assert eqn.params == {'n': 2} and eqn.outvars == [
            *small.outvars[::-1]]
        dead = ad.make_jaxpr(lambda x: (q.bind(x, n=2), x)[1])(V)
        assert lines(drop_dead(dead)) == ('in (a,) }',)
    finally:
        del dead_rules[q]


def test_a_loop_keeps_no_rows_that_nobody_needs():
    f = lambda x: ad.scan(lambda c, y: (np.sin(c) * y, (c, np.cos(c))),
                          np.float64(1), x)
    for wanted, outs, rows in [
            (lambda c, ys: c, 1, 0), (lambda c, ys: ys[0], 2, 1),
            (lambda c, ys: ys, 2, 1)]:
        small = simplify(opened(ad.make_jaxpr(lambda x: wanted(*f(x)))(V)))
        check_jaxpr(small)
        loop = small.eqns[0]
        assert loop.primitive.name == 'loop'
        body = loop.params['jaxpr']
        assert len(loop.outvars) == len(body.outvars) == outs == 1 + rows
        assert [eqn.primitive.name for eqn in body.eqns] == ['sin', 'mul']


def test_parameters_that_are_equal_and_do_not_compute_the_same():
    copysign = ad.Primitive('copysign')
    copysign.def_impl(lambda x, *, k: np.copysign(x, k))
    copysign.def_abstract_eval(lambda x, *, k: x)
    for zero in (float, np.float64, np.float32):
        f = lambda x: [copysign.bind(x, k=k) for k in (zero(0), -zero(0))]
        assert_identical(ad.jit(f)(np.ones(2)), f(np.ones(2)))
        f = lambda x: [copysign.bind(x, k=k) for k in (zero(1), -zero(1))]
        assert_identical(ad.jit(f)(np.ones(2)), f(np.ones(2)))


def test_a_product_of_two_types_keeps_its_transpose():
    rng = np.random.default_rng(0)
    for shape in [(2, 3), (3, 2), (5, 7), (20, 30)]:
        x = rng.standard_normal(shape).astype('f')
        y = rng.standard_normal(shape[0])
        for f in (lambda x, y: x.T @ y, lambda x, y: y @ x):
            assert_identical(ad.jit(f)(x, y), f(x, y))
