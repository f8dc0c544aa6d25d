"""The guard: a call like the last one skips the flattening.

The fixture `flattened` tells whether a call was flattened. The result is
right in both cases.
"""

import sys

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trace import Trace, current_trace
from autodiff_mini.interpreters.lowering import MISS
from tests.support.identical import Labeled, assert_identical
from tests.support.jitted import KEPT, RETURNED, counted
from tests.support.trees import Pair, assert_trees

C = np.arange(3.0)
TABLE = np.linspace(0.0, 1.0, 1600).reshape(40, 40)


@pytest.fixture
def flattened(monkeypatch):
    """Return a list that grows when a call of jit flattens its arguments."""
    module, seen = sys.modules[ad.jit.__module__], []
    flatten = module.tree_flatten
    monkeypatch.setattr(module, 'tree_flatten',
                        lambda tree: seen.append(1) or flatten(tree))
    return seen


def everything(*args):
    """Return the arguments, and a number computed from each leaf."""
    return {'b': [x * 2 for x in ad.tree_leaves(args)], 'a': (args, None)}


def check(f, args, expected):
    assert_identical(f(*args), expected)
    assert current_trace() is Trace.base


# Calls that are alike: pairs of arguments

ALIKE = {
    'arrays_without_axes': ((np.ones((), int),), (np.zeros((), int),)),
    'read_only': ((C,), (np.broadcast_to(1.0, 3),)),
    'empty': (((), [], {}),) * 2, 'none': ((None, (C, None)),) * 2,
    'dict': (({'x': C, 'y': 1.0},), ({'x': C + 1, 'y': 2.0},)),
    'numbers_as_keys': (({1: C, -2: 1.0},), ({-2: 2.0, 1: C},)),
    'keys_that_need_quotes': (({"'": C, '"\n\\{x}': 1.0},),) * 2,
    'all': (({'w': [C, (TABLE, None)], 'b': {}}, [1.0], np.float32(2)),
            ({'b': {}, 'w': [C + 1, (TABLE, None)]}, [2.0], np.float32(3))),
}


def test_a_call_like_the_last_one_flattens_nothing(flattened):
    for first, second in ALIKE.values():
        f, runs = counted(everything)
        expected = [everything(*args) for args in (first, second)]
        check(f, first, expected[0])
        del flattened[:]
        check(f, second, expected[1])
        check(f, first, expected[0])
        assert not flattened and len(runs) == 1


UNLIKE = {
    'array_and_scalar': ((C[0],), (np.array(1.0),)),
    'weak_type': ((1.0,), (np.float64(2),)), 'one_number': ((C,), (2.0,)),
    'subclass': ((C,), (C.view(Labeled),)),
    'more_arguments': ((C,), (C, C)), 'fewer_arguments': ((C, C), (C,)),
    'key': (({'x': C},), ({'y': C},)),
    'more_keys': (({'x': C},), ({'x': C, 'y': C},)),
    'pair': (((C, C),), (Pair(C, C),)),
}


def test_a_different_call_misses_the_guard(flattened):
    for name, (first, second) in UNLIKE.items():
        f, g = ad.jit(everything), ad.jit(everything)
        check(f, first, everything(*first))
        assert f.guard(first, {}) is not MISS and f.guard(second, {}) is MISS, name
        expected, before = g(*second), len(flattened)
        check(f, second, expected)
        check(f, second, expected)
        check(f, first, everything(*first))
        assert len(flattened) > before


WITHOUT = {
    'pair': (Pair(C, 2.0),), 'node': (ad.vjp(np.sin, 1.0)[1],),
    'subclass': (C.view(Labeled),), 'truth_as_key': ({True: C, False: 2.0},)}


def test_arguments_of_unknown_types_get_no_guard(flattened):
    for name, args in WITHOUT.items():
        f, runs = counted(everything)
        out, before = f(*args), len(flattened)
        assert f.guard is None, name
        check(f, args, out)
        assert len(flattened) == before + 1 and len(runs) == 1


def test_keywords_static_arguments_and_closures_get_no_guard():
    f = ad.jit(lambda x, n=2: x * n)
    for args, kwargs, out in [((3.0,), {}, 6.0), ((3.0,), {'n': 4}, 12.0),
                              ((), {'x': 3.0}, 6.0), ((3.0, 4), {}, 12.0)]:
        assert f(*args, **kwargs) == out
        assert bool(f.guard) is not bool(kwargs)
        assert f(*args, **kwargs) == out
    for static in {'static_argnums': 1}, {'static_argnames': 'n'}:
        g = ad.jit(lambda x, n=2: x ** n, **static)
        for n, out in ((2, 9.0), (3, 27.0), (2, 9.0)):
            assert g(3.0, n) == g(3.0, n=n) == out and g.guard is None


# Results

RESULTS = [
    lambda x: None, lambda x: (), lambda x: [], lambda x: {}, lambda x: x,
    lambda x: (x,), lambda x: [x], lambda x: (x, (x, [x, (None, x)]), {}),
    lambda x: {'b': x, 'a': (x * 2, [None])}, lambda x: {2: x, -1: x * 2},
    lambda x: {"'": x, '\\': x * 2, '\n"': x * 3}, lambda x: (2.0, 1, x),
    lambda x: [[], [()], [{'k': None}], x]]


def test_a_guarded_result_has_its_tree(flattened):
    for out in RESULTS:
        f = ad.jit(out)
        for x in (C, C + 1, TABLE, 2.0, 3.0):
            before, expected = len(flattened), out(x)
            y = f(x)
            took = len(flattened) - before
            assert_identical(y, expected)
        assert took == 0    # for the last one


@pytest.mark.parametrize('name', RETURNED)
def test_guarded_results_belong_to_the_caller(name, flattened):
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


# Errors

def divide(a, b):
    c = [a + 1,
         a // b]
    return c


def solve(a, b):
    c = a * 1.0
    return {'x': np.linalg.solve(c, b)}


MISTAKES = [
    (solve, (np.eye(2), np.ones(2)), (np.zeros((2, 2)), np.ones(2))),
    (divide, (1, 1), (1, 0))]


def test_a_mistake_behind_the_guard_quotes_the_users_line(flattened):
    for f, good, bad in MISTAKES:
        g, line = ad.jit(f), f.__code__.co_firstlineno + 2
        g(*good)
        del flattened[:]
        for _ in range(2):
            with pytest.raises((np.linalg.LinAlgError,
                                ZeroDivisionError)) as info:
                g(*bad)
            [note] = info.value.__notes__
            assert note.endswith(f'{__file__}:{line}')
            assert_identical(g(*good), f(*good))
        assert not flattened and current_trace() is Trace.base


def test_a_key_error_in_the_program_is_not_a_miss():
    """The guard looks up keys, and only its own errors count as a miss."""
    p, runs, doubled = ad.Primitive('picky'), [], {0.5: 1.0, 1.0: 2.0}
    p.def_abstract_eval(lambda x: x)
    p.def_impl(lambda x: runs.append(x) or doubled[x])
    f = ad.jit(lambda d: p.bind(d['x']))
    f({'x': 0.5})
    del runs[:]
    with pytest.raises(KeyError):
        f({'x': 2.0})
    assert runs == [2.0]    # once
    assert f({'x': 1.0}) == 2.0 and runs == [2.0, 1.0]


def test_a_call_inside_a_trace_is_recorded():
    """Even if its arguments are numbers that the guard knows."""
    f = ad.jit(lambda x: x * x)
    assert f(3.0) == 9.0
    jaxpr = ad.make_jaxpr(lambda x: x + f(3.0))(1.0)
    assert [eqn.primitive.name for eqn in jaxpr.eqns] == ['jit', 'add']
