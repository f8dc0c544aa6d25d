"""custom_vjp.py: reverse mode uses the rule, and vmap equals a loop.

The rules say three times the truth, so a result shows whether its rule was
used.
"""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import autodiff_mini as ad
from autodiff_mini.calls.custom_vjp import custom_lin_p
from autodiff_mini.core.trace import Trace, current_trace
from tests.support.amount import examples
from tests.support.jvp_rules import ODD_THINGS
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import X, d, staged, summed_grad
from tests.support.trees import Pair, assert_trees
from tests.support.vjp_rules import custom, held, refused, square

# D1: vmap keeps custom rules. test_staged_calls.py has every nesting.

@pytest.mark.asks('D9')
def test_bwd_has_a_derivative_too():
    """With respect to the residuals, and to the cotangent."""
    f = custom(lambda x: x ** 2, lambda x: (f(x), x),
               lambda x, ct: (ct ** 2 * x ** 3,))
    g = lambda x: ad.vjp(f, x)[1](5.0)[0]
    assert_close(g(2.0), 200.0)
    assert_close(ad.grad(g)(2.0), 300.0)
    h = lambda ct: ad.vjp(f, 2.0)[1](ct)[0]
    assert_close(ad.grad(h)(5.0), 80.0)
    assert_close(ad.jvp(h, (5.0,), (1.0,))[1], 80.0)


def test_a_promise_is_differentiated_beside_a_call_in_a_rule():
    """With respect to its residuals."""
    same = ad.custom_jvp(lambda t: t)
    same.defjvp(lambda primals, tangents: (same(*primals), *tangents))
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: (f(*primals), same(*tangents)))
    g = ad.grad(lambda x: f(x) * square(x))     # square(x) + x * 3 * x
    assert g(2.0) == 16.0 and ad.grad(g)(2.0) == 18.0


@pytest.mark.asks('D1')
def test_the_rule_runs_once_for_all_elements():
    runs = []
    f = custom(lambda x: runs.append('f') or x,
               lambda x: runs.append('fwd') or (x, None),
               lambda r, ct: runs.append('bwd') or (ct,))
    ad.vmap(ad.grad(f))(X)
    summed_grad(ad.vmap(f))(X)
    assert runs == ['fwd', 'bwd'] * 2
    _, f_vjp = ad.vjp(f, 2.0)
    assert runs == ['fwd', 'bwd'] * 2 + ['fwd']
    f_vjp(1.0)
    f_vjp(1.0)
    assert runs[5:] == ['bwd', 'bwd']


# D1: mapped and unmapped values, against the loop

OUTPUTS = {
    'a': lambda a, b, c: 2 * a, 'b': lambda a, b, c: b * b,
    'ab': lambda a, b, c: a * b, 'c': lambda a, b, c: c,
    'one': lambda a, b, c: 1.0, 'bc': lambda a, b, c: b * c,
}
RESIDUALS = {'a': lambda a, b, c: a, 'b': lambda a, b, c: b,
             'c': lambda a, b, c: c, 'two': lambda a, b, c: 2.0}
BARS = {
    'rule': lambda s, rs: 3 * s * math.prod(rs) + np.zeros(2),
    'constant': lambda s, rs: np.array([7.0, 8.0]),
    'residual': lambda s, rs: sum(rs) + np.zeros(2),
    'cotangent': lambda s, rs: 5 * s + np.zeros(2),
    'none': lambda s, rs: None,
}
DOTS = {
    'rule': lambda p, t, c: 3 * t[0] + 5 * p[0] * t[1],
    'closure': lambda p, t, c: c * t[0] + np.zeros(2),
    'constant': lambda p, t, c: np.array([7.0, 8.0]),
    'none': lambda p, t, c: np.zeros(2),
}


def random_rule(outputs, residuals, bars, dots):
    """Return `inner(a, b, c)`, where function and rules close over c."""
    def inner(a, b, c):
        def f(a, b):
            return [OUTPUTS[name](a, b, c) for name in outputs]

        def fwd(a, b):
            return f(a, b), [RESIDUALS[name](a, b, c) for name in residuals]

        def bwd(rs, cts):
            s = sum(cts)
            return tuple(BARS[name](s, rs) for name in bars)

        k = custom(f, fwd, bwd)
        if dots is not None:
            k.defjvp(lambda p, t: (f(*p), [
                0.0 * y if np.ndim(y) == 0 else DOTS[name](p, t, c)
                for y, name in zip(f(*p), dots)]))
        return k(a, b)
    return inner


def choices(table, **options):
    return st.lists(st.sampled_from(sorted(table)), **options)


def mapped_and_looped(inner, dims, used, stage):
    """Return vmap of `inner` and the loop, as functions of a and b."""
    n, args = 3, []
    for i, dim in enumerate(dims):
        x = np.linspace(1, 2, 6 if dim == 0 else 2) + i + 1
        args.append(x.reshape(3, 2) if dim == 0 else x)
    weights = np.arange(1., 4.)[:, None]
    c = args[2]
    # it is staged with its c, which is then an argument of the call
    mapped = staged(inner) if stage == 'inside' else inner

    def loss(ys):
        return sum(np.sum(np.reshape(weights, (3,) + (1,) * (np.ndim(y) - 1))
                          * y)
                   for y, use in zip(ys, used) if use) + 0.0

    def by_vmap(a, b):
        return loss(ad.vmap(mapped, dims, axis_size=n)(a, b, c))

    def by_loop(a, b):
        rows = [inner(*[x if dim is None else x[i]
                        for x, dim in zip((a, b, c), dims)])
                for i in range(n)]
        return loss([np.stack(ys) for ys in zip(*rows)])

    if stage == 'outside':
        by_vmap = staged(by_vmap)
    return by_vmap, by_loop, args[:2]


@pytest.mark.asks('B1', 'D1')
@examples(30)
@given(dims=st.tuples(*[st.sampled_from([0, None])] * 3),
       outputs=choices(OUTPUTS, min_size=1, max_size=3),
       residuals=choices(RESIDUALS, max_size=3),
       bars=choices(BARS, min_size=2, max_size=2),
       dots=st.none() | choices(DOTS, min_size=3, max_size=3),
       used=st.lists(st.booleans(), min_size=3, max_size=3),
       stage=st.sampled_from(['', 'inside', 'outside']))
def test_any_argument_output_or_residual_is_mapped_or_not(
        dims, outputs, residuals, bars, dots, used, stage):
    """Cotangents of unmapped values are summed, as in the loop."""
    # A single call for all elements contributes a constant only once.
    assume(0 in dims[:2] or not {'constant', 'residual'} & {*bars})
    # Rules cannot close over recorded values.
    closes = {'c', 'bc', 'closure'} & {*outputs, *residuals,
                                       *(dots or ())}
    assume(stage != 'inside' or not closes)
    # A rule's captured values are mapped only if the function's are.
    assume(0 in dims[:2] or dims[2] is None or not closes
           or {'c', 'bc'} & {*outputs})
    by_vmap, by_loop, args = mapped_and_looped(
        random_rule(outputs, residuals, bars, dots), dims, used, stage)
    assert_close(by_vmap(*args), by_loop(*args))
    for x, y in zip(ad.grad(by_vmap, (0, 1))(*args),
                    ad.grad(by_loop, (0, 1))(*args), strict=True):
        assert_close(x, y)
    if dots is not None:
        tangents = [np.cos(x) for x in args]
        expected = ad.jvp(by_loop, args, tangents)[1]
        assert_close(ad.jvp(by_vmap, args, tangents)[1], expected)
        assert_close(ad.linearize(by_vmap, *args)[1](*tangents), expected)


def test_only_bwd_closes_over_a_mapped_value():
    def total(z):
        def inner(x):
            k = custom(lambda y: y * y, lambda y: (y * y, None),
                       lambda r, c: (x * c,))
            return k(z)
        return ad.vmap(inner)(X).sum()

    refused(total, 'vmap of .*inner: the bwd of a custom function closes '
            'over a mapped value.*Pass the value')
    # a value for all elements, or one element by itself, is fine
    shared = lambda z: ad.vmap(lambda x: square(z))(X).sum()
    assert ad.grad(shared)(2.0) == 24.0

    def alone(x):
        k = custom(lambda y: y * y, lambda y: (y * y, None),
                   lambda r, c: (x * c,))
        return ad.grad(k)(2.0)
    assert_same(ad.vmap(alone)(X), X)


# An output that all elements share

def pair(s, x):
    return s * s, s * x


def pair_rule(f, factor):
    """Return the JVP rule of `pair`, times a factor."""
    def rule(primals, tangents):
        (s, x), (s_dot, x_dot) = primals, tangents
        return f(s, x), (factor * 2 * s * s_dot,
                         factor * (s * x_dot + s_dot * x))
    return rule


def pairs():
    """Return `pair` with a rule for forward mode, or for both modes."""
    forwards = ad.custom_jvp(pair)
    forwards.defjvp(pair_rule(forwards, 3))
    both = custom(pair, lambda s, x: (both(s, x), (s, x)), lambda r, ct: (
        3 * (2 * r[0] * ct[0] + r[1] * ct[1]), 3 * r[0] * ct[1]))
    both.defjvp(pair_rule(both, 5))
    return forwards, both


def total(g):
    def loss(s, x):
        y, z = g(s, x)
        return np.sin(y) + np.sum(np.cos(z) * y)
    return loss


ROW = np.linspace(0.5, 1.5, 3)
SHARING = [
    lambda g: ad.grad(total(g), (0, 1))(1.5, ROW),
    lambda g: ad.grad(ad.jit(total(g)), (0, 1))(1.5, ROW),
    lambda g: ad.grad(ad.grad(total(g)))(1.5, ROW),
    lambda g: ad.vmap(ad.grad(total(g)), (0, None))(ROW, ROW),
    lambda g: ad.grad(lambda s: ad.scan(
        lambda c, _: g(c, ROW), s, None, 3)[1].sum())(0.9),
    lambda g: ad.jvp(g, (1.5, ROW), (0.7, 1 + ROW)),
    lambda g: ad.hessian(total(g))(1.5, ROW),
]


@pytest.mark.parametrize('wrap', [lambda f: f, ad.jit, ad.checkpoint])
def test_a_shared_output_of_vmap_counts_once(wrap):
    """The loop over the elements returns the output of the first."""
    for f in pairs():
        def looped(s, x):
            rows = [f(s, x_i) for x_i in x]
            return rows[0][0], np.stack([row[1] for row in rows])

        for use in SHARING:
            found = use(ad.vmap(wrap(f), (None, 0), (None, 0)))
            for x, y in zip(ad.tree_leaves(found),
                            ad.tree_leaves(use(looped)), strict=True):
                assert_close(x, y)


@pytest.mark.parametrize('run', [lambda f: f, ad.jit])
def test_values_made_from_shared_outputs_are_shared(run):
    _, f = pairs()
    g = lambda s, x: np.sin(ad.jit(lambda y: 2 * y)(f(s, x)[0])) + s
    h = run(ad.vmap(g, (None, 0), None))
    assert_close(h(1.5, ROW), np.sin(4.5) + 1.5)
    slope = 3 * np.cos(4.5) * 2 * 3.0 + 1
    assert_close(ad.grad(h)(1.5, ROW), slope)
    twice = ad.vmap(ad.vmap(g, (None, 0), None), (None, 0), None)
    assert_close(ad.grad(twice)(1.5, np.stack([ROW, ROW])), slope)
    with pytest.raises(ValueError, match='mapped output but out_axes is'):
        ad.vmap(lambda s, x: f(s, x)[0] * x, (None, 0), None)(1.5, ROW)


# D8, R3: the interface


def test_a_jaxpr_names_function_and_rule():
    def square_fwd(x):
        return square(x), x

    f = custom(square, square_fwd, lambda x, ct: (3 * x * ct,))
    for g in (f, ad.vmap(f)):
        assert 'square_fwd' in str(ad.make_jaxpr(g)(X))


@pytest.mark.asks('R3')
def test_none_stands_for_a_leaf_a_subtree_or_an_argument():
    p = {'a': 2.0, 'b': [3.0, X]}
    zeros = ad.tree_map(np.zeros_like, p)
    f = lambda out: ad.grad(custom(
        lambda p, q: p['a'] * q, lambda p, q: (p['a'] * q, None),
        lambda r, ct: out), (0, 1))(p, 5.0)
    x_bar, q_bar = f((None, 1.0))
    assert ad.tree_structure(x_bar) == ad.tree_structure(zeros)
    assert not any(map(np.any, ad.tree_leaves(x_bar))) and q_bar == 1.0
    x_bar, q_bar = f(({'a': 7.0, 'b': None}, None))
    assert x_bar['a'] == 7.0 and q_bar == 0.0
    assert_same(x_bar['b'][1], 0 * X)
    x_bar, q_bar = f(({'a': None, 'b': [None, X]}, 2.0))
    assert x_bar['a'] == x_bar['b'][0] == 0.0 and q_bar == 2.0
    assert_same(x_bar['b'][1], X)


@pytest.mark.asks('R3')
def test_zeros_can_be_symbolic():
    for zero in (lambda x: ad.SymbolicZero(x), lambda x: ad.Zero(x)):
        f = custom(lambda x, y: x * y, lambda x, y: (x * y, y),
                   lambda r, ct: (ct * r, zero(r)))
        assert ad.grad(f, (0, 1))(2.0, 5.0) == (5.0, 0.0)


@pytest.mark.asks('R3')
def test_python_numbers_are_weak():
    f = lambda bar: custom(lambda x: x, lambda x: (x, None),
                           lambda r, ct: (bar,))
    for bar in (3.0, 3, True):
        x_bar = ad.grad(f(bar))(np.float32(2))
        assert x_bar == bar and x_bar.dtype == np.float32
    kinds = []
    g = custom(lambda x: x, lambda x: (x, None), lambda r, ct: (
        kinds.append(type(ct)) or ct,))
    for x in 1.5, np.float64(1.5):
        assert ad.grad(lambda x: g(x) * 2.0)(x) == 2.0
    assert kinds == [float, np.float64]


# D10: trees

@pytest.mark.asks('D10')
def test_arguments_outputs_and_residuals_are_trees():
    def f(p, q):
        return Pair(p['a'] * q[0], {'b': p['b'], 'n': None})

    def fwd(p, q):
        return k(p, q), {'p': p, 'q': [q, None], 's': ('text', np.sin, 2)}

    def bwd(r, ct):
        assert type(ct) is Pair and ct.y.keys() == {'b', 'n'}
        assert r['s'] == ('text', np.sin, 2) and r['q'][1] is None
        (q,), p = r['q'][0], r['p']
        return ({'a': 3 * ct.x * q, 'b': 7 * ct.y['b'], 'n': None},
                [5 * ct.x * p['a']])

    k = custom(f, fwd, bwd)
    p, q = {'a': 2.0, 'b': 3.0, 'n': None}, [4.0]
    loss = lambda p, q: (y := k(p, q)).x + y.y['b']
    expected = {'a': 12.0, 'b': 7.0, 'n': None}, [10.0]
    assert_trees(ad.grad(loss, (0, 1))(p, q), expected)
    spread = partial(ad.tree_map, lambda x: np.full(3, x))
    total = lambda p, q: ad.vmap(loss)(p, q).sum()
    assert_trees(ad.vmap(ad.grad(loss, (0, 1)))(spread(p), spread(q)),
                 spread(expected))
    assert_trees(ad.grad(total, (0, 1))(spread(p), spread(q)),
                 spread(expected))


@pytest.mark.asks('D10')
def test_residuals_can_be_any_object():
    for name in ODD_THINGS.keys() - {'unsortable', 'array'}:
        thing = ODD_THINGS[name]

        def bwd(r, ct):
            assert type(r[0]) is type(thing)
            assert name in ('list', 'dict') or r[0] is thing
            return 3 * r[1] * ct,

        f = custom(lambda x: x * x, lambda x: (x * x, (thing, x)), bwd)
        assert ad.grad(f)(2.0) == 6.0
        assert_same(ad.vmap(ad.grad(f))(X), 3 * X)
        assert_same(summed_grad(ad.vmap(f))(X), 3 * X)
        assert_same(summed_grad(staged(f))(X), 3 * X)


# D11, D12, B2: keywords, and arguments that are not differentiated


@pytest.mark.parametrize('wrap', [
    lambda f: f, ad.jit, ad.checkpoint, staged,
    lambda f: lambda *xs: ad.vmap(f)(*[np.stack([x, x]) for x in xs])[0]])
def test_fwd_gets_keyword_only_arguments_by_keyword(wrap):
    """fwd gets them by keyword, and bwd returns their cotangents last."""
    def fwd(x, *, b, a):
        return f(x, b=b, a=a), (x, a)

    def bwd(r, ct):
        x, a = r
        return 3 * a * ct, 5 * ct, 7 * x * ct

    f = custom(lambda x, *, b=1.0, a: x * a + b, fwd, bwd)
    g = wrap(lambda x, a, b: f(x, a=a, b=b))
    assert ad.grad(g, (0, 1, 2))(2.0, 3.0, 4.0) == (9.0, 14.0, 5.0)
    h = wrap(lambda x: f(a=x, x=x))
    assert ad.value_and_grad(h)(2.0) == (5.0, 6.0 + 14.0)
    assert ad.grad(ad.grad(h))(2.0) == 10.0
    assert_close(ad.grad(lambda a: ad.vmap(lambda x: f(x, a=a))(X).sum())(2.),
                 7 * X.sum())


def test_bwd_can_leave_out_keyword_only_arguments():
    f = custom(lambda x, *, a=2.0: x * a,
               lambda x, *, a=2.0: (f(x, a=a), (x, a)),
               lambda r, ct: (3 * r[1] * ct, 5 * r[0] * ct))
    assert ad.grad(f)(7.0) == 6.0 and ad.grad(ad.grad(f))(7.0) == 0.0
    assert ad.grad(lambda a: f(7.0, a=a))(4.0) == 35.0


@pytest.mark.asks('D12')
def test_nondiff_arguments_come_first_in_bwd_and_in_place_in_fwd():
    def fwd(g, x, n, y):
        assert g is np.sin and n == 5
        return f(g, x, n, y), (x, y)

    def bwd(g, n, r, ct):
        assert g is np.sin and n == 5
        return 3 * n * ct, 7 * ct

    for options in (
            {'nondiff_argnums': (0, 2)}, {'nondiff_argnums': [2, -4]},
            {'nondiff_argnames': ['n', 'g']},
            {'nondiff_argnums': 0, 'nondiff_argnames': 'n'}):
        f = ad.custom_vjp(lambda g, x, n, y: g(x) * n * y, **options)
        f.defvjp(fwd, bwd)
        grads = ad.grad(lambda x, y: f(np.sin, x, 5, y), (0, 1))(2.0, 1.0)
        assert grads == (15.0, 7.0)
        assert_same(ad.vmap(ad.grad(lambda x: f(
            n=5, x=x, g=np.sin, y=1.)))(X), np.full(4, 15.))


# R5: integers

def test_none_is_the_cotangent_of_an_integer():
    i = custom(lambda x, n: x ** n, lambda x, n: (x ** n, (x, n)),
               lambda r, c: (c * r[1] * r[0] ** (r[1] - 1), None))
    assert ad.grad(i)(3.0, 2) == 6.0
    assert staged(ad.grad(i))(3.0, 2) == 6.0
    assert ad.vjp(i, 3.0, 2)[1](1.0)[1].dtype == ad.float0
    n = np.array([1, 2, 3])
    assert_close(ad.grad(lambda x: ad.vmap(i, (None, 0))(x, n).sum())(3.0),
                 1 + 6 + 27)
    assert_close(ad.vmap(ad.grad(i), (None, 0))(3.0, n),
                 np.array([1., 6., 27.]))


@pytest.mark.asks('R5')
def test_cotangents_of_integer_outputs_are_float0():
    def bwd(r, ct):
        assert ct[1].dtype == ad.float0 and ct[1].shape == (4,)
        return 3 * ct[0],

    f = custom(lambda x: (x, np.sign(x).astype(int)),
               lambda x: (f(x), None), bwd)
    assert_same(summed_grad(lambda x: f(x)[0])(X), np.full(4, 3.))
    assert ad.vjp(f, X)[0][1].dtype == int
    # alone, it is not an output that grad can differentiate
    g = custom(lambda x: 2, lambda x: (2, None), lambda r, ct: 1 / 0)
    assert ad.grad(lambda x: x * g(x))(5.0) == 2.0


# R2: symbolic zeros

def test_fwd_sees_which_arguments_are_perturbed():
    seen = []

    def fwd(x, y):
        seen.append((x.perturbed, y.perturbed))
        assert type(x) is type(y) is ad.CustomVJPPrimal
        return (x.value * y.value, x.value + 1.0), y.value

    def bwd(r, ct):
        seen.append(type(ct[0]))
        if type(ct[0]) is ad.SymbolicZero:
            assert ct[0].shape == () and ct[0].dtype == np.float64
            return ct[1], None
        return ct[0] * r, None

    w = custom(lambda x, y: (x * y, x + 1.0), fwd, bwd, symbolic_zeros=True)
    assert ad.grad(lambda x: w(x, 2.0)[1])(3.0) == 1.0
    assert seen == [(True, False), ad.SymbolicZero]
    assert ad.grad(lambda y: w(3.0, y)[1])(2.0) == 0.0
    assert seen[2] == (False, True)
    del seen[:]
    g = ad.grad(lambda x: w(x, 2.0)[1])
    assert_same(ad.vmap(g)(X), np.ones(4))
    assert_same(summed_grad(lambda x: ad.vmap(w, (0, None))(x, 2.)[1])(X),
                np.ones(4))
    assert staged(g)(3.0) == 1.0 and ad.grad(staged(
        lambda x: w(x, 2.0)[1]))(3.0) == 1.0
    assert seen == [(True, False), ad.SymbolicZero] * 4


@pytest.mark.asks('R2')
def test_a_zero_of_another_type_names_the_argument(node):
    """A symbolic zero of any shape was accepted."""
    for zero in (
            lambda ct: ad.zero_from_primal(np.ones(3), symbolic_zeros=True),
            lambda ct: ad.Zero(np.ones((2, 4))),
            lambda ct: ad.Zero(np.arange(4)), lambda ct: np.zeros(3)):
        f = custom(lambda n, y: n.x[0] + y, lambda n, y: (
            n.x[0].value + y.value, None), lambda r, ct: (
                node([ct, zero(ct)], 'm'), ct), symbolic_zeros=True)
        g = lambda x: f(node([x, 2 * x], 'm'), x)
        for use in (summed_grad(g), ad.jit(summed_grad(g)),
                    lambda x: ad.vmap(summed_grad(g))(x[None]),
                    lambda x: summed_grad(ad.vmap(g))(x[None])):
            with pytest.raises(ValueError, match=(
                    r'bwd rule .* for function .*: arguments\[0\]\[0\]\[1\]: '
                    r'the argument is float64\[4\], but the cotangent')):
                use(X)


@pytest.mark.asks('R2')
def test_custom_vjp_primals_cannot_be_outputs_or_residuals():
    """They hold a tracer, which the library would not find."""
    def loss(x):
        return x

    for out in lambda x: x, lambda x: {'a': [x]}:
        f = custom(loss, lambda x: (out(x), None), lambda r, ct: (ct,),
                   symbolic_zeros=True)
        refused(f, 'Custom VJP fwd rule .* for function .*loss: output.*'
                'CustomVJPPrimal.*return its .value')
    f = custom(lambda x: x * x, lambda x: (x.value * x.value, x),
               lambda x, ct: (3 * x.value * ct,), symbolic_zeros=True)
    for g in (summed_grad(f), ad.vmap(ad.grad(f)), summed_grad(ad.vmap(f))):
        with pytest.raises(TypeError, match='CustomVJPPrimal.*[.]value'):
            g(X)


# Mistakes

def loss(x):
    return x


OUT, NONE = lambda x: (x, None), lambda r, ct: (ct,)
CONTAINER = ('Custom VJP bwd rule .* for function .*loss must produce an '
             'output with the same container')
PAIR = ('Custom VJP fwd rule .* for function .*loss must produce a pair '
        r'\(list or tuple of length two\)')
TUPLE = ('Custom VJP bwd rule .* for function .*loss must produce a tuple '
         'with one cotangent per argument')
LIKE = ('Custom VJP bwd rule .* for function .*loss must produce cotangents '
        r'like the arguments: arguments\[0\]')
MISTAKES = {
    'fwd_no_pair': (lambda x: x, NONE, TypeError, PAIR),
    'fwd_none': (lambda x: None, NONE, TypeError, PAIR + '.*None'),
    'fwd_text': (lambda x: ('a', None), NONE, TypeError,
                 'fwd rule .* for function .*loss: output: .*str'),
    'bwd_array': (OUT, lambda r, ct: ct, TypeError,
                  TUPLE + r'.*\(1\).*an array float64\[\].*`\(ct,\)`'),
    'bwd_plain': (OUT, lambda r, ct: np.ones(3), TypeError,
                  TUPLE + r'.*\(1\).*an array float64\[3\]\. Return'),
    'bwd_two': (OUT, lambda r, ct: (ct, ct), TypeError,
                TUPLE + '.*a tuple of 2'),
    'bwd_zero': (OUT, lambda r, ct: (), TypeError, TUPLE + '.*a tuple of 0'),
    'bwd_tree': (OUT, lambda r, ct: ([ct],), TypeError, CONTAINER
                 + r'.*PyTreeDef\(\(\*,\)\).*PyTreeDef\(\(\[\*\],\)\)'),
    'bwd_shape': (OUT, lambda r, ct: (np.ones(3),), ValueError,
                  LIKE + r': .*float64\[\].*float64\[3\]'),
    'bwd_dtype': (OUT, lambda r, ct: (np.complex64(1),), ValueError,
                  LIKE + r': .*float64\[\].*complex64\[\]'),
    'bwd_text': (OUT, lambda r, ct: ('a',), TypeError, LIKE + '.*str'),
}


@pytest.mark.asks('R3')
@pytest.mark.parametrize('name', MISTAKES)
def test_mistakes_of_rules_name_function_and_rule(name):
    fwd, bwd, error, words = MISTAKES[name]
    f = custom(loss, fwd, bwd)
    refused(f, words, error)
    refused(staged(f), words, error)
    refused(lambda x: ad.vmap(f)(x * X).sum(), words, error)
    refused(ad.grad(lambda x: f(x) * x), words, error)


@pytest.mark.asks('R3')
def test_a_wrong_dtype_is_an_error_unless_it_is_weak():
    for have, want in itertools.permutations(
            [np.float16, np.float32, np.float64], 2):
        f = custom(loss, OUT, lambda r, ct: (have(3),))
        words = LIKE + f': .*{want.__name__}.*{have.__name__}'
        refused(f, words, ValueError, want(2))
        assert_same(ad.grad(f)(2.0), 3.0)


# D13: forward mode

FORWARD = "can't apply forward-mode .*to a custom_vjp function.*square"


FORWARDS = [
    lambda f: ad.jvp(f, (2.0,), (1.0,)),
    lambda f: ad.linearize(f, 2.0)[1](1.0),
    lambda f: ad.jacfwd(f)(2.0), lambda f: ad.hessian(f)(2.0),
    lambda f: ad.vmap(lambda x: ad.jvp(f, (x,), (x,)))(X),
    lambda f: ad.jvp(ad.vmap(f), (X,), (X,)),
    lambda f: ad.jvp(ad.grad(f), (2.0,), (1.0,)),
    lambda f: ad.grad(lambda x: ad.jvp(f, (x,), (1.0,))[1])(2.0),
    lambda f: ad.grad(lambda t: ad.jvp(f, (2.0,), (t,))[1])(2.0),
    lambda f: ad.jvp(staged(f), (2.0,), (1.0,)),
    lambda f: staged(lambda x: ad.jvp(f, (x,), (1.0,))[1])(2.0),
    lambda f: ad.vmap(ad.linearize(f, 2.0)[1])(X),
    lambda f: ad.check_grads(f, (2.0,), 1, modes='fwd')]


@pytest.mark.asks('D13')
def test_forward_mode_is_an_error_that_says_so():
    f = custom(square, lambda x: (f(x), x), lambda x, ct: (3 * f(x) * ct,))
    for forward in FORWARDS:
        with pytest.raises(TypeError, match=FORWARD):
            forward(f)
        assert current_trace() is Trace.base


@pytest.mark.asks('D13')
def test_custom_lin_is_a_sealed_envelope():
    _, f_jvp = ad.linearize(square, 2.0)
    (eqn,) = f_jvp.program.jaxpr.eqns
    assert eqn.primitive is custom_lin_p
    assert len(eqn.invars) == 2     # a residual and a tangent
    assert ad.linear_transpose(f_jvp, 1.0)(1.0) == (6.0,)
    again = lambda t: ad.jvp(f_jvp, (t,), (t,))[1]
    assert ad.linear_transpose(again, 1.0)(1.0) == (6.0,)
    with pytest.raises(TypeError, match=FORWARD):
        eqn.primitive.bind(*[1.0] * len(eqn.invars), **eqn.params)


def test_linear_transpose_transposes_the_function_and_not_its_rule():
    f = custom(lambda x, y, z: x - y + z, pytest.fail, pytest.fail)
    assert ad.linear_transpose(f, 1.0, 1.0, 1.0)(1.0) == (1.0, -1.0, 1.0)


# D17, hard case 5: captured values

DETECTED = ('Detected differentiation of a custom_vjp function with respect '
            'to a closed-over value: .*closer.*Pass the value as an '
            'argument')


def closing(where, x):
    """Return a custom function of which one part closes over `x`."""
    c = {name: x if name == where else 1.0
         for name in ('f', 'fwd', 'residual', 'bwd')}

    def closer(y):
        return c['f'] * y
    return custom(closer, lambda y: (c['fwd'] * y, c['residual']),
                  lambda r, ct: (
                      x if where == 'bare' else ct * r * c['bwd'],))


@pytest.mark.asks('D17')
@pytest.mark.parametrize('where', ['f', 'fwd', 'residual', 'bwd', 'bare'])
def test_a_closed_over_value_is_differentiated(where):
    if where == 'f':    # no operand is perturbed
        refused(lambda x: closing('f', x)(1.0), DETECTED)
        refused(lambda x: ad.vmap(closing('f', x))(X).sum(), DETECTED)
        refused(staged(lambda x: closing('f', x)(1.0)), DETECTED)
        refused(staged(lambda x: closing('f', x)(x)), DETECTED)
        with pytest.raises(TypeError, match=DETECTED):
            staged(ad.grad(lambda x: closing('f', x)(1.0)))(3.0)
    else:
        refused(lambda x: closing(where, x)(x), DETECTED)
        refused(lambda x: closing(where, 2 * x)(2 * x), DETECTED)
        refused(lambda x: ad.vmap(closing(where, x))(X * x).sum(), DETECTED)
    g = lambda x: closing(where, ad.stop_gradient(x))(x)
    assert ad.grad(g)(3.0) in (1.0, 3.0)


# B1: both rules on one function. test_staged_calls.py checks that each
# mode uses its own rule in every nesting.

@pytest.mark.asks('B1')
def test_each_mode_uses_its_own_rule():
    f = custom(lambda x: x * x, lambda x: (f(x), x),
               lambda x, ct: (3 * x * ct,))
    f.defjvp(lambda p, t: (f(*p), 5 * p[0] * t[0]))
    assert ad.grad(f)(2.0) == 6.0
    assert d(f)(2.0) == ad.linearize(f, 2.0)[1](1.0) == 10.0


# B2: nondiff arguments that hold traced values, in a jaxpr

KINDS = ['jvp', 'vjp', 'both']
HOLDING = [lambda a: a, lambda a: {'w': a, 's': 'text'},
           lambda a: {'v': [a, np.sin], 'w': a}]


@pytest.mark.asks('B2')
@pytest.mark.parametrize('kind', KINDS)
def test_nondiff_arguments_are_operands_of_a_staged_call(kind):
    f, back = held(kind)
    for hold in HOLDING:
        g = staged(lambda a, x: f(hold(a), x))
        assert g(7.0, 2.0) == 14.0
        for h in (ad.grad(g, 1), staged(ad.grad(g, 1)),
                  ad.grad(staged(g), 1)):
            assert h(7.0, 2.0) == 7 * back
        assert_same(ad.vmap(g)(X, X), X * X)
        for axes, a, x in (((0, 0), X, X), ((0, None), X, 2.0),
                           ((None, 0), 7.0, X)):
            expected = np.broadcast_to(back * a, 4)
            assert_close(ad.vmap(ad.grad(g, 1), axes)(a, x), expected)
            assert_close(staged(ad.vmap(ad.grad(g, 1), axes))(a, x), expected)
        total = lambda x: ad.vmap(g, (0, None))(X, x).sum()
        assert_close(ad.grad(staged(total))(2.0), back * X.sum())
        if kind != 'vjp':
            assert_close(d(lambda x: ad.vmap(g)(X, x))(X), 5 * X)
            assert_close(ad.vmap(lambda a: ad.linearize(
                partial(g, a), 2.0)[1](1.0))(X), 5 * X)


@pytest.mark.asks('B2', 'D12')
@pytest.mark.parametrize('kind', KINDS)
def test_late_perturbation_of_a_nondiff_argument_is_named(kind):
    """The jaxpr does not know yet which arguments get differentiated."""
    f, _ = held(kind)
    words = ('Argument 0 of .*scale is named in nondiff_argnums, but it is '
             'being differentiated.*nondiff_argnums')
    for hold in HOLDING:
        g = staged(lambda a, x: f(hold(a), x))
        for late in (g, ad.vmap(g), staged(g), staged(ad.vmap(g))):
            refused(lambda a: np.sum(late(a, X)), words, x=X)
            with pytest.raises(TypeError, match=words):
                ad.jvp(late, (X, X), (X, X))
        stopped = staged(lambda a, x: f(hold(ad.stop_gradient(a)), x))
        assert ad.grad(stopped)(7.0, 2.0) == 0.0


@pytest.mark.asks('D8')
def test_rules_can_return_lists():
    f = custom(lambda x, y: x * y, lambda x, y: [x * y, [x, y]],
               lambda r, c: [3 * c * r[1], 5 * c * r[0]])
    assert ad.grad(f, (0, 1))(2.0, 7.0) == (21.0, 10.0)
    assert_same(ad.vmap(ad.grad(f), (0, None))(X, 7.0), np.full(4, 21.))
