"""Guard copies: objects that are copied, pickled, and kept."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from numpy.testing import assert_array_equal as assert_same

import autodiff_mini as ad
from autodiff_mini.primitives.elementwise import sin_p
from tests.support.named_rules import batched, five_times, thrice, thrice_jvp

X = np.array([0.3, 0.7, 1.1])


def total(x):
    return np.sum(np.sin(x) * x[[2, 0, 0]])


def sine(x):
    return np.sin(x)


renamed = ad.custom_jvp(sine)   # not found under its function's name
renamed.defjvp(thrice_jvp)
jitted = ad.jit(total)


@ad.jit
def decorated(x):
    return np.sin(x)


def looped(x):
    return ad.scan(lambda c, _: (thrice(c), None), x, None, length=3)[0]


row_p = ad.Primitive('row')
row_p.def_impl(lambda x: 2 * x)
row_p.def_abstract_eval(lambda x: x)

WAYS = {'copy': copy.copy, 'deepcopy': copy.deepcopy,
        'pickle': lambda x: pickle.loads(pickle.dumps(x))}
ways = pytest.mark.parametrize('way', WAYS.values(), ids=WAYS)


def test_a_primitive_is_copied_as_itself():
    for way in WAYS.values():
        assert way(sin_p) is sin_p and way(row_p) is row_p
    local_p = ad.Primitive('local')     # no variable holds it
    assert copy.deepcopy([local_p]) == [local_p]
    with pytest.raises(pickle.PicklingError, match="'local' .* a variable"):
        pickle.dumps(local_p)


@ways
@pytest.mark.parametrize('f', [total, thrice, five_times, batched, jitted,
                               looped, row_p.bind])
def test_a_copied_program_computes_the_same(f, way):
    x = 0.3 if f is looped else X
    jaxpr = ad.make_jaxpr(f)(x)
    again = way(jaxpr)
    assert repr(again) == repr(jaxpr)
    assert_same(ad.eval_jaxpr(again, again.consts, x), [f(x)])
    ad.jit(lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x))(x)
    assert_same(ad.eval_jaxpr(way(jaxpr), jaxpr.consts, x), [f(x)])


@ways
def test_a_pullback_and_a_pushforward_are_copied(way):
    for f in (total, jitted, thrice, five_times):
        y, pull = ad.vjp(f, X)
        assert_same(way(pull)(y), pull(y))
    _, push = ad.linearize(total, X)
    assert_same(way(push)(X), push(X))


@ways
def test_a_function_is_copied_with_its_rule(way):
    for f, times in ((thrice, 3), (renamed, 3), (five_times, 5)):
        slope = ad.grad(lambda x: np.sum(way(f)(x)))(X)
        assert_same(slope, np.full(3, times))


@ways
def test_a_jitted_function_is_copied_also_after_it_has_run(way):
    for f in (jitted, decorated):
        y = f(X)
        again = way(f)
        assert_same(again(X), y)
        assert again.source == f.source


def test_an_error_in_a_program_from_a_pickle_still_names_the_line():
    jaxpr = ad.make_jaxpr(lambda x: np.linalg.solve(x, x))(np.eye(2))
    again = WAYS['pickle'](jaxpr)
    with pytest.raises(np.linalg.LinAlgError) as caught:
        ad.eval_jaxpr(again, again.consts, np.zeros((2, 2)))
    [note] = caught.value.__notes__
    assert "'solve'" in note and __file__ in note


def test_a_copied_user_primitive_keeps_its_rules():
    def use():
        twice_p = ad.Primitive('twice')
        twice_p.def_impl(lambda x: 2 * x)
        twice_p.def_abstract_eval(lambda x: x)
        twice_p.def_jvp(lambda xs, ts: (
            twice_p.bind(*xs), twice_p.bind(ad.instantiate_zeros(*ts))))
        twice_p.def_vmap(lambda xs, dims: (twice_p.bind(*xs), dims[0]))
        twice_p.def_transpose(lambda ct, x: (2 * ct,))
        twice_p.def_lowering(lambda emitter, x: f'2 * {x}')
        f = ad.jit(ad.grad(lambda x: np.sum(twice_p.bind(x))))
        assert_same(ad.vmap(f)(np.stack([X, X])), np.full((2, 3), 2.0))
        return weakref.ref(twice_p)
    twice = use()
    gc.collect()
    assert twice() is None
