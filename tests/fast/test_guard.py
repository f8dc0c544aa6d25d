"""The guard: a call that is like the last one goes the short way.

And one that is not goes the long way: `flattened` tells which it was.  The
result is right on both.
"""

import datetime
import sys
import weakref
from collections import OrderedDict, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import Trace, current_trace
from autodiff_mini.fast.guard import write_guard
from autodiff_mini.higher_order.jit import compiled
from autodiff_mini.higher_order.programs import REMEMBERED, remember
from autodiff_mini.interpreters.lowering import MISS
from tests.test_custom_jvp import assert_trees
from tests.test_jit import C, KEPT, RETURNED, Box, Pair, counted, lines_of
from tests.test_jit_equals_eager import (
    MANY_KINDS, Labelled, assert_identical)

TABLE = np.linspace(0.0, 1.0, 1600).reshape(40, 40)


@pytest.fixture
def flattened(monkeypatch):
    """A list that grows when a call of jit takes its arguments apart."""
    module, seen = sys.modules[ad.jit.__module__], []
    flatten = module.tree_flatten
    monkeypatch.setattr(module, 'tree_flatten',
                        lambda tree: seen.append(1) or flatten(tree))
    return seen


def everything(*args):
    """Returns what comes in, and something computed of each leaf."""
    return {'b': [x * 2 for x in ad.tree_leaves(args)], 'a': (args, None)}


def check(f, args, expected):
    assert_identical(f(*args), expected)
    assert current_trace() is Trace.base


# Which calls are alike: pairs of arguments

ALIKE = {
    'values': ((C,), (C + 1,)), 'numbers': ((1.0,), (2.0,)),
    'not_a_number': ((1.0,), (float('nan'),)), 'large': ((1,), (2 ** 70,)),
    'zeros': ((0.0,), (-0.0,)), 'ints': ((1,), (2,)),
    'bools': ((True,), (False,)), 'complex': ((1j,), (2j,)),
    'scalars': ((np.float64(1),), (np.float64(2),)),
    'singles': ((np.float32(1),), (np.float32(2),)),
    'truths': ((np.True_,), (np.False_,)),
    'arrays_without_axes': ((np.ones((), int),), (np.zeros((), int),)),
    'nothing': ((), ()), 'no_elements': ((np.ones((0, 2)),),
                                         (np.zeros((0, 2)),)),
    'read_only': ((C,), (np.broadcast_to(1.0, 3),)),
    'layout': ((TABLE,), (np.asfortranarray(TABLE),)),
    'strides': ((C,), (np.arange(6.0)[::-2],)),
    'two': ((C, 1.0), (C, 2.0)), 'same_array_twice': ((C, C + 1), (C, C)),
    'tuple': (((C, (1, 2.0)),), ((C, (3, 4.0)),)),
    'list': (([C, [1.0]],), ([C, [2.0]],)),
    'empty': (((), [], {}),) * 2, 'none': ((None, (C, None)),) * 2,
    'dict': (({'x': C, 'y': 1.0},), ({'x': C + 1, 'y': 2.0},)),
    'order_of_keys': (({'x': C, 'y': 1.0},), ({'y': 2.0, 'x': C},)),
    'numbers_as_keys': (({1: C, -2: 1.0},), ({-2: 2.0, 1: C},)),
    'keys_that_need_quotes': (({"'": C, '"\n\\{x}': 1.0},),) * 2,
    'all': (({'w': [C, (TABLE, None)], 'b': {}}, [1.0], np.float32(2)),
            ({'b': {}, 'w': [C + 1, (TABLE, None)]}, [2.0], np.float32(3))),
}


@pytest.mark.parametrize('name', ALIKE)
def test_a_call_like_the_last_one_takes_nothing_apart(name, flattened):
    first, second = ALIKE[name]
    f, runs = counted(everything)
    expected = [everything(*args) for args in (first, second)]
    check(f, first, expected[0])
    del flattened[:]
    check(f, second, expected[1])
    check(f, first, expected[0])
    assert not flattened and len(runs) == 1


UNLIKE = {
    'dtype': ((C,), (C.astype('f4'),)), 'kind': ((C,), (np.arange(3),)),
    'byte_order': ((C,), (C.astype('>f8'),)),
    'shape': ((C,), (C[:2],)), 'axes': ((C,), (C[None],)),
    'length': ((C,), (np.arange(0.0),)), 'transposed':
    ((np.ones((2, 3)),), (np.ones((3, 2)),)),
    'array_and_scalar': ((C[0],), (np.array(1.0),)),
    'weak_type': ((1.0,), (np.float64(2),)), 'one_number': ((C,), (2.0,)),
    'strong_type': ((np.float64(1),), (2.0,)), 'int': ((1.0,), (2,)),
    'bool': ((1,), (True,)), 'truth': ((True,), (np.True_,)),
    'width': ((np.int64(1),), (np.int32(1),)),
    'single': ((np.float64(1),), (np.float32(1),)),
    'subclass': ((C,), (C.view(Labelled),)),
    'of_the_second': ((C, 1.0), (C, 2)),
    'more_arguments': ((C,), (C, C)), 'fewer_arguments': ((C, C), (C,)),
    'no_arguments': ((C,), ()), 'some_arguments': ((), (C,)),
    'tuple': (([C, C],), ((C, C),)), 'list': (((C, C),), ([C, C],)),
    'longer': (([C, C],), ([C, C, C],)), 'shorter': (([C, C],), ([C],)),
    'deeper': (([C, C],), ([C, [C]],)), 'flatter': (([C, [C]],), ([C, C],)),
    'a_leaf': (([C],), (C,)), 'a_tree': ((C,), ([C],)),
    'rows': (([C, C],), (np.stack([C, C]),)),
    'text': (({0: C},), ({'0': C},)), 'dict': (([C, C],), ({0: C, 1: C},)),
    'dict_of_numbers': (({0: C, 1: C},), ([C, C],)),
    'key': (({'x': C},), ({'y': C},)),
    'one_key': (({'x': C, 'y': C},), ({'x': C, 'z': C},)),
    'more_keys': (({'x': C},), ({'x': C, 'y': C},)),
    'fewer_keys': (({'x': C, 'y': C},), ({'x': C},)),
    'empty': (((),), ([],)), 'nothing': ((None,), ((),)),
    'none': ((C, None), (C, C)), 'some': ((C, C), (C, None)),
    'falsy': ((None,), (0.0,)),
    'pair': (((C, C),), (Pair(C, C),)),
    'ordered': (({'x': C},), (OrderedDict(x=C),)),
    'node': (((C,),), (Box(C, 'a'),)),
}


def test_a_guard_has_its_source():
    f = ad.jit(lambda x, d: d['b'] * x)
    f(C, {'b': 1.5})
    assert f.guard.source.startswith('def guard(args):\n    try:')
    assert "'b'" in f.guard.source and '(3,)' in f.guard.source


@pytest.mark.parametrize('name', UNLIKE)
def test_a_call_that_is_unlike_the_last_one_goes_the_long_way(
        name, flattened):
    first, second = UNLIKE[name]
    f, g = ad.jit(everything), ad.jit(everything)
    check(f, first, everything(*first))
    assert f.guard(first) is not MISS and f.guard(second) is MISS
    expected, before = g(*second), len(flattened)
    for _ in range(2):
        check(f, second, expected)
        check(f, second, expected)
        check(f, first, everything(*first))
    assert len(flattened) > before


def test_what_cannot_be_traced_is_refused_after_a_guarded_call():
    f = ad.jit(lambda x: ad.tree_leaves(x)[0] * 2)
    for x in (1.0, C, {'x': C}, [C]):
        f(x), f(x)
        for bad in ('text', np.array(['a']), defaultdict(float, x=C),
                    {'x': 'text'}, ['text'], np.array([None] * 3)):
            with pytest.raises(TypeError, match='cannot be traced|object'):
                f(bad)
        f(x)
    with pytest.raises(TypeError, match='sortable'):
        f({'x': C, 1: C})


def test_a_guard_asks_for_the_usual_order_only_where_the_program_does(
        flattened):
    """A program that writes over an array, or has blocks, counts on it."""
    f = ad.jit(lambda x: np.sin(x) * 2 + 1)
    plain, turned = TABLE, np.asfortranarray(TABLE)
    expected = np.sin(TABLE) * 2 + 1
    check(f, (plain,), expected)
    assert f.guard((plain,)) is not MISS
    for x in (turned, np.stack([TABLE] * 2, 2)[..., 0], TABLE[::-1][::1]):
        assert f.guard((x,)) is MISS
        check(f, (x,), np.sin(x) * 2 + 1)
        check(f, (plain,), expected)
    del flattened[:]
    check(f, (TABLE + 1,), np.sin(TABLE + 1) * 2 + 1)
    check(f, (TABLE[:],), expected)
    assert not flattened


WITHOUT = {
    'pair': (Pair(C, 2.0),), 'ordered': (OrderedDict(b=C, a=2.0),),
    'node': (Box(C, 'a'),), 'nested': ({'x': [Pair(C, None)]},),
    'subclass': (C.view(Labelled),), 'text_of_its_own':
    ({np.str_('x'): C},), 'truth_as_key': ({True: C, False: 2.0},),
    'float_as_key': ({0.5: C},), 'tuple_as_key': ({(1, 2): C},),
}


@pytest.mark.parametrize('name', WITHOUT)
def test_what_the_guard_does_not_know_has_none(name, flattened):
    args = WITHOUT[name]
    f, runs = counted(everything)
    out = f(*args)
    assert f.guard is None
    for i in range(2):
        check(f, args, out)
        assert len(flattened) == 2 + i
    assert len(runs) == 1
    assert_trees(out['a'][0], ad.tree_map(np.asarray, args)
                 if name == 'subclass' else args)


@pytest.mark.parametrize('key', [
    0.5, (1, 2), np.str_('x'), np.int64(3), datetime.date(1970, 1, 1), True])
def test_a_key_that_the_guard_cannot_write_down(key):
    """What Python prints of a key need not be the key."""
    f = ad.jit(lambda d: d[key] * 2)
    for _ in range(3):
        assert_identical(f({key: C}), C * 2)
        assert f.guard is None


@pytest.mark.parametrize('out', [
    lambda x: Pair(x, x), lambda x: OrderedDict(b=x, a=x),
    lambda x: [Box(x, 'a')], lambda x: {0.5: x}, lambda x: {True: x},
    lambda x: {(1, 2): x}], ids=range(6))
def test_a_result_that_the_guard_does_not_know(out):
    f = ad.jit(out)
    for _ in range(3):
        y = f(C)
        assert f.guard is None and ad.tree_structure(y) == \
            ad.tree_structure(out(C))


def test_keywords_static_arguments_and_closures_have_no_guard(flattened):
    f = ad.jit(lambda x, n=2: x * n)
    for args, kwargs, out in [((3.0,), {}, 6.0), ((3.0,), {'n': 4}, 12.0),
                              ((), {'x': 3.0}, 6.0), ((3.0,), {}, 6.0),
                              ((3.0,), {'n': 5}, 15.0), ((3.0, 4), {}, 12.0)]:
        assert f(*args, **kwargs) == out
        assert bool(f.guard) is not bool(kwargs)
        assert f(*args, **kwargs) == out
    g = ad.jit(lambda x, n=2: x ** n, static_argnums=1)
    h = ad.jit(lambda x, n=2: x ** n, static_argnames='n')
    for k in (g, h):
        for n, out in ((2, 9.0), (3, 27.0), (2, 9.0)):
            assert k(3.0, n) == k(3.0, n=n) == out and k.guard is None
        assert k(3.0) == 9.0 and k.guard is None

    def outer(x):
        k = ad.jit(lambda y: x * y)
        outs = k(2.0), k(3.0)
        assert k.guard is None
        return outs
    assert_trees(ad.jvp(outer, (5.0,), (1.0,)), ((10.0, 15.0), (2.0, 3.0)))


# Results

@pytest.mark.parametrize('out', [
    lambda x: None, lambda x: (), lambda x: [], lambda x: {}, lambda x: x,
    lambda x: (x,), lambda x: [x], lambda x: (x, (x, [x, (None, x)]), {}),
    lambda x: {'b': x, 'a': (x * 2, [None])}, lambda x: {2: x, -1: x * 2},
    lambda x: {"'": x, '\\': x * 2, '\n"': x * 3}, lambda x: (2.0, 1, x),
    lambda x: [[], [()], [{'k': None}], x]], ids=range(13))
def test_a_result_has_its_tree(out, flattened):
    f = ad.jit(out)
    for x in (C, C + 1, TABLE, TABLE, 2.0, 3.0):
        before = len(flattened)
        y = f(x)
        took = len(flattened) - before
        expected = out(x)
        assert_identical(y, expected)
        if type(expected) is dict:
            assert list(y) == sorted(expected)
    assert took == 0    # for the last one


def test_containers_are_new_at_each_call():
    f = ad.jit(lambda x: {'a': [x, {}]})
    for _ in range(3):
        y = f(1.0)
        assert y == {'a': [1.0, {}]}
        y['a'][1]['more'] = y['b'] = 1
        y['a'].append(2)


@pytest.mark.parametrize('name', RETURNED)
def test_what_comes_the_short_way_is_the_caller_s_own(name, flattened):
    f, x = ad.jit(RETURNED[name]), np.arange(4.0) + 1
    expected = ad.tree_map(np.copy, f(x))
    if f.guard is None:
        pytest.skip('it returns what the guard does not know')
    for _ in range(2):
        del flattened[:]
        out = f(x)
        assert not flattened
        assert_trees(ad.tree_map(np.copy, out), expected)
        seen = [x, KEPT]
        for y in ad.tree_leaves(out):
            if isinstance(y, np.ndarray):
                assert y.flags.writeable and y.flags.owndata
                assert not any(np.shares_memory(y, z) for z in seen)
                seen.append(y)
        for y in seen[2:]:
            y[...] = -1.0
    np.testing.assert_array_equal(x, np.arange(4.0) + 1)
    np.testing.assert_array_equal(KEPT, np.arange(4.0))


def test_a_guard_keeps_no_arguments_and_no_results():
    f = ad.jit(lambda p: (p['x'] * 2, p['x'], p['y'][0] + 1))
    fails = ad.jit(lambda x: np.linalg.inv(x))
    fails(np.eye(2))
    refs = []
    for i in range(4):
        x, y = C + i, TABLE + i
        out, singular = f({'x': x, 'y': [y]}), np.zeros((2, 2))
        with pytest.raises(np.linalg.LinAlgError):
            fails(singular)
        refs += map(weakref.ref, (x, y, singular, *out))
        del x, y, out, singular
    assert f.guard and not any(ref() is not None for ref in refs)


# Under an interpreter

def test_tracers_never_pass_the_guard(flattened):
    f, runs = counted(lambda x: np.sin(x) * x)
    slope = lambda x: np.cos(x) * x + np.sin(x)
    for _ in range(2):
        assert_identical([f(0.5), f(0.5)], [np.sin(.5) * .5] * 2)
        for g, expected in (
                (ad.grad(f), slope(0.5)),
                (ad.jit(ad.grad(f)), slope(0.5)),
                (ad.grad(ad.jit(f)), slope(0.5)),
                (lambda x: ad.jvp(f, (x,), (1.0,))[1], slope(0.5)),
                (lambda x: ad.vjp(f, x)[1](1.0)[0], slope(0.5)),
                (lambda x: ad.linearize(f, x)[1](1.0), slope(0.5)),
                (lambda x: ad.vmap(f)(np.full(2, x))[1], np.sin(.5) * .5),
                (lambda x: ad.vmap(ad.grad(f))(np.full(2, x))[1],
                 slope(0.5))):
            f(0.5)
            assert f.guard
            np.testing.assert_allclose(g(0.5), expected, rtol=1e-14)
            np.testing.assert_allclose(g(0.5), expected, rtol=1e-14)
    assert len(runs) == 2   # a number, and an element of a batch


def test_a_call_with_numbers_inside_a_trace_is_not_cut_short():
    """Staged, it is an equation, though no argument is traced."""
    f = ad.jit(lambda x: x * 2)
    f(3.0), f(3.0)
    jaxpr = ad.make_jaxpr(lambda x: x + f(3.0))(1.0)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ['jit', 'add']
    assert ad.jit(lambda x: x + f(3.0))(1.0) == 7.0
    g = lambda x: (x * f(3.0), f.guard and f.guard((3.0,)) is not MISS)
    (y, guarded), _ = ad.jvp(lambda x: g(x), (2.0,), (1.0,))
    assert y == 12.0 and not guarded
    assert f(4.0) == 8.0 and f.guard((4.0,)) == 8.0


def test_a_tracer_that_escaped_is_refused_and_not_computed_with():
    leaked, f = [], ad.jit(lambda x: x * 2)
    f(1.0), ad.jit(lambda x: leaked.append(x) or x)(1.0)
    with pytest.raises(ad.UnexpectedTracerError):
        f(leaked[0])
    assert f(2.0) == 4.0


def test_rules_are_asked_again_and_not_the_program():
    twice = ad.custom_jvp(lambda x: x + x)
    twice.defjvps(lambda t, y, x: 7 * t)
    f = ad.jit(twice)
    for _ in range(3):
        assert f(1.0) == f(1.0) == 2.0 and ad.grad(f)(1.0) == 7.0


# Errors

def divide(a, b):
    c = [a + 1,
         a // b]
    return c


def solve(a, b):
    c = a * 1.0
    return {'x': np.linalg.solve(c, b)}


@pytest.mark.parametrize('f, good, bad, error', [
    (solve, (np.eye(2), np.ones(2)), (np.zeros((2, 2)), np.ones(2)),
     np.linalg.LinAlgError), (divide, (1, 1), (1, 0), ZeroDivisionError)])
def test_a_mistake_behind_the_guard_quotes_the_user_s_line(
        f, good, bad, error, flattened):
    line = f.__code__.co_firstlineno + 2
    g = ad.jit(f)
    g(*good)
    del flattened[:]
    for _ in range(2):
        with pytest.raises(error) as info:
            g(*bad)
        assert f'{__file__}:{line}' in lines_of(info.value)
        assert lines_of(info.value).count('asked for') == 1
        assert_identical(g(*good), f(*good))
    assert not flattened and current_trace() is Trace.base


def test_a_key_error_inside_is_no_miss():
    """The guard looks keys up, and takes only its own errors for a miss."""
    p, runs = ad.Primitive('picky'), []
    p.def_abstract_eval(lambda x: x)

    @p.def_impl
    def impl(x):
        runs.append(x)
        if x > 1:
            raise KeyError('inside')
        return x * 2.0

    f = ad.jit(lambda d: p.bind(d['x']))
    f({'x': 0.5})
    del runs[:]
    with pytest.raises(KeyError, match='inside'):
        f({'x': 2.0})
    assert runs == [2.0]    # once
    assert f({'x': 1.0}) == 2.0 and runs == [2.0, 1.0]


def test_numpy_s_errstate_is_asked_behind_the_guard():
    for x in (1.0, np.float64(1), np.ones(3), np.ones(2000)):
        f = ad.jit(lambda x: np.log(x) * 2)
        f(x)
        for _ in range(2):
            with np.errstate(divide='raise'), pytest.raises(
                    FloatingPointError) as info:
                f(x * 0)
            assert f'{__file__}:' in lines_of(info.value)
            with np.errstate(divide='ignore'):
                assert np.all(f(x * 0) == -np.inf)
            with pytest.warns(RuntimeWarning, match='divide by zero'):
                f(x * 0)


# One call after the other

def test_each_type_keeps_its_guard_while_they_alternate():
    f, runs = counted(everything)
    args = [args for args in (*PLAIN, (C, 1.0), ([C], {'k': 2}))]
    for x in args:
        f(*x)
    guards, n = guards_of(f), len(runs)
    assert None not in guards
    for _ in range(2):
        for x in args:
            check(f, x, everything(*x))
            assert f.guard in guards and f.guard(x) is not MISS
            check(f, x, everything(*x))
    assert guards_of(f) == guards and len(runs) == n


def guards_of(f):
    """Returns the guards of all programs of a function."""
    return [guard for jaxpr, *_ in f.staged.values()
            for guard in compiled(jaxpr).guards.values()]


def test_old_guards_are_forgotten():
    f = ad.jit(np.sin)
    f(1.0)
    [(jaxpr, _, tree)] = f.staged.values()
    program = compiled(jaxpr)
    for i in range(2 * REMEMBERED):
        remember(program.guards, i, None)
    assert len(program.guards) == REMEMBERED
    assert f(0.5) == np.sin(0.5) and f.guard((0.5,)) == np.sin(0.5)


PLAIN = [(x,) for x in MANY_KINDS if not isinstance(x, Labelled) and not (
    isinstance(x, np.ndarray) and x.shape == ())]


def test_the_source_is_that_of_the_last_call_behind_the_guard_too():
    f = ad.jit(lambda x: np.cos(x) if np.ndim(x) else np.exp(x))
    for x, text in ((C, 'np.cos'), (1.0, 'np.exp'), (C, 'np.cos')):
        for _ in range(3):
            f(x)
            assert text in f.source
    ad.grad(lambda x: f(x))(1.0)
    assert 'np.exp' in f.source
    f(C)
    f(C)
    with pytest.raises(TypeError):
        f('text')
    assert 'np.cos' in f.source
    f(C)
    assert 'np.cos' in f.source and f.guard


def test_a_first_call_that_fails_leaves_no_guard():
    f = ad.jit(lambda a: np.linalg.inv(a))
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError):
            f(np.zeros((2, 2)))
        assert f.guard is None
    f(np.eye(2))
    assert f.guard is not None


def test_what_it_closes_over_was_copied():
    c = C.copy()
    f = ad.jit(lambda x: (x * c, c))
    for _ in range(3):
        assert_identical(f(C), (C * C, C))
        c += 1.0
        f(C)[1][:] = 9.0


class Model:
    def __init__(self, w):
        self.w = w

    @ad.jit
    def __call__(self, x):
        return self.w * x

    @partial(ad.jit, static_argnums=0)
    def held(self, x):
        return self.w * x

    @ad.jit
    def of_a_number(self, x):
        return x * self


ad.register_pytree_node(Model, lambda m: ((m.w,), None),
                        lambda _, ws: Model(*ws))


def test_methods():
    small, large = Model(2.0), Model(C)
    for _ in range(3):
        assert small(3.0) == small.held(3.0) == 6.0
        assert_identical(large(3.0), C * 3.0)
        assert_identical(large.held(3.0), C * 3.0)
        assert Model.of_a_number(2.0, 3.0) == 6.0
        assert Model.of_a_number(2.0, 4.0) == 8.0
    assert Model.of_a_number.guard and not Model.__call__.guard


def test_a_function_that_calls_itself():
    @ad.jit
    def total(x):
        return x[0] + total(x[1:]) if len(x) else 0.0

    for n in (5, 5, 3, 4, 5, 5, 0, 0):
        assert total(np.arange(float(n))) == n * (n - 1) / 2
    assert total.guard((np.ones(0),)) == 0.0


def test_a_call_inside_a_call_has_a_guard_of_its_own():
    """A primitive may call the function that it is a part of."""
    p = ad.Primitive('inner')
    p.def_abstract_eval(lambda x: x)
    f = ad.jit(lambda x: p.bind(x) * 3 if np.ndim(x) else np.exp(x))
    p.def_impl(lambda x: x + f(2.0))
    for x in (C, C + 1, C, 2.0, 2.0, C):
        expected = (x + np.exp(2.0)) * 3 if np.ndim(x) else np.exp(x)
        assert_identical(f(x), expected)
        assert_identical(f(x), expected)
    assert len(guards_of(f)) == 2 and None not in guards_of(f)


def test_threads_that_alternate_between_types():
    f = ad.jit(lambda x, y: {'s': np.sin(x) * y, 'd': (x, y)})
    args = [(C, 2.0), (2.0, C), (C[:2], C[:2]), (1, 2.0), (np.ones((2, 2)),
                                                           np.float32(1)),
            ([1.0][0], 3.0), (TABLE, 1.0), (TABLE[0], TABLE)]
    expected = [f.__wrapped__(*x) for x in args]

    def work(i):
        rng = np.random.default_rng(i)
        for k in rng.integers(0, len(args), 60):
            assert_identical(f(*args[k]), expected[k])
            assert_identical(f(*args[k]), expected[k])
        return True

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)


# What is written

def guard_of(f, *args):
    """Returns the guard of a program for these arguments, and its lines."""
    jaxpr = ad.make_jaxpr(f)(*args)
    xs, in_tree = ad.tree_flatten((args, {}))
    return write_guard(compiled(jaxpr), xs, in_tree,
                       ad.tree_structure(f(*args)))


def test_a_guard_is_a_function_of_the_arguments():
    guard = guard_of(lambda p, y: [p['b'] * y, (p['a'][0], None)],
                     {'a': [C], 'b': 2.0}, 3)
    assert_trees(guard(({'a': [C + 1], 'b': 4.0}, 5)), [20.0, (C + 1, None)])
    for args in (({'a': [C], 'b': 2.0},), ({'a': [C], 'b': 2}, 3),
                 ({'a': (C,), 'b': 2.0}, 3), ({'a': [C], 'c': 2.0}, 3),
                 ({'a': [C[:2]], 'b': 2.0}, 3), (None, 3), ()):
        assert guard(args) is MISS
    with current_trace().__class__(current_trace(), 'a test'):
        assert guard(({'a': [C], 'b': 2.0}, 3)) is MISS


def test_what_a_program_makes_itself_is_not_looked_through(monkeypatch):
    module, seen = sys.modules[write_guard.__module__], []
    own = module.own_memory
    monkeypatch.setattr(module, 'own_memory',
                        lambda ys, xs: seen.append(xs) or own(ys, xs))
    fresh = guard_of(lambda x: (np.sin(x), x * 2), C)
    fresh((C,)), fresh((C,))
    assert not seen
    passed = guard_of(lambda x: (np.sin(x), x, KEPT), C)
    passed((C,))
    [xs] = seen
    assert xs[0] is C and len(xs) == 2 and xs[1] is not KEPT
    np.testing.assert_array_equal(xs[1], KEPT)
