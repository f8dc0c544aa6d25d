"""Guard jvp.py: tangents, nesting, zeros, and what costs nothing.

D9, D18, R5 are rows of the page what_the_documents_ask.
"""

import functools
import math

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Primitive
from autodiff_mini.interpreters.jvp import defjvp
from autodiff_mini.interpreters.jvp import rules as jvp_rules
from autodiff_mini.primitives.elementwise import (
    add_p, cos_p, exp_p, mul_p, neg_p, sin_p)
from tests.support.numerical import assert_close, assert_same
from tests.support.traces import spied
from tests.support.transforms import d


def nth(f, n):
    return functools.reduce(lambda f, _: d(f), range(n), f)


def test_nested_jvp_keeps_perturbations_apart():
    """d/dx of x * d/dy (x*y) is 2x; confusing the two gives x + y."""
    assert d(lambda x: x * d(lambda y: x * y)(2.0))(3.0) == 6.0
    assert d(lambda x: x * d(lambda y: x + y)(1.0))(1.0) == 1.0
    assert d(lambda x: d(lambda y: x)(1.0))(1.0) == 0.0


def test_three_perturbations_stay_apart():
    """The inner derivative is 3 x^3 y^2, the whole 9 x^6."""
    f = lambda x: x * d(lambda y: y * d(lambda z: x * y**2 * z**3)(x))(x)
    assert_close(d(f)(1.1), 54 * 1.1**5)


def test_an_inner_tangent_can_be_an_outer_value():
    """1670: a rule may call jvp with the tangents it was given (D18)."""
    def f(x):
        return ad.jvp(np.sin, (x,), (x * x,))[1]    # x^2 cos x
    x = 0.7
    assert_close(d(f)(x), 2 * x * math.cos(x) - x * x * math.sin(x))


def test_derivatives_of_any_order_equal_the_formulas():
    """D9, where no rule is custom: 0 to 5 nested derivatives."""
    x = 0.7
    for order in range(6):
        assert_close(nth(np.sin, order)(x), math.sin(x + order * math.pi / 2))
        falling = math.prod(range(5, 5 - order, -1)) * x ** (5 - order)
        assert_close(nth(lambda x: x**5, order)(x), falling)
        assert_close(nth(lambda x: x**5.0, order)(x), falling)
        factorial = math.factorial(order) * (-1)**order
        assert_close(nth(lambda x: 1 / x, order)(x),
                     factorial / x**(order + 1))


def counted(f, x):
    """Return the primitives that jvp of `f` asks its parent for."""
    return dict(spied(lambda x: ad.jvp(f, (x,), (1.0,)), x)[1])


def test_a_rule_costs_only_its_own_operations():
    """x_dot is plain here, so only what x reaches is counted."""
    assert counted(np.sin, 0.5) == {sin_p: 1, cos_p: 1, mul_p: 1}
    assert counted(lambda x: 3.0 * x, 0.5) == {mul_p: 1}
    # A linear primitive is applied to the tangent.
    assert counted(lambda x: -x, 0.5) == {neg_p: 2}


def test_an_unperturbed_branch_costs_no_tangent_arithmetic():
    """c is a tracer of the parent, and a constant to the inner jvp."""
    def f(c):
        def inner(x):
            y = np.sin(c)
            return x + y * c + np.exp(y)
        return ad.jvp(inner, (np.ones(2),), (np.ones(2),))

    _, counts = spied(f, np.ones(2))
    assert counts == {sin_p: 1, mul_p: 1, exp_p: 1, add_p: 2}


def test_symbolic_zeros_never_become_arrays(monkeypatch):
    x, w = np.ones(3), np.linspace(-1, 1, 6).reshape(2, 3)

    def f(x):
        y = np.tanh(w @ x + 1) * w[:, 0] - w.sum(axis=1)
        y = np.where(y < 0, y, w[:, 1]) / np.maximum(w[:, 2], 3 - y)
        return y ** 2 + np.exp(np.reshape(w, (3, 2)).T[:, 0])

    for name in 'zeros', 'zeros_like', 'full', 'broadcast_to', 'ones':
        monkeypatch.setattr(np, name, lambda *args, **kw: pytest.fail(name))
    assert np.any(ad.jvp(f, (x,), (x,))[1])


def test_an_operand_can_have_no_rule_or_a_zero_rule(
        monkeypatch):
    called, pick_p = [], Primitive('pick', lambda x, y, z: x + y + z)
    monkeypatch.setitem(jvp_rules, pick_p, None)
    defjvp(pick_p, None, lambda y_dot, out, x, y, z: ad.Zero(out),
           lambda z_dot, out, x, y, z: called.append('z') or 10 * z_dot)
    f, x, t = pick_p.bind, (1.0, 2.0, 3.0), (1.0, 1.0, 1.0)
    assert ad.jvp(f, x, t) == (6.0, 10.0) and called == ['z']
    assert ad.jvp(lambda x, y: f(x, y, 3.0), x[:2], t[:2]) == (6.0, 0.0)
    assert ad.jvp(lambda x, y: f(3.0, x, y), x[1:], t[1:])[1] == 10.0
    assert called == ['z', 'z']     # only where the operand is perturbed


def test_zero_has_the_type_of_its_value():
    assert repr(ad.Zero(np.ones(2, np.float32))) == 'Zero(float32[2])'
    assert ad.Zero(1.0).aval == ad.typeof(1.0)
    assert ad.Zero(ad.typeof(np.ones(3))).aval == ad.typeof(np.ones(3))
    assert ad.Zero(3).aval.dtype == ad.float0
    assert ad.Zero(np.ones(2, bool)).aval == ad.ShapedArray((2,), ad.float0)


def test_zeros_are_instantiated_in_the_tangent_type():
    for like, expected in (
            (np.ones((2, 3)), np.zeros((2, 3))),
            (np.ones(2, complex), np.zeros(2, complex)),
            (ad.typeof(np.float16(1)), np.float16(0)),
            (np.arange(3), np.zeros(3, ad.float0)),
            (True, np.zeros((), ad.float0))):
        zeros = ad.instantiate_zeros(ad.Zero(like))
        assert ad.typeof(zeros) == ad.typeof(expected)
        assert np.array_equal(zeros, expected)


def test_integers_have_float0_tangents():
    """R5: they are returned unchanged, and are used unperturbed."""
    n = np.arange(3)
    x, tangents = np.ones(3), np.zeros(3, ad.float0)
    (y, m), (y_dot, m_dot) = ad.jvp(lambda x, n: (x * n, n + 1), (x, n),
                                    (x, tangents))
    assert_same(y_dot, np.array([0., 1, 2]))
    assert m_dot.dtype == ad.float0 and m_dot.shape == (3,)
    assert ad.float0.itemsize == 0


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


def test_python_can_branch_on_values_under_jvp():
    def f(x):
        if x > 1:
            return x * x
        while x < 1:
            x = 2 * x
        return x

    assert (d(f)(3.0), d(f)(0.3)) == (6.0, 4.0)
    assert d(lambda x: sorted([x, 1.0])[0])(0.5) == 1.0
    assert d(lambda x: x * (1 if not x else 2))(0.0) == 1.0
    assert d(lambda x: x if 1 < x < 3 else 0.0)(2.0) == 1.0


def test_unperturbed_results_are_not_tracers():
    """A symbolic zero, so no array of zeros is ever multiplied."""
    for f in (np.floor, np.rint, np.sign, np.isnan, np.argmax, np.argsort,
              np.logical_not, np.any, np.count_nonzero, lambda x: x // 0.3,
              lambda x: np.round(x, 2), lambda x: np.heaviside(x, 0.5),
              lambda x: np.searchsorted(x, 1.0), lambda x: np.isclose(x, x)):
        seen = []
        ad.jvp(lambda x: seen.append(f(x)) or x, (np.ones(3),), (np.ones(3),))
        assert not isinstance(seen[0], ad.Tracer)


def test_a_number_read_back_from_its_text_is_a_constant():
    """The price of printing: its derivative is lost without an error."""
    f = lambda x: float(f'{x:.17g}') * x
    assert ad.jvp(f, (3.0,), (1.0,)) == (9.0, 3.0)
    assert ad.grad(f)(3.0) == 3.0
    for way in ad.jit, lambda f: lambda x: ad.vmap(f)(np.array([x])):
        with pytest.raises(TypeError, match='format'):
            way(f)(3.0)     # where no value is known, or several are


def test_ties_share_equally_among_all():
    x = np.array([[3., 1., 3.], [3., 0., 2.]])
    t = np.array([[1., 2., 4.], [7., 5., 6.]])
    assert ad.jvp(np.max, (x,), (t,))[1] == 4.0
    _, y_dot = ad.jvp(lambda x: np.max(x, 0), (x,), (t,))
    np.testing.assert_array_equal(y_dot, [4., 2., 4.])
