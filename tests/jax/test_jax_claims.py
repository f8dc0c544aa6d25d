"""Claims of the book about JAX 0.10.2 and 0.12 that no other test shows.

If the versions differ, `by_version` has the answer of each. `make test-jax`
runs it; without JAX it is skipped.
"""

import math
import re
import warnings
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest

import autodiff_mini as ad
from book.tools.places import ROOT
from tests.support.real_jax import by_version, jax

pytestmark = pytest.mark.rest

jnp = jax.numpy
OURS = SimpleNamespace(np=np, custom_jvp=ad.custom_jvp, jvp=ad.jvp,
                       custom_vjp=ad.custom_vjp, grad=ad.grad, vmap=ad.vmap)
THEIRS = SimpleNamespace(np=jnp, custom_jvp=jax.custom_jvp, jvp=jax.jvp,
                         custom_vjp=jax.custom_vjp, grad=jax.grad,
                         vmap=jax.vmap)


# Chapter 20: errors

def test_jax_names_the_arguments_that_a_branch_depends_on():
    """The chapter's program, and the words that it quotes."""
    page = ROOT / 'book/chapters/20_at_the_edge.md'
    blocks = re.findall(r'^```(\w+)\n(.*?)^```', page.read_text(), re.M | re.S)
    [quoted] = [text for kind, text in blocks if kind == 'text']
    [program] = [text for kind, text in blocks
                 if kind == 'python' and text.startswith('def excess')]
    names = {}
    exec(program, names)
    with pytest.raises(jax.errors.TracerBoolConversionError) as e:
        jax.jit(names['excess'])(names['w'], names['pairs'])
    for sentence in ' '.join(quoted.split()).split('. '):
        if 'train.py' not in sentence:
            assert sentence.rstrip('.') in ' '.join(str(e.value).split())


def test_jax_says_nothing_about_a_caught_refusal():
    """The chapter's program: the slope is not the rule's, which is 3."""
    class Ball:
        def __init__(self, height):
            self.height = height

    def doubled(ball):
        return 2 * ball.height

    def slope(lib):
        ruled = lib.custom_jvp(doubled)
        ruled.defjvp(lambda primals, tangents: (
            ruled(*primals), 3 * tangents[0].height))

        def hers(height):
            try:
                return ruled(Ball(height))
            except TypeError:
                return doubled(Ball(height))
        return lib.grad(hers)(1.0)

    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert slope(jax) == 2
        with pytest.raises(UserWarning, match='its rule is lost'):
            slope(ad)
    ad.register_pytree_node(Ball, lambda ball: ([ball.height], None),
                            lambda _, children: Ball(*children))
    assert slope(ad) == 3


# Chapters 6 and 9: operands that no rule sees, and a rule that is opened

def test_jax_differentiates_half_of_a_product():
    """The other operand is in an argument of nondiff_argnums."""
    product = jax.custom_jvp(lambda a, x: a * x, nondiff_argnums=(0,))
    product.defjvp(lambda a, primals, tangents: (
        product(a, *primals), a * tangents[0]))
    square = lambda x: product(x, x)
    assert jax.jvp(square, (3.0,), (1.0,))[1] == jax.grad(square)(3.0) == 3


# Chapters 11 and 24: which rules a function can have, and shared outputs

def test_jax_loses_the_rule_on_a_tangent_where_reverse_mode_comes_first():
    """Chapter 33's program, and the two tables that it quotes."""
    page = ROOT / 'book/chapters/33_reading_jax.md'
    blocks = re.findall(r'^```(\w+).*?\n(.*?)^```', page.read_text(),
                        re.M | re.S)
    [program] = [text for kind, text in blocks
                 if kind == 'python' and text.startswith('def slopes')]
    [quoted] = [text for kind, text in blocks if kind == 'text']
    names = {'np': np, 'ad': ad}
    exec(program, names)
    assert (names['slopes'](ad) == 3).all()
    said = str(names['slopes'](jax)).splitlines()
    column = by_version({'0.10.2': 0, '0.12': 1})
    versions, _, *rows = [re.split('   +', line.strip())
                          for line in quoted.splitlines()]
    assert versions == ['JAX 0.10.2', 'JAX 0.12.0.1']
    assert [row[column] for row in rows] == [line.strip() for line in said]


def test_jax_hijax_primitive_carries_both_rules():
    from jax.experimental import hijax
    base = getattr(hijax, by_version({
        '0.10.2': 'VJPHiPrimitive', '0.11.2': 'HiPrim'}))

    class Sine(base):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def expand(self, x):
            return jnp.sin(x)

        def jvp(self, primals, tangents):
            return self(*primals), 3 * tangents[0]

        def vjp_fwd(self, nonzero, x):
            return self(x), x

        def vjp_bwd_retval(self, x, ct):
            return (5 * ct,)

    sine = lambda x: Sine(jax.typeof(x))(x)
    x = jnp.asarray(1.0)
    assert jax.jvp(sine, (x,), (x,)) == (jnp.sin(1.0), 3)
    assert jax.grad(sine)(x) == 5


def test_jax_custom_functions_carry_one_rule():
    assert not hasattr(jax.custom_jvp(jnp.sin), 'defvjp')
    assert not hasattr(jax.custom_vjp(jnp.sin), 'defjvp')


def test_jax_refuses_traced_values_in_nondiff_argnums():
    f = jax.custom_vjp(lambda n, x: n * x, nondiff_argnums=(0,))
    f.defvjp(lambda n, x: (n * x, None), lambda n, _, ct: (n * ct,))
    with pytest.raises(jax.errors.UnexpectedTracerError):
        jax.jit(jax.grad(f, 1))(2.0, 1.0)


def slope_of_a_shared_output(system, **options):
    """One output is mapped, and the other is shared by all elements."""
    f = system.custom_vjp(lambda x, y: (x * y, y * y))
    f.defvjp(lambda x, y: ((x * y, y * y), (x, y)), lambda kept, cts: (
        kept[1] * cts[0], kept[0] * cts[0] + 2 * kept[1] * cts[1]), **options)

    def loss(y):
        products, squares = system.vmap(f, (0, None))(
            system.np.arange(1.0, 4.0), y)
        return products.sum() + squares.mean()
    return system.grad(loss)(2.0)


def test_jax_miscounts_or_refuses_a_shared_output_under_vmap():
    assert slope_of_a_shared_output(OURS) == 10
    if by_version({'0.10.2': True, '0.12': False}):
        assert slope_of_a_shared_output(THEIRS) == 18
        return
    with pytest.raises(ValueError, match='shared across the batch'):
        slope_of_a_shared_output(THEIRS)
    assert slope_of_a_shared_output(THEIRS, generic_batching=True) == 10


# Chapter 24: whose memory is it?

def test_jax_pullback_sees_writes_into_a_numpy_argument():
    x = np.array([1.0, 2.0, 3.0])
    pullback = jax.vjp(lambda x: jnp.sum(x * x), x)[1]
    x += 1
    assert pullback(1.0)[0].tolist() == [4, 6, 8]


# Chapter 22: zeros

def test_jax_grad_hides_the_nan_of_a_power():
    """The term of the exponent isn't transposed."""
    power = jax.custom_jvp(lambda x, n: x ** n)

    @power.defjvp
    def rule(primals, tangents):
        (x, n), (x_dot, n_dot) = primals, tangents
        y = power(x, n)
        return y, n * x ** (n - 1) * x_dot + y * jnp.log(x) * n_dot

    square = lambda x: power(x, 2.0)
    assert jnp.isnan(jax.jvp(square, (0.0,), (1.0,))[1])
    assert jax.grad(square)(0.0) == 0


# Chapter 23: a rule for batches

def square(asked):
    f = jax.custom_batching.custom_vmap(lambda x: x * x)

    @f.def_vmap
    def rule(axis_size, in_batched, x):
        asked.append(tuple(in_batched))
        return 3 * x * x, in_batched[0]
    return f


def test_jax_has_no_reverse_mode_through_the_box_itself():
    f = square([])
    with pytest.raises(ValueError, match='not support reverse-mode'):
        jax.grad(f)(2.0)
    assert jax.jvp(f, (2.0,), (1.0,))[1] == 4


def test_jax_vmap_of_slopes_uses_the_rule_for_batches():
    f, x = square([]), jnp.arange(1.0, 4.0)
    slope = lambda x: jax.jvp(f, (x,), (1.0,))[1]
    assert jax.vmap(slope)(x).tolist() == [6, 12, 18]


def test_jax_jacobian_of_a_function_with_a_vmap_rule_is_a_batch():
    """The primal has no batch, and a rule that says so is asked."""
    assert jax.jacfwd(square([]))(2.0) == 12
    f = jax.custom_batching.custom_vmap(lambda x: x * x)
    f.def_vmap(lambda axis_size, in_batched, x: (3 * x * x, True))
    with pytest.raises(IndexError, match='tuple index out of range'):
        jax.jacfwd(f)(2.0)


def test_jax_has_reverse_mode_after_vmap_has_used_the_rule():
    loss = lambda x: jax.vmap(square([]))(x).sum()
    x = jnp.arange(3.0)
    np.testing.assert_allclose(jax.grad(loss)(x), 6 * x, 1e-12)


def test_jax_calls_a_vmap_rule_without_a_batch_if_only_tangents_are_mapped():
    asked = []
    slope = lambda t: jax.jvp(square(asked), (2.0,), (t,))[1]
    assert jax.vmap(slope)(jnp.ones(3)).tolist() == [12, 12, 12]
    assert asked == [(False,)]
    assert jax.jacfwd(square([]))(2.0) == 12


# Chapter 22: rules that change, and records in containers

def test_jax_keeps_an_earlier_rule_in_a_jitted_function():
    for system in jax, ad:
        f = system.custom_vjp(lambda x: x * x)
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (3 * ct,))
        early = system.jit(system.grad(f))
        found = [early(1.0)]
        f.defvjp(lambda x: (f(x), None), lambda _, ct: (7 * ct,))
        found += early(1.0), system.grad(f)(1.0)
        found += system.jit(system.grad(f))(1.0),
        assert list(map(float, found)) == [3, 3, 7, 7]


def test_jax_passes_records_to_the_class_of_a_container():
    """So a class that compares its fields raises an error."""
    class Stiffness:
        def __init__(self, scale):
            if scale < 0:
                raise ValueError('a spring pulls back')
            self.scale = scale

    for system, register in (
            (jax, jax.tree_util.register_pytree_node),
            (ad, ad.register_pytree_node)):
        register(Stiffness, lambda s: ((s.scale,), None),
                 lambda _, children: Stiffness(*children))
        f = system.custom_vjp(lambda s: 2 * s.scale)
        f.defvjp(lambda s: (2 * s.scale.value, None), lambda _, ct: (ct,),
                 symbolic_zeros=True)
        with pytest.raises(TypeError, match="'<'.*'CustomVJPPrimal'"):
            system.grad(lambda x: f(Stiffness(x)))(1.0)


def test_jax_takes_integers_for_the_cotangent_of_floats():
    """The rule of chapter 21, which stores 0.5 among integers."""
    counts = np.array([5, 7, 9])

    def bwd(_, ct):
        x_bar = np.zeros_like(counts)
        x_bar[np.argmax(counts)] = np.asarray(ct)
        return x_bar,

    for system in jax, ad:
        chosen = system.custom_vjp(lambda x: x[2])
        chosen.defvjp(lambda x: (chosen(x), None), bwd)
        y, pullback = system.vjp(lambda x: 0.5 * chosen(x),
                                 np.array([1.0, 2.0, 3.0]))
        assert y == 1.5
        if system is ad:
            with pytest.raises(ValueError, match='but the cotangent is int'):
                pullback(1.0)
        else:
            assert pullback(1.0)[0].tolist() == [0, 0, 0]


# Chapter 21: numbers with types

@pytest.mark.parametrize('system', [
    jax, SimpleNamespace(**vars(OURS), vjp=ad.vjp, dtypes=ad)])
def test_integers_have_a_cotangent_that_holds_nothing(system):
    last = system.custom_vjp(lambda x: x[-1])
    last.defvjp(lambda x: (last(x), x), lambda x, ct: (0 * x + ct,))
    y, pullback = system.vjp(lambda x: 0.5 * last(x), np.array([1, 2, 3]))
    assert y == 1.5 and pullback(y * 0 + 1)[0].dtype == system.dtypes.float0


def test_jax_believes_a_conjugated_bwd():
    """The rule of a product is right for PyTorch, and wrong here."""
    for system in jax, ad:
        turn = system.custom_vjp(lambda z: 1j * z)
        turn.defvjp(lambda z: (turn(z), None), lambda _, ct: (-1j * ct,))
        right, wrong = [system.grad(lambda z: abs(f(z) - 3.0) ** 2)(1 + 2j)
                        for f in (lambda z: 1j * z, turn)]
        np.testing.assert_allclose([right, wrong], [2 - 10j, -2 + 10j], 1e-6)


# Chapter 25: a row of your own

@pytest.mark.parametrize('system, zero', [
    (jax, jax.custom_derivatives.SymbolicZero), (ad, ad.SymbolicZero)])
def test_an_elif_for_two_zeros_loses_a_term_in_both_systems(system, zero):
    """Either slope alone is right."""
    edge = system.custom_jvp(lambda x, width: x / width)

    def edge_jvp(primals, tangents):
        (x, width), (x_dot, width_dot) = primals, tangents
        y, y_dot = edge(x, width), 0.0
        if type(x_dot) is not zero:
            y_dot += x_dot / width
        elif type(width_dot) is not zero:
            y_dot -= x / width ** 2 * width_dot
        return y, y_dot
    edge.defjvp(edge_jvp, symbolic_zeros=True)
    slope = lambda argnums: system.grad(edge, argnums)(3.0, 2.0)
    assert (slope(0), slope(1), slope((0, 1))) == (0.5, -0.75, (0.5, 0.0))



def test_jax_keeps_rules_of_primitives_in_tables():
    """The names `def_jvp`, `def_vjp`, and so on are the tutorial's."""
    from jax.extend.core import Primitive
    from jax.interpreters import ad as rules, mlir
    assert not hasattr(jax.core, 'Primitive')
    p = Primitive('p')
    assert {name for name in dir(ad.Primitive('p'))
            if name.startswith('def_') and hasattr(p, name)} == {
                'def_impl', 'def_abstract_eval'}
    for table in rules.primitive_jvps, rules.primitive_transposes:
        assert callable(table[jax.lax.neg_p])
    assert callable(mlir.register_lowering)
    assert not hasattr(rules.Zero, 'zero_if_zero')


def test_the_row_of_the_chapter_works_in_jax():
    page = ROOT / 'book/chapters/25_a_row_of_your_own.md'
    [row] = [block for block in re.findall(
        r'^```py\n(.*?)^```', page.read_text(), re.M | re.S)
        if 'primitive_jvps' in block]
    names = {'erf_of_all': np.vectorize(math.erf, otypes=[float])}
    rows, lowering = row.split('mlir.register_lowering')
    exec(rows, names)
    with pytest.raises(NotImplementedError, match='for primitive .erf'):
        jax.jit(names['erf_p'].bind)(0.5)       # it isn't optional
    exec('mlir.register_lowering' + lowering, names)
    erf, x = names['erf_p'].bind, jnp.array([0.0, 0.5, 1.0])
    slopes = 2 / np.sqrt(np.pi) * np.exp(-x * x)
    for f in (jax.vmap(jax.grad(erf)), jax.jit(jax.vmap(jax.grad(erf))),
              jax.grad(lambda x: jnp.sum(jax.jit(jax.vmap(erf))(x)))):
        np.testing.assert_allclose(f(x), slopes, 1e-14)
    np.testing.assert_allclose(
        jax.grad(jax.grad(erf))(0.5), -slopes[1], 1e-14)


def test_jax_calls_python_by_pure_callback():
    erf_of_all = np.vectorize(math.erf, otypes=[float])
    x = jnp.array([0.0, 0.5])

    def erf(x, **options):
        return jax.pure_callback(erf_of_all, jax.typeof(x), x, **options)
    assert jax.jit(erf)(x).tolist() == erf_of_all(x).tolist()
    with pytest.raises(NotImplementedError, match='vmap_method'):
        jax.vmap(erf)(x)
    batch = jax.vmap(lambda x: erf(x, vmap_method='expand_dims'))
    assert batch(x).tolist() == erf_of_all(x).tolist()
    with pytest.raises(ValueError, match='custom_jvp'):
        jax.grad(erf)(0.5)


# Chapter 15: a rule in a loop

def second_slope_of_a_loop():
    f = jax.custom_jvp(lambda x: jnp.sin(x))
    f.defjvp(lambda p, t: (f(*p), 10 * jnp.cos(p[0]) * t[0]))
    loop = lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None,
                                  length=3)[0]
    return jax.grad(jax.grad(loop))(1.0)


def test_jax_second_derivative_of_a_scan_is_right_since_0_12():
    np.testing.assert_allclose(second_slope_of_a_loop(), by_version({
        '0.10.2': -659.8037175283935, '0.12': -10805.46137749049}), 1e-9)


def test_jax_second_derivative_is_right_without_hoisting():
    """Then JAX does not look in the known half for constant work."""
    loops = 'jax._src.lax.control_flow.loops._scan_known_hoisting'
    with patch(loops, lambda jaxpr, consts, n, *_: (
            jaxpr, consts, [False] * n, [])):
        slope = second_slope_of_a_loop()
    np.testing.assert_allclose(slope, -10805.46137749049, 1e-9)


def test_jax_partial_evaluation_keeps_a_custom_jvp_call_since_0_12():
    """It opened the call, so hoisting lost the rule."""
    from jax._src.api_util import debug_info
    from jax._src.linear_util import wrap_init
    from jax.interpreters import partial_eval
    rule = jax.custom_jvp(lambda x: jnp.sin(x))
    rule.defjvp(lambda p, t: (rule(*p), 3 * t[0]))
    f = lambda x: [rule(x)]
    unknown = partial_eval.PartialVal.unknown(jax.typeof(1.0))
    jaxpr, *_ = partial_eval.trace_to_jaxpr_nounits(
        wrap_init(f, debug_info=debug_info('f', f, (1.0,), {})), [unknown])
    assert [str(eqn.primitive) for eqn in jaxpr.eqns] == by_version({
        '0.10.2': ['jit'], '0.12': ['custom_jvp_call']})


# Chapter 16: a branch in a batch, and a loop of unknown length

def test_jax_chooses_before_the_branch_and_where_does_not():
    x = jnp.array([4.0, -1.0])
    double = lambda x: 2 * x
    cond = lambda x: jax.lax.cond(x > 0, jnp.sqrt, double, x)
    where = lambda x: jnp.where(x > 0, jnp.sqrt(x), double(x))
    assert jax.vmap(jax.grad(cond))(x).tolist() == [0.25, 2.0]
    assert jnp.isnan(jax.vmap(jax.grad(where))(x)).tolist() == [False, True]


def test_jax_refuses_reverse_mode_over_a_while_loop():
    root = lambda a: jax.lax.while_loop(
        lambda x: (x * x / a - 1) ** 2 > 1e-24, lambda x: (x + a / x) / 2, a)
    assert jax.jvp(root, (4.0,), (1.0,)) == pytest.approx((2, 0.25))
    with pytest.raises(ValueError, match='does not work for lax.while_loop'):
        jax.grad(root)(4.0)
    newton = jax.custom_jvp(root)
    newton.defjvp(lambda p, t: (newton(*p), t[0] / (2 * newton(*p))))
    assert jax.grad(newton)(4.0) == pytest.approx(0.25)


# Chapter 17: checkpoints, and a rule that is applied to a tangent


def test_policies_of_jax_go_by_names():
    from jax.ad_checkpoint import checkpoint_name
    f = lambda x: jnp.sin(jnp.sin(checkpoint_name(jnp.sin(x), 'first')))
    sines = []
    for name in 'first', 'no other':
        policy = jax.checkpoint_policies.save_only_these_names(name)
        gradient = jax.grad(jax.checkpoint(f, policy=policy))
        sines.append(str(jax.make_jaxpr(gradient)(1.0)).count('= sin '))
    assert sines[0] < sines[1]


def test_jax_refuses_a_backward_rule_that_is_applied_to_a_tangent():
    def square(system):
        product = system.custom_vjp(lambda x, t: x * t)
        product.defvjp(lambda x, t: (product(x, t), (x, t)), lambda kept, ct: (
            10 * kept[1] * ct, kept[0] * ct))
        f = system.custom_jvp(lambda x: x * x / 2)
        f.defjvp(lambda p, t: (f(*p), product(*p, *t)))
        return f

    assert jax.jvp(square(jax), (1.0,), (1.0,))[1] == 1
    with pytest.raises(NotImplementedError, match='custom_vjp_call'):
        jax.grad(jax.grad(square(jax)))(1.0)
    assert ad.grad(ad.grad(square(ad)))(1.0) == 10


# Chapters 26 to 28

def test_jax_says_zero_for_bisection():
    """In forward mode; the ends are midpoints of constants."""
    def cube_root(a):
        def halve(ends):
            middle = sum(ends) / 2
            above = middle ** 3 > a
            return (jnp.where(above, ends[0], middle),
                    jnp.where(above, middle, ends[1]))
        return jax.lax.while_loop(
            lambda ends: ends[1] - ends[0] > 1e-12, halve, (0.0, 10.0))[0]

    x, slope = jax.jvp(cube_root, (8.0,), (1.0,))
    np.testing.assert_allclose(x, 2.0, 1e-11)
    assert slope == 0


def test_jax_has_other_slopes_at_corners_that_cancel():
    for system, np_, slope, second in (jax, jnp, 0, 0.25), (ad, np, 0.5, 0):
        f = lambda x: np_.maximum(x, 0.0) + np_.log1p(np_.exp(-np_.abs(x)))
        assert system.grad(f)(0.0) == slope
        assert system.grad(system.grad(f))(0.0) == second


def test_jax_has_no_convention_for_the_tip_of_a_cone():
    corner = by_version({'0.10.2': 0.5, '0.12': np.nan})
    for f, args, theirs in (
            (lambda lib: lib.abs, (0.0,), 1.0),
            (lambda lib: lib.hypot, (0.0, 0.0), corner),
            (lambda lib: lib.linalg.norm, (np.zeros(2),), np.nan),
            (lambda lib: lib.std, (np.ones(2),), np.nan)):
        for i in range(len(args)):
            assert np.all(ad.grad(f(np), i)(*args) == 0)
            np.testing.assert_equal(
                np.unique(jax.grad(f(jnp), i)(*args)), [theirs])


def test_jax_has_a_custom_rule_for_the_corner_of_relu():
    assert isinstance(jax.nn.relu, jax.custom_jvp)
    assert jax.grad(jax.nn.relu)(0.0) == 0
    for system, np_ in (jax, jnp), (ad, np):
        assert system.grad(lambda x: np_.maximum(x, 0.0))(0.0) == 0.5
        assert system.grad(lambda x: np_.clip(x, 0.0, 1.0))(0.0) == 0.5


def test_odeint_of_jax_has_no_forward_mode():
    from jax.experimental.ode import odeint
    end = lambda y: odeint(lambda y, t: -y, y, jnp.array([0.0, 1.0]))[-1]
    np.testing.assert_allclose(jax.grad(end)(1.0), np.exp(-1.0), 1e-6)
    with pytest.raises(TypeError, match='forward-mode'):
        jax.jvp(end, (1.0,), (1.0,))


def test_odeint_of_jax_has_a_wrong_slope_for_a_flow_that_forgets():
    """The chapter's dose, with a right value and the wrong sign."""
    from jax.experimental.ode import odeint

    def dose(state, t, k):
        return {'left': -k * state['left'], 'total': state['left']}

    def exposure(k, times):
        start = {'left': 1.0, 'total': 0.0}
        return odeint(dose, start, times, k)['total'][-1]

    far, often = jnp.array([0.0, 2.0]), jnp.linspace(0.0, 2.0, 21)
    np.testing.assert_allclose(exposure(10.0, far), 0.1, 1e-6)
    assert round(float(jax.grad(exposure)(10.0, far)), 4) == 0.0005
    assert jax.grad(exposure)(12.0, far) > 1
    assert jax.grad(exposure)(20.0, far) < -1e6
    np.testing.assert_allclose(jax.grad(exposure)(10.0, often), -0.01, 1e-6)


# Chapter 33: a rule carried over, and future versions

def softmax_with_a_rule(system):
    """JAX's rule, without its options."""
    np = system.np

    def softmax(axis, x):
        weights = np.exp(x - np.max(x, axis, keepdims=True))
        return weights / np.sum(weights, axis, keepdims=True)

    def rule(axis, primals, tangents):
        [t], y = tangents, softmax(axis, *primals)
        return y, y * (t - np.sum(y * t, axis, keepdims=True))

    softmax = system.custom_jvp(softmax, nondiff_argnums=(0,))
    softmax.defjvp(rule)
    return lambda x: softmax(-1, x)


def test_rules_work_when_carried_from_jax_and_to_jax():
    x, t = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 0.0])
    ours = softmax_with_a_rule(OURS)
    for f in jax.nn.softmax, softmax_with_a_rule(THEIRS):
        for along in (lambda lib, f: lib.jvp(f, (x,), (t,)),
                      lambda lib, f: lib.hessian(lambda x: f(x)[0])(x)):
            np.testing.assert_allclose(along(ad, ours), along(jax, f), 1e-12)
    expit = jax.custom_jvp(jax.scipy.special.expit)
    expit.defjvps(lambda x_dot, y, x: y * expit(-x) * x_dot)
    np.testing.assert_allclose(jax.grad(expit)(40.0),
                               ad.grad(ad.expit)(40.0), 1e-14)
    assert jax.grad(jax.scipy.special.expit)(40.0) == 0


def test_jax_custom_jvp3_traces_the_function_first():
    """It's off by default: then the function can branch on a value."""
    f = jax.custom_jvp(lambda x: x if x > 0 else 0 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), 3 * tangents[0]))
    assert jax.grad(f)(2.0) == 3
    if by_version({'0.10.2': False, '0.12': True}):
        with (jax._src.config.custom_jvp3(True),
              pytest.raises(jax.errors.TracerBoolConversionError)):
            jax.grad(f)(2.0)


# Chapter 31

def test_jit_drops_the_0_that_a_rule_adds():
    """The rule of |x| is 1 at -0.0, and -1 if XLA has compiled it."""
    size = jax.custom_jvp(jnp.abs)
    size.defjvps(lambda x_dot, y, x: jnp.copysign(1.0, x + 0.0) * x_dot)
    slopes = jax.vmap(jax.grad(size))
    corner = np.array([-2.0, -0.0, 0.0, 2.0])
    assert slopes(corner).tolist() == [-1, 1, 1, 1]
    assert jax.jit(slopes)(corner).tolist() == [-1, -1, 1, 1]


def test_jit_leaves_out_a_rounding_error_that_a_rule_needs():
    """XLA computes (1 + e) - 1 as e, and nothing cancels log(1 + e)."""
    def log_of_one_plus(e):
        u = 1 + e
        return jnp.log(u) * e / (u - 1)

    @jax.custom_jvp
    def bennett(e):
        return (1 + e) * jnp.log1p(e) - e

    bennett.defjvps(lambda e_dot, y, e: log_of_one_plus(e) * e_dot)
    e, slope = 1e-10, jax.grad(bennett)
    np.testing.assert_allclose(slope(e), np.log1p(e), 1e-15)
    np.testing.assert_allclose(jax.jit(slope)(e), by_version({
        '0.10.2': np.log(1 + e) * e / e, '0.12': np.log1p(e)}), 1e-15)


# Chapter 32

def test_a_loop_keeps_a_rule_that_has_been_replaced():
    """The body is traced once, and `jax.jit` has nothing to do with it."""
    def with_slope(k):
        double = jax.custom_jvp(lambda x: 2 * x)
        double.defjvp(lambda xs, x_dots: (double(*xs), k * x_dots[0]))
        return double

    double = with_slope(7.0)
    body = lambda x, _: (double(x), None)
    slopes = [jax.grad(f) for f in (
        lambda x: double(x),
        lambda x: jax.lax.scan(body, x, None, length=1)[0])]
    assert [slope(1.0) for slope in slopes] == [7, 7]
    double.defjvp(lambda xs, x_dots: (double(*xs), 11 * x_dots[0]))
    assert [slope(1.0) for slope in slopes] == [11, 7]
    new = jax.grad(lambda x: jax.lax.scan(body, x, None, length=1)[0])
    assert new(1.0) == 7
    double = with_slope(13.0)   # as in a notebook, where a cell runs again
    assert [slope(1.0) for slope in [*slopes, new]] == [13, 7, 7]
    body = lambda x, _: (double(x), None)
    assert [slope(1.0) for slope in [*slopes, new]] == [13, 13, 13]

    def anew(x):
        return jax.lax.scan(lambda x, _: (double(x), None), x, None, 1)[0]

    assert jax.grad(anew)(1.0) == 13
    double = with_slope(17.0)
    assert jax.grad(anew)(1.0) == 17


# a rule that is linear in a tangent

def test_a_linear_call_with_a_backward_rule_works_in_three_orders():
    def orders(system):
        np = system.np
        g = system.custom_vjp(lambda t, y: t * np.cos(y))
        g.defvjp(lambda t, y: (g(t, y), (t, y)), lambda kept, ct: (
            g(ct, kept[1]), -10 * kept[0] * np.sin(kept[1]) * ct))
        f = system.custom_jvp(np.sin)
        f.defjvp(lambda p, t: (f(*p), g(*t, *p)))
        d = lambda f: lambda x: system.jvp(f, (x,), (1.0,))[1]
        return d(d(f)), system.grad(system.grad(f)), system.grad(d(f))

    lie = -10 * np.sin(1.0)
    for system in OURS, THEIRS:
        forwards, backwards, mixed = orders(system)
        np.testing.assert_allclose(mixed(1.0), lie, 1e-12)
        with pytest.raises(TypeError, match='forward-mode|custom_vjp'):
            forwards(1.0)
    np.testing.assert_allclose(orders(OURS)[1](1.0), lie, 1e-12)
    with pytest.raises(NotImplementedError, match='custom_vjp_call'):
        orders(THEIRS)[1](1.0)


# The page *From here to JAX's own files*

def test_jax_linearizes_directly():
    assert jax.config.jax_use_direct_linearize


def test_jax_versions_differ_in_calls_and_constants():
    from jax._src import core
    newer = by_version({'0.10.2': False, '0.12': True})
    assert (core.call_p is core.closed_call_p) == newer
    assert hasattr(core.Trace, 'process_call') == (not newer)
    jaxpr = jax.make_jaxpr(lambda x: x + np.ones(2))(1.0)
    assert (type(jaxpr) is core.Jaxpr) == newer
    assert len(jaxpr.consts) == 1


def test_expit_is_a_primitive_of_jax():
    jaxpr = jax.make_jaxpr(jax.scipy.special.expit)(1.0)
    assert [str(eqn.primitive) for eqn in jaxpr.eqns] == ['logistic']
