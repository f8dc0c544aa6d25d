"""pytree.py: containers as leaves and a structure (D10)."""

import pickle
from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.pytree import leaf_names, node_types

Pair = namedtuple('Pair', 'x y')


@pytest.fixture
def point():
    """A registered type, for one test."""
    @ad.register_pytree_node_class
    @dataclass
    class Point:
        x: object
        y: object
        unit: str = 'm'

        def tree_flatten(self):
            return (self.x, self.y), self.unit

        @classmethod
        def tree_unflatten(cls, unit, children):
            return cls(*children, unit)

    yield Point
    del node_types[Point]


TREES = {
    'leaf': (1, [1], '*'),
    'tuple': ((1, 2), [1, 2], '(*, *)'),
    'list': ([1, [2]], [1, 2], '[*, [*]]'),
    'dict': ({'b': 1, 'a': 2}, [2, 1], "{'a': *, 'b': *}"),
    'ordered': (OrderedDict(b=1, a=2), [1, 2], None),
    'none': (None, [], 'None'),
    'empty': ([(), [], {}], [], '[(), [], {}]'),
    'namedtuple': (Pair(1, (2, 3)), [1, 2, 3], 'Pair(x=*, y=(*, *))'),
    'set': ({1}, [{1}], '*'),
    'int_keys': ({2: 'b', 1: 'a'}, ['a', 'b'], '{1: *, 2: *}'),
    'nested': ({'a': [1, (2, None)], 'b': Pair(3, 4)}, [1, 2, 3, 4],
               "{'a': [*, (*, None)], 'b': Pair(x=*, y=*)}"),
}


@pytest.mark.parametrize('name', TREES)
def test_unflatten_undoes_flatten(name):
    tree, leaves, text = TREES[name]
    flat, treedef = ad.tree_flatten(tree)
    assert flat == leaves == ad.tree_leaves(tree)
    assert treedef == ad.tree_structure(tree)
    again = ad.tree_unflatten(treedef, flat)
    assert again == tree and type(again) is type(tree)
    assert treedef.num_leaves == len(leaves)
    if text:
        assert str(treedef) == f'PyTreeDef({text})'


def test_structures_differ_by_type_key_and_length():
    trees = [1, (1,), [1], (1, 2), {'a': 1}, {'b': 1}, Pair(1, 2), None,
             OrderedDict(a=1), ((1,),), (1, None), [(1,)],
             OrderedDict(b=1, a=2), OrderedDict(a=1, b=2),
             namedtuple('Other', 'x y')(1, 2)]
    structures = [ad.tree_structure(tree) for tree in trees]
    for i, a in enumerate(structures):
        for j, b in enumerate(structures):
            assert (a == b) is (i == j)
    assert len({*structures}) == len(trees)


def test_registered_types_are_containers(point):
    tree = [point(1, {'a': 2}), 3]
    leaves, treedef = ad.tree_flatten(tree)
    assert leaves == [1, 2, 3]
    assert treedef.unflatten([4, 5, 6]) == [point(4, {'a': 5}), 6]
    assert ad.tree_structure(point(1, 2)) != ad.tree_structure(
        point(1, 2, 'km'))
    assert ad.tree_structure(point(1, 2)) == ad.tree_structure(point(3, 4))


def test_a_type_is_registered_by_two_functions():
    class Box:
        def __init__(self, content):
            self.content = content

    ad.register_pytree_node(Box, lambda b: ([b.content], None),
                            lambda aux, children: Box(*children))
    try:
        doubled = ad.tree_map(lambda x: 2 * x, Box((1, 2)))
        assert type(doubled) is Box and doubled.content == (2, 4)
        with pytest.raises(ValueError, match='Duplicate .*Box'):
            ad.register_pytree_node(Box, None, None)
    finally:
        del node_types[Box]


@pytest.mark.parametrize('tree, other', [
    ((1, 2), (1,)), ((1, 2), [1, 2]), ({'a': 1}, {'b': 1}), (None, 1),
    (Pair(1, 2), (1, 2)), ((1, (2,)), (1, 2)),
])
def test_tree_map_refuses_other_structures(tree, other):
    with pytest.raises(ValueError, match='Expected a tree that starts like .*'
                                         r'PyTreeDef.*but got PyTreeDef'):
        ad.tree_map(lambda x, y: x, tree, other)


def test_unflatten_needs_the_right_number_of_leaves():
    with pytest.raises(ValueError, match=r'\)\) has 2 leaves, but 1 were'):
        ad.tree_unflatten(ad.tree_structure((1, 2)), [1])


def test_keys_that_cannot_be_sorted_are_named():
    with pytest.raises(TypeError, match=r"keys .*sortable.*\[1, 'a'\]"):
        ad.tree_flatten({1: 1, 'a': 2})


# Dataclasses

@dataclass
class Line:
    w: object
    b: object
    name: str = field(default='', metadata={'static': True})

    def at(self, x):
        return self.w * x + self.b


@dataclass(frozen=True, slots=True)
class Frozen:
    """Its constructor checks and converts what it is given."""
    x: object
    norm: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, 'norm', float(np.linalg.norm(self.x)))
        if self.norm < 0.5:
            raise ValueError('too short')


def test_a_dataclass_is_a_container():
    line = Line([1, 2], {'c': 3}, 'steep')
    leaves, treedef = ad.tree_flatten(line)
    assert leaves == [1, 2, 3]
    assert treedef.unflatten([4, 5, 6]) == Line([4, 5], {'c': 6}, 'steep')
    assert str(treedef) == (
        "PyTreeDef(Line(w=[*, *], b={'c': *}, name='steep'))")
    assert treedef == ad.tree_structure(Line([7, 8], {'c': 9}, 'steep'))
    assert treedef != ad.tree_structure(Line([7, 8], {'c': 9}, 'flat'))
    assert leaf_names(treedef, 'line') == [
        'line.w[0]', 'line.w[1]', "line.b['c']"]
    assert leaf_names(ad.tree_structure((1, Pair(2, 3))), 'x') == [
        'x[0]', 'x[1][0]', 'x[1][1]']


def test_static_fields_differ_by_type_as_well():
    """1 and True are equal, and do not compute the same."""
    a, b, c = (ad.tree_structure(Line(1.0, 2.0, x)) for x in (1, True, 1))
    assert a != b and a == c and hash(a) == hash(c) and len({a, b, c}) == 2


def test_grad_of_a_dataclass_is_a_dataclass():
    loss = lambda line: np.sum(line.at(np.arange(3.0)) ** 2)
    assert ad.grad(loss)(Line(1.0, 2.0, 'x')) == Line(22.0, 18.0, 'x')
    assert ad.jit(ad.grad(loss))(Line(1.0, 2.0, 'x')) == Line(22., 18., 'x')
    y, y_dot = ad.jvp(lambda p: p, (Line(1., 2.),), (Line(3., 4.),))
    assert (y, y_dot) == (Line(1., 2.), Line(3., 4.))
    lines = Line(np.ones(2), np.ones(2))
    mapped = ad.vmap(Line.at, (Line(0, None), None))(
        Line(np.arange(2.0), 1.0), 3.0)
    assert list(mapped) == [1.0, 4.0]
    assert list(ad.vmap(Line.at, (0, None))(lines, 3.0)) == [4.0, 4.0]


def test_the_constructor_of_a_dataclass_does_not_run_again():
    """A gradient may be shorter than a value, and a tracer is no float."""
    point = Frozen(np.array([3.0, 4.0]))
    gradient = ad.grad(lambda p: np.sum(p.x) * 0.1 + p.norm)(point)
    assert list(gradient.x) == [0.1, 0.1] and gradient.norm == 1.0
    assert type(gradient) is Frozen


def test_jit_traces_again_for_another_static_field():
    @ad.jit
    def f(line):
        names.append(line.name)
        return line.w * len(line.name)

    names = []
    assert [f(Line(2.0, 0.0, name)) for name in ('a', 'bc', 'a')] == [2, 4, 2]
    assert names == ['a', 'bc']
    with pytest.raises(ValueError, match=(
            'static field: name of Line is of type list. Pass a tuple')):
        f(Line(2.0, 0.0, ['a']))


def test_a_leaf_of_a_dataclass_is_named():
    with pytest.raises(TypeError, match=(
            r'primals\[0\].b: .*type str .*dataclass .metadata=.*static')):
        ad.jvp(lambda line: line.w, (Line(1.0, 'b'),), (Line(1.0, 'b'),))


def test_attributes_of_a_dataclass_that_are_not_fields_are_refused():
    @dataclass
    class Data:
        x: object

        @cached_property
        def square(self):
            return self.x ** 2

    data = Data(3.0)
    assert data.square == 9.0 and ad.grad(lambda d: d.square)(data) == Data(6)
    data.size = 1
    with pytest.raises(TypeError, match=(
            'attribute size of Data is not a field.*size: ... = field')):
        ad.tree_leaves(data)


def test_dataclasses_that_are_arrays_or_something_else_are_leaves():
    @dataclass
    class Array:
        x: object
        __array_function__ = None

    @dataclass
    class Failure(Exception):
        x: object

    class Steeper(Line):
        pass

    for leaf in (Array(1), Failure(1), Steeper(1, 2), Line, ad.typeof(1.0)):
        assert ad.tree_leaves([leaf]) == [leaf]


def test_register_dataclass_takes_lists_of_fields():
    def made():
        @dataclass
        class Layer:
            w: object
            size: int
        return Layer

    for lists in ({'meta_fields': ['size']}, {'data_fields': ['w'],
                                              'meta_fields': ['size']}):
        Layer = ad.register_dataclass(made(), **lists)
        assert ad.tree_leaves(Layer([1, 2], 3)) == [1, 2]
        with pytest.raises(ValueError, match='Duplicate .*Layer'):
            ad.register_dataclass(Layer)
        del node_types[Layer]
    every = ad.register_dataclass(made(), ['size', 'w'], ())
    assert ad.tree_leaves(every(1, 2)) == [2, 1]
    del node_types[every]
    with pytest.raises(ValueError, match=(
            r"each field of Layer once: .*\['w', 'size'\].*\['w'\]")):
        ad.register_dataclass(made(), ['w'], [])
    with pytest.raises(TypeError, match='dataclass'):
        ad.register_dataclass(int)


def test_structures_of_dataclasses_are_pickled():
    treedef = ad.tree_structure(Line(1.0, 2.0, 'x'))
    assert pickle.loads(pickle.dumps(treedef)) == treedef
