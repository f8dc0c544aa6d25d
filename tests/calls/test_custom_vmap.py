"""wings/more_calls/custom_vmap.py: under vmap, the function uses its rule.

The rule of `square` says 3x^2, so a result shows whether it was used. What
JAX can run gives the same values there (test_jax_oracle.py).
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.interpreters.transpose import rules as transpose_rules
from autodiff_mini.wings.more_calls.custom_vmap import custom_vmap_call_p
from tests.support import amount
from tests.support.numerical import assert_close, assert_same
from tests.support.transforms import TRANSFORMS, d
from tests.support.trees import Pair, assert_trees
from tests.tables.rule_laws import FORWARD, WHILE, WRAPPERS, staged

X = np.array([0.5, 1.0, 2.0])


@ad.custom_vmap
def square(x):
    return x * x


@square.def_vmap
def square_vmap(axis_size, in_batched, x):
    return 3 * x * x, in_batched[0]


def custom(f, rule):
    """Return `f` with a rule."""
    f = ad.custom_vmap(f)
    f.def_vmap(rule)
    return f


def total(f):
    return lambda x: np.sum(f(x))


WRAPS = [name for name in WRAPPERS if name != 'vmap']
BY = TRANSFORMS | {'f': ad.jacfwd, 'r': ad.jacrev, 'h': ad.hessian}
ORDERS = ['', 'j', 'g', 'l', 'f', 'r', 'jj', 'gg', 'jg', 'gj', 'gij', 'h',
          'gjg']
TRUTH = [lambda x: x * x, lambda x: 2 * x, lambda x: 2 + 0 * x,
         lambda x: 0 * x]
PLACES = [
    lambda f: ad.vmap(f), lambda f: ad.jit(ad.vmap(f)),
    lambda f: ad.vmap(ad.jit(f)), lambda f: ad.vmap(staged(f))]


def check(f, x, expected, wrap):
    try:
        assert_close(f(x), expected)
    except TypeError as error:      # a rule or a loop for only one mode
        assert wrap in ('custom_vjp', 'while')
        assert FORWARD in str(error) or WHILE in str(error)
    assert current_trace() is Trace.base


@pytest.mark.parametrize('order', ORDERS)
def test_the_rule_survives_each_transformation(order):
    """Jacobians map the tangents, so they use the rule even without vmap."""
    truth = TRUTH[2 if order == 'h' else len(order.replace('i', ''))]
    for i, wrap in enumerate(WRAPS, ORDERS.index(order)):
        if amount.WHOLE or i % 4 == 0:
            f = WRAPPERS[wrap](square)
            for name in reversed(order):
                f = BY[name](f)
            for place in PLACES:
                check(place(f), X, 3 * truth(X), wrap)
            if order not in ('f', 'r', 'h'):
                check(f, 2.0, truth(2.0), wrap)


SUMS = {'grad': ad.grad, 'jacrev': ad.jacrev, 'jacfwd': ad.jacfwd,
        'grad_of_jit': lambda f: ad.grad(ad.jit(f)),
        'jit_of_grad': lambda f: ad.jit(ad.grad(f)),
        'written': lambda f: staged(ad.grad(staged(f)))}


@pytest.mark.parametrize('by', SUMS)
def test_the_derivative_of_a_batch_comes_from_the_rule(by):
    for i, wrap in enumerate(WRAPS):
        if amount.WHOLE or (i + len(by)) % 2 == 0:
            f = total(ad.vmap(WRAPPERS[wrap](square)))
            check(SUMS[by](f), X, 6 * X, wrap)


# The arguments of the rule

def watched(f):
    """Return `f`, and a list of the calls of its rule."""
    asked = []

    def rule(n, in_batched, *args):
        asked.append((n, in_batched, ad.tree_map(np.shape, args)))
        axes = tuple(0 if batched else None for batched in in_batched)
        return ad.vmap(f, axes)(*args), True
    return custom(f, rule), asked


def test_the_rule_gets_the_batch_axis_in_front_and_flags():
    f, asked = watched(lambda x, y: np.sum(x) * y)
    a = np.arange(6.0).reshape(2, 3)
    assert_close(ad.vmap(f, (1, None))(a, 2.0), 2 * a.sum(0))
    assert_close(ad.vmap(f, (None, 0))(a, X), 15 * X)
    assert asked == [(3, [True, False], ((3, 2), ())),
                     (3, [False, True], ((2, 3), (3,)))]
    assert type(asked[0][1][0]) is bool


def test_flags_and_outputs_are_trees():
    seen = []

    def rule(n, in_batched, p, q):
        seen.append(in_batched)
        return (Pair(p['a'] * q[0], {'k': q[0]}),
                Pair(True, {'k': in_batched[1][0]}))
    f = custom(lambda p, q: Pair(p['a'] * q[0], {'k': q[0]}), rule)
    for g in f, ad.jit(f), written_tree(f):
        seen.clear()
        out = ad.vmap(g, ({'a': 0}, None), Pair(0, {'k': None}))(
            {'a': X}, (2.0,))
        assert_trees(out, Pair(2 * X, {'k': 2.0}))
        assert [{'a': True}, (False,)] in seen


def written_tree(f):
    def run(*args):
        tree = ad.tree_structure(f(*args))
        jaxpr = ad.make_jaxpr(f)(*args)
        return ad.tree_unflatten(tree, ad.eval_jaxpr(
            jaxpr, jaxpr.consts, *ad.tree_leaves(args)))
    return run


def test_an_output_can_be_shared_by_all_elements():
    """Its cotangent is the sum over all of them."""
    f = custom(lambda x, c: (x * c, c * c),
               lambda n, b, x, c: ((3 * x * c, 3 * c * c), (b[0], b[1])))
    g = ad.vmap(f, (0, None), (0, None))
    assert_trees(g(X, 2.0), (6 * X, 12.0))
    both = lambda c: ad.vmap(lambda x, c: sum(f(x, c)), (0, None))(X, c)
    # 3 (x c + c^2), for each of three
    assert_close(total(both)(2.0), 3 * (2 * X.sum() + 12))
    for slope in ad.grad(total(both)), ad.jit(ad.grad(total(both))):
        assert_close(slope(2.0), 3 * (X.sum() + 12))
    grads = ad.vmap(ad.grad(lambda x, c: sum(f(x, c)), (0, 1)), (0, None))
    ad.tree_map(assert_close, grads(X, 2.0), (6 + 0 * X, 3 * (X + 4)))


def test_jacobians_use_the_vmap_rule():
    """As in JAX.  Without vmap, values and tangents are the function's."""
    x = X / 3
    assert_same(square(x), x * x)
    ad.tree_map(assert_same, ad.jvp(square, (x,), (x,)), (x * x, 2 * x * x))
    for f in ad.jacfwd(square), ad.jacrev(square), ad.jit(ad.jacfwd(square)):
        assert_close(f(X), np.diag(6 * X))
    assert_close(ad.hessian(square)(2.0), 6.0)


def test_a_linear_function_is_transposed_together_with_its_rule():
    f = custom(lambda x: 2 * x, lambda n, b, x: (6 * x, True))
    g = lambda x: ad.linear_transpose(f, 1.0)(x)[0]
    for back in g, ad.jit(g), staged(g):
        assert back(5.0) == 10.0
        assert_close(ad.vmap(back)(X), 6 * X)
    assert_close(ad.linear_transpose(ad.vmap(f), X)(X)[0], 6 * X)
    assert custom_vmap_call_p in transpose_rules


def test_a_compiled_program_drops_the_vmap_rule():
    """lower(custom_vmap_call(f, rule)) == lower(f)"""
    f = ad.jit(square)
    assert f(2.0) == 4.0 and 'custom' not in f.source


@pytest.mark.parametrize('by', [ad.grad, d], ids=['grad', 'jvp'])
def test_capturing_a_differentiated_value_is_an_error(by):
    for use in (lambda x: custom(lambda y: x * y, square_vmap)(2.0),
                lambda x: custom(lambda y: x * y, square_vmap)(x)):
        with pytest.raises(TypeError, match='of a custom_vmap function with '
                                            'respect to a closed-over'):
            by(use)(2.0)
    assert current_trace() is Trace.base


# Mistakes

def test_a_missing_vmap_rule_is_named():
    @ad.custom_vmap
    def unruled(x):
        return x
    for f in unruled, ad.vmap(unruled):
        with pytest.raises(AttributeError, match=(
                'No batching rule defined for custom_vmap function '
                '.*unruled.* Call def_vmap first')):
            f(X)


PAIR = lambda x: (x, {'b': x})
MISTAKES = {
    'no_pair': (lambda x: x, lambda n, b, x: x, TypeError,
                'Custom vmap rule the second lambda in .* for function the '
                'first lambda in .* must produce a pair .* but got '),
    'three': (lambda x: x, lambda n, b, x: (x, True, None), TypeError,
              'must produce a pair'),
    'structure_of_flags': (PAIR, lambda n, b, x: (PAIR(x), True), ValueError,
                           "structures, but got .* respectively"),
    'flags_of_arguments': (lambda x: x, lambda n, b, x: (x, b), ValueError,
                           'out_batched with equal'),
    'no_flag': (PAIR, lambda n, b, x: (PAIR(x), (True, {'b': 0})), TypeError,
                r"output\[1\]\['b'\]: out_batched must be True or False, but "
                'got 0'),
    'size': (lambda x: x, lambda n, b, x: (x[:2], True), ValueError,
             r'output: out_batched is True, so the first axis must be the '
             r'batch axis, of length 3, but got float64\[2\]'),
    'no_axis': (lambda x: x, lambda n, b, x: (np.sum(x), True), ValueError,
                r'batch axis, of length 3, but got float64\[\]'),
    'no_array': (lambda x: x, lambda n, b, x: ('x', True), TypeError,
                 'output: a value of type str cannot be traced'),
    'record': (lambda x: x, lambda n, b, x: (ad.Zero(x), True), TypeError,
               'output: .* describes'),
    'arguments': (lambda x: x, lambda n, b: (0.0, False), TypeError,
                  'positional argument'),
}


@pytest.mark.parametrize('name', MISTAKES)
def test_a_mistake_in_a_rule_is_named(name):
    f, rule, error, words = MISTAKES[name]
    for stage in lambda f: f, ad.jit:
        with pytest.raises(error, match=words):
            ad.vmap(stage(custom(f, rule)))(X)
        assert current_trace() is Trace.base


def test_a_rule_must_return_the_types_of_a_staged_function():
    for rule, error, words in [
            (lambda n, b, x: ((x, x), (True, True)), ValueError,
             'the same structure as the function'),
            (lambda n, b, x: (np.stack([x, x], 1), True), TypeError,
             'the function returns'),
            (lambda n, b, x: (x.astype('f4'), True), TypeError, 'float32')]:
        with pytest.raises(error, match=words):
            ad.vmap(ad.jit(custom(lambda x: x * 1.0, rule)))(X)


LOOPS = {
    'scan': lambda x: ad.scan(
        lambda c, _: (np.sin(c) + x * x, None), np.zeros(2), None, 3)[0][0],
    'fori_loop': lambda x: ad.fori_loop(
        0, 3, lambda i, c: np.sin(c) + i * x * x, np.zeros(2))[1],
    'rows': lambda x: np.sum(ad.scan(
        lambda c, y: (np.sin(c) * y, c * x), np.zeros(2) + x,
        x * np.arange(3.0))[1])}
SECOND = {
    'hessian': ad.hessian, 'grad grad': lambda f: ad.grad(ad.grad(f)),
    'grad jit grad': lambda f: ad.grad(
        lambda x: np.sum(ad.jit(ad.grad(f))(x))),
    'jit hessian': lambda f: ad.jit(ad.hessian(f)),
    'vmap hessian': lambda f: lambda x: ad.vmap(ad.hessian(f))(
        np.stack([x, x]))[1],
    'hessian vmap': lambda f: ad.hessian(
        lambda x: ad.vmap(f)(np.stack([x, x]))[1])}


def by_elements(f):
    f = ad.custom_vmap(f)
    f.def_vmap(lambda n, mapped, x: (ad.vmap(f.fun)(x), True))
    return f


@pytest.mark.parametrize('loop', LOOPS)
@pytest.mark.parametrize('wrap', [ad.sequential_vmap, by_elements])
def test_a_loop_inside_has_second_derivatives(wrap, loop):
    """The transposed loop used to ask if its traced carry starts at zero."""
    f = LOOPS[loop]
    for second in SECOND.values():
        assert_close(second(wrap(f))(0.7), second(f)(0.7))


@pytest.mark.parametrize('wrap', [amount.rest(ad.sequential_vmap), by_elements])
def test_a_solver_inside_has_second_derivatives(wrap):
    """Its pullback isn't a linear program, so the call was refused."""
    def decay(a):
        return ad.odeint(lambda y, t, a: -a * y, 1.0, [0.0, 1.0], a)[1]

    def angle(a):
        return ad.fixed_point(lambda a, x: np.cos(a * x), a, 1.0)

    for solver in decay, angle:
        slope = ad.grad(lambda a: np.exp(a * solver(a)))(0.7)
        for f in wrap(solver), ad.jit(wrap(solver)):
            g = lambda a: np.exp(a * f(a))
            assert_close(ad.grad(g)(0.7), slope)
        curve = ad.grad(ad.grad(lambda a: np.exp(a * solver(a))))(0.7)
        for second in 'grad grad', 'grad jit grad', 'jit hessian':
            found = SECOND[second](g)(0.7)
            np.testing.assert_allclose(found, curve, 1e-6)


@pytest.mark.parametrize('wrap', [ad.sequential_vmap, by_elements])
def test_a_bwd_inside_can_clip_its_cotangent(wrap):
    """It isn't linear, so its derivative belongs to its cotangent."""
    clipped = ad.custom_vjp(lambda x: 1.0 * x)
    clipped.defvjp(lambda x: (clipped(x), None),
                   lambda _, ct: (np.clip(ct, -0.5, 2.0),))
    for x in 0.3, 0.9, 1.5:
        for n in 2, 3:
            f, g = (lambda x: np.exp(x * w(x) - 0.5)
                    for w in (clipped, wrap(clipped)))
            for _ in range(n):
                f, g = ad.grad(f), ad.grad(g)
            assert_close(g(x), f(x))


@pytest.mark.parametrize('wrap', [ad.sequential_vmap, by_elements])
def test_a_rule_on_a_tangent_is_kept_inside(wrap):
    """Transposing the call by itself would lose this rule.

    A program of the second case was called not linear, under jit.
    """
    double = ad.custom_jvp(lambda t: 2 * t)
    double.defjvp(lambda p, t: (double(*p), 3 * t[0]))
    wrapped = wrap(double)
    inside, outside = [ad.custom_jvp(lambda x: np.exp(x)) for _ in range(2)]
    inside.defjvp(lambda p, t: (inside(*p), wrapped(inside(*p) * t[0])))
    outside.defjvp(lambda p, t: (outside(*p), double(outside(*p) * t[0])))
    for f in inside, wrap(outside):
        g = lambda x: f(np.sin(x))
        assert_close(ad.grad(g)(0.0), 2.0)
        for second in SECOND.values():
            assert_close(second(g)(0.0), 6.0)
        assert_close(ad.jit(ad.grad(ad.grad(g)))(0.0), 6.0)


def test_sequential_vmap_is_a_loop_in_the_program():
    """A result without a derivative is not computed in forward mode."""
    f = ad.custom_vjp(np.sin)
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * ct,))
    g = ad.sequential_vmap(lambda x: (f(x), 2.0))
    assert 'scan' in str(ad.make_jaxpr(ad.vmap(g))(X))
    assert ad.grad(lambda x: g(x)[0])(1.0) == 3.0


def test_a_rule_for_some_outputs_of_a_linear_program_is_the_rule():
    f = custom(lambda x: (x * 2, np.sin(x)),
               lambda size, mapped, x: ((x * 5, np.sin(x)), (True, True)))
    _, push = ad.linearize(lambda x: f(x)[0], 0.5)
    assert_close(push(1.0), 2.0)
    assert_close(ad.vmap(push)(X), 5 * X)
    assert_close(ad.vmap(ad.linear_transpose(push, 0.5))(X)[0], 5 * X)


def test_without_the_wing_a_rule_for_vmap_is_refused():
    f = ad.custom_jvp(lambda x: x)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    f.def_vmap(lambda size, mapped, x: (x, True))
    with ad.plain('more_calls'), pytest.raises(
            NotImplementedError, match='the lambda in line .* needs the wing .*/more_calls'):
        f(1.0)
