"""The choice of a backend, and what it applies to."""

import copy
import pickle
import threading
from importlib.util import find_spec
from unittest.mock import patch

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import seams
from tests.support.wings import needs

pytestmark = needs('fast')
needs_numba = pytest.mark.skipif(
    not find_spec('numba'), reason='numba compiles the kernels')

X = np.linspace(-2.0, 2.0, 5000)


def bell(x):
    return 1 / (1 + x * x)


def wave(x):
    return np.tanh(x * x + 1) * x / (1 + x * x)


def is_fused(f):
    return '@kernel' in f.source


def test_an_unknown_backend_is_refused():
    for name in 'fuse', 3, '':
        with pytest.raises(ValueError, match=(
                f"Unknown backend {name!r}: write 'numpy' or 'fused'.")):
            with ad.backend(name):
                pass
    with pytest.raises(ValueError, match="write 'numpy' or 'fused'"):
        ad.jit(bell, backend='fuse')


def test_without_numba_the_error_says_how_to_install_it():
    cure = 'needs numba, .* Install it with `pip install numba`'
    with patch('autodiff_mini.wings.fused.choice.find_spec', lambda name: None):
        with pytest.raises(ModuleNotFoundError, match=cure) as caught:
            ad.jit(bell, backend='fused')
        assert caught.value.name == 'numba'
        with pytest.raises(ModuleNotFoundError, match=cure):
            with ad.backend('fused'):
                pass
        assert seams.chosen.get() == 'numpy' and seams.off.get() == ()
        ad.jit(bell, backend='numpy')(1.0)


@needs_numba
def test_a_function_has_the_backend_it_asks_for():
    f, g = ad.jit(bell, backend='fused'), ad.jit(bell)
    np.testing.assert_array_equal(f(X), g(X))
    assert is_fused(f) and not is_fused(g)
    with ad.backend('fused'):
        h = ad.jit(bell, backend='numpy')
        h(X)
        assert not is_fused(h)


@needs_numba
def test_a_block_has_a_backend_and_programs_are_kept_for_each():
    f = ad.jit(bell)
    for _ in range(2):
        f(X), f(X)
        assert not is_fused(f)
        with ad.backend('fused'):
            f(X), f(X)
            assert is_fused(f)
            with ad.backend('numpy'):
                f(X), f(X)
                assert not is_fused(f)
            assert is_fused(f)
    assert len(f.staged) == 1       # it is recorded once


@needs_numba
def test_a_guard_is_used_only_with_its_backend():
    f, ran = ad.jit(bell), []

    def noted(program, *args):
        ran.append(program)
        return original(program, *args)
    f(X)
    with ad.backend('fused'):
        f(X)
        guard = f.guard
        f(X)
        assert f.guard is guard and 'program' in guard.source
    original = type(f).run
    with patch.object(type(f), 'run', noted):
        f(X)
        assert ran == [f]
        f(X)
        assert ran == [f]


@pytest.mark.rest
@needs_numba
def test_derivatives_and_batches_have_the_backend():
    f = ad.jit(lambda x: np.sum(wave(x)), backend='fused')
    compiled = []

    def note(what):
        compiled.append(what.__name__)
    g = ad.jit(lambda x: np.sum(wave(x)))
    with seams.note.taken_by(note):
        for transform in (ad.grad, lambda f: lambda x: ad.jvp(f, (x,), (x,)),
                          lambda f: lambda x: ad.vmap(f)(x.reshape(-1, 50))):
            compiled.clear()
            found = transform(f)(X)
            assert {*compiled} >= {'FusedLowered'}
            assert 'FastLowered' not in compiled
            np.testing.assert_array_equal(found, transform(g)(X))


@needs_numba
def test_the_outer_function_decides():
    inner = ad.jit(bell, backend='fused')
    f = ad.jit(lambda x: inner(x) + 1)
    f(X)
    assert not is_fused(f)
    inner = ad.jit(bell)
    f = ad.jit(lambda x: inner(x) + 1, backend='fused')
    f(X)
    assert is_fused(f)


@needs_numba
def test_a_loop_outside_jit_has_the_backend_of_its_block():
    step = lambda c, _: (c - 0.01 * np.sin(c), c)
    run = lambda x: ad.scan(step, x, None, length=200)
    with seams.note.taken_by(lambda what: found.append(what.__name__)):
        found = []
        expected = run(1.0)
        assert 'FusedLowered' not in found
        with ad.backend('fused'):
            actual = run(1.0)
        assert 'FusedLowered' in found
    np.testing.assert_array_equal(actual[1], expected[1])
    assert actual[0] == expected[0]


@needs_numba
def test_plain_takes_the_small_compiler():
    f = ad.jit(bell, backend='fused')
    with ad.plain():
        f(X)
        assert not is_fused(f) and f.source.startswith('def program')


@needs_numba
def test_copies_keep_the_backend():
    for copied in (copy.copy, copy.deepcopy,
                   lambda f: pickle.loads(pickle.dumps(f))):
        assert copied(ad.jit(bell, backend='fused')).backend == 'fused'


@needs_numba
def test_the_source_says_what_is_fused_and_why_the_rest_is_not():
    f = ad.jit(lambda x, y, m: (wave(x) + np.sum(x), x @ x, y * y, m * m),
               backend='fused')
    f(X, 2.0, np.arange(3))
    head = f.source.split('\n\n')[0]
    for line in ('# 6 of 11 operations are fused.',
                 '# Not fused: tanh: only NumPy gives these bits.',
                 '# Not fused: reduce_sum, matmul: not element-wise.',
                 '# Not fused: mul: of int64.',
                 '# Not fused: mul: single numbers.'):
        assert line in head.splitlines(), head
    assert 'seconds' in head.splitlines()[-1]


@needs_numba
def test_a_compilation_shows_its_progress():
    said = []
    with seams.report.taken_by(lambda tag, text: said.append(text)):
        ad.jit(lambda x: wave(x) * 0.123 + 7.5, backend='fused')(X)
    assert any('numba' in (text or '') for text in said)
    assert said[-1] is None
    said.clear()
    with seams.report.taken_by(lambda tag, text: said.append(text)):
        ad.jit(lambda x: wave(x) * 0.123 + 7.5, backend='fused')(X[:100])
    assert not any('numba' in (text or '') for text in said), (
        'equal kernels are compiled once, whatever their size')


@needs_numba
def test_threads_share_a_program():
    f, expected = ad.jit(wave, backend='fused'), ad.jit(wave)
    f(np.resize(X, 40_000))
    wrong = []

    def work(i):
        x = np.resize(X, 40_000) + i
        y = expected(x)
        wrong.extend(i for _ in range(20) if not np.array_equal(f(x), y))
    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
