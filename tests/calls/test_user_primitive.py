"""`ad.Primitive`: a primitive of your own, as in the tutorial.

Rules that say more than the truth show which rule ran: the rule of `power`
doubles, and the rules of `both` say 3 forwards and 5 backwards.
"""

from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import d, nested, staged, summed_grad
from tests.tables.rule_laws import ROWS

X = np.array([1.0, 2.0, 3.0])
X_DOT = np.array([0.1, 0.2, 0.3])


def primitive(name, several=False, **rules):
    """Return a primitive of one operand, with the given rules."""
    p = ad.Primitive(name, multiple_results=several)
    rules = {
        'impl': lambda x, **params: np.exp(x),
        'abstract_eval': lambda x, **params: x,
        'vmap': lambda args, dims, **params: (p.bind(*args, **params), 0),
    } | rules
    for method, rule in rules.items():
        getattr(p, f'def_{method}')(*rule if type(rule) is list else [rule])
    return p


def scale_jvp(primals, tangents):
    """The tutorial's rule, with `zero_if_zero` made real."""
    (x, factor), (x_dot, factor_dot) = primals, tangents
    terms = []
    if not isinstance(x_dot, ad.Zero):
        terms.append(x_dot * factor)
    if not isinstance(factor_dot, ad.Zero):
        terms.append(x * factor_dot)
    return x * factor, sum(terms)


def scale_backward(residuals, y_bar):
    x, factor = residuals
    return y_bar * factor, np.sum(y_bar * x)


def scale_vmap(args, dims):
    (x, factor), (x_dim, factor_dim) = args, dims
    if factor_dim is not None:
        ndim = np.ndim(x) - (x_dim is not None)
        factor = np.reshape(factor, (-1,) + (1,) * ndim)
    return x * factor, 0


def custom_scale(*without):
    """Return the tutorial's primitive, without the rules named."""
    p = ad.Primitive('custom_scale')
    rules = {
        'def_impl': lambda x, factor: x * factor,
        'def_abstract_eval': lambda x, factor: ad.ShapedArray(
            x.shape, np.result_type(x.dtype, factor.dtype)),
        'def_jvp': scale_jvp,
        'def_vjp': lambda primals: (p.bind(*primals), scale_backward),
        'def_vmap': scale_vmap,
        'def_lowering': lambda emitter, x, factor: f'{x} * {factor}'}
    for method, rule in rules.items():
        if method not in without:
            assert getattr(p, method)(rule) is rule
    return p


scale_p = custom_scale()
power_p = primitive('power', jvp=lambda xs, ts: (
    power_p.bind(*xs), 2 * power_p.bind(*xs) * ts[0]))


def loss(x, factor, p=scale_p):
    return np.sum(p.bind(x, factor) ** 2)


def assert_gradients(f):
    """Assert the tutorial's gradients of the loss."""
    x_bar, factor_bar = ad.grad(f, (0, 1))(X, 2.0)
    assert_close(x_bar, np.array([8.0, 16.0, 24.0]))
    assert_close(factor_bar, 56.0)


def refused(f, *args, words, error=(TypeError, ValueError)):
    """Assert that the call is an error with these words, also in notes."""
    with pytest.raises(error) as info:
        f(*args)
    assert current_trace() is Trace.base
    assert info.match(f'(?s){words}')


# P1, and the tutorial's two slips

@pytest.mark.asks('P1')
def test_a_factor_passed_by_keyword_has_no_derivative():
    """The tutorial binds `factor=factor`, and differentiates by it."""
    for transform in ad.grad, ad.jit:
        for wrap in (lambda x: x), (lambda x: [1, {'a': x}]):
            f = lambda factor: scale_p.bind(1.5, factor=wrap(factor))
            refused(transform(f), 2.0,
                    words="'factor' of custom_scale.*static.*by position")


@pytest.mark.asks('P1')
def test_backward_gets_the_primals():
    """The tutorial returns no residuals, but its backward is passed them."""
    for rules in [
            [lambda xs: (p.bind(*xs), scale_backward)],
            [lambda xs: (p.bind(*xs), lambda ct: scale_backward(xs, ct))],
            [lambda *xs: (p.bind(*xs), xs), scale_backward]]:
        p = custom_scale('def_jvp', 'def_vjp')
        p.def_vjp(*rules)
        assert_gradients(partial(loss, p=p))


# P2

@pytest.mark.asks('P2')
def test_the_numbers_equal_the_tutorials():
    for stage in (lambda f: f), ad.jit:
        y, y_dot = ad.jvp(stage(scale_p.bind), (X, 2.0), (X_DOT, 0.5))
        assert_close(y, np.array([2.0, 4.0, 6.0]))
        assert_close(y_dot, np.array([0.7, 1.4, 2.1]))
        assert_close(stage(loss)(X, 2.0), 56.0)
        assert_gradients(stage(loss))


@pytest.mark.asks('P2')
def test_one_of_the_two_rules_is_enough_for_the_gradient():
    for without in 'def_jvp', 'def_vjp':
        assert_gradients(partial(loss, p=custom_scale(without)))


# P3

@pytest.mark.asks('P3')
def test_a_tangent_can_be_a_symbolic_zero():
    seen = []
    p = custom_scale('def_jvp', 'def_vjp')
    p.def_jvp(lambda xs, ts: seen.append(ts) or scale_jvp(xs, ts))
    _, y_dot = ad.jvp(lambda factor: p.bind(X, factor), (2.0,), (0.5,))
    assert_close(y_dot, 0.5 * X)
    [(x_dot, factor_dot)] = seen
    assert isinstance(x_dot, ad.Zero) and factor_dot == 0.5
    assert x_dot.aval == ad.typeof(X)
    assert_same(ad.instantiate_zeros(x_dot), np.zeros(3))
    assert ad.instantiate_zeros(X_DOT) is X_DOT


@pytest.mark.asks('P3')
def test_a_rule_can_return_a_zero():
    p = primitive('sign', impl=np.sign, jvp=lambda xs, ts: (
        p.bind(*xs), ad.Zero(xs[0])))
    assert_same(ad.jvp(p.bind, (X,), (X_DOT,))[1], np.zeros(3))
    assert_same(ad.grad(lambda x: np.sum(x * p.bind(x)))(X), np.ones(3))


@pytest.mark.asks('P3')
def test_a_rule_that_ignores_zeros_is_named():
    for use in (lambda x, t: x + t, lambda x, t: t[0],
                lambda x, t: np.asarray(t), lambda x, t: x + float(t)):
        p = custom_scale('def_jvp', 'def_vjp')
        p.def_jvp(lambda xs, ts: (p.bind(*xs), use(xs[0], ts[1])))
        refused(ad.vjp, lambda x: p.bind(x, 2.0), X,
                words=r"Zero.*ad\.instantiate_zeros.*'custom_scale'")


# P4

MISSING = [     # methods, a program that asks, and the name of the rule
    ('def_impl', lambda p: p.bind(X, 2.0), 'Evaluation'),
    ('def_abstract_eval', lambda p: ad.jit(p.bind)(X, 2.0),
     'Abstract evaluation'),
    ('def_jvp or def_vjp', lambda p: ad.grad(p.bind)(2.0, 3.0),
     'Differentiation'),
    ('def_vmap', lambda p: ad.vmap(p.bind)(X, X), 'Batching'),
    ('def_transpose or def_vjp', lambda p: ad.linear_transpose(
        lambda x: p.bind(x, 2.0), X)(X), 'Transpose')]


@pytest.mark.asks('P4')
def test_a_missing_rule_names_primitive_transform_and_method():
    for methods, program, transform in MISSING:
        refused(program, custom_scale(*methods.split(' or ')),
                error=NotImplementedError,
                words=f"{transform} rule for 'custom_scale' not.*{methods}")


# P5

@pytest.mark.asks('P5')
def test_check_grads_as_the_tutorial_calls_it():
    ad.check_grads(scale_p.bind, (X, 2.0), order=2, modes=('fwd', 'rev'),
                   eps=1e-3)


# P6: it composes with all transformations

CARRIERS = [ROWS[name] for name in (
    'call', 'custom_jvp', 'jit', 'checkpoint', 'scan', 'cond')]


@pytest.mark.asks('P6')
@pytest.mark.parametrize('carry', CARRIERS)
def test_every_wrapper_uses_the_rule_in_every_order(carry):
    """The n-th derivative of `power` is 2^n times itself."""
    xs = np.linspace(0, 1, 6).reshape(2, 3)
    for modes in '', 'j', 'g', 'jg', 'gj', 'gg':
        rise, f = 2 ** len(modes), nested(carry(power_p.bind), modes)
        assert_close(f(np.float64(0.5)), rise * np.exp(0.5))
        assert_close(ad.vmap(ad.vmap(f))(xs), rise * np.exp(xs))


# def_transpose

@pytest.mark.asks('P6')
def test_undefined_primals_mark_the_linear_operands():
    def transpose(ct, x, y):
        assert (y.aval, y.shape) == (ad.typeof(X), (3,))
        assert ad.is_undefined_primal(y) and not ad.is_undefined_primal(x)
        return None, p.bind(x, ct)

    p = primitive('product', impl=lambda x, y: x * y,
                  abstract_eval=lambda x, y: x, transpose=transpose)
    (ct,) = ad.linear_transpose(lambda y: p.bind(X, y), X)(X_DOT)
    assert_close(ct, X * X_DOT)


@pytest.mark.asks('P6')
def test_a_transpose_rule_that_returns_something_else_is_named():
    for cts in (lambda ct: ct, lambda ct: (ct,), lambda ct: None,
                lambda ct: (ct[:2], None)):
        p = primitive('product', abstract_eval=lambda x, y: x,
                      transpose=lambda ct, x, y: cts(ct))
        refused(lambda: ad.linear_transpose(lambda x: p.bind(x, X), X)(X),
                words='product')


# Several results

def sincos(jvp):
    return primitive(
        'sincos', several=True, impl=lambda x: [np.sin(x), np.cos(x)],
        abstract_eval=lambda x: [x, x], jvp=jvp,
        vmap=lambda args, dims: ([np.sin(args[0]), args[0]], [0, None]))


@pytest.mark.asks('P6')
def test_multiple_results_work_everywhere():
    p = sincos(lambda xs, ts: (
        p.bind(*xs), [3 * np.cos(xs[0]) * ts[0], -np.sin(xs[0]) * ts[0]]))
    p.def_vmap(lambda args, dims: (p.bind(*args), [0, 0]))
    for carry in CARRIERS:
        f = carry(lambda x: p.bind(x)[0] * 1.0)
        assert_close(ad.vmap(f)(X), np.sin(X))
        assert_close(ad.vmap(d(f))(X), 3 * np.cos(X))
        assert_close(ad.vmap(ad.grad(f))(X), 3 * np.cos(X))


# Parameters

@pytest.mark.asks('P6')
def test_parameters_reach_every_rule():
    seen = {}
    params = {'n': 3, 'function': np.sin, 'primals': (1, 2)}
    p = ad.Primitive('with_params')

    def note(method, rule):
        def noted(*args, **found):
            seen[method] = found
            return rule(*args)
        getattr(p, method)(noted)

    bind = partial(p.bind, **params)
    note('def_impl', lambda x: x * 2)
    note('def_abstract_eval', lambda x: x)
    note('def_jvp', lambda xs, ts: (bind(*xs), bind(*ts)))
    note('def_vmap', lambda args, dims: (bind(*args), 0))
    note('def_transpose', lambda ct, x: (bind(ct),))
    assert_close(ad.jit(ad.vmap(d(bind)))(X), np.full(3, 2.0))
    assert_close(ad.linear_transpose(bind, X)(X)[0], 2 * X)
    note('def_lowering', lambda emitter, x: f'2 * {x}')
    assert_close(ad.jit(bind)(X), 2 * X)
    note('def_vjp', lambda xs: (bind(*xs), lambda ct: (2 * ct,)))
    assert_close(summed_grad(bind)(X), np.full(3, 2.0))

    def bwd(residuals, ct, **found):
        seen['bwd'] = found
        return 2 * ct,
    p.def_vjp(lambda x, **found: (bind(x), seen.update(fwd=found)), bwd)
    assert_close(summed_grad(bind)(X), np.full(3, 2.0))
    assert len(seen) == 9
    assert all(found == params for found in seen.values())


# def_lowering

@pytest.mark.asks('P6')
def test_the_text_of_def_lowering_appears_in_the_source():
    p = primitive('shifted', impl=lambda x, by: np.exp(x) + by,
                  lowering=lambda emitter, x, by: (
                      f'np.exp({x}) + {emitter.value(by)}'))
    f = ad.jit(lambda x: 2 * p.bind(x, by=1.5))
    assert_close(f(X), 2 * (np.exp(X) + 1.5))
    assert '    b = np.exp(a) + 1.5' in f.source


@pytest.mark.asks('P6')
def test_without_lowering_the_program_calls_the_implementation():
    runs = []
    p = primitive('noted', impl=lambda x: runs.append(type(x)) or np.exp(x))
    f = ad.jit(lambda x: p.bind(x) * 2)
    assert_close(f(X), 2 * np.exp(X))
    assert 'b = noted_impl' in f.source
    assert runs == [np.ndarray]


# def_vmap

@pytest.mark.asks('P6')
def test_a_batching_rule_can_return_any_axis():
    x = np.arange(24.0).reshape(2, 3, 4)
    for out_dim in 0, 2, -2:
        p = primitive('double', vmap=lambda args, dims: (
            np.moveaxis(2 * args[0], 0, out_dim), out_dim))
        assert_same(ad.vmap(p.bind, 1, 1)(x), 2 * x)
        assert_same(ad.jit(ad.vmap(p.bind))(x), 2 * x)


@pytest.mark.asks('P6')
def test_a_mapped_operand_has_its_axis_in_front():
    seen = []
    p = primitive('watch', vmap=lambda args, dims: (
        seen.append(([np.shape(x) for x in args], dims)) or X, None))
    out = ad.vmap(lambda x: p.bind(x, X, 2.0), 2, None)(np.ones((4, 5, 6)))
    assert_same(out, X)     # the rule says that no output is mapped
    assert seen == [([(6, 4, 5), (3,), ()], (0, None, None))]


@pytest.mark.asks('P6')
def test_a_batching_rule_that_returns_something_else_is_named():
    for out in (lambda x: x, lambda x: (x, 5), lambda x: (x, 0, 0),
                lambda x: (x[0], 0)):
        p = primitive('double', vmap=lambda args, dims: out(*args))
        refused(ad.vmap(p.bind), np.ones((3, 2)), words='double')


# Integers, Python numbers, trees

@pytest.mark.asks('P6')
def test_integers_have_no_tangent():
    def jvp(primals, tangents):
        (x, n), (x_dot, n_dot) = primals, tangents
        assert isinstance(n_dot, ad.Zero) and n_dot.aval.dtype == ad.float0
        return p.bind(x, n), n * p.bind(x, n - 1) * x_dot

    def vjp(primals):
        x, n = primals
        return p.bind(x, n), lambda ct: (ct * n * p.bind(x, n - 1), None)

    for rule in {'jvp': jvp}, {'vjp': vjp}:
        p = primitive('to_the', impl=lambda x, n: x ** n,
                      abstract_eval=lambda x, n: x, **rule)
        for f in p.bind, ad.jit(p.bind):
            assert ad.grad(ad.grad(f))(3.0, 3) == 18.0
            assert np.result_type(ad.vjp(f, 3.0, 2)[1](1.0)[1]) == ad.float0


@pytest.mark.asks('P6')
def test_trees_are_not_operands():
    for tree in (lambda x: {'a': x}), (lambda x: 'abc'):
        for transform in (lambda f: f), ad.grad:
            refused(transform(lambda x: power_p.bind(tree(x)) and x), 2.0,
                    words='operand 0 of power.* cannot be traced')


# Both rules

@pytest.mark.asks('P6')
def test_with_both_rules_each_mode_uses_its_own():
    def jvp(primals, tangents):
        ran.append('jvp')
        y = p.bind(*primals)
        return y, 3 * y * tangents[0]

    def fwd(x):
        ran.append('fwd')
        y = p.bind(x)
        return y, y

    def bwd(y, ct):
        ran.append('bwd')
        return 5 * y * ct,

    p, ran = primitive('both', jvp=jvp, vjp=[fwd, bwd]), []
    for names, factor, expected in [
            ('j', 3, 'jvp'), ('g', 5, 'fwd bwd'), ('l', 3, 'fwd jvp'),
            ('gg', 25, 'fwd fwd bwd bwd'), ('jg', 15, 'fwd jvp bwd'),
            ('gj', 15, 'jvp fwd bwd')]:
        for f in p.bind, staged(p.bind):
            ran.clear()
            assert_close(nested(f, names)(0.5), factor * np.exp(0.5))
            assert ran == expected.split(), names


@pytest.mark.asks('P6')
def test_a_primitive_with_only_a_vjp_rule_refuses_forward_mode():
    p = primitive('back', vjp=[lambda x: (np.exp(x), np.exp(x)),
                               lambda y, ct: (5 * y * ct,)])
    for f in p.bind, staged(p.bind), ad.jit(p.bind):
        refused(d(f), 0.5, words='back has only a rule for reverse mode')
        assert_close(ad.grad(f)(0.5), 5 * np.exp(0.5))


# def_vjp that closes over what is traced

@pytest.mark.asks('P6')
def test_a_backward_function_closes_over_mapped_and_staged_values():
    slope = ad.grad(lambda c, x: primitive('times', vjp=lambda xs: (
        c * xs[0], lambda ct: (5 * c * ct,))).bind(x), 1)
    assert slope(2.0, 3.0) == staged(slope)(2.0, 3.0) == 10.0
    assert_close(ad.jit(ad.vmap(slope))(X, X), 5 * X)


@pytest.mark.asks('P6')
def test_closing_over_a_differentiated_value_is_an_error():
    """The derivative in `y` would be dropped; see row D17."""
    for rule in (lambda y: {'jvp': lambda xs, ts: (xs[0], ts[0] * y)},
                 lambda y: {'vjp': lambda xs: (xs[0], lambda ct: (ct * y,))}):
        refused(ad.grad(lambda y: primitive('times', **rule(y)).bind(y)), 3.0,
                words='unexpected tracer|closed-over')


# Mistakes

def out(f):
    return lambda xs, ts: (np.exp(xs[0]), f(ts[0]))


def back(f):
    return lambda xs: (np.exp(xs[0]), f)


MISTAKES = {    # by name: a rule, and the words of the error
    'no_pair': ({'jvp': lambda xs, ts: ts[0]}, 'must produce a pair'),
    'ct_shape': ({'vjp': back(lambda ct: (ct[:2],))},
                 r'argument is float64\[3\].*float64\[2\]'),
    'not_two': ({'vjp': lambda xs: np.exp(xs[0])}, 'pair'),
    'fwd_tuple': ({'vjp': [lambda x: ((np.exp(x),), x), lambda r, ct: ct]},
                  'an array'),
    'abstract': ({'abstract_eval': lambda x: x.shape, 'jvp': out(abs)},
                 'of mine must return a ShapedArray'),
    'promise': ({'abstract_eval': lambda x: ad.ShapedArray((2,), x.dtype),
                 'jvp': out(abs)}, r'mine.*float64\[3\].*promised')}


@pytest.mark.asks('P6')
@pytest.mark.parametrize('name', MISTAKES)
def test_mistakes_of_rules_are_named(name):
    rule, words = MISTAKES[name]
    p = primitive('mine', **rule)
    for f in p.bind, ad.jit(p.bind):
        refused(lambda: ad.vjp(f, X)[1](X), words=rf'(?=.*mine).*{words}')


@pytest.mark.asks('P6')
def test_a_rule_with_another_number_of_results_is_named():
    for rule in out(abs), lambda xs, ts: ([xs[0]], [ts[0]]):
        refused(d(lambda x: sincos(rule).bind(x)[0]), X, words='sincos')
