"""Arrays of another library stay in it."""

import multiprocessing
import os
import pickle
import sys
import tracemalloc
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerError
from tests.tables.array_programs import (
    ARGS, PROGRAMS, TRANSFORMS, branches, chosen, compiled, forgetful,
    forward_rule, made, neurons, some_of, started, unused)

rng = np.random.default_rng(0)
X, W, Y = rng.normal(size=(6, 4)), rng.normal(size=4), rng.normal(size=6)


def refuse_to_compute(graph, keys, **kwargs):
    raise AssertionError('something was computed')


def mixed(w, x, y):
    z = np.exp(-(x @ w)) / 2 + np.maximum(x.sum(axis=1), y)
    z = np.stack([np.where(y > 0, np.sqrt(z * z), z), Y]) * 2.0 - np.ones(6)
    return np.transpose(z)[:, 0] + np.cos(z.T[:, 1])


# vmap and custom rules

def chunks(*arrays):
    return [da.from_array(a, chunks=2) for a in arrays]


def lazily(f, *args):
    """Return the result of `f`, which must compute nothing."""
    with dask.config.set(scheduler=refuse_to_compute):
        return f(*args)


def check_lazy(f, *args):
    """Assert that `f` of chunked arrays is chunked and right."""
    out = lazily(f, *chunks(*args))
    expected = f(*args)
    for y, wanted in zip(ad.tree_leaves(out), ad.tree_leaves(expected),
                         strict=True):
        assert type(y) is da.Array and y.dtype == wanted.dtype
        assert y.shape == wanted.shape
        with dask.config.set(scheduler='synchronous'):
            np.testing.assert_allclose(y.compute(), wanted, rtol=1e-12)


def test_a_mask_has_forward_mode_and_reverse_mode_names_the_cure():
    """The size of the selection is unknown until it is computed."""
    x = da.from_array(X[0], chunks=2)
    f = lambda x: np.sum(x[x > 0] * 2)
    _, y_dot = lazily(lambda x: ad.jvp(f, (x,), (x,)), x)
    with dask.config.set(scheduler='synchronous'):
        assert y_dot.compute() == f(X[0])
    with pytest.raises(TracerError, match=r'np\.where\(mask, x, 0\)'):
        lazily(ad.grad(f), x)


def test_numpy_arrays_beside_chunked_ones_stay_lazy():
    def every(*args):
        y, f_vjp = ad.vjp(mixed, *args)
        z, f_jvp = ad.linearize(mixed, *args)
        return y, f_vjp(y), z, f_jvp(*args)
    check_lazy(every, W, X, Y)


def test_the_reverse_pass_of_an_array_index_is_refused():
    """Dask has no np.add.at."""
    f = lambda x: x[np.array([2, 0])]
    check_lazy(ad.vmap(f), X)
    check_lazy(lambda x: ad.linearize(f, x[0])[1](x[0] + 1), X)
    with pytest.raises(Exception):
        lazily(lambda x: ad.vjp(f, x[0])[1](f(x[0])), *chunks(X))


def test_prepared_operations_leave_other_arrays_alone(monkeypatch):
    """A cotangent from Dask can reach an operation that was prepared."""
    monkeypatch.setattr('autodiff_mini.wings.fast.tape.OFTEN', 1)
    f = lambda w: np.sum(np.sin(w)) + np.mean(w * w[0])
    g = lambda x: ad.grad(lambda w: f(w) * np.sum(x) + np.sum(w * x))(Y)
    check_lazy(g, Y)
    check_lazy(ad.vmap(g), np.stack([Y, Y]))


def test_the_cotangent_of_an_integer_is_numpys():
    """No other library has arrays of float0."""
    _, pullback = lazily(ad.vjp, lambda x, n: np.sum(x * n),
                         *chunks(W, np.arange(4)))
    x_bar, n_bar = lazily(pullback, 1.0)
    assert type(x_bar) is da.Array
    assert n_bar.dtype == ad.float0 and n_bar.shape == (4,)


def test_no_module_names_a_library_but_numpy():
    sources = [path.read_text().lower()
               for path in Path(ad.__file__).parent.rglob('*.py')]
    assert not any('dask' in text or 'cupy' in text for text in sources)


HUGE = [da.ones(3), da.ones((10**6, 3), chunks=(10**5, 3)),
        da.ones(10**6, chunks=10**5)]


@pytest.mark.rest
@pytest.mark.parametrize('transform', TRANSFORMS.keys() - {'hessian'})
def test_no_array_as_large_as_the_data_is_made(transform):
    """The plan holds no such array, and making the plan needs none."""
    programs = [neurons, branches, forward_rule, forgetful, compiled]
    if 'jit' not in transform:  # staging makes NumPy arrays
        programs += [made, started, unused]
    for program in programs:
        tracemalloc.start()
        plans = lazily(TRANSFORMS[transform](program), *HUGE)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 4 * 10**6, program
        for plan in ad.tree_leaves(plans):
            assert len(pickle.dumps(dict(plan.__dask_graph__()))) < 10**6


# The table of programs and transformations

def plan(program, transform, sizes=(2, 2, 2)):
    """Return the leaves of a plan, and their expected types."""
    f = TRANSFORMS[transform](program)
    plans = ad.tree_leaves(lazily(f, *map(da.from_array, ARGS, sizes)))
    assert {type(y) for y in plans} == {da.Array}
    return plans, ad.tree_leaves(f(*ARGS))


# `cond` has to see a number, also to know whether a branch is needed.
LAZY = [f for f in PROGRAMS if f is not chosen]

# The work of two processes: with fewer chunks, each has half of the rows.
FOUR, ROWS = ('jvp', 'grad', 'vmap', 'jit'), (4, (3, 4), 3)


def assert_equal(values, expected):
    for y, wanted in zip(values, expected, strict=True):
        assert y.dtype == wanted.dtype and y.shape == wanted.shape
        np.testing.assert_allclose(y, wanted, rtol=1e-11, atol=1e-12)


@pytest.mark.asks('B3')
@pytest.mark.parametrize('transform', TRANSFORMS)
def test_programs_stay_lazy_and_equal_numpy(transform):
    for program in some_of(LAZY, transform, 9):
        plans, expected = plan(program, transform)
        with dask.config.set(scheduler='synchronous'):
            assert_equal(dask.compute(*plans), expected)


@pytest.mark.asks('B3')
def test_programs_that_look_at_numbers_equal_numpy():
    for transform in ('jvp', 'grad', 'jit of hessian'):
        f = TRANSFORMS[transform](chosen)
        with dask.config.set(scheduler='synchronous'):
            outs = ad.tree_leaves(f(*map(da.from_array, ARGS, (2, 2, 2))))
            assert {type(y) for y in outs} == {da.Array}
            assert_equal(dask.compute(*outs), ad.tree_leaves(f(*ARGS)))


@pytest.fixture(scope='module')
def two_processes():
    """Yield a client of two worker processes, and stop them afterwards."""
    before = multiprocessing.active_children()
    with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True,
            dashboard_address=':0') as cluster, cluster.get_client() as client:
        yield client
    assert multiprocessing.active_children() == before


@pytest.mark.asks('B3')
@pytest.mark.rest
def test_two_processes_compute_the_whole_table(two_processes):
    """They need NumPy for it, and nothing of ours.

    It is one test, so that there is one cluster, however pytest shares out.
    """
    cells = {(f.__name__, transform): plan(f, transform, ROWS)
             for f in LAZY for transform in FOUR}
    values = dask.compute({cell: plans for cell, (plans, _) in cells.items()},
                          scheduler=two_processes)[0]
    for cell, (_, expected) in cells.items():
        assert_equal(values[cell], expected)
    workers = two_processes.run(os.getpid)
    assert len({*workers.values(), os.getpid()}) == 3
    for name, known in ('numpy', True), ('autodiff_mini', False):
        found = two_processes.run(lambda name: name in sys.modules, name)
        assert {*found.values()} == {known}
