"""Guard methods: transformations decorate them, and jit traces self."""

import pickle
import unittest
from dataclasses import dataclass
from functools import cached_property, partial
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad

X = np.arange(3.0)
traced = []     # the name of each method that runs


class Model:
    def __init__(self, w=2.0):
        self.w = np.full(3, w)
        self.rate = 0.5
        self.options = {'power': 1, 'shift': np.ones(3)}

    def plain(self, x):
        traced.append('plain')
        return (self.w * x) ** self.options['power'] * self.rate

    @ad.jit
    def step(self, x):
        """Take a step."""
        traced.append('step')
        return self.plain(x) + self.options['shift']

    @partial(ad.jit, static_argnames='n')
    def times(self, x, n):
        return x * self.w if n == 1 else x * self.times(x, n=n - 1)

    @cached_property
    def norm(self):
        return np.sum(self.w ** 2)

    @ad.jit
    def normed(self, x):
        return x / self.norm

    @staticmethod
    @ad.jit
    def twice(x):
        return 2 * x

    @ad.checkpoint
    def cheap(self, x):
        return np.sum(np.sin(self.w * x))

    @partial(ad.grad, argnums=1)
    def slope(self, x):
        return np.sum(self.w * x ** 2)

    @ad.grad
    def by_self(self, x):
        return np.sum(self.w * x)

    @ad.custom_jvp
    def ruled(self, x):
        return self.w * x

    @ruled.defjvp
    def ruled_jvp(self, primals, tangents):
        return self.ruled(*primals), 7 * self.w * tangents[0]

    @ad.custom_vjp
    def back(self, x):
        return np.sum(self.w * x)

    def back_fwd(self, x):
        return self.back(x), None

    def back_bwd(self, residuals, ct):
        return 7 * self.w * ct,

    back.defvjp(back_fwd, back_bwd)

    @ad.custom_vmap
    def batched(self, x):
        return self.w * x

    @batched.def_vmap
    def batched_rule(axis_size, in_batched, self, x):
        assert (axis_size, in_batched) == (2, [False, True])
        return 7 * self.w * x, True


def test_a_method_is_decorated_with_jit():
    model = Model()
    assert list(model.step(X)) == list(model.step(x=X)) == [1.0, 2.0, 3.0]
    assert list(Model.step(model, X)) == [1.0, 2.0, 3.0]
    assert list(Model(4.0).step(X)) == [1.0, 3.0, 5.0]
    assert list(model.times(X, n=2)) == [0.0, 2.0, 8.0]
    assert list(model.normed(X)) == list(X / 12)
    assert list(Model.twice(X)) == list(model.twice(X)) == [0.0, 2.0, 4.0]


def test_a_jit_method_sees_that_attributes_have_changed():
    model = Model()
    bound = ad.jit(model.plain)
    for change in (
            lambda: None, lambda: setattr(model, 'w', np.ones(3)),
            lambda: np.copyto(model.w, 3.0),
            lambda: setattr(model, 'rate', 2.0),
            lambda: model.options.update(power=2),
            lambda: np.copyto(model.options['shift'], X)):
        change()
        expected = model.plain(X)
        np.testing.assert_array_equal(bound(X), expected)
        np.testing.assert_array_equal(
            model.step(X), expected + model.options['shift'])


def test_a_jit_method_is_traced_once_for_values_of_arrays():
    class Other(Model):
        step = ad.jit(Model.step.f)

    model, other = Other(), Other(5.0)
    del traced[:]
    for _ in range(3):
        model.step(X), other.step(X)
        model.w = model.w + 1
        model.w *= 2
    assert traced == ['step', 'plain']


def test_jit_of_a_bound_method_counts_arguments_without_self():
    model = Model()
    f = ad.jit(model.plain)
    assert list(f(X)) == list(f(x=X)) == [0.0, 1.0, 2.0]
    assert list(ad.jit(model.plain, static_argnums=0)(3)) == [3.0] * 3
    assert list(ad.jit(model.plain, static_argnames='x')(x=3)) == [3.0] * 3
    assert repr(f) == '<jit of Model.plain>' and 'def program' in f.source


class Plus:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x + self.n


def test_jit_of_a_called_object_sees_its_attributes():
    plus = Plus(np.ones(3))
    f = ad.jit(plus)
    assert list(f(X)) == [1.0, 2.0, 3.0]
    plus.n *= 2
    assert list(f(X)) == [2.0, 3.0, 4.0]
    assert 'Plus>' in repr(f)
    assert list(pickle.loads(pickle.dumps(ad.jit(Plus(1))))(X)) == [1, 2, 3]


def test_static_attributes_are_compared_by_their_old_values():
    class Sizes:
        rows = [1, 2]

        @ad.jit
        def times(self, x):
            return x * len(self.rows)

    sizes = Sizes()
    sizes.rows = {1, 2}
    assert sizes.times(1.0) == 2.0
    sizes.rows.add(3)
    assert sizes.times(1.0) == 3.0
    sizes.rows = [1]
    assert sizes.times(1.0) == 1.0
    sizes.rows.append(3)
    assert sizes.times(1.0) == 2.0


class Open:
    @ad.jit
    def f(self, x):
        return x


class Slots(Open):
    __slots__ = ('w',)


def test_objects_that_cannot_be_opened_are_refused():
    unsorted = Open()
    unsorted.d = {1: X, 'a': X}
    for it, words in (unsorted, 'must be sortable'), (
            Slots(), 'cannot be traced'):
        with pytest.raises(TypeError, match=words):
            it.f(1.0)


class Case(unittest.TestCase):
    def twice(self, x):
        return 2 * x

    def runTest(self):
        """Let unittest make a Case."""


def test_a_dict_without_an_order_in_an_object_is_static():
    case = Case()
    twice = ad.jit(case.twice)
    assert twice(3.0) == 6.0 == ad.vmap(twice)(np.full(2, 3.0))[1]
    assert ad.grad(twice)(3.0) == 2.0

    class Table:
        @ad.jit
        def at(self, x):
            traced.append('at')
            return x * self.rows[0][dict] + len(self.rows)

    table = Table()
    table.rows = [{dict: 2, list: [1, (3, {1: 'a', 'b': None})]}]
    for change in (lambda: None, lambda: table.rows[0].update({dict: 5}),
                   lambda: table.rows.append({}),
                   lambda: table.rows[0].update({2: 'c'}),
                   lambda: table.rows[0][list][1][1].update({'b': 1})):
        change()
        del traced[:]
        for _ in range(2):
            assert table.at(3.0) == (
                3 * table.rows[0][dict] + len(table.rows))
        assert traced == ['at']


def test_an_array_without_numbers_in_an_object_is_static():
    class Names:
        @ad.jit
        def count(self, x):
            traced.append('count')
            return x * np.sum(self.names == self.names[0])

    names = Names()
    for array in (np.array(['a', 'b']), np.array(['a', None], object),
                  np.array(['2020', '2021'], 'M8[Y]'),
                  np.array([(1, 2.0), (3, 4.0)], 'i4,f8')):
        names.names = array
        del traced[:]
        assert [names.count(2.0), names.count(2.0)] == [2.0, 2.0]
        array[1] = array[0]
        assert [names.count(2.0), names.count(2.0)] == [4.0, 4.0]
        assert traced == ['count'] * 2


def test_a_rule_sees_a_traced_attribute_beside_a_dict_without_an_order():
    def product(w):
        model = Model()
        model.w, model.table = w, {dict: 1, 'a': 2}
        return model.ruled(X)
    mapped = ad.vmap(product)(np.diag([1.0, 2.0, 5.0]))
    np.testing.assert_array_equal(mapped, X * np.diag([1.0, 2.0, 5.0]))
    with pytest.raises(TypeError, match='is the self of a method'):
        ad.jvp(product, (np.ones(3),), (np.ones(3),))


def test_jit_looks_at_each_item_of_a_container_and_not_inside_arrays():
    """So an object with a large list is slow, but not one with an array."""
    looks = []

    class Item:
        def __eq__(self, other):
            return looks.append('compare') or self is other

        def __hash__(self):
            return looks.append('look') or 1

    class Holder:
        @ad.jit
        def of(self, x):
            return x

    counts = []
    for n in 1, 10:
        holder = Holder()
        holder.items = [Item() for _ in range(n)]
        holder.table = np.zeros(1000 * n)
        holder.of(1.0)
        looks.clear()
        holder.of(1.0)
        counts.append(looks.count('look'))
    assert counts[1] == 10 * counts[0] > 0


class Careless:
    def __init__(self):
        self.seen, self.count, self.w = [], 0, np.ones(3)

    @partial(ad.jit, static_argnums=1)
    def do(self, change, x):
        change(self, x)
        return x


@pytest.mark.parametrize('change, words', [
    (lambda self, x: setattr(self, 'count', 1), 'changes self.count'),
    (lambda self, x: self.seen.append(x), 'changes self.seen'),
    (lambda self, x: setattr(self, 'new', x), 'changes self.new'),
    (lambda self, x: delattr(self, 'count'), 'changes self.count'),
    (lambda self, x: np.add(self.w, x, out=self.w), 'read-only')])
def test_jit_refuses_a_method_that_changes_self(change, words):
    careless = Careless()
    with pytest.raises(TypeError, match=words):
        careless.do(change, X)
    assert (careless.seen, careless.count) == ([], 0)
    assert list(careless.w) == [1.0] * 3 and not hasattr(careless, 'new')


class Net:
    """A cycle of objects that ends in arrays."""

    def __init__(self, *layers):
        self.rest = [Net(*layers[1:])] if layers else []
        self.layers = layers[:1]
        self.me = self

    @ad.jit
    def run(self, x):
        return x * len(self.layers)


def test_jit_refuses_arrays_inside_of_objects_that_it_would_freeze():
    assert list(Net().run(X)) == [0.0] * 3
    for net, name, kind in (
            (Net(Plus(X)), 'layers', 'Plus'),
            (Net(None, Plus(X)), 'rest', 'Plus'),
            (Net(SimpleNamespace(w=X)), 'layers', 'SimpleNamespace')):
        with pytest.raises(TypeError, match=(
                f'changes to the arrays in self.{name}, an object of type '
                f'{kind}. Make {kind} a dataclass')):
            net.run(X)


@dataclass
class Line:
    w: float
    b: float

    @ad.jit
    def at(self, x):
        return self.w * x + self.b

    @ad.grad
    def slopes(self, x):
        return self.w * x + self.b

    @ad.custom_jvp
    def ruled(self, x):
        return self.w * x

    ruled.defjvps(lambda t, y, line, x: 5 * t.w, lambda t, y, line, x: 7 * t)


def test_a_method_of_a_dataclass_has_a_traced_self():
    line = Line(2.0, 1.0)
    assert line.at(3.0) == 7.0 and line.slopes(3.0) == Line(3.0, 1.0)
    line.w = 5.0
    assert line.at(3.0) == ad.jit(line.at)(3.0) == 16.0
    assert ad.grad(line.at)(3.0) == 5.0 and ad.grad(line.ruled)(3.0) == 7.0
    assert ad.grad(Line.ruled)(line, 3.0) == Line(5.0, 0.0)


def test_other_transformations_of_methods_hold_self():
    model = Model()
    assert list(ad.vmap(model.step)(np.ones((2, 3)))[1]) == [2.0] * 3
    assert list(ad.grad(model.cheap)(X)) == list(2 * np.cos(2 * X))
    assert list(model.slope(X)) == [0.0, 4.0, 8.0]
    model.w[:] = 0
    assert model.cheap(X) == 0
    assert list(model.slope(X)) == [0.0] * 3


def test_a_gradient_with_respect_to_self_names_the_fix():
    with pytest.raises(TypeError, match=(
            'grad of Model.by_self: argument 0 .self; argnums=1 names .*: a '
            'value of type Model cannot be traced: make Model a dataclass')):
        Model().by_self(X)


def test_rules_of_a_method_get_self():
    model = Model()
    for wrap in (lambda f: f), ad.jit:
        assert list(wrap(model.ruled)(X)) == [0.0, 2.0, 4.0]
        y, y_dot = ad.jvp(wrap(model.ruled), (X,), (np.ones(3),))
        assert list(y_dot) == [14.0] * 3
        assert list(ad.grad(wrap(model.back))(X)) == [14.0] * 3
        assert wrap(ad.vmap(model.batched))(np.ones((2, 3))).tolist() == [
            [14.0] * 3] * 2


def test_rules_of_a_method_give_no_derivative_in_self():
    def with_w(w, name):
        model = Model()
        model.w = w
        return np.sum(getattr(model, name)(X))

    for name in 'ruled', 'back':
        with pytest.raises(TypeError, match=(
                f'0 of Model.{name} is the self of a method, but it is')):
            ad.grad(with_w)(np.ones(3), name)
        assert ad.jit(partial(with_w, name=name))(np.ones(3)) == 3.0
        mapped = ad.vmap(partial(with_w, name=name))
        assert mapped(np.diag([1.0, 2.0, 5.0])).tolist() == [0.0, 2.0, 10.0]


def test_defjvps_of_a_method_names_defjvp():
    class Scale:
        @ad.custom_jvp
        def of(self, x):
            return x

        of.defjvps(lambda t, y, x: t)

    with pytest.raises(ValueError, match='Scale.of: .* got 1.*self.*jvp'):
        ad.jvp(Scale().of, (1.0,), (1.0,))
