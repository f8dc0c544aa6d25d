"""Lent arrays: what a transformation passes to a user's function is read-only.

The table crosses the ways to write into an array with the places where a
user's function is passed one. In each cell, the write is refused, so that the
caller's array never changes, and `jit` makes no difference.
"""

import operator
import re
import warnings
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.errors import ReadOnlyError
from tests.support import amount

A = np.array([3.0, 1.0, 2.0])
B = np.array([0.5, -0.25, 0.75])
Pair = namedtuple('Pair', 'left right')
rng = np.random.default_rng(0)


# Ways to write into an array

def augmented(a):
    a += 1
    return a


def part(a):
    a[1:] *= 2


WRITERS = {
    'item': lambda a: a.__setitem__(0, 5.0),
    'augmented': augmented,
    'out': lambda a: np.add(a, 1, out=a),
    'sort': lambda a: a.sort(),
    'fill': lambda a: a.fill(7.0),
    'copyto': lambda a: np.copyto(a, 7),
    'flat': lambda a: a.flat.__setitem__(0, 7.0),
    'part': part,
    'transpose': lambda a: a.T.__setitem__(..., 7.0),
    'ravel': lambda a: a.ravel().__setitem__(0, 7.0),
    'reshape': lambda a: a.reshape(-1, 1).__setitem__(0, 7.0),
    'put': lambda a: np.put(a, 0, 7.0),
    'putmask': lambda a: np.putmask(a, a > 0, 7.0),
    'add_at': lambda a: np.add.at(a, 0, 1.0),
    'shuffle': lambda a: rng.shuffle(a),
    'cumsum': lambda a: np.cumsum(a, out=a),
}
# The fast path of ufunc.at ignores the flag of a plain array (NumPy 2.4).
FORGETFUL = {'add_at'}


# Places where a function of the user is passed the array. Each is a function
# of the array and of `write`, which also returns its argument.

def ruled(function=np.sin, jvp=None, fwd=None, bwd=None, vmap=None,
          kind=ad.custom_vjp, **options):
    """Return a custom function with some rules replaced."""
    f = kind(function, **options)
    if fwd or bwd:
        f.defvjp(fwd or (lambda x: (np.sin(x), x)),
                 bwd or (lambda x, ct: (ct * np.cos(x),)))
    if jvp:
        ad.custom_jvp.defjvp(f, jvp)
    if vmap:
        f.def_vmap(vmap)
    return f


def sine_jvp(primals, tangents):
    return np.sin(*primals), np.cos(*primals) * tangents[0]


def primitive(**rules):
    p = ad.Primitive('own')
    p.def_impl(rules.get('impl', np.sin))
    p.def_abstract_eval(lambda x: x)
    p.def_jvp(lambda xs, ts: (p.bind(*xs), np.cos(xs[0]) * ts[0]))
    p.def_vmap(lambda args, dims: (p.bind(*args), dims[0]))
    p.def_transpose(lambda ct, x: (ct,))
    for name, rule in rules.items():
        getattr(p, f'def_{name}')(rule)
    return p.bind


def second(w):
    """Return a function that writes into its second argument."""
    return lambda x, a: np.sum(x) + 0 * np.sum(w(a))


def leaves(w):
    """Return a function that writes into each array of a tree."""
    return lambda x, tree: [
        w(a) for a in ad.tree_leaves(tree) if np.ndim(a)] and np.sum(x)


def written(w):
    return lambda a: np.sum(w(a))


def vector(f):
    return lambda *xs: f(*xs) * xs[0]


def summed(f):
    return lambda x: np.sum(f(x))


NONDIFF = {
    'grad': lambda a, w: ad.grad(second(w))(B, a),
    'grad_argnums': lambda a, w: ad.grad(lambda a, x: second(w)(x, a), -1)(
        a, B),
    'grad_keyword': lambda a, w: ad.grad(second(w))(B, a=a),
    'grad_dict': lambda a, w: ad.grad(leaves(w))(B, {'a': [a]}),
    'grad_tuple': lambda a, w: ad.grad(leaves(w))(B, (1, Pair(a, 'name'))),
    'grad_view': lambda a, w: ad.grad(second(w))(B, a[:2]),
    'grad_aux': lambda a, w: ad.grad(
        lambda x, a: (np.sum(x), w(a)), has_aux=True)(B, a),
    'grad_of_grad': lambda a, w: ad.grad(lambda x: np.sum(ad.grad(
        second(w))(x, a)))(B),
    'value_and_grad': lambda a, w: ad.value_and_grad(second(w))(B, a),
    'jacfwd': lambda a, w: ad.jacfwd(vector(second(w)))(B, a),
    'jacrev': lambda a, w: ad.jacrev(vector(second(w)))(B, a),
    'hessian': lambda a, w: ad.hessian(second(w))(B, a),
    'vmap': lambda a, w: ad.vmap(second(w), (0, None))(B, a),
    'vmap_tree': lambda a, w: ad.vmap(
        lambda tree: leaves(w)(tree[1], tree[0]), [[None, 0]])([a, B]),
    'vmap_of_grad': lambda a, w: ad.vmap(ad.grad(second(w)), (0, None))(B, a),
    'grad_of_vmap': lambda a, w: ad.grad(lambda x, a: np.sum(ad.vmap(
        second(w), (0, None))(x, a)))(B, a),
    'jvp_integers': lambda a, w: ad.jvp(
        second(w), (B, a), (B, np.zeros(3, ad.float0))),
    'odeint': lambda a, w: ad.odeint(
        lambda y, t, a: -y * np.sum(w(a)), 1.0, B[1:], a),
    'fixed_point': lambda a, w: ad.fixed_point(
        lambda a, x: x / 2 + 0 * np.sum(w(a)), a, 0.0),
    'root': lambda a, w: ad.root(
        lambda a, x: x - 1 + 0 * np.sum(w(a)), a, 0.0),
    'sequential_vmap': lambda a, w: ad.vmap(ad.sequential_vmap(second(w)), (
        0, None))(B, a),
    'vjp_integers': lambda a, w: ad.vjp(second(w), B, a),
    'linearize_integers': lambda a, w: ad.linearize(
        second(w), B, a),
    'grad_integers': lambda a, w: ad.grad(second(w), (0, 1), allow_int=True)(
        B, a),
    'check_grads': lambda a, w: ad.check_grads(written(w), (a,), 1),
}
DIFF = {
    'grad': lambda a, w: ad.grad(written(w))(a),
    'grad_tree': lambda a, w: ad.grad(lambda tree: leaves(w)(a, tree))([a]),
    'jvp': lambda a, w: ad.jvp(written(w), (a,), (B,)),
    'vjp': lambda a, w: ad.vjp(written(w), a),
    'linearize': lambda a, w: ad.linearize(written(w), a),
    'linear_transpose': lambda a, w: ad.linear_transpose(written(w), a),
    'hessian': lambda a, w: ad.hessian(written(w))(a),
    'jacfwd': lambda a, w: ad.jacfwd(written(w))(a),
    'jacrev': lambda a, w: ad.jacrev(written(w))(a),
    'vmap': lambda a, w: ad.vmap(written(w))(a[None]),
    'vmap_keyword': lambda a, w: ad.vmap(lambda a: written(w)(a))(
        a=a[None]),
    'checkpoint': lambda a, w: ad.checkpoint(written(w))(a),
    'grad_of_checkpoint': lambda a, w: ad.grad(ad.checkpoint(written(w)))(a),
    'scan_carry': lambda a, w: ad.scan(
        lambda a, _: (w(a) * 2, None), a, None, length=2),
    'scan_row': lambda a, w: ad.scan(
        lambda c, a: (c + np.sum(w(a)), None), 0.0, a[None]),
    'fori_loop': lambda a, w: ad.fori_loop(0, 2, lambda i, a: w(a) * 2, a),
    'while_loop': lambda a, w: ad.while_loop(
        lambda a: np.sum(a) < 50, lambda a: w(a) * 2, a),
    'while_test': lambda a, w: ad.while_loop(
        lambda a: np.sum(w(a)) < 50, lambda a: a * 2, a),
    'cond': lambda a, w: ad.cond(True, written(w), np.sum, a),
    'switch': lambda a, w: ad.switch(1, [np.sum, written(w)], a),
    'eval_shape': lambda a, w: ad.eval_shape(written(w), a),
    'make_jaxpr': lambda a, w: ad.make_jaxpr(written(w))(a),
    'odeint_state': lambda a, w: ad.odeint(lambda y, t: -w(y), a, B[1:]),
    'fixed_point_state': lambda a, w: ad.fixed_point(
        lambda b, x: w(x) / 2 + b, B, a),
    'root_state': lambda a, w: ad.root(lambda b, x: w(x) - b, B, a),
    'custom_root_solver': lambda a, w: ad.custom_root(
        lambda x: x - B, a, lambda f, x: w(x) * 0 + B, lambda g, y: y),
    'closure_convert': lambda a, w: ad.closure_convert(written(w), a),
    'custom_gradient': lambda a, w: ad.grad(ad.custom_gradient(
        lambda a: (np.sum(w(a)), lambda ct: ct * B)))(a),
    'call': lambda a, w: ad.grad(lambda a: call(written(w), a))(a),
}
STATIC = {
    'make_jaxpr': lambda a, w: ad.make_jaxpr(
        second(w), static_argnums=1)(B, a),
    'checkpoint': lambda a, w: ad.grad(ad.checkpoint(
        second(w), static_argnums=1))(B, a),
    'nondiff_jvp_fun': lambda a, w: ad.vmap(ruled(
        second(w), lambda a, p, t: (p[0], t[0]), kind=ad.custom_jvp,
        nondiff_argnums=1), (0, None))(B, a),
    'nondiff_jvp_rule': lambda a, w: ad.jvp(lambda x: ruled(
        lambda x, a: np.sum(x), lambda a, p, t: (
            second(w)(*p, a), np.sum(*t)), kind=ad.custom_jvp,
        nondiff_argnums=1)(x, a), (B,), (B,)),
    'nondiff_fwd': lambda a, w: ad.grad(lambda x: ruled(
        lambda x, a: np.sum(x), fwd=lambda x, a: (second(w)(x, a), x),
        bwd=lambda a, x, ct: (x,), nondiff_argnums=1)(x, a))(B),
    'nondiff_bwd': lambda a, w: ad.grad(lambda x: ruled(
        lambda x, a: np.sum(x), fwd=lambda x, a: (np.sum(x), x),
        bwd=lambda a, x, ct: (w(a),), nondiff_argnums=1)(x, a))(B),
    'nondiff_names': lambda a, w: ad.grad(lambda x: ruled(
        lambda x, *, a: np.sum(x), fwd=lambda x, *, a: (np.sum(x), x),
        bwd=lambda a, x, ct: (w(a),), nondiff_argnames='a')(x, a=a))(B),
}
RULES = {
    'jvp_primals': lambda a, w: ad.jvp(ruled(
        jvp=lambda p, t: (np.sin(w(p[0])), t[0]), kind=ad.custom_jvp),
        (a,), (B,)),
    'jvp_tangents': lambda a, w: ad.jvp(ruled(
        jvp=lambda p, t: (np.sin(p[0]), w(t[0])), kind=ad.custom_jvp),
        (B,), (a,)),
    'jvp_symbolic': lambda a, w: ad.jvp(symbolic(w), (a,), (B,)),
    'fwd': lambda a, w: ad.vjp(ruled(fwd=lambda x: (np.sin(w(x)), x)), a),
    'fwd_symbolic': lambda a, w: ad.vjp(symbolic_back(w), a),
    'bwd_residuals': lambda a, w: ad.vjp(ruled(
        bwd=lambda x, ct: (w(x) * ct,)), a)[1](B),
    'bwd_cotangents': lambda a, w: ad.vjp(ruled(
        bwd=lambda x, ct: (w(ct),)), B)[1](a),
    'jvp_def_vmap': lambda a, w: ad.vmap(ruled(
        jvp=sine_jvp, vmap=lambda n, _, x: (w(x), True),
        kind=ad.custom_jvp))(a),
    'vjp_def_vmap': lambda a, w: ad.vmap(ruled(
        bwd=lambda x, ct: (ct,), vmap=lambda n, _, x: (w(x), True)))(a),
    'custom_vmap_rule': lambda a, w: ad.vmap(ruled(
        vmap=lambda n, _, x: (w(x), True), kind=ad.custom_vmap))(a),
    'custom_vmap_unmapped': lambda a, w: ad.vmap(ruled(
        second(w), vmap=lambda n, _, x, a: (x * np.sum(w(a)), True),
        kind=ad.custom_vmap), (0, None))(B, a),
    'custom_vmap_fun': lambda a, w: ad.grad(ruled(
        written(w), vmap=lambda n, _, x: (x, True), kind=ad.custom_vmap))(a),
    'custom_fun_unperturbed': lambda a, w: ad.grad(lambda x: np.sum(
        x * ruled(written(w), sine_jvp, kind=ad.custom_jvp)(a)))(B),
    'custom_fun_mapped': lambda a, w: ad.vmap(ruled(
        written(w), sine_jvp, kind=ad.custom_jvp))(a[None]),
    'impl': lambda a, w: primitive(impl=lambda x: np.sin(w(x)))(a),
    'impl_of_grad': lambda a, w: ad.value_and_grad(summed(primitive(
        impl=lambda x: np.sin(w(x)))))(a),
    'primitive_jvp': lambda a, w: ad.jvp(primitive(
        jvp=lambda xs, ts: (np.sin(w(xs[0])), ts[0])), (a,), (B,)),
    'primitive_tangent': lambda a, w: ad.jvp(primitive(
        jvp=lambda xs, ts: (np.sin(xs[0]), w(ts[0]))), (B,), (a,)),
    'primitive_vjp': lambda a, w: ad.vjp(primitive(
        vjp=lambda xs: (np.sin(w(xs[0])), lambda ct: (ct,))), a),
    'primitive_backward': lambda a, w: ad.vjp(primitive(
        vjp=lambda xs: (np.sin(xs[0]), lambda xs, ct: (w(xs[0]),))),
        a)[1](B),
    'primitive_vmap': lambda a, w: ad.vmap(primitive(
        vmap=lambda args, dims: (w(args[0]), dims[0])))(a),
    'primitive_transpose': lambda a, w: ad.linear_transpose(primitive(
        transpose=lambda ct, x: (w(ct),)), B)(a),
}


def symbolic(w):
    f = ad.custom_jvp(np.sin)
    f.defjvp(lambda p, t: (np.sin(w(p[0])), t[0]), symbolic_zeros=True)
    return f


def symbolic_back(w):
    f = ad.custom_vjp(np.sin)
    f.defvjp(lambda x: (np.sin(w(x.value)), None), lambda _, ct: (ct,),
             symbolic_zeros=True)
    return f


PLACES = {f'{kind}: {name}': place for kind, places in {
    'not differentiated': NONDIFF, 'differentiated': DIFF, 'static': STATIC,
    'rule': RULES}.items() for name, place in places.items()}


def attempt(place, writer, jit):
    """Let a user's function write into the array that it is passed.

    Return the caller's array before and after, the error, or None, and the
    types that the function was passed.
    """
    before = A.astype(int) if 'integers' in place else A
    a, seen, found = before.copy(), set(), None

    def write(x):
        seen.add(type(x))
        WRITERS[writer](x)
        return x

    def run(a):
        out = PLACES[place](a, write)
        return [x for x in ad.tree_leaves(out) if np.ndim(x) >= 0]

    with warnings.catch_warnings():
        warnings.simplefilter('ignore')     # about shuffling a tracer
        try:
            (ad.jit(run) if jit else run)(a)
        except Exception as error:
            found = error
    return before, a, found, seen


@pytest.mark.parametrize('place', PLACES)
def test_a_write_into_a_lent_array_is_refused(place):
    for i, writer in enumerate(WRITERS):
        if not (amount.WHOLE or i % 4 == len(place) % 4):
            continue
        for jit in False, True:
            before, after, error, seen = attempt(place, writer, jit)
            assert seen, 'the function was not called'
            if writer in FORGETFUL and np.ndarray in seen:
                continue
            np.testing.assert_array_equal(after, before)
            assert isinstance(error, ReadOnlyError), (writer, jit, error)
            words = str(error) + ''.join(getattr(error, '__notes__', []))
            assert any(why in words for why in WHY), words
            assert 'np.copy(x)' in words


WHY = 'belongs to', 'was passed to a rule'


def scale(x, a):
    a *= 2
    return np.sum(x * a)


def test_the_error_names_the_function_that_writes():
    ruled_back = ruled(fwd=lambda x: (np.sin(x), x), bwd=lambda x, ct: (
        augmented(ct),))
    batched = ruled(kind=ad.custom_vmap, vmap=lambda n, _, x: (
        augmented(x), True))
    for name, run in {
            'scale can only': lambda: ad.grad(scale)(B, A.copy()),
            'grad of augmented is an argument': lambda: ad.grad(augmented)(
                A.copy()),
            'VJP bwd rule .*lambda.* can only': lambda: ad.vjp(
                ruled_back, A)[1](B.copy()),
            'vmap rule .*lambda.* can only': lambda: ad.vmap(batched)(
                A.copy())}.items():
        with pytest.raises(ReadOnlyError) as info:
            run()
        words = str(info.value) + ''.join(
            getattr(info.value, '__notes__', []))
        assert re.search(name.replace('is an', '.*is an'), words), words


def test_an_error_about_an_array_of_the_program_is_numpys():
    def f(x):
        np.broadcast_to(B, (2, 3))[0] = 1
        return np.sum(x)
    for way in ad.grad, ad.jit:
        with pytest.raises(ValueError, match='read-only') as info:
            way(f)(A)
        assert not isinstance(info.value, ReadOnlyError)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) >= '2.5.0',
                    reason='NumPy can have repaired it')
def test_numpy_adds_at_an_index_of_a_read_only_array():
    """So the table cannot hold for `np.add.at`; see FORGETFUL."""
    a = A.copy()
    a.flags.writeable = False
    np.add.at(a, 0, 1.0)
    assert a[0] == A[0] + 1
    with pytest.raises(ValueError, match='read-only'):
        np.add.at(a[None], 0, 1.0)


# A plain call, a closure, and a result: memory that is the user's own

def test_a_plain_call_of_a_custom_function_only_calls_it():
    a = A.copy()
    functions = (
        ruled(augmented, sine_jvp, kind=ad.custom_jvp),
        ruled(augmented, bwd=lambda x, ct: (ct,)),
        ruled(augmented, vmap=lambda n, _, x: (x, True), kind=ad.custom_vmap),
        ruled(lambda x, a: augmented(a), lambda a, p, t: (p, t),
              kind=ad.custom_jvp, nondiff_argnums=1))
    for i, f in enumerate(functions):
        f(*[B, a][-f.count:])
        np.testing.assert_array_equal(a, A + i + 1)
        with ad.debug_nans():
            f(*[B, a][-f.count:])
        np.testing.assert_array_equal(a, A + i + 2)
        a -= 1


def test_a_function_can_write_into_an_array_that_it_closes_over():
    a = A.copy()

    def f(x):
        a[0] += 1
        return np.sum(x)
    ad.grad(f)(B), ad.vmap(f)(B[None])
    assert a[0] == A[0] + 2


def test_a_lent_argument_that_is_returned_becomes_the_callers():
    for a in A.copy(), A.copy()[::-1], np.arange(3):
        for way in ad.grad, ad.jacfwd, ad.jacrev, ad.hessian:
            _, aux = way(lambda x, a: (np.sum(x), {'a': a}), has_aux=True)(
                B, a)
            aux = aux['a']
            np.testing.assert_array_equal(aux, a)
            assert aux.flags.writeable and not np.shares_memory(aux, a)


# What can be lent

class Labeled(np.ndarray):
    """An array of a user's own class."""


@dataclass
class Layer:
    w: np.ndarray
    name: str


@pytest.mark.parametrize('make', [
    lambda: A.copy().view(Labeled), lambda: np.ma.array(A),
    lambda: np.array(2.0), lambda: np.array(['a']),
    lambda: np.array([(1, 2.0)], [('i', int), ('x', float)])])
def test_an_array_of_a_subclass_is_lent_as_it_is(make):
    a, seen = make(), []
    for way in ad.grad(lambda x, a: seen.append(a) or np.sum(x)), ad.vmap(
            lambda x, a: seen.append(a) or np.sum(x), (0, None)):
        way(B, a)
    for x in seen:
        assert type(x) is type(a) and np.shares_memory(x, a)
        assert x.dtype == a.dtype and not x.flags.writeable
    assert a.flags.writeable


def test_a_container_is_lent_with_its_type_and_order():
    tree = [{'b': A, 'a': None, 3: {A.shape: A}}, Pair(A, 'name'),
            OrderedDict(z=A, y=1), Layer(A, 'first')]
    seen = []
    ad.grad(lambda x, tree: seen.append(tree) or np.sum(x))(B, tree)
    [(unsorted, pair, ordered, layer)] = seen
    assert [*unsorted] == ['b', 'a', 3] and [*ordered] == ['z', 'y']
    assert type(pair) is Pair and layer.name == 'first'
    lent = [unsorted['b'], unsorted[3][3,], pair.left, ordered['z'], layer.w]
    assert not any(x.flags.writeable for x in lent) and A.flags.writeable


def test_objects_without_arrays_are_passed_unchanged():
    class Model:
        def __init__(self):
            self.w = A.copy()
    held = [Model(), [], {1: 2, 'a': 'b'}, (1, 'x'), [[0.5]], np.sum, 'text',
            Layer(1.0, 'plain')]
    held.append(held[1])
    for way in ad.grad, lambda f: ad.vmap(f, (0, *[None] * len(held))):
        def f(x, *args):
            assert all(map(operator.is_, args, held))
            args[1].append(3)
            return np.sum(x)
        way(f)(B[None] if way is not ad.grad else B, *held)
    assert held[1] == [3, 3]


def test_a_change_of_a_lent_container_is_not_lost():
    def log(x, seen):
        seen.append(1.0)
        return np.sum(x)

    def update(x, layer):
        layer.name = 'second'
        return np.sum(x)
    for f, held, name in (log, [A], 'list'), (update, Layer(A, 'first'),
                                              'Layer'):
        for way in ad.grad(f), ad.vmap(f, (0, None)):
            with pytest.raises(TypeError, match=(
                    f'{f.__name__} changes a {name} that it was passed')):
                way(B, held)
