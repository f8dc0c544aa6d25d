"""`ad.Primitive`: rows P1 to P6 of the requirements, on the tutorial's example.

Rules that say more than the truth show which rule ran: the rule of `power`
doubles, and the rules of `both` say 3 forwards and 5 backwards.
"""

import gc
import weakref
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.primitives.elementwise import cos_p, sin_p
from tests.amount import crossed
from tests.numerical import assert_close, assert_same
from tests.test_custom_jvp import d
from tests.test_staged_calls import nested, staged, summed_grad
from tests.traces import spied

X = np.array([1.0, 2.0, 3.0])
X_DOT = np.array([0.1, 0.2, 0.3])


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


def elementwise(name, impl, jvp=None):
    """Return a primitive of one operand, element by element."""
    p = ad.Primitive(name)
    p.def_impl(impl)
    p.def_abstract_eval(lambda x, **params: x)
    p.def_vmap(lambda args, dims, **params: (p.bind(*args, **params), 0))
    if jvp:
        p.def_jvp(partial(jvp, p))
    return p


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
power_p = elementwise('power', lambda x: np.exp(x), lambda p, xs, ts: (
    p.bind(*xs), 2 * p.bind(*xs) * ts[0]))
both_p = elementwise('both', lambda x: np.exp(x))
ran = []    # which of the rules of `both`


@both_p.def_jvp
def both_jvp(primals, tangents):
    ran.append('jvp')
    y = both_p.bind(*primals)
    return y, 3 * y * tangents[0]


def both_fwd(x):
    ran.append('fwd')
    y = both_p.bind(x)
    return y, y


def both_bwd(y, ct):
    ran.append('bwd')
    return 5 * y * ct,


both_p.def_vjp(both_fwd, both_bwd)


def sincos(jvp=None):
    """Return a primitive with two results."""
    p = ad.Primitive('sincos', multiple_results=True)
    p.def_impl(lambda x: [np.sin(x), np.cos(x)])
    p.def_abstract_eval(lambda x: [x, x])
    p.def_vmap(lambda args, dims: (p.bind(*args), [0, 0]))
    p.def_jvp(jvp or (lambda xs, ts: (
        p.bind(*xs), [3 * np.cos(xs[0]) * ts[0], -np.sin(xs[0]) * ts[0]])))
    return p


@pytest.fixture(autouse=True)
def fresh():
    """Each test finds an empty list, and leaves the interpreter as it was."""
    ran.clear()
    yield
    assert current_trace() is Trace.base
    assert ad.jit(ad.grad(power_p.bind))(0.0) == 2.0


def loss(x, factor, p=scale_p):
    return np.sum(p.bind(x, factor) ** 2)


def refused(f, *args, words, error=TypeError):
    """Assert that the call is an error with these words; return it."""
    with pytest.raises(error, match=f'(?s){words}') as info:
        f(*args)
    assert current_trace() is Trace.base
    return info.value


def notes(error):
    return ' '.join(getattr(error, '__notes__', []))


# P1, and the tutorial's two slips

@pytest.mark.parametrize('wrap', [lambda x: x, lambda x: [1, {'a': x}]])
def test_p1_the_first_slip_a_factor_by_keyword_has_no_derivative(wrap):
    """The tutorial binds `factor=factor`, and differentiates by it."""
    for transform in ad.grad, ad.jit:
        refused(transform(lambda f: scale_p.bind(1.5, factor=wrap(f))), 2.0,
                words="'factor' of custom_scale.*static.*by position")


def test_p1_by_keyword_it_is_a_static_parameter_and_does_for_x():
    p = elementwise('scale_by', lambda x, factor: x * factor)
    p.def_jvp(lambda xs, ts, factor: (
        p.bind(*xs, factor=factor), p.bind(*ts, factor=factor)))
    f = lambda x: p.bind(x, factor=2.0)
    assert_close(ad.jvp(f, (X,), (X_DOT,))[1], 2 * X_DOT)
    p.def_transpose(lambda ct, x, factor: (p.bind(ct, factor=factor),))
    assert_close(ad.grad(lambda x: np.sum(f(x) ** 2))(X), 8 * X)
    assert 'scale_by[factor=2.0] a' in str(ad.make_jaxpr(f)(X))


@pytest.mark.parametrize('rules', [
    lambda p: [lambda primals: (p.bind(*primals), scale_backward)],
    lambda p: [lambda primals: (
        p.bind(*primals), lambda ct: scale_backward(primals, ct))],
    lambda p: [lambda *xs: (p.bind(*xs), xs), scale_backward]],
    ids=['two_arguments', 'one_argument', 'two_functions'])
def test_p1_the_second_slip_backward_gets_the_primals(rules):
    """The tutorial returns no residuals, and its backward is given them."""
    p = custom_scale('def_jvp', 'def_vjp')
    p.def_vjp(*rules(p))
    found = ad.grad(partial(loss, p=p), (0, 1))(X, 2.0)
    assert_close(found[0], np.array([8.0, 16.0, 24.0]))
    assert_close(found[1], 56.0)


# P2

@pytest.mark.parametrize('stage', [lambda f: f, ad.jit],
                         ids=['plain', 'jit'])
def test_p2_the_numbers_are_those_of_the_tutorial(stage):
    y, y_dot = ad.jvp(stage(scale_p.bind), (X, 2.0), (X_DOT, 0.5))
    assert_close(y, np.array([2.0, 4.0, 6.0]))
    assert_close(y_dot, np.array([0.7, 1.4, 2.1]))
    value, bars = ad.value_and_grad(stage(loss), (0, 1))(X, 2.0)
    assert_close(value, 56.0)
    assert_close(bars[0], np.array([8.0, 16.0, 24.0]))
    assert_close(bars[1], 56.0)


@pytest.mark.parametrize('without', ['def_jvp', 'def_vjp'])
def test_p2_one_of_the_two_rules_is_enough_for_the_gradient(without):
    found = ad.grad(partial(loss, p=custom_scale(without)), (0, 1))(X, 2.0)
    assert_close(found[0], np.array([8.0, 16.0, 24.0]))
    assert_close(found[1], 56.0)


# P3

def test_p3_a_tangent_may_be_a_symbolic_zero():
    seen = []
    p = custom_scale('def_jvp', 'def_vjp')
    p.def_jvp(lambda xs, ts: seen.append(ts) or scale_jvp(xs, ts))
    _, y_dot = ad.jvp(lambda x: p.bind(x, 2.0), (X,), (X_DOT,))
    assert_close(y_dot, 2 * X_DOT)
    _, y_dot = ad.jvp(lambda factor: p.bind(X, factor), (2.0,), (0.5,))
    assert_close(y_dot, 0.5 * X)
    kinds = [[isinstance(t, ad.Zero) for t in ts] for ts in seen]
    assert kinds == [[False, True], [True, False]]
    assert seen[0][1].aval == ad.typeof(2.0)
    assert_same(ad.instantiate_zeros(seen[1][0]), np.zeros(3))
    assert ad.instantiate_zeros(X_DOT) is X_DOT


def test_p3_a_rule_may_return_a_zero():
    p = elementwise('sign', lambda x: np.sign(x), lambda p, xs, ts: (
        p.bind(*xs), ad.Zero(xs[0])))
    assert_same(ad.jvp(p.bind, (X,), (X_DOT,))[1], np.zeros(3))
    assert_same(ad.grad(lambda x: np.sum(x * p.bind(x)))(X), np.ones(3))
    # so nothing behind it is asked for a derivative
    _, counts = spied(d(lambda x: np.sin(p.bind(x))), 2.0)
    assert sin_p in counts and cos_p not in counts


@pytest.mark.parametrize('use', [
    lambda x, t: x + t, lambda x, t: np.multiply(x, t), lambda x, t: t[0],
    lambda x, t: np.asarray(t), lambda x, t: x + float(t)],
    ids=['add', 'ufunc', 'index', 'array', 'float'])
def test_p3_a_rule_that_ignores_zeros_is_told_so_by_name(use):
    p = custom_scale('def_jvp', 'def_vjp')
    p.def_jvp(lambda xs, ts: (p.bind(*xs), use(xs[0], ts[1])))
    for transform in (lambda f: ad.jvp(f, (X,), (X_DOT,)),
                      lambda f: ad.vjp(f, X)):
        error = refused(transform, lambda x: p.bind(x, 2.0),
                        words=r'Zero.*ad\.instantiate_zeros')
        assert "'custom_scale'" in notes(error)


# P4

BOTH = 'def_jvp or def_vjp'
MISSING = {     # by methods: a program that asks, and the name of the rule
    'value': ('def_impl', lambda p: p.bind(X, 2.0), 'Evaluation'),
    'jit': ('def_abstract_eval', lambda p: ad.jit(p.bind)(X, 2.0),
            'Abstract evaluation'),
    'jvp': (BOTH, lambda p: ad.jvp(p.bind, (X, 2.0), (X_DOT, 0.5)),
            'Differentiation'),
    'grad': (BOTH, lambda p: ad.grad(ad.jit(partial(loss, p=p)))(X, 2.0),
             'Differentiation'),
    'vmap': ('def_vmap', lambda p: ad.vmap(p.bind)(X, X), 'Batching'),
    'transpose': ('def_transpose or def_vjp', lambda p: ad.linear_transpose(
        lambda x: p.bind(x, 2.0), X)(X), 'Transpose')}


@pytest.mark.parametrize('name', MISSING)
def test_p4_a_missing_rule_names_primitive_transform_and_method(name):
    methods, program, transform = MISSING[name]
    refused(program, custom_scale(*methods.split(' or ')),
            error=NotImplementedError,
            words=f"{transform} rule for 'custom_scale' not.*{methods}")


# P5

def test_p5_check_grads_as_the_tutorial_calls_it():
    ad.check_grads(scale_p.bind, (X, 2.0), order=2, modes=('fwd', 'rev'),
                   eps=1e-3)


# P6: it composes with everything

def by_custom_jvp(f):
    """Return `f`, used by a function with a rule, and by its rule."""
    g = ad.custom_jvp(lambda x: f(x))
    g.defjvp(lambda xs, ts: (g(*xs), ad.jvp(f, xs, ts)[1]))
    return g


CARRIERS = {
    'plain': lambda f: f,
    'jit': ad.jit,
    'checkpoint': ad.checkpoint,
    'cond': lambda f: lambda x: ad.cond(
        np.sum(x) < 9, f, lambda x: x, x),
    'scan_carry': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'scan_rows': lambda f: lambda x: ad.scan(
        lambda c, x: (c, f(x)), None, np.stack([x, x]))[1][1],
    'while_loop': lambda f: lambda x: ad.while_loop(
        lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x))[1],
    'custom_jvp': by_custom_jvp,
}
ORDERS = ['', 'j', 'g', 'jj', 'jg', 'gj', 'gg', 'jgj']


@crossed('carrier, modes', CARRIERS, ORDERS)
def test_p6_every_carrier_asks_the_rule_to_third_order(carrier, modes):
    """The n-th derivative of `power` is 2^n times itself."""
    carry, xs = CARRIERS[carrier], np.linspace(-1, 1, 6).reshape(2, 3)
    point, rise = np.float64(0.5), 2 ** len(modes)
    if carrier != 'while_loop' or 'g' not in modes:
        f = nested(carry(power_p.bind), modes)
        assert_close(f(point), rise * np.exp(point))
        assert_close(ad.vmap(ad.vmap(f))(xs), rise * np.exp(xs))
    if carrier != 'custom_jvp':
        f = carry(nested(power_p.bind, modes))
        assert_close(ad.vmap(f, 1, 1)(np.full((1, 2), 0.5)),
                     np.full((1, 2), rise * np.exp(0.5)))


# def_transpose

def test_p6_undefined_primals_say_in_what_it_is_linear():
    seen = []
    p = ad.Primitive('product')
    p.def_impl(lambda x, y, times: x * y * times)
    p.def_abstract_eval(lambda x, y, times: x)

    @p.def_transpose
    def transpose(ct, *operands, times):
        seen.append([ad.is_undefined_primal(x) for x in operands])
        (unknown,) = filter(ad.is_undefined_primal, operands)
        assert (unknown.aval, unknown.shape) == (ad.typeof(X), (3,))
        (known,) = [x for x in operands if not ad.is_undefined_primal(x)]
        ct = p.bind(ct, known, times=times)
        return [ct if ad.is_undefined_primal(x) else None for x in operands]

    (left,) = ad.linear_transpose(lambda x: p.bind(x, X, times=2), X)(X_DOT)
    (right,) = ad.linear_transpose(lambda x: p.bind(X, x, times=2), X)(X_DOT)
    assert_close(left, 2 * X * X_DOT)
    assert_close(right, 2 * X * X_DOT)
    assert seen == [[True, False], [False, True]]


@pytest.mark.parametrize('cts', [
    lambda ct: ct, lambda ct: (ct,), lambda ct: None,
    lambda ct: (ct[:2], None)], ids=['array', 'short', 'none', 'shape'])
def test_p6_a_transpose_rule_that_returns_something_else_is_named(cts):
    p = ad.Primitive('product')
    p.def_abstract_eval(lambda x, y: x)
    p.def_transpose(lambda ct, x, y: cts(ct))
    refused(lambda: ad.linear_transpose(lambda x: p.bind(x, X), X)(X),
            words='product', error=(TypeError, ValueError))


# Several results

@pytest.mark.parametrize('carrier', ['plain', 'jit', 'scan_carry'])
def test_p6_multiple_results_go_through_everything(carrier):
    rules = [(np.sin(X), 3 * np.cos(X)), (np.cos(X), -np.sin(X))]
    p = sincos()
    for i, (y, slope) in enumerate(rules):
        f = CARRIERS[carrier](lambda x: p.bind(x)[i])
        assert_close(f(X), y)
        assert_close(ad.vmap(d(f))(X), slope)
        assert_close(ad.vmap(ad.grad(f))(X), slope)


def test_p6_one_result_is_mapped_and_one_is_not():
    p = ad.Primitive('pair', multiple_results=True)
    p.def_impl(lambda x: [x + 1, np.float64(7.0)])
    p.def_vmap(lambda args, dims: ([args[0] + 1, np.float64(7.0)], [0, None]))
    y, seven = ad.vmap(p.bind, out_axes=[0, None])(X)
    assert_close(y, X + 1)
    assert seven == 7.0


@pytest.mark.parametrize('rule', [
    lambda xs, ts: (xs[0], ts[0]), lambda xs, ts: ([xs[0]], [ts[0]])],
    ids=['array', 'one'])
def test_p6_a_rule_with_another_number_of_results_is_named(rule):
    p = sincos(rule)
    refused(d(lambda x: p.bind(x)[0]), X, words='sincos')


# Parameters

def test_p6_parameters_reach_every_rule():
    seen = {}
    params = {'n': 3, 'name': 'a', 'function': np.sin, 'primals': (1, 2)}
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
    assert len(seen) == 7

    def bwd(residuals, ct, **found):
        seen['bwd'] = found
        return 2 * ct,
    p.def_vjp(lambda x, **found: (bind(x), seen.update(fwd=found)), bwd)
    assert_close(summed_grad(bind)(X), np.full(3, 2.0))
    assert all(found == params for found in seen.values())


# def_lowering

def test_p6_the_text_of_def_lowering_appears_in_the_source():
    p = elementwise('shifted', lambda x, by: np.exp(x) + by)
    p.def_lowering(lambda emitter, x, by: (
        f'np.exp({x}) + {emitter.value(by)}'))
    f = ad.jit(lambda x: 2 * p.bind(x, by=1.5))
    assert_close(f(X), 2 * (np.exp(X) + 1.5))
    assert '    b = np.exp(a) + 1.5' in f.source


def test_p6_without_it_the_program_calls_the_implementation():
    runs = []
    p = elementwise('noted', lambda x: runs.append(type(x)) or np.exp(x))
    f = ad.jit(lambda x: p.bind(x) * 2)
    assert_close(f(X), 2 * np.exp(X))
    assert 'b = noted_impl' in f.source
    f(X)
    assert runs == [np.ndarray] * 2


# def_vmap

@pytest.mark.parametrize('out_dim', [0, 2, -2])
def test_p6_the_axis_of_a_batch_may_come_out_anywhere(out_dim):
    p = elementwise('double', lambda x: 2 * x, lambda p, xs, ts: (
        p.bind(*xs), p.bind(*ts)))
    p.def_vmap(lambda args, dims: (
        np.moveaxis(2 * args[0], 0, out_dim), out_dim))
    x = np.arange(24.0).reshape(2, 3, 4)
    assert_same(ad.vmap(p.bind, 1, 1)(x), 2 * x)
    assert_same(ad.jit(ad.vmap(d(p.bind)))(x), np.full((2, 3, 4), 2.0))


def test_p6_a_mapped_operand_has_its_axis_in_front():
    seen = []
    p = ad.Primitive('watch')
    p.def_vmap(lambda args, dims: (
        seen.append(([np.shape(x) for x in args], dims)) or X, None))
    out = ad.vmap(lambda x: p.bind(x, X, 2.0), 2, None)(np.ones((4, 5, 6)))
    assert_same(out, X)     # the rule says that it is mapped to nothing
    assert seen == [([(6, 4, 5), (3,), ()], (0, None, None))]


@pytest.mark.parametrize('out', [
    lambda x: x, lambda x: (x, 5), lambda x: (x, 0, 0), lambda x: (x[0], 0)],
    ids=['array', 'range', 'three', 'length'])
def test_p6_a_batching_rule_that_returns_something_else_is_named(out):
    p = elementwise('double', lambda x: 2 * x)
    p.def_vmap(lambda args, dims: out(*args))
    refused(ad.vmap(p.bind), np.ones((3, 2)), words='double',
            error=(TypeError, ValueError))


# Integers, Python numbers, trees

@pytest.mark.parametrize('way', ['def_jvp', 'def_vjp'])
def test_p6_integers_do_not_move(way):
    p, seen = ad.Primitive('to_the'), []
    p.def_impl(lambda x, n: x ** n)
    p.def_abstract_eval(lambda x, n: x)

    def jvp(primals, tangents):
        (x, n), (x_dot, n_dot) = primals, tangents
        seen.append(n_dot)
        return p.bind(x, n), n * p.bind(x, n - 1) * x_dot

    def vjp(primals):
        x, n = primals
        return p.bind(x, n), lambda ct: (ct * n * p.bind(x, n - 1), None)

    getattr(p, way)({'def_jvp': jvp, 'def_vjp': vjp}[way])
    for f in p.bind, ad.jit(p.bind), staged(p.bind):
        assert ad.grad(ad.grad(f))(3.0, 3) == 18.0
        x_bar, n_bar = ad.vjp(f, 3.0, 2)[1](1.0)
        assert x_bar == 6.0 and np.result_type(n_bar) == ad.float0
    assert all(isinstance(t, ad.Zero) and t.aval.dtype == ad.float0
               for t in seen)


@pytest.mark.parametrize('dot', [
    lambda: ad.Zero(np.int64(0)), lambda: np.zeros((), ad.float0)],
    ids=['zero', 'float0'])
def test_p6_integer_results_do_not_move(dot):
    p = ad.Primitive('argmax')
    p.def_impl(lambda x: np.argmax(x))
    p.def_abstract_eval(lambda x: ad.ShapedArray((), np.dtype(np.int64)))
    p.def_jvp(lambda xs, ts: (p.bind(*xs), dot()))
    f = lambda x: np.sum(x * p.bind(x))
    for g in f, ad.jit(f), ad.checkpoint(f):
        assert_close(ad.grad(g)(X), np.full(3, 2.0))


def test_p6_python_numbers_stay_weak():
    single = np.ones(2, np.float32)
    p = ad.Primitive('weakly')
    p.def_impl(lambda x, y: x * y)
    p.def_abstract_eval(lambda x, y: ad.ShapedArray(
        np.broadcast_shapes(x.shape, y.shape), x.dtype,
        x.weak_type and y.weak_type))
    p.def_jvp(lambda xs, ts: (p.bind(*xs), sum(
        t * x for t, x in zip(ts, xs[::-1]) if not isinstance(t, ad.Zero))))
    for f in p.bind, ad.jit(p.bind), staged(p.bind):
        assert_same(ad.grad(lambda x: np.sum(f(x, 2.0)))(single), 2 * single)
        assert_same(ad.grad(lambda y: np.sum(f(single, y)))(2.0),
                    2.0, ulps=4)
        assert f(2.0, 3.0) == 6.0 and type(f(2.0, 3.0)) is float


@pytest.mark.parametrize('tree', [lambda x: {'a': x}, lambda x: 'abc'])
def test_p6_trees_are_no_operands(tree):
    p = elementwise('leaf', lambda x: x)
    for transform in (lambda f: f), ad.grad:
        refused(transform(lambda x: p.bind(tree(x)) and x), 2.0,
                words='operand 0 of leaf.* cannot be traced')


# Both rules

@pytest.mark.parametrize('stage', [lambda f: f, staged],
                         ids=['plain', 'staged'])
@pytest.mark.parametrize('names, factor, expected', [
    ('j', 3, ['jvp']), ('g', 5, ['fwd', 'bwd']), ('jj', 9, ['jvp'] * 2),
    ('gg', 25, ['fwd'] * 2 + ['bwd'] * 2), ('jg', 15, ['fwd', 'jvp', 'bwd']),
    ('gj', 15, ['jvp', 'fwd', 'bwd']), ('l', 3, ['fwd', 'jvp'])])
def test_p6_with_both_rules_each_mode_asks_its_own(
        names, factor, expected, stage):
    f = nested(stage(both_p.bind), names)
    assert_close(f(0.5), factor * np.exp(0.5))
    assert ran == expected


def test_p6_the_way_back_alone_is_an_error_forwards():
    p = elementwise('back', lambda x: np.exp(x))
    p.def_vjp(both_fwd, both_bwd)
    for f in p.bind, staged(p.bind), ad.jit(p.bind):
        refused(d(f), 0.5, words='back has only a rule for reverse mode')
        assert_close(ad.grad(f)(0.5), 5 * np.exp(0.5))


# def_vjp that closes over what is traced

@pytest.mark.parametrize('way', [
    lambda c: [lambda x: (c * x, c), lambda r, ct: (5 * r * ct,)],
    lambda c: [lambda xs: (c * xs[0], lambda ct: (5 * c * ct,))],
    lambda c: [lambda xs: (c * xs[0], lambda xs, ct: (5 * c * ct,))]],
    ids=['pair', 'decorator', 'residuals'])
def test_p6_a_way_back_closes_over_mapped_and_staged_values(way):
    def f(c, x):
        p = elementwise('times', lambda x: x * 2.0)
        p.def_vjp(*way(c))
        return p.bind(x)

    slope = ad.grad(f, 1)
    assert slope(2.0, 3.0) == staged(slope)(2.0, 3.0) == 10.0
    assert_close(ad.vmap(slope, (0, None))(X, 3.0), 5 * X)
    assert_close(ad.vmap(ad.vmap(slope))(X[None], X[None]), 5 * X[None])
    assert_close(ad.jit(ad.vmap(slope))(X, X), 5 * X)


@pytest.mark.parametrize('method, rule', [
    ('def_jvp', lambda p, y: lambda xs, ts: (p.bind(*xs), ts[0] * y)),
    ('def_vjp', lambda p, y: lambda xs: (p.bind(*xs), lambda ct: (ct * y,)))],
    ids=['jvp', 'vjp'])
def test_p6_closing_over_what_is_differentiated_is_an_error(method, rule):
    """The derivative in `y` would be dropped; see row D17."""
    def f(y):
        p = elementwise('times', lambda x: x * y)
        getattr(p, method)(rule(p, y))
        return p.bind(2.0 * y)
    for g in f, ad.jit(f):
        refused(ad.grad(g), 3.0, words='unexpected tracer|closed-over')


# Mistakes

def out(f):
    return lambda xs, ts: (np.exp(xs[0]), f(ts[0]))


def back(f):
    return lambda xs: (np.exp(xs[0]), f)


MISTAKES = {    # by name: the method, its rules, and the words of the error
    'no_pair': ('def_jvp', [lambda xs, ts: ts[0]], 'must produce a pair'),
    'shape': ('def_jvp', [out(lambda t: t[:2])], 'shapes must be equal'),
    'list': ('def_jvp', [lambda xs, ts: ([*xs], [*ts])],
             'must return an array'),
    'no_tuple': ('def_vjp', [back(lambda ct: ct)],
                 'one cotangent per argument'),
    'ct_shape': ('def_vjp', [back(lambda ct: (ct[:2],))],
                 r'argument is float64\[3\].*float64\[2\]'),
    'not_two': ('def_vjp', [lambda xs: np.exp(xs[0])], 'pair'),
    'fwd': ('def_vjp', [lambda x: np.exp(x), lambda r, ct: (ct,)],
            'must produce a pair'),
    'fwd_tuple': ('def_vjp', [lambda x: ((np.exp(x),), x),
                              lambda r, ct: ct], 'an array')}


@pytest.mark.parametrize('name', MISTAKES)
def test_p6_mistakes_of_rules_are_named(name):
    method, rules, words = MISTAKES[name]
    p = elementwise('mine', lambda x: np.exp(x))
    getattr(p, method)(*rules)
    for f in p.bind, ad.jit(p.bind):
        error = refused(lambda: ad.vjp(f, X)[1](X), words=words,
                        error=(TypeError, ValueError))
        assert 'mine' in str(error) + notes(error)


@pytest.mark.parametrize('rule', [lambda x: x.shape, lambda x: X])
def test_p6_an_abstract_rule_must_return_a_shaped_array(rule):
    p = elementwise('mine', lambda x: np.exp(x))
    p.def_abstract_eval(rule)
    for f in ad.jit(p.bind), ad.make_jaxpr(p.bind):
        refused(f, X, words='of mine must return a ShapedArray')


@pytest.mark.parametrize('types', [
    lambda x: ad.ShapedArray((2,), x.dtype),
    lambda x: ad.ShapedArray(x.shape, np.dtype(np.float32))])
def test_p6_an_implementation_that_disagrees_with_the_abstract_rule(types):
    p = elementwise('mine', lambda x: np.exp(x))
    p.def_abstract_eval(types)
    for f in p.bind, ad.jit(p.bind):
        refused(f, X, words=r'mine.*float64\[3\].*promised')


# Definitions

def test_p6_a_primitive_is_collected_with_its_rules():
    p = custom_scale()
    p.def_transpose(lambda ct, x, factor: (p.bind(ct, factor), None))
    assert ad.jit(ad.grad(partial(loss, p=p)))(1.0, 2.0) == 8.0
    name, p = weakref.ref(p), None
    gc.collect()
    assert name() is None
