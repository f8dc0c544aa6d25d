"""trees.py: containers as leaves and a structure (D10)."""

import pickle
from collections import OrderedDict
from dataclasses import dataclass, field, make_dataclass
from functools import cached_property

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.trees import leaf_names, node_types
from tests.support.trees import Pair


@pytest.fixture(autouse=True)
def types_are_forgotten():
    yield
    for kind in [kind for kind in node_types if kind.__module__ == __name__]:
        del node_types[kind]


TREES = [
    (1, [1], '*'), ((1, 2), [1, 2], '(*, *)'),
    ([1, [2]], [1, 2], '[*, [*]]'),
    ({'b': 1, 'a': 2}, [2, 1], "{'a': *, 'b': *}"),
    (OrderedDict(b=1, a=2), [1, 2], None), (None, [], 'None'),
    (OrderedDict(a=1, b=2), [1, 2], None),
    (Pair(1, (2, 3)), [1, 2, 3], 'Pair(x=*, y=(*, *))'),
    ([{1}], [{1}], '[*]'),
    ({2: 'b', 1: 'a'}, ['a', 'b'], '{1: *, 2: *}'),
]


def test_unflatten_undoes_flatten():
    for tree, leaves, text in TREES:
        flat, treedef = ad.tree_flatten(tree)
        assert flat == leaves == ad.tree_leaves(tree)
        again = ad.tree_unflatten(treedef, flat)
        assert again == tree and type(again) is type(tree)
        assert treedef.num_leaves == len(leaves)
        assert text is None or str(treedef) == f'PyTreeDef({text})'


def test_structures_differ_by_type_key_and_length():
    structures, again = [
        [ad.tree_structure(tree) for tree, _, _ in TREES] for _ in 'ab']
    for i, a in enumerate(structures):
        assert [a == b for b in again] == [i == j for j in range(len(again))]
    assert len({*structures, *again}) == len(TREES)


def test_mistakes_are_named():
    for tree, other in [((1, 2), (1,)), ((1, 2), [1, 2]), (None, 1),
                        ({'a': 1}, {'b': 1}), (Pair(1, 2), (1, 2))]:
        with pytest.raises(ValueError, match=(
                'Expected a tree that starts like .*but got PyTreeDef')):
            ad.tree_map(lambda x, y: x, tree, other)
    with pytest.raises(ValueError, match=r'\)\): expected 2, but got 1'):
        ad.tree_unflatten(ad.tree_structure((1, 2)), [1])
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


def test_a_dataclass_is_a_container():
    leaves, treedef = ad.tree_flatten(Line([1, 2], {'c': 3}, 'steep'))
    assert leaves == [1, 2, 3]
    assert treedef.unflatten([4, 5, 6]) == Line([4, 5], {'c': 6}, 'steep')
    assert str(treedef) == (
        "PyTreeDef(Line(w=[*, *], b={'c': *}, name='steep'))")
    assert leaf_names(treedef, 'line') == [
        'line.w[0]', 'line.w[1]', "line.b['c']"]
    assert leaf_names(ad.tree_structure((1, Pair(2, 3))), 'x') == [
        'x[0]', 'x[1][0]', 'x[1][1]']
    assert pickle.loads(pickle.dumps(treedef)) == treedef


def test_static_fields_differ_by_type_as_well():
    """1 and True are equal, but do not compute the same."""
    a, b, c = (ad.tree_structure(Line(1.0, 2.0, x)) for x in (1, True, 1))
    assert a != b and a == c and hash(a) == hash(c) and len({a, b, c}) == 2


def test_grad_of_a_dataclass_is_a_dataclass():
    slope = ad.grad(lambda line: np.sum(line.at(np.arange(3.0)) ** 2))
    for f in slope, ad.jit(slope):
        assert f(Line(1.0, 2.0, 'x')) == Line(22.0, 18.0, 'x')
    lines = Line(np.arange(2.0), 1.0)
    mapped = ad.vmap(Line.at, (Line(0, None), None))(lines, 3.0)
    assert list(mapped) == [1.0, 4.0]


@dataclass(frozen=True, slots=True)
class Frozen:
    """Its constructor checks and converts its arguments."""
    x: object
    norm: float = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, 'norm', float(np.linalg.norm(self.x)))
        if self.norm < 0.5:
            raise ValueError('too short')


def test_the_constructor_of_a_dataclass_does_not_run_again():
    """A gradient can be shorter than a value, and a tracer is not a float."""
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

    class Steeper(Line):
        pass

    for leaf in (Array(1), Steeper(1, 2), Line, ad.typeof(1.0)):
        assert ad.tree_leaves([leaf]) == [leaf]


def test_register_dataclass_takes_lists_of_fields():
    def layer():
        return make_dataclass('Layer', ['w', 'size'],
                              namespace={'__module__': __name__})

    for fields, leaves in [
            ({'meta_fields': ['size']}, [1]),
            ({'data_fields': ['w'], 'meta_fields': ['size']}, [1]),
            ({'data_fields': ['size', 'w'], 'meta_fields': ()}, [2, 1])]:
        Layer = ad.register_dataclass(layer(), **fields)
        assert ad.tree_leaves(Layer(1, 2)) == leaves
        with pytest.raises(ValueError, match='Duplicate .*Layer'):
            ad.register_dataclass(Layer)
    with pytest.raises(ValueError, match=(
            r"each field of Layer once: .*\['w', 'size'\].*\['w'\]")):
        ad.register_dataclass(layer(), ['w'], [])
    with pytest.raises(TypeError, match='dataclass'):
        ad.register_dataclass(int)
