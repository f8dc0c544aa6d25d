"""Guard `checkpoint`: what is saved, what runs again, and the policies."""

import gc
import tracemalloc
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.jvp_rules import custom as with_jvp, power, sine, square
from tests.support.numerical import assert_close
from tests.support.traces import assert_named_everywhere
from tests.support.transforms import d
from tests.support.trees import Pair, assert_trees
from tests.support.vjp_rules import both

X = np.linspace(-0.5, 1.5, 4)
T = TypeError


def counter(name, f, counts):
    """Return a primitive that counts its evaluations."""
    p = ad.Primitive(name)
    counts[name] = 0

    @p.def_impl
    def impl(x):
        counts[name] += 1
        return f(x)
    p.def_abstract_eval(lambda x: ad.ShapedArray(x.shape, x.dtype))
    return p


# Values and types

@pytest.mark.parametrize('x', [2.0, 3, np.float32(2), X])
def test_a_checkpoint_has_the_values_and_types_of_its_function(x):
    f = lambda x: {'a': x * 2, 'b': (np.sin(x), None, 1)}
    out, again = ad.checkpoint(f)(x), ad.checkpoint(ad.checkpoint(f))(x)
    assert_trees(out, f(x))
    assert_trees(again, out)
    assert_trees(ad.jit(ad.checkpoint(f))(x), ad.jit(f)(x))


def test_a_checkpoint_takes_trees_and_keywords_and_keeps_names(node):
    def f(p, *, scale=2.0):
        """Return something."""
        return Pair(p.x[0] * scale, {'n': None, 'b': p.x[1]['k']})

    g = ad.checkpoint(f)
    assert g.__name__ == 'f' and g.__doc__ == f.__doc__
    assert g.__wrapped__ is f
    p = node([3.0, {'k': np.ones(2)}], 'm')
    assert_trees(g(p, scale=5.0), f(p, scale=5.0))
    total = lambda f: lambda p: f(p, scale=5.0)[0] + f(p)[1]['b'].sum()
    assert_trees(ad.grad(total(g))(p), ad.grad(total(f))(p))


# Every derivative, in every nesting

PROGRAMS = {
    'lying': lambda x: sine(np.exp(sine(x))) * square(x),
    'recursive': lambda x: power(-power(x) * 0.5),
    'both': lambda x: both(x, np.cos(x)),
    'branch': lambda x: ad.cond(x > 0.5, lambda x: sine(x) * x, np.exp, x),
    'loop': lambda x: ad.scan(lambda c, y: (sine(c) + y * x, square(c)),
                              x, np.ones(3))[1].sum(),
    'known': lambda x: np.sin(2.0) * x + np.cos(3.0),
}
ORDERS = {
    'evaluate': lambda f: f, 'jvp': d,
    'jit_grad': lambda f: ad.jit(ad.grad(f)),
    'grad_grad': lambda f: ad.grad(ad.grad(f)),
    'grad_of_jvp': lambda f: ad.grad(d(f)),
}


# Values that are saved, and values that are computed again

def test_the_pullback_of_a_checkpoint_keeps_arguments_and_captured_values():
    def f(x):
        for _ in range(10):
            x = np.sin(x) * x
        return x.sum()

    plain, less = (ad.tree_leaves(ad.vjp(f, X)[1])
                   for f in (f, ad.checkpoint(f)))
    assert len(plain) > 15 and {*map(np.shape, less)} <= {(4,), ()}
    assert [np.shape(x) for x in less].count((4,)) == 1
    w = np.arange(4.)
    closing = lambda x, w: ad.checkpoint(lambda x: np.sin(x * w).sum())(x)
    shapes = [np.shape(x) for x in ad.tree_leaves(ad.vjp(closing, X, w)[1])]
    assert shapes.count((4,)) == 2


def test_each_operation_runs_again_in_the_reverse_pass():
    counts = {}
    p = counter('sine', np.sin, counts)
    p.def_jvp(lambda primals, tangents: (
        p.bind(*primals), np.cos(*primals) * tangents[0]))
    f = ad.checkpoint(lambda x: p.bind(p.bind(x)))
    y, pullback = ad.vjp(f, 2.0)
    assert counts == {'sine': 2}
    pullback(1.0)
    assert counts['sine'] in (3, 4)     # the second is not needed
    again = counts['sine']
    pullback(1.0)
    assert counts['sine'] == 2 * again - 2      # freed again
    for change in f, ad.jit(f), d(f):   # forward mode runs nothing twice
        counts['sine'] = 0
        change(2.0)
        assert counts['sine'] == 2


def test_a_call_with_a_rule_is_one_operation_for_a_policy():
    asked = []
    jvp = ad.custom_jvp(lambda x: np.sin(x))
    jvp.defjvp(lambda p, t: (jvp(*p), np.cos(*p) * t[0]))
    vjp = ad.custom_vjp(lambda x: np.sin(x))
    vjp.defvjp(lambda x: (vjp(x), np.cos(x)), lambda c, ct: (c * ct,))
    for f, name in (jvp, 'custom_jvp_call'), (vjp, 'custom_vjp_call'):
        asked.clear()
        ad.grad(ad.checkpoint(f, policy=lambda primitive, *avals, **params: (
            asked.append(str(primitive)))))(1.0)
        assert asked == [name, 'cos']


def remat_counts(wrap, **options):
    """Return the counts in each pass of a custom_vjp, and the slope."""
    counts = {}
    fun, res = (counter(name, np.sin, counts) for name in ('fun', 'res'))
    f = ad.custom_vjp(lambda x: fun.bind(x))
    f.defvjp(lambda x: (f(x), res.bind(x)), lambda r, ct: (ct * r,),
             **options)
    y, pullback = ad.vjp(wrap(f), 2.0)
    first = dict(counts)
    (x_bar,) = pullback(1.0)
    assert y == np.sin(2.0) and x_bar == np.sin(2.0)
    return first, counts


INSIDE = {
    'checkpoint': ad.checkpoint,
    'jit_inside': lambda f: ad.checkpoint(ad.jit(f)),
    'jit_outside': lambda f: ad.jit(ad.checkpoint(f)),
    'twice': lambda f: ad.checkpoint(ad.checkpoint(f)),
    'scan': lambda f: lambda x: ad.scan(lambda c, _: (
        ad.checkpoint(f)(c), None), x, length=1)[0],
    'scan_inside': lambda f: ad.checkpoint(lambda x: ad.scan(
        lambda c, _: (f(c), None), x, length=1)[0]),
    'cond': lambda f: lambda x: ad.cond(x > 0, ad.checkpoint(f), np.cos, x),
    'cond_inside': lambda f: ad.checkpoint(
        lambda x: ad.cond(x > 0, f, np.cos, x)),
}


@pytest.mark.asks('R4')
@pytest.mark.parametrize('name', INSIDE)
def test_the_first_evaluation_computes_no_residuals(name):
    for options in {}, {'optimize_remat': False}, {'optimize_remat': True}:
        first, after = remat_counts(INSIDE[name], **options)
        assert first == {'fun': 1, 'res': 0}
        assert after['res'] == 1
        first, after = remat_counts(lambda f: f, **options)
        assert first == after == {'fun': 1, 'res': 1}   # no checkpoint


def opaque(counts, **options):
    """Return a custom_vjp whose fwd computes value and residual together."""
    value = counter('value', np.sin, counts)
    both = ad.Primitive('both', multiple_results=True)

    @both.def_impl
    def impl(x):
        counts['both'] += 1
        return [np.sin(x), np.cos(x)]
    both.def_abstract_eval(lambda x: [x, x])
    f = ad.custom_vjp(lambda x: value.bind(x))
    f.defvjp(lambda x: tuple(both.bind(x)), lambda r, ct: (3 * ct * r,),
             **options)
    return f


@pytest.mark.asks('R4')
@pytest.mark.parametrize('name', INSIDE)
def test_optimize_remat_runs_an_opaque_function_first(name):
    for optimize in False, True:
        counts = {'value': 0, 'both': 0}
        f = INSIDE[name](opaque(counts, optimize_remat=optimize))
        _, pullback = ad.vjp(f, 2.0)
        assert counts == {'value': optimize, 'both': not optimize}
        assert_close(pullback(1.0)[0], 3 * np.cos(2.0))
        assert counts == {'value': optimize, 'both': 2 - optimize}


@pytest.mark.asks('R4')
def test_the_output_of_the_first_run_keeps_the_rule():
    """It was the function's program, so its derivative lost the rule."""
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (10 * x ** 2 * ct,),
             optimize_remat=True)

    def value(f):
        return lambda x: ad.value_and_grad(f)(x)[0]
    for wrap in INSIDE.values():
        h = wrap(f)
        assert_close(ad.grad(value(h))(0.5), 2.5)
        assert_close(ad.grad(value(value(h)))(0.5), 2.5)
        assert_close(ad.grad(ad.grad(value(h)))(0.5), 10.0)
        assert_close(ad.jit(ad.grad(value(h)))(0.5), 2.5)
        assert_close(ad.grad(ad.jit(value(h)))(0.5), 2.5)
        assert_close(ad.vmap(ad.grad(value(h)))(np.full(2, 0.5))[1], 2.5)
        assert_close(ad.grad(ad.grad(h))(0.5), 10.0)


@pytest.mark.asks('R4')
def test_the_first_run_under_vmap_uses_the_batching_rule():
    """The first run used to map the function itself."""
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (10 * x ** 2 * ct,),
             optimize_remat=True)
    f.def_vmap(lambda size, mapped, x: (3 * np.sin(x), True))
    values = ad.vmap(ad.value_and_grad(ad.checkpoint(f)))(np.ones(2))[0]
    assert_close(values, 3 * np.sin(np.ones(2)))


@pytest.mark.asks('R4')
def test_the_derivative_of_a_fwd_that_computes_the_output_itself():
    """It is the derivative of that computation, as without a checkpoint."""
    f = ad.custom_vjp(lambda x, y: (np.tanh(x), np.sin(y) * 2.0))

    def fwd(x, y):
        s = np.sin(y)
        return (np.tanh(x), s * 2.0), (x, s)
    f.defvjp(fwd, lambda r, cts: (cts[0], 7 * cts[1] * r[1]),
             optimize_remat=True)
    for i, slope in enumerate([1 - np.tanh(0.5) ** 2, 0.0]):
        g = lambda f: lambda x, y: ad.value_and_grad(
            lambda x, y: f(x, y)[i], (0, 1))(x, y)[0]
        for h in f, ad.checkpoint(f), ad.jit(ad.checkpoint(f)):
            assert_close(ad.grad(g(h))(0.5, 0.6), slope)


@pytest.mark.asks('R4')
def test_a_forward_rule_does_not_run_first_either():
    counts = {}
    slope = counter('slope', np.cos, counts)
    f = with_jvp(lambda x: np.sin(x), lambda p, t: (
        f(*p), 3 * slope.bind(p[0]) * t[0]))
    y, pullback = ad.vjp(ad.checkpoint(f), 2.0)
    assert counts == {'slope': 0} and y == np.sin(2.0)
    assert_close(pullback(1.0)[0], 3 * np.cos(2.0))
    assert counts == {'slope': 1}


def test_a_linear_program_is_transposed_with_what_it_knows():
    counts = {}
    p = counter('known', np.sin, counts)
    f = ad.checkpoint(lambda x, y: (p.bind(y), x * 2.0, y))
    g = lambda x: (lambda s, z, y: s * z * y)(*f(x, 0.5))
    back = ad.linear_transpose(g, 1.0)
    assert_close(back(3.0)[0], np.sin(0.5) * 3.0)
    assert counts == {'known': 1}


# Policies

POLICIES = {name: policy for name, policy in
            vars(ad.checkpoint_policies).items() if 'saveable' in name}
POLICIES['sines'] = lambda primitive, *avals, **params: (
    str(primitive) == 'sin' and avals[0].dtype == float and not params)


@pytest.mark.parametrize('name', PROGRAMS)
def test_no_policy_changes_a_derivative(name):
    """With a wrong rule, a lost tangent of a saved value would show."""
    f = PROGRAMS[name]
    for policy in POLICIES.values():
        g = ad.checkpoint(f, policy=policy)
        for change in ORDERS.values():
            assert_close(change(g)(X[0]), change(f)(X[0]))
        assert_close(ad.vmap(ad.grad(g))(X[2:]), ad.vmap(ad.grad(f))(X[2:]))
    for wrap in INSIDE.values():
        assert_close(ad.grad(wrap(f))(X[3]), ad.grad(f)(X[3]))


@pytest.mark.parametrize('wrap', [lambda f: f, ad.jit])
def test_a_policy_selects_what_is_saved(wrap):
    """Saved values are not computed again, and the others are."""
    counts = {}
    kept, gone = (counter(name, np.sin, counts) for name in ('kept', 'gone'))
    for p in (kept, gone):
        p.def_jvp(lambda primals, tangents, p=p: (
            p.bind(*primals), np.cos(*primals) * tangents[0]))
    f = wrap(lambda x: np.exp(gone.bind(kept.bind(gone.bind(x)))))
    g = ad.checkpoint(f, policy=lambda primitive, *_, **__: (
        str(primitive) == 'kept'))
    _, pullback = ad.vjp(g, X)
    assert counts == {'kept': 1, 'gone': 2}
    (x_bar,) = pullback(np.ones(4))
    assert counts['kept'] == 1 and counts['gone'] == 4
    assert_close(x_bar, ad.vjp(f, X)[1](np.ones(4))[0])


def residuals(f, *args):
    """Return the shapes that a pullback keeps."""
    return sorted(map(np.shape, ad.tree_leaves(ad.vjp(f, *args)[1])))


def test_the_named_policies_save_what_jaxs_save():
    w = np.ones((5, 4))
    f = lambda x: np.sin(np.sin(w @ np.sin(x)))
    policies = ad.checkpoint_policies
    wrapped = lambda policy: ad.checkpoint(f, policy=policy)
    keeps = lambda policy: residuals(wrapped(policy), X)
    assert keeps(None) == keeps(policies.nothing_saveable)
    assert keeps(policies.dots_saveable) == sorted(keeps(None) + [(5,)])
    back = lambda policy: str(ad.make_jaxpr(
        ad.vjp(wrapped(policy), X)[1])(np.ones(5)))
    assert 'sin' not in back(policies.everything_saveable)
    assert 'cos' not in back(policies.everything_saveable)
    assert 'sin' in back(policies.dots_saveable)


def test_a_policy_is_a_function():
    with pytest.raises(TypeError, match='checkpoint of .*policy must be a '
                       "function .*dots_saveable, but got 'dots'"):
        ad.checkpoint(np.sin, policy='dots')


def test_static_arguments_of_a_checkpoint_stay_python_values():
    @partial(ad.checkpoint, static_argnums=(1,), prevent_cse=False)
    def f(x, word, n=2):
        return x ** n if word == 'power' else x * n

    assert ad.grad(f)(3.0, 'power') == ad.grad(f)(3.0, word='power') == 6.0
    assert ad.grad(f)(3.0, 'times') == 2.0
    assert ad.grad(f, 2)(3.0, 'times', 2.0) == 3.0

# Memory

def peak(wrap, x):
    """Return the peak memory of a gradient, in arrays like `x`."""
    def layers(x):
        for _ in range(10):
            x = np.sin(x)
        return x

    def chain(x):
        for _ in range(10):
            x = wrap(layers)(x)
        return x.sum()

    gradient = ad.grad(chain)
    gradient(x)     # after everything that happens only once
    gc.collect()
    tracemalloc.start()
    try:
        gradient(x)
        return tracemalloc.get_traced_memory()[1] / x.nbytes
    finally:
        tracemalloc.stop()


@pytest.mark.rest
def test_a_hundred_checkpointed_layers_need_the_memory_of_twenty():
    x = np.linspace(0, 1, 100_000)
    assert peak(ad.checkpoint, x) <= 23
    assert peak(lambda f: f, x) >= 100


# Mistakes

def loss(x):
    return x if x > 0 else -x


BOOL = ad.TracerBoolConversionError
ERRORS = {
    'd3': (lambda: ad.checkpoint(loss)(1.0), BOOL,
           'Attempted boolean conversion.*checkpoint of .*loss.*np.where'),
    'input': (lambda: ad.checkpoint(loss)('a'), T,
              r'checkpoint of .*loss: args\[0\]: .*type str'),
    'output': (lambda: ad.checkpoint(lambda x: {'k': 'a'})(1.0), T,
               "checkpoint of .*output.*'k'.*type str"),
}


@pytest.mark.parametrize('name', ERRORS)
def test_every_mistake_with_checkpoint_is_named(name):
    assert_named_everywhere(*ERRORS[name])
    # and the interpreter still works
    assert ad.grad(ad.checkpoint(np.square))(3.0) == 6.0
