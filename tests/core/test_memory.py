"""Memory: arrays that are kept, lent to rules, and returned (chapter 24)."""

import gc
import tempfile
from functools import partial

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import seams
from autodiff_mini.core.memory import gc_paused
from autodiff_mini.interpreters.lowering import Lowered
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import PROGRAMS

X = np.array([0.5, 1.0, 1.5])


# A rule can only read its arguments.

def scale(a):
    a *= 2.0    # in its place
    return a


def custom_jvp(rule):
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(rule)
    return f


def custom_vjp(fwd, bwd):
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(fwd, bwd)
    return f


def primitive(method, rule):
    p = ad.Primitive('own')
    p.def_impl(lambda x: np.sin(x))
    p.def_abstract_eval(lambda x: x)
    p.def_jvp(lambda xs, ts: (p.bind(*xs), p.bind(*ts)))
    p.def_transpose(lambda ct, x: (ct,))
    getattr(p, method)(rule)
    return p.bind


def keep(x):
    return np.sin(x), x


WRITERS = {
    'primals': custom_jvp(lambda p, t: (np.sin(scale(p[0])), t[0])),
    'tangents': custom_jvp(lambda p, t: (np.sin(p[0]), scale(t[0]))),
    'fwd': custom_vjp(lambda x: (np.sin(scale(x)), x), lambda r, ct: (ct,)),
    'residuals': custom_vjp(keep, lambda x, ct: (scale(x) * ct,)),
    'cotangents': custom_vjp(keep, lambda x, ct: (scale(ct),)),
    'def_jvp': primitive('def_jvp', lambda xs, ts: (np.sin(xs[0]),
                                                    scale(ts[0]))),
    'def_transpose': primitive('def_transpose', lambda ct, x: (scale(ct),)),
    'def_impl': primitive('def_impl', lambda x: np.sin(scale(x))),
    'def_vmap': primitive('def_vmap', lambda args, dims: (scale(args[0]),
                                                          dims[0])),
}


@pytest.mark.parametrize('name', WRITERS)
def test_a_rule_that_writes_into_its_arguments_is_named(name):
    f, x, ct = WRITERS[name], X.copy(), np.ones(3)
    with pytest.raises(ValueError, match='read-only') as info:
        if name in ('tangents', 'def_jvp'):
            ad.jvp(f, (x,), (ct,))
        elif name == 'def_vmap':
            ad.vmap(f)(x)
        else:
            ad.vjp(f, x)[1](ct)
    assert 'belongs to the caller' in ''.join(info.value.__notes__)
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(ct, 1)


FEW = [program for program in PROGRAMS if program.leads][::4]


# Results belong to the caller.

def vjp_of(f, *xs):
    ys, pull = ad.vjp(f, *xs)
    return ys, lambda: pull(np.ones_like(ys))


def linearize_of(f, *xs):
    ys, push = ad.linearize(f, *xs)
    return ys, lambda: push(*map(np.ones_like, xs))


def jit_of(f, *xs):
    g, kept = ad.jit(f), [x.copy() for x in xs]
    return g(*xs), lambda: g(*kept)


def is_of_arrays(program):
    return program.is_smooth and all(
        type(x) is np.ndarray and x.dtype.kind == 'f' for x in [
            *program.args, np.asarray(program.function(np, *program.args))])


@pytest.mark.parametrize('of', [vjp_of, linearize_of, jit_of])
def test_library_and_caller_do_not_see_each_others_writes(of):
    for program in filter(is_of_arrays, [*FEW, *CUSTOM_PROGRAMS[::4]]):
        xs = [x.copy() for x in program.args]
        with np.errstate(all='ignore'):
            y, call = of(partial(program.function, np), *xs)
            first = call()
            for x, before in zip(xs, program.args, strict=True):
                np.testing.assert_array_equal(x, before, program.name)
            before = [np.copy(d) for d in ad.tree_leaves(first)]
            for array in ad.tree_leaves([y, first, xs]):
                if isinstance(array, np.ndarray) and array.flags.writeable:
                    array[...] = 7
            for d, expected in zip(ad.tree_leaves(call()), before,
                                   strict=True):
                np.testing.assert_array_equal(d, expected, program.name)


def test_the_garbage_collector_waits_only_while_a_program_is_compiled():
    before, seen = gc.get_threshold(), []

    def compiler(jaxpr):
        seen.append(gc.get_threshold()[0])
        return Lowered(jaxpr)

    def f(x):
        seen.append(gc.get_threshold()[0])  # the user's code
        return x * 2

    with seams.lower.taken_by(compiler):
        assert ad.jit(f)(3.0) == ad.jit(ad.jit(f))(3.0) == 6.0
    assert seen == [before[0], 0] * 2
    assert gc.get_threshold() == before


def test_a_pause_inside_another_does_not_end_it():
    before = gc.get_threshold()
    threshold = lambda: gc.get_threshold()[0]
    assert gc_paused(lambda: (gc_paused(threshold)(), threshold()))() == (
        0, 0)
    assert gc.get_threshold() == before


HANDING = [
    lambda x: ad.jvp(lambda x: x, (x,), (x,)),
    lambda x: ad.jvp(lambda x: x[1:], (x,), (x,)),
    lambda x: ad.jvp(lambda x: (x * 2, x), (x,), (x,), has_aux=True),
    lambda x: ad.vmap(lambda x: x)(x), lambda x: ad.vmap(lambda x: (x, x))(x),
    lambda x: ad.vjp(lambda x: (x, ad.switch(0, [lambda x: X], x)), x)[0],
    lambda x: ad.vjp(lambda x: x, x)[1](x),
    lambda x: ad.linearize(lambda x: x, x)[1](x),
    lambda x: ad.value_and_grad(lambda x: (np.sum(x), x), has_aux=True)(x)]


def test_results_belong_only_to_the_caller():
    for transform in HANDING:
        x = X.copy()
        outs = [y for y in ad.tree_leaves(transform(x)) if np.ndim(y)]
        for i, y in enumerate(outs):
            assert y.flags.writeable
            assert not any(np.shares_memory(y, z) for z in [x, *outs[:i]])


# Captured arrays

def test_a_constant_that_becomes_minus_zero_has_changed():
    c = np.array([0.0, 1.0])

    def f(x):
        c[0] = 0.0
        y = x / c
        c[0] = -0.0
        return y, x / c

    with np.errstate(divide='ignore'):
        for y, expected in zip(ad.jit(f)(np.ones(2)), f(np.ones(2))):
            np.testing.assert_array_equal(y, expected)


class Labeled(np.ndarray):
    """An array of a user's own class."""


def mapped():
    """Return an array that is mapped to a file."""
    with tempfile.TemporaryFile() as file:
        x = np.memmap(file, float, shape=2)
    x[:] = 2
    return x


ARRAYS = {     # by name: an array, and what owns its memory
    'labeled': lambda: [np.full(2, 2.0).view(Labeled)] * 2,
    'file': lambda: [mapped()] * 2,
    'view_of_a_file': lambda: (lambda x: (x[::-1], x))(mapped()),
    '0d': lambda: [np.array(2.0)] * 2,
    'broadcast': lambda: (lambda x: (np.broadcast_to(x, (3, 2)), x))(
        np.full(1, 2.0)),
    'a_field': lambda: [np.full(2, 2.0, [('a', float), ('b', float)])['b']]
    * 2,
    }
KEEPERS = {
    'jit': ad.jit,
    'linearize': lambda f: lambda x: ad.linearize(f, x)[1],
    'vjp': lambda f: lambda x: ad.vjp(f, x)[1],
    'linear_transpose': lambda f: lambda x: ad.linear_transpose(f, x),
    'checkpoint': lambda f: lambda x: ad.vjp(ad.checkpoint(f), x)[1],
    'scan': lambda f: lambda x: ad.vjp(lambda x: ad.scan(
        lambda c, _: (c, f(x)), 0.0, None, length=1)[1][0], x)[1],
    'make_jaxpr': lambda f: lambda x: (
        lambda jaxpr: lambda x: ad.eval_jaxpr(jaxpr, jaxpr.consts, x)[0])(
            ad.make_jaxpr(f)(x)),
}


@pytest.mark.parametrize('keep', KEEPERS)
def test_a_program_keeps_the_old_content_of_an_array(keep):
    for kind, make in ARRAYS.items():
        array, owner = make()
        x = np.full(np.shape(array), 3.0)[()]
        f = KEEPERS[keep](lambda x: x * array)
        kept = f(x)
        run = f if keep == 'jit' else kept
        owner[...] = 7
        np.testing.assert_array_equal(
            *np.broadcast_arrays(run(x), 6.0), kind)
