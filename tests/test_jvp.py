"""interpreters/jvp.py: tangents, nesting, and what costs nothing."""

import functools
import math

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.arrays import astype_p
from autodiff_mini.primitives.elementwise import (
    add_p, cos_p, exp_p, mul_p, neg_p, sin_p, stop_gradient_p, sub_p)
from autodiff_mini.primitives.reductions import reduce_sum_p
from autodiff_mini.primitives.shapes import broadcast_to_p
from autodiff_mini.core import (
    Primitive, TraceTag, current_trace, tangent_type)
from autodiff_mini.interpreters.jvp import (
    JVPTracer, defjvp, jvp_flat, rules as jvp_rules)
from tests.numerical import assert_close, assert_same
from tests.traces import SpyTracer, call, call_p, spied


def d(f):
    """Returns the derivative of a function of one number."""
    return lambda x: ad.jvp(f, (x,), (1.0,))[1]


def nth(f, n):
    return functools.reduce(lambda f, _: d(f), range(n), f)


# Nesting

def test_nested_jvp_keeps_perturbations_apart():
    """d/dx of x * d/dy (x*y) is 2x; confusing the two gives x + y."""
    assert d(lambda x: x * d(lambda y: x * y)(2.0))(3.0) == 6.0
    assert d(lambda x: x * d(lambda y: x + y)(1.0))(1.0) == 1.0
    assert d(lambda x: d(lambda y: x)(1.0))(1.0) == 0.0


def test_three_perturbations_stay_apart():
    def f(x):
        def g(y):
            def h(z):
                return x * y**2 * z**3
            return y * d(h)(x)          # 3 x^3 y^3
        return x * d(g)(x)              # 9 x^6
    assert_close(d(f)(1.1), 54 * 1.1**5)


def test_inner_function_returns_a_value_of_the_outer():
    """The outer x is a constant to the inner jvp, and a variable outside."""
    assert ad.jvp(lambda x: ad.jvp(lambda y: x, (1.0,), (1.0,)),
                  (3.0,), (5.0,)) == ((3.0, 0.0), (5.0, 0.0))


def test_inner_tangent_may_be_a_value_of_the_outer():
    """1670: a rule may call jvp with the tangents it was given (D18)."""
    def f(x):
        return ad.jvp(np.sin, (x,), (x * x,))[1]    # x^2 cos x
    x = 0.7
    assert_close(d(f)(x), 2 * x * math.cos(x) - x * x * math.sin(x))


def test_jvp_of_the_same_variable_twice():
    def f(x):
        return d(lambda y: y * d(lambda z: z * x * y)(y))(x)    # 2 x^2
    assert_close(d(f)(1.5), 6.0)


def test_closures_over_values_of_every_level():
    def f(x):
        a = np.sin(x)

        def g(y):
            b = a * y

            def h(z):
                return a * b * z + x
            return d(h)(2.0)            # a b = sin^2(x) y
        return d(g)(3.0)                # sin^2 x
    assert_close(d(f)(0.3), math.sin(0.6))


def test_a_function_that_differentiates_itself():
    def f(x, depth=3):
        return x * d(lambda y: f(y, depth - 1))(x) if depth else x * x
    # x D applied three times to x^2 gives 8 x^2
    assert_close(f(1.5), 8 * 1.5**2)
    assert_close(d(f)(1.5), 16 * 1.5)


@pytest.mark.parametrize('order', range(6))
def test_derivatives_of_any_order_are_those_of_the_formulas(order):
    """D9, where no rule is custom: 0 to 5 nested derivatives."""
    x = 0.7
    assert_close(nth(np.exp, order)(x), math.exp(x))
    assert_close(nth(np.sin, order)(x), math.sin(x + order * math.pi / 2))
    assert_close(nth(np.cos, order)(x), math.cos(x + order * math.pi / 2))
    falling = math.prod(range(5, 5 - order, -1))
    assert_close(nth(lambda x: x**5, order)(x), falling * x**(5 - order))
    assert_close(nth(lambda x: x**5.0, order)(x), falling * x**(5 - order))
    factorial = math.factorial(order) * (-1)**order
    assert_close(nth(lambda x: 1 / x, order)(x), factorial / x**(order + 1))


@pytest.mark.parametrize('order, expected', list(enumerate(
    [0, 1, 0, -2, 0, 16])))
def test_derivatives_of_tanh_at_zero(order, expected):
    assert nth(np.tanh, order)(0.0) == expected


@pytest.mark.parametrize('order, expected', list(enumerate(
    [0, 1, -1, 2, -6, 24])))
def test_derivatives_of_log_at_one(order, expected):
    assert_close(nth(np.log, order)(1.0), float(expected))


def test_sixth_power_counts_down_to_zero():
    x = np.float64(2.0)
    values = [nth(lambda x: x**3, n)(x) for n in range(6)]
    assert values == [8.0, 12.0, 12.0, 6.0, 0.0, 0.0]


def test_mixed_second_derivative_in_either_order():
    f = lambda x, y: np.sin(x * y) + x**3 * y
    x, y = 0.5, 1.2
    xy = d(lambda x: d(lambda y: f(x, y))(y))(x)
    yx = d(lambda y: d(lambda x: f(x, y))(x))(y)
    expected = math.cos(x * y) - x * y * math.sin(x * y) + 3 * x**2
    assert_close(xy, expected)
    assert_close(yx, expected)


# Powers, ties, edges

@pytest.mark.parametrize('y, slope', [
    (0, 0), (0.0, 0), (1, 1), (1.0, 1), (2, 0), (3.0, 0)])
def test_powers_of_zero_have_a_finite_slope(y, slope):
    """0 * 0**-1 is no number; the derivative of x**0 is 0 (DESIGN)."""
    for x in (0.0, np.float64(0), np.zeros(())):
        assert d(lambda x: x ** y)(x) == slope
    a = np.array(y)
    assert d(lambda x: x ** a)(np.zeros(())) == slope


def test_power_of_zeros_in_one_array():
    y = np.array([0, 1, 2, 3])
    with np.errstate(all='raise'):
        _, y_dot = ad.jvp(lambda x: x ** y, (np.zeros(4),), (np.ones(4),))
    assert_same(y_dot, np.array([0., 1, 0, 0]))


def test_exponent_of_zero_and_of_one():
    with np.errstate(all='raise'):
        assert d(lambda y: 0.0 ** y)(2.0) == 0.0
        assert d(lambda y: 1.0 ** y)(2.0) == 0.0


def test_mixed_derivative_of_power_where_the_exponent_is_zero():
    """d/dy d/dx x**y = x**(y-1) (1 + y log x), which is 1/x at y = 0."""
    slope = lambda y: d(lambda x: x ** y)(2.0)
    assert_close(d(slope)(0.0), 0.5)
    assert_close(d(slope)(1.0), 1 + math.log(2))
    other = lambda x: d(lambda y: x ** y)(0.0)
    assert_close(d(other)(2.0), 0.5)


def test_power_of_negative_base_and_integer_exponent():
    assert d(lambda x: x**3)(-2.0) == 12.0
    assert d(lambda x: x**-1)(-2.0) == -0.25
    assert nth(lambda x: x**3, 2)(-2.0) == -12.0


def test_logarithm_of_a_narrow_base_is_not_narrow():
    """np.log of int8 is float16: too coarse for a float64 tangent."""
    base = np.array([3], np.int8)
    _, y_dot = ad.jvp(lambda y: base ** y, (np.array([2.0]),),
                      (np.array([1.0]),))
    assert_close(y_dot, np.array([9 * math.log(3)]))


def test_tie_of_maximum_gives_each_side_half():
    """A convention (DESIGN), as JAX's."""
    f = np.maximum
    x = np.array([1., 2., 3.])
    _, left = ad.jvp(lambda x: f(x, 2.0), (x,), (np.full(3, 4.),))
    _, right = ad.jvp(lambda x: f(2.0, x), (x,), (np.full(3, 4.),))
    assert_same(left, np.array([0., 2, 4]))
    assert_same(right, np.array([0., 2, 4]))
    assert ad.jvp(f, (2.0, 2.0), (1.0, 3.0)) == (2.0, 2.0)
    assert d(lambda x: f(x, x))(2.0) == 1.0
    assert d(lambda x: f(x, 0.0))(0.0) == 0.5


def test_maximum_carries_the_sign_and_the_second_derivative():
    f = lambda x: np.maximum(x**3, -x)
    assert d(f)(2.0) == 12.0 and d(f)(-2.0) == -1.0
    assert nth(f, 2)(2.0) == 12.0 and nth(f, 2)(-2.0) == 0.0


def test_where_takes_the_tangent_from_the_branch_taken():
    f = lambda x: np.where(x > 0, x * x, -x)
    _, y_dot = ad.jvp(f, (np.array([3., -2.]),), (np.array([1., 1.]),))
    assert_same(y_dot, np.array([6., -1.]))


def test_where_of_one_perturbed_branch():
    x = np.array([1., 2.])
    c = np.array([True, False])
    for f, expected in ((lambda x: np.where(c, x, 5.0), [1., 0.]),
                        (lambda x: np.where(c, 5.0, x), [0., 1.])):
        assert_same(ad.jvp(f, (x,), (np.ones(2),))[1], np.array(expected))


def test_condition_of_where_moves_nothing():
    def f(x):
        assert type(np.where(x, 1.0, 2.0)) is np.ndarray    # no tracer
        assert np.where(x, 1, 2).dtype == int
        return np.where(x, x, x * 2)

    assert d(f)(3.0) == 1.0 and d(f)(0.0) == 2.0


def test_where_of_an_unused_nan_branch_stays_a_number():
    with np.errstate(all='ignore'):
        _, y_dot = ad.jvp(lambda x: np.where(x > 0, x, np.nan),
                          (np.array([1.0]),), (np.array([1.0]),))
    assert_same(y_dot, np.array([1.0]))


def test_infinite_slopes_are_numpy_s():
    with np.errstate(divide='ignore'):
        assert d(np.sqrt)(0.0) == np.inf
        assert d(np.log)(0.0) == np.inf
        # Python's 0.0**-0.5 is a ZeroDivisionError
        assert d(lambda x: x ** 0.5)(0.0) == np.inf
    with pytest.warns(RuntimeWarning, match='divide by zero'):
        d(np.log)(0.0)


def test_complex_derivative_is_holomorphic():
    z, z_dot = 0.5 + 0.3j, 1.0 - 2.0j
    y, y_dot = ad.jvp(lambda z: np.exp(z) * z**2, (z,), (z_dot,))
    expected = (np.exp(z) * z**2 + np.exp(z) * 2 * z) * z_dot
    assert_close(y_dot, expected)


def test_complex_weak_tangent_of_a_complex_primal():
    assert ad.jvp(lambda z: z * z, (2j,), (1.0,)) == (-4 + 0j, 4j)


# What costs nothing

def counted(f, x, *, tangent=1.0):
    """Returns the primitives that jvp of `f` asks its parent about."""
    return dict(spied(lambda x: ad.jvp(f, (x,), (tangent,)), x)[1])


def test_a_rule_costs_what_it_says():
    """x_dot is plain here, so only what x reaches is counted."""
    assert counted(np.sin, 0.5) == {sin_p: 1, cos_p: 1, mul_p: 1}
    assert counted(lambda x: x + 1.0, 0.5) == {add_p: 1}
    assert counted(lambda x: 3.0 * x, 0.5) == {mul_p: 1}
    # A linear primitive is applied to the tangent.
    assert counted(lambda x: -x, 0.5) == {neg_p: 2}


def test_unperturbed_branch_costs_no_tangent_arithmetic():
    """c is a tracer of the parent, and a constant to the inner jvp."""
    def f(c):
        def inner(x):
            y = np.sin(c)
            y = y * c + np.exp(y)
            return x + y
        return ad.jvp(inner, (np.ones(2),), (np.ones(2),))

    _, counts = spied(f, np.ones(2))
    assert counts == {sin_p: 1, mul_p: 1, exp_p: 1, add_p: 2}


def test_unperturbed_argument_costs_no_tangent_arithmetic():
    def f(x, w):
        return ad.jvp(lambda x: (x * w).sum() + (w * w).sum(), (x,),
                      (np.ones(2),))

    _, counts = spied(f, np.ones(2), np.ones(2))
    assert counts == {mul_p: 3, reduce_sum_p: 3, add_p: 1}


def test_unperturbed_values_are_not_even_traced():
    def f(x, n):
        assert type(x) is JVPTracer
        assert type(n) is int
        assert type(x > 1) is np.bool_
        assert type(ad.stop_gradient(x)) is np.float64
        assert type(x.astype(int)) is np.int64
        assert type(ad.stop_gradient(x) * 2) is np.float64
        return x

    ad.jvp(f, (np.float64(2), 3), (np.float64(1), np.zeros((), ad.float0)))


def test_symbolic_zeros_are_never_made_into_arrays(monkeypatch):
    x, calls = np.ones(3), []
    for name in 'zeros', 'zeros_like', 'full', 'broadcast_to', 'ones':
        true = getattr(np, name)
        monkeypatch.setattr(np, name, lambda *args, name=name, true=true,
                            **kw: (calls.append(name), true(*args, **kw))[1])
    w = np.linspace(-1, 1, 6).reshape(2, 3)

    def f(x, w, n):
        y = np.tanh(w @ x + n) * w[:, 0] - w.sum(axis=1)
        y = np.where(y < 0, y, w[:, 1]) / np.maximum(w[:, 2], 3 - y)
        return y ** 2 + np.exp(np.reshape(w, (3, 2)).T[:, 0])

    y, y_dot = ad.jvp(lambda x: f(x, w, 1), (x,), (x,))
    assert calls == []
    assert np.any(y_dot)


def test_unperturbed_outputs_alone_are_made_into_arrays(monkeypatch):
    """At the edge, since users expect arrays: one for each such output."""
    calls = []
    true = np.zeros_like
    monkeypatch.setattr(np, 'zeros_like',
                        lambda *a: (calls.append(a), true(*a))[1])
    c = np.ones(2)
    _, y_dot = ad.jvp(lambda x: (x, c), (np.ones(2),), (np.ones(2),))
    assert len(calls) == 1
    assert_same(y_dot[1], np.zeros(2))


def test_a_tangent_of_zeros_is_no_symbolic_zero():
    """Only types decide, never values."""
    counts = counted(np.sin, 0.5, tangent=0.0)
    assert counts == {sin_p: 1, cos_p: 1, mul_p: 1}


def test_tangents_that_fit_are_left_alone():
    """No broadcasting, no conversion, where the types are equal."""
    def costs(f, x, t):
        return dict(spied(lambda x, t: ad.jvp(f, (x,), (t,)), x, t)[1])

    x = np.ones(2)
    assert costs(lambda x: x + 1.0, x, x) == {add_p: 1}
    assert costs(lambda x: x - 1.0, x, x) == {sub_p: 1}
    assert costs(lambda x: np.ones((3, 2)) + x, x, x) == {
        add_p: 1, broadcast_to_p: 1}
    single = np.ones(2, np.float32)
    assert costs(lambda x: x + np.ones(2), single, single) == {
        add_p: 1, astype_p: 1}


def test_rules_of_unperturbed_operands_are_not_called():
    called = []
    two_p = Primitive('two', lambda x, y: x + y)

    def rule(name):
        return lambda x_dot, z, x, y: called.append(name) or x_dot

    defjvp(two_p, rule('x'), rule('y'))
    try:
        assert ad.jvp(lambda x: two_p.bind(x, 5.0), (1.0,), (2.0,))[1] == 2
        assert ad.jvp(lambda x: two_p.bind(5.0, x), (1.0,), (2.0,))[1] == 2
        assert called == ['x', 'y']
        assert ad.jvp(lambda x: two_p.bind(x, x), (1.0,), (2.0,))[1] == 4
    finally:
        del jvp_rules[two_p]


def test_rules_get_the_parameters_of_the_primitive():
    axpy_p = Primitive('axpy', lambda x, y, a: a * x + y)
    defjvp(axpy_p, lambda x_dot, z, x, y, a: a * x_dot,
           lambda y_dot, z, x, y, a: y_dot)
    try:
        f = lambda x, y: axpy_p.bind(x, y, a=3.0)
        assert ad.jvp(f, (2.0, 1.0), (1.0, 5.0)) == (7.0, 8.0)
        with pytest.raises(ValueError, match='argument 2 is shorter'):
            # a rule for each operand, or the tangent of one would be lost
            defjvp(axpy_p, lambda x_dot, z, x, y, a: a * x_dot, None, None)
            ad.jvp(f, (2.0, 1.0), (1.0, 5.0))
    finally:
        del jvp_rules[axpy_p]


def test_an_operand_may_have_no_rule_or_a_rule_that_returns_zero():
    pick_p = Primitive('pick', lambda x, y, z: x + y + z)
    defjvp(pick_p, None, lambda y_dot, out, x, y, z: ad.Zero(out),
           lambda z_dot, out, x, y, z: 10 * z_dot)
    try:
        f = lambda *xs: pick_p.bind(*xs)
        x, t = (1.0, 2.0, 3.0), (1.0, 1.0, 1.0)
        assert ad.jvp(f, x, t) == (6.0, 10.0)
        assert ad.jvp(lambda x, y: f(x, y, 3.0), x[:2], t[:2]) == (6.0, 0.0)
        assert ad.jvp(lambda x, y: f(3.0, x, y), x[1:], t[1:])[1] == 10.0
        assert ad.jvp(lambda x, y: f(3.0, y, x), x[:2], t[:2])[1] == 10.0
        back_p = Primitive('back', lambda x, y: x + y)
        defjvp(back_p, lambda x_dot, z, x, y: x_dot,
               lambda y_dot, z, x, y: ad.Zero(z))
        assert ad.jvp(back_p.bind, (1.0, 2.0), (3.0, 4.0)) == (3.0, 3.0)
    finally:
        del jvp_rules[pick_p], jvp_rules[back_p]


# Zero and float0

def test_zero_knows_the_type_of_its_value():
    assert repr(ad.Zero(np.ones(2, np.float32))) == 'Zero(float32[2])'
    assert ad.Zero(1.0).aval == ad.typeof(1.0)
    assert ad.Zero(ad.typeof(np.ones(3))).aval == ad.typeof(np.ones(3))
    assert ad.Zero(3).aval.dtype == ad.float0
    assert ad.Zero(np.ones(2, bool)).aval == ad.ShapedArray((2,), ad.float0)


@pytest.mark.parametrize('like, expected', [
    (np.ones((2, 3)), np.zeros((2, 3))),
    (np.ones(2, np.float32), np.zeros(2, np.float32)),
    (np.ones(2, complex), np.zeros(2, complex)),
    (np.float32(1), np.float32(0)),
    (1.0, 0.0),
    (ad.ShapedArray((2,), np.dtype(np.float16)), np.zeros(2, np.float16)),
    (np.arange(3), np.zeros(3, ad.float0)),
    (True, np.zeros((), ad.float0)),
])
def test_zeros_are_instantiated_in_the_tangent_type(like, expected):
    zeros = ad.instantiate_zeros(ad.Zero(like))
    assert ad.typeof(zeros) == ad.typeof(expected)
    assert np.array_equal(zeros, expected)


def test_instantiate_zeros_leaves_arrays_alone():
    x = np.ones(2)
    assert ad.instantiate_zeros(x) is x


def test_integers_alone_have_another_tangent_type():
    assert tangent_type(ad.typeof(1.0)) == ad.typeof(1.0)
    assert tangent_type(ad.typeof(1j)) == ad.typeof(1j)
    assert tangent_type(ad.typeof(np.ones(2, np.int8))) == \
        ad.ShapedArray((2,), ad.float0)


def test_integers_have_float0_tangents():
    """R5: they come out as they went in, and take part unperturbed."""
    n = np.arange(3)
    x, tangents = np.ones(3), np.zeros(3, ad.float0)
    (y, m), (y_dot, m_dot) = ad.jvp(lambda x, n: (x * n, n + 1), (x, n),
                                    (x, tangents))
    assert_same(y_dot, np.array([0., 1, 2]))
    assert m_dot.dtype == ad.float0 and m_dot.shape == (3,)
    assert ad.float0.itemsize == 0


def test_nested_jvp_of_integer_outputs():
    """The tangent of an integer is an output of the inner jvp, too."""
    def f(x):
        return ad.jvp(lambda x: (x * x, x > 0), (x,), (1.0,))

    (y, y_dot), (y_dot2, y_ddot) = ad.jvp(f, (3.0,), (1.0,))
    assert y == (9.0, True) and y_dot[0] == 6.0
    assert y_dot2[0] == 6.0 and y_ddot[0] == 2.0
    for t in (y_dot[1], y_dot2[1], y_ddot[1]):
        assert np.result_type(t) == ad.float0


# stop_gradient

def test_stop_gradient_is_a_constant():
    f = lambda x: x * ad.stop_gradient(x * x)
    assert ad.jvp(f, (3.0,), (1.0,)) == (27.0, 9.0)


def test_stop_gradient_stops_every_level():
    stop = ad.stop_gradient
    assert nth(lambda x: stop(x)**2 * x, 2)(3.0) == 0.0
    assert nth(lambda x: stop(x) * x**2, 2)(3.0) == 6.0
    # inside, of the outer's value
    assert d(lambda x: d(lambda y: stop(x) * y)(2.0))(3.0) == 0.0
    # outside, of the inner's derivative
    assert d(lambda x: stop(d(lambda y: y**3)(x)) * x)(2.0) == 12.0
    # outside only
    assert d(lambda x: d(lambda y: stop(y) * y * x)(2.0))(3.0) == 2.0


def test_stop_gradient_takes_trees_and_plain_values():
    assert ad.stop_gradient({'a': (1, None)}) == {'a': (1, None)}
    a = np.ones(2)
    b = ad.stop_gradient(a)
    b += 1      # is another array
    assert a[0] == 1
    f = lambda t: ad.stop_gradient(t)['a'] * t['b']
    t = {'a': 2.0, 'b': 3.0}
    assert ad.jvp(f, (t,), ({'a': 1.0, 'b': 1.0},)) == (6.0, 2.0)


# Python looks at values

def test_python_branches_on_values_under_jvp():
    def f(x):
        if x > 1:
            return x * x
        while x < 1:
            x = 2 * x
        return x

    assert (d(f)(3.0), d(f)(0.3)) == (6.0, 4.0)
    assert d(lambda x: max(x, 1.0) + min(x, 1.0))(2.0) == 1.0
    assert d(lambda x: sorted([x, 1.0])[0])(0.5) == 1.0
    assert d(lambda x: x if x else -x)(2.0) == 1.0
    assert d(lambda x: x * (1 if not x else 2))(0.0) == 1.0
    assert d(lambda x: x if 1 < x < 3 else 0.0)(2.0) == 1.0


def test_truth_of_many_values_is_numpy_s_error():
    with pytest.raises(ValueError, match='ambiguous'):
        ad.jvp(lambda x: x if x else 0.0, (np.ones(2),), (np.ones(2),))


def test_a_tracer_prints_its_primal_and_its_tangent(capsys):
    def f(x):
        print(x, f'{x}', f'{x:.3f}', repr(x))
        print(x.primal, x.tangent)
        return x

    ad.jvp(f, (0.5,), (2.0,))
    tracer = 'JVPTracer(primal=0.5, tangent=2.0)'
    assert capsys.readouterr().out == (
        f'{tracer} {tracer} 0.500 {tracer}\n0.5 2.0\n')


def test_debugger_sees_values_of_every_level():
    def f(x):
        def g(y):
            assert (y.primal.primal, y.primal.tangent) == (0.5, 2.0)
            assert y.tangent == 3.0
            return y
        return ad.jvp(g, (x,), (3.0,))[1]

    ad.jvp(f, (0.5,), (2.0,))


def test_a_tracer_has_the_type_of_its_primal():
    def f(x):
        assert x.aval == ad.typeof(1.0)
        assert np.sin(x).aval == ad.typeof(np.float64(1.0))
        assert isinstance(x, ad.Tracer)
        return x

    ad.jvp(f, (1.0,), (1.0,))


# Hooks for later rows

def test_call_of_f_differentiates_as_f():
    """D5: jvp(call(f)) == call(jvp(f)), eval(call(f)) == eval(f)."""
    f = lambda x: np.sin(x) * x
    assert call(f, 0.5) == f(0.5)
    assert ad.jvp(lambda x: call(f, x), (0.5,), (2.0,)) == \
        ad.jvp(f, (0.5,), (2.0,))


@pytest.mark.parametrize('order', range(5))
def test_call_differentiates_to_any_order(order):
    f = lambda x: call(lambda y: call(np.sin, y), x)
    assert_close(nth(f, order)(0.7), nth(np.sin, order)(0.7))


def test_call_may_close_over_a_tracer_of_the_same_jvp():
    f = lambda x: call(lambda y: x * y, 3.0)     # no traced operand
    assert ad.jvp(f, (2.0,), (1.0,)) == (6.0, 3.0)
    g = lambda x: call(lambda y: x * y, x)
    assert ad.jvp(g, (2.0,), (1.0,)) == (4.0, 4.0)


def test_call_may_close_over_tracers_of_several_jvps():
    def f(x):
        def g(y):
            return call(lambda: call(lambda z: x * y * z, y))   # x y^2
        return d(g)(x)                                          # 2 x^2
    assert_close(f(3.0), 18.0)
    assert_close(d(f)(3.0), 12.0)


def test_call_closing_over_the_outer_only_is_a_constant_inside():
    f = lambda x: d(lambda y: y + call(lambda: x * x))(2.0)
    assert ad.jvp(f, (3.0,), (1.0,)) == (1.0, 0.0)


def test_unperturbed_call_has_unperturbed_results():
    def f(x):
        assert type(call(np.sin, 0.5)) is np.float64
        return x

    ad.jvp(f, (1.0,), (1.0,))


def test_tracer_made_in_a_call_works_after_it():
    f = lambda x: np.exp(call(np.sin, x)) + x
    assert_close(d(f)(0.5), math.exp(math.sin(.5)) * math.cos(.5) + 1)


def test_call_rule_gets_the_tag_of_its_transformation():
    seen = []

    def f(x):
        seen.append(current_trace().tag)
        return call(lambda y: (seen.append(current_trace().tag), y)[1], x)

    ad.jvp(f, (1.0,), (1.0,))
    assert len(seen) == 2 and seen[0] is seen[1]
    assert type(seen[0]) is TraceTag


def test_a_call_below_jvp_is_applied_by_jvp():
    y, counts = spied(lambda x: d(lambda x: call(np.sin, x))(x), 0.5)
    assert_close(y, math.cos(0.5))
    assert call_p not in counts     # jvp has applied it


def test_jvp_flat_takes_zeros():
    x, zero = np.ones(2), ad.Zero(np.ones(2))
    (y, z), (y_dot, z_dot) = jvp_flat(
        lambda x, c: [x * c, c + 1], [x, x], [x, zero], TraceTag('jvp', None))
    assert_same(y_dot, np.ones(2))
    assert type(z_dot) is ad.Zero and type(z) is np.ndarray


def test_a_primitive_with_several_results_is_differentiated():
    two_p = Primitive('two', lambda x, y: [x * y, x + y],
                      multiple_results=True)

    def rule(primals, tangents):
        (x, y), (x_dot, y_dot) = primals, map(ad.instantiate_zeros, tangents)
        out = two_p.bind(x, y)
        return out, [x_dot * y + x * y_dot, ad.Zero(out[1])]

    jvp_rules[two_p] = rule
    try:
        y, y_dot = ad.jvp(lambda x: two_p.bind(x, 3.0), (2.0,), (1.0,))
        assert (y, y_dot) == ([6.0, 5.0], [3.0, 0.0])
        assert two_p.bind(2.0, 3.0) == [6.0, 5.0]
        second = d(lambda x: d(lambda y: two_p.bind(x, y)[0])(1.0))(4.0)
        assert second == 1.0
    finally:
        del jvp_rules[two_p]


def test_a_rule_may_get_symbolic_zeros():
    """P3: isinstance(t, ad.Zero) tells."""
    seen, first_p = [], Primitive('first', lambda x, y: x)
    jvp_rules[first_p] = lambda xs, ts: (xs[0],
                                         seen.extend(map(type, ts)) or ts[0])
    try:
        ad.jvp(lambda x: first_p.bind(x, 2.0), (1.0,), (1.0,))
        assert seen == [float, ad.Zero]
    finally:
        del jvp_rules[first_p]


def test_missing_rule_names_primitive_and_cure():
    """P4, and only where a tangent would be needed."""
    lost_p = Primitive('lost', lambda x: x)
    with pytest.raises(NotImplementedError, match=(
            r"Differentiation rule for 'lost' not implemented: "
            r'define jvp.rules')):
        ad.jvp(lost_p.bind, (1.0,), (1.0,))
    assert ad.jvp(lambda x: x * lost_p.bind(3.0), (1.0,), (1.0,))[1] == 3.0


def test_rules_use_the_parent_interpreter():
    """Whatever a rule computes is traced one level down, not here."""
    def f(x):
        y, y_dot = ad.jvp(np.tanh, (x,), (x,))
        assert type(y) is type(y_dot) is SpyTracer
        return y_dot

    y_dot, _ = spied(f, 0.5)
    assert_close(y_dot, (1 - math.tanh(0.5)**2) * 0.5)


def test_stop_gradient_is_a_primitive_that_does_nothing():
    x = np.ones(2)
    assert stop_gradient_p.bind(x) is x


# The rest of NumPy: conventions, and places where rules are easily wrong.

def derivative_of(f):
    return lambda x: ad.jvp(f, (x,), (np.ones_like(x)[()],))[1]


@pytest.mark.parametrize('f', [
    np.floor, np.ceil, np.rint, np.trunc, np.sign, np.signbit, np.isnan,
    np.isinf, np.isfinite, np.argmax, np.argmin, np.argsort, np.logical_not,
    np.any, np.all, np.count_nonzero, lambda x: np.round(x, 2),
    lambda x: x // 0.3, lambda x: np.heaviside(x, 0.5),
    lambda x: np.searchsorted(x, 1.0), lambda x: np.isclose(x, x),
])
def test_what_stays_is_no_tracer(f):
    """A symbolic zero, so no array of zeros is ever multiplied."""
    seen = []
    ad.jvp(lambda x: seen.append(f(x)) or x, (np.ones(3),), (np.ones(3),))
    assert not isinstance(seen[0], ad.Tracer)


@pytest.mark.parametrize('f, x, expected', [
    (np.abs, 0.0, 0.0), (np.abs, 0j, 0.0), (np.sign, 0j, 0.0),
    (lambda x: np.minimum(x, 2.0), 2.0, 0.5),
    (lambda x: np.clip(x, 0.0, 2.0), 2.0, 0.5),
    (lambda x: np.hypot(x, 0.0), 0.0, 0.0),
    (lambda x: np.logaddexp(x, 0.5), np.inf, 1.0),
    (lambda x: np.logaddexp2(x, 0.5), -np.inf, 0.0),
    (lambda x: 7.5 % x, 2.0, -3.0), (lambda x: -7.5 % x, 2.0, 4.0),
    (lambda x: np.fmod(-7.5, x), 2.0, 3.0),
    (lambda x: np.fmod(1.0, x), 0.1, -9.0),
    (lambda x: np.copysign(x, -1.0), 2.0, -1.0),
    (lambda x: np.fmax(x, np.nan), 2.0, 1.0),
    (np.cbrt, 8.0, 1 / 12), (np.expm1, -40.0, np.exp(-40.0)),
    (np.arccosh, 1 + 1e-12, 1 / np.sqrt(np.float64(2e-12))),
    (np.arcsinh, 1e200, 1e-200),
])
def test_derivative_where_a_rule_may_go_wrong(f, x, expected):
    _, y_dot = ad.jvp(f, (x,), (type(x)(1.0),))
    np.testing.assert_allclose(y_dot, expected, rtol=1e-4)


@pytest.mark.parametrize('f', [
    lambda x: np.arctan2(x, 0.0), lambda x: np.sqrt(np.sum(x * x)),
])
def test_kinks_without_a_convention_are_no_number(f):
    with np.errstate(all='ignore'):
        assert np.isnan(derivative_of(f)(0.0))


def test_sinc_has_all_derivatives_at_zero():
    f, exact = np.sinc, [1, 0, -np.pi**2 / 3, 0, np.pi**4 / 5, 0,
                         -np.pi**6 / 7]
    for value in exact:
        np.testing.assert_allclose(f(0.0), value, rtol=1e-14, atol=1e-14)
        f = derivative_of(f)


@pytest.mark.parametrize('zeros', [(), (0,), (2,), (0, 3), (0, 1, 2, 3, 4)])
def test_products_with_zeros_have_the_right_slopes(zeros):
    x = np.array([2., 3., 5., 7., 11.])
    x[list(zeros)] = 0
    t = np.arange(1., 6.)
    each = [t[i] * np.prod(np.delete(x, i)) for i in range(5)]
    assert ad.jvp(np.prod, (x,), (t,))[1] == sum(each)
    expected = [ad.jvp(np.prod, (x[:n],), (t[:n],))[1] for n in range(1, 6)]
    np.testing.assert_array_equal(ad.jvp(np.cumprod, (x,), (t,))[1],
                                  expected)
    third = lambda s: derivative_of(derivative_of(derivative_of(
        lambda s: np.prod(x + s * t))))(s)
    polynomial = np.polynomial.Polynomial([1.])
    for a, b in zip(x, t):
        polynomial *= np.polynomial.Polynomial([a, b])
    np.testing.assert_allclose(third(0.0), polynomial.deriv(3)(0.0))


def test_determinants_of_singular_matrices_have_slopes():
    """d det = trace(adj(a) a_dot), where a has no inverse."""
    a = np.diag([2., 3., 0.])
    _, y_dot = ad.jvp(np.linalg.det, (a,), (np.ones((3, 3)),))
    assert y_dot == 6.0
    f = lambda t: np.linalg.det(t * np.eye(3))
    assert [derivative_of(f)(0.0), derivative_of(derivative_of(f))(0.0),
            derivative_of(derivative_of(derivative_of(f)))(0.0)] == [0, 0, 6]
    assert ad.jvp(np.linalg.det, (np.ones((0, 0)),),
                  (np.ones((0, 0)),)) == (1.0, 0.0)


def test_cholesky_takes_its_tangent_from_the_lower_triangle():
    a, t = np.array([[4., 9.], [1., 3.]]), np.array([[1., np.nan], [2., 1.]])
    mirrored = np.array([[1., 2.], [2., 1.]])
    expected = ad.jvp(np.linalg.cholesky, (a,), (mirrored,))[1]
    actual = ad.jvp(np.linalg.cholesky, (a,), (t,))[1]
    assert_same(actual, expected)
    assert actual[0, 1] == 0
    ad.check_grads(np.linalg.cholesky, (a,), order=2)


def test_ties_share_equally_among_all():
    x = np.array([[3., 1., 3.], [3., 0., 2.]])
    t = np.array([[1., 2., 4.], [7., 5., 6.]])
    assert ad.jvp(np.max, (x,), (t,))[1] == 4.0
    _, y_dot = ad.jvp(lambda x: np.max(x, 0), (x,), (t,))
    np.testing.assert_array_equal(y_dot, [4., 2., 4.])


def test_a_number_read_back_from_its_text_is_a_constant():
    """The price of printing: its derivative is lost without an error."""
    f = lambda x: float(f'{x:.17g}') * x
    assert ad.jvp(f, (3.0,), (1.0,)) == (9.0, 3.0)
    assert ad.grad(f)(3.0) == 3.0
    for way in ad.jit, lambda f: lambda x: ad.vmap(f)(np.array([x])):
        with pytest.raises(TypeError, match='format'):
            way(f)(3.0)     # where no value is known, or several are
