"""Pytrees: nested containers, seen as a list of leaves and a structure.

Users pass dicts, interpreters work on lists, and a `PyTreeDef` holds the
structure that converts between them.  A FlatFunction does so for a call.
Chapter 20.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from itertools import repeat
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import (
    TracerError, TypeOrValueError, explain_write)
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import unwrap_as, unwrapped
from autodiff_mini.core.types import ShapedArray


class NodeType(NamedTuple):
    """How to flatten a type of container, and how to rebuild it."""

    flatten: Callable[[Any], tuple[Iterable, Any]]
    unflatten: Callable[[Any, list], Any]
    names: Callable[[Any], list[str]] | None = None     # for error messages


node_types: dict[type, NodeType] = {}


def register_pytree_node(node_type, flatten, unflatten, names=None):
    """Register a type as a container, so that it is not a leaf.

    Args:
        node_type: the class.
        flatten: `flatten(container) -> (children, aux)`, where `aux` is the
            data needed to rebuild it, which can be compared with `==`.
        unflatten: `unflatten(aux, children) -> container`.
        names: `names(aux)` returns a suffix for each child, which errors
            append to the container's name: by default `[0]`, `[1]`, ...

    Raises:
        ValueError: the type is registered already.

    Source: `register_pytree_node` in JAX's `jax/_src/tree_util.py`.

    Examples:
        >>> class Point:
        ...     def __init__(self, x, y):
        ...         self.x, self.y = x, y
        >>> register_pytree_node(Point, lambda p: ((p.x, p.y), None),
        ...                      lambda aux, children: Point(*children))
        >>> tree_leaves([Point(1, 2), 3])
        [1, 2, 3]
    """
    if node_type in node_types:
        raise ValueError('Duplicate custom PyTreeDef type registration for '
                         f'{node_type}')
    node_types[node_type] = NodeType(flatten, unflatten, names)
    containers.pop(node_type, None)     # it can be cached as a leaf


def register_pytree_node_class(cls):
    """Register a class as a container; use it as a decorator.

    Args:
        cls: a class with a method `tree_flatten(self) -> (children, aux)`
            and a class method `tree_unflatten(aux, children)`.

    Returns:
        The class.

    Raises:
        ValueError: the class is registered already.

    Source: `register_pytree_node_class` in JAX's `jax/_src/tree_util.py`.
    """
    register_pytree_node(cls, cls.tree_flatten, cls.tree_unflatten)
    return cls


@public
def register_dataclass(nodetype, data_fields=None, meta_fields=None):
    """Register which fields of a dataclass are its children.

    A dataclass is a container even if it is not registered.  Its fields are
    the children, except for those that `field(metadata={'static': True})`
    marks.  These belong to the structure: they are not traced, and `jit`
    traces the function again when one of them has a new value.

    Args:
        nodetype: the dataclass.
        data_fields: the names of the fields that are children.
        meta_fields: the names of the others, whose values are hashable.

    Returns:
        The class, so this is also a decorator.

    Raises:
        TypeError: the class is not a dataclass.
        ValueError: it is registered already, or the two lists do not name
            each field once.

    Source: `register_dataclass` in JAX's `jax/_src/tree_util.py`.  In JAX
    0.10.2, a dataclass that is not registered is a leaf.

    Examples:
        >>> from dataclasses import field
        >>> @register_dataclass
        ... @dataclass
        ... class Line:
        ...     w: float
        ...     b: float
        ...     name: str = field(default='', metadata={'static': True})
        >>> tree_map(lambda x: 2 * x, Line(1.0, 3.0, 'steep'))
        Line(w=2.0, b=6.0, name='steep')
    """
    register_pytree_node(
        nodetype, *of_dataclass(nodetype, data_fields, meta_fields))
    return nodetype


def of_dataclass(kind, data_fields=None, meta_fields=None):
    """Return how to flatten a dataclass, and how to rebuild it."""
    names = [x.name for x in fields(kind)]
    if data_fields is None and meta_fields is None:
        meta_fields = [x.name for x in fields(kind)
                       if x.metadata.get('static')]
    meta = tuple(meta_fields or ())
    data = tuple(data_fields if data_fields is not None else
                 [x for x in names if x not in meta])
    seams.check('fields', kind, names, data, meta)

    def flatten(x):
        seams.check_attributes(x, names)
        static = tuple([getattr(x, name) for name in meta])
        for name, value in zip(meta, static):
            check_hash(value, 'Non-hashable static field:', name, kind)
        return [getattr(x, name) for name in data], Static(static)

    def unflatten(aux, children):
        new = object.__new__(kind)      # __post_init__ has checked the values
        for name, x in zip(data + meta, [*children, *aux.value]):
            object.__setattr__(new, name, x)
        return new
    return NodeType(flatten, unflatten,
                    lambda aux: [f'.{name}' for name in data])


def check_hash(x, what, name, owner):
    """Raise a ValueError if a static value is not hashable.

    Args:
        x: the value.
        what: the beginning of the message.
        name: its name or position.
        owner: the function or the class that it belongs to.
    """
    try:
        hash(x)
    except TypeError:
        cure = seams.advise('hash', 'Define __hash__ and __eq__', x)
        raise ValueError(
            f'{what} {name} of {fun_name(owner)} is of type '
            f'{type(x).__name__}. {cure}.') from None


class Static:
    """A value that is part of a structure and is not traced.

    Later changes of the value do not affect comparisons.
    """

    __slots__ = ('key', 'value')

    def __init__(self, value):
        self.value = value
        self.key = frozen(frozenset(value) if type(value) is set else value)

    def __eq__(self, other):
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)


def frozen(x):
    """Return a key for a parameter; equal keys mean equal results.

    1, 1.0, and True are equal in Python, and so are 0.0 and -0.0, but their
    results differ.
    """
    if isinstance(x, tuple):
        return type(x), tuple(map(frozen, x))
    if isinstance(x, slice):
        return slice, x.start, x.stop, x.step
    try:
        hash(x)
    except TypeError:
        return id(x)
    kind = type(x)
    parts = parts_of_kind(kind)
    return kind, x, parts and parts(x)


@lru_cache(maxsize=256)
def parts_of_kind(kind):
    """Return what tells a value of this kind apart from its equals, or None.
    """
    if issubclass(kind, (Number, range)):
        return repr
    if issubclass(kind, frozenset):
        return lambda x: frozenset(map(frozen, x))
    if is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return lambda x: tuple(
            frozen(getattr(x, field.name)) for field in fields(x))
    return None


def flatten_dict(d):
    """Return the values sorted by key, and the keys."""
    try:
        keys = sorted(d)
    except TypeError as error:
        raise TypeOrValueError(
            'Comparator raised exception while sorting pytree dictionary '
            'keys. The keys of a dict in a pytree must be sortable, but got '
            f'{list(d)}') from error
    return [d[key] for key in keys], tuple(keys)


def key_names(keys):
    return [f'[{key!r}]' for key in keys]


node_types[tuple] = NodeType(lambda x: (x, None), lambda _, xs: tuple(xs))
node_types[list] = NodeType(lambda x: (x, None), lambda _, xs: list(xs))
node_types[type(None)] = NodeType(lambda _: ((), None), lambda *_: None)
node_types[dict] = NodeType(flatten_dict, lambda keys, xs: dict(
    zip(keys, xs, strict=True)), key_names)
node_types[OrderedDict] = NodeType(
    lambda d: (d.values(), tuple(d)),
    lambda keys, xs: OrderedDict(zip(keys, xs, strict=True)), key_names)
NAMEDTUPLE = NodeType(lambda t: (t, type(t)), lambda cls, xs: cls(*xs))


class Containers(dict):
    """A cache of the NodeType of each type, None for types of leaves."""

    def __missing__(self, kind):
        self[kind] = node_types.get(kind) or unregistered(kind)
        return self[kind]


containers = Containers()


def unregistered(kind):
    """Return the NodeType of a namedtuple or dataclass, None for others."""
    if issubclass(kind, tuple) and hasattr(kind, '_fields'):
        return None if kind is ShapedArray else NAMEDTUPLE
    if '__dataclass_fields__' not in kind.__dict__ or (
            kind.__new__ is not object.__new__
            or hasattr(kind, '__array_function__')
            or kind.__module__.startswith('autodiff_mini.')):
        return None     # the library's own dataclasses are leaves
    return of_dataclass(kind)


@dataclass(slots=True, unsafe_hash=True)
class PyTreeDef:
    """The structure of a pytree: everything but its leaves.

    A leaf has no `node_type`.
    """

    node_type: type | None
    aux: Any
    children: 'tuple[PyTreeDef, ...]'
    num_leaves: int

    def unflatten(self, leaves):
        """Return the tree with this structure and these leaves."""
        leaves = tuple(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(f'wrong number of leaves for {self}: expected '
                             f'{self.num_leaves}, but got {len(leaves)}')
        if self.node_type is tuple and (
                self.children == (LEAF,) * self.num_leaves):
            return leaves
        return build(self, iter(leaves))

    def __repr__(self):
        return f'PyTreeDef({build(self, repeat(Asterisk()))})'


class Asterisk:
    """The printed form of a leaf in a structure."""

    def __repr__(self):
        return '*'


LEAF = PyTreeDef(None, None, (), num_leaves=1)


def tree_flatten(tree):
    """Return the leaves of a tree and its structure.

    Args:
        tree: nested tuples, lists, dicts, namedtuples, OrderedDicts, None
            (which has no leaves), dataclasses, and registered types;
            anything else is a leaf.

    Returns:
        A list and a PyTreeDef.

    Source: `tree_flatten` in JAX's `jax/_src/tree_util.py`.

    Examples:
        >>> leaves, treedef = tree_flatten({'b': 2, 'a': (1, None)})
        >>> leaves
        [1, 2]
        >>> print(treedef)
        PyTreeDef({'a': (*, None), 'b': *})
        >>> tree_unflatten(treedef, leaves)
        {'a': (1, None), 'b': 2}
    """
    leaves = []
    return leaves, take_apart(tree, leaves)


def take_apart(tree, leaves):
    """Return the structure of `tree`, and append its leaves to a list."""
    node_type = containers[type(tree)]
    if node_type is None:
        leaves.append(unwrapped(tree) if type(tree) in unwrap_as else tree)
        return LEAF
    children, aux = node_type.flatten(tree)
    start, treedefs = len(leaves), []
    for child in children:
        treedefs.append(take_apart(child, leaves))
    return PyTreeDef(type(tree), aux, tuple(treedefs), len(leaves) - start)


def build(treedef, leaves):
    """Return the tree with this structure and leaves from an iterator."""
    if treedef.node_type is None:
        return next(leaves)
    node_type = containers[treedef.node_type]
    children = [next(leaves) if child is LEAF else build(child, leaves)
                for child in treedef.children]
    return node_type.unflatten(treedef.aux, children)


def tree_unflatten(treedef, leaves):
    """Return the tree with this structure and these leaves.

    Args:
        treedef: a PyTreeDef.
        leaves: an iterable of leaves.

    Raises:
        ValueError: the number of leaves does not fit the structure.
    """
    return treedef.unflatten(leaves)


def tree_leaves(tree) -> list:
    """Return the leaves of a tree: see `tree_flatten`."""
    return tree_flatten(tree)[0]


def tree_structure(tree) -> PyTreeDef:
    """Return the structure of a tree: see `tree_flatten`."""
    return tree_flatten(tree)[1]


@public(takes_function=True)
def tree_map(f, tree, *rest):
    """Apply `f` to each leaf and return the tree of the results.

    Args:
        f: takes a leaf of `tree`, and the leaf or subtree at the same place
            in each tree of `rest`.
        tree: a pytree.
        rest: trees that begin with the structure of `tree`.

    Raises:
        ValueError: the structures differ.

    Source: `tree_map` in JAX's `jax/_src/tree_util.py`.

    Examples:
        >>> tree_map(lambda x, y: x + y, {'a': 1, 'b': 2}, {'a': 10, 'b': 20})
        {'a': 11, 'b': 22}
    """
    leaves, treedef = tree_flatten(tree)
    columns = [flatten_up_to(treedef, other) for other in rest]
    return treedef.unflatten(map(f, leaves, *columns))


def flatten_up_to(treedef, tree, or_none=False):
    """Return the subtrees of `tree` where the structure has leaves.

    Args:
        treedef: the structure.
        tree: the tree.
        or_none: whether None can replace a subtree and all its leaves.

    Raises:
        ValueError: the tree has another structure.
    """
    if treedef.node_type is None:
        return [tree]
    opened = open_as(treedef, tree)
    if opened is None:
        raise ValueError(f'Expected a tree that starts like the first one, '
                         f'{treedef}, but got {tree_structure(tree)}')
    if treedef.children == (LEAF,) * treedef.num_leaves:
        return opened
    return [subtree for down, child in zip(treedef.children, opened)
            for subtree in (
                [None] * down.num_leaves if or_none and child is None
                else flatten_up_to(down, child, or_none))]


def open_as(treedef, tree) -> list | None:
    """Return the children of `tree`, or None if its container differs."""
    if type(tree) is not treedef.node_type:
        return None
    node_type = containers[type(tree)]
    children, aux = node_type.flatten(tree)
    children = list(children)
    same = aux == treedef.aux and len(children) == len(treedef.children)
    return children if same else None


def leaf_names(treedef, name) -> list[str]:
    """Return the names of the leaves of the tree `name`, for errors."""
    if treedef.node_type is None:
        return [name]
    names = containers[treedef.node_type].names or (
        lambda aux: key_names(range(len(treedef.children))))
    return [leaf for part, child in zip(names(treedef.aux), treedef.children)
            for leaf in leaf_names(child, name + part)]


@dataclass(eq=False, repr=False)
class FlatFunction:
    """A user's function, wrapped to take leaves and return a flat list.

    After a call, `out_tree` is the structure of what the function returned.

    Args:
        f: the function.  With `has_aux` it returns a pair, whose second item
            is not transformed; its leaves follow in the flat list.
        in_tree: the structure of the tuple of its arguments.
        tag: the application of the transformation that calls it, if `f` was
            made by `apply`.
    """

    f: Callable
    in_tree: PyTreeDef
    has_aux: bool = False
    tag: TraceTag | None = None

    def __call__(self, *leaves):
        args = self.in_tree.unflatten(leaves)
        try:
            out = self.f(*args)
        except ValueError as error:
            if any(isinstance(x, np.ndarray) for x in leaves):
                explain_write(error, self)
            raise
        return self.flatten(out)

    def flatten(self, out):
        """Return the leaves of what the function has returned."""
        aux = []
        if self.has_aux:
            if not isinstance(out, tuple) or len(out) != 2:
                raise TypeError(
                    'expected function with aux output to return a '
                    f'two-element tuple: with has_aux=True, {self} must '
                    f'return a pair (output, aux), but it returned {out!r}')
            out, (aux, self.aux_tree) = out[0], tree_flatten(out[1])
        outs, self.out_tree = tree_flatten(out)
        return outs + aux

    def split(self, outs):
        """Return the leaves of the output, and the auxiliary tree."""
        n = self.out_tree.num_leaves
        return outs[:n], self.has_aux and self.aux_tree.unflatten(outs[n:])

    def out_names(self) -> list[str]:
        """Return the names of the output's leaves, for errors."""
        return leaf_names(self.out_tree, f'output of {self}')

    def __str__(self):
        return fun_name(self.f)

    __name__ = property(lambda self: own_name(self.f))


def map_leaves(check, names, *leaves) -> list:
    """Apply `check` to the leaves of some trees, and return the results.

    Args:
        check: takes a leaf of each tree, and raises an error if it is wrong.
        names: returns the names of the leaves; called only for an error.
        leaves: the flat lists.

    Raises:
        TypeError, ValueError: what `check` raised, with the leaf named.
    """
    try:
        return list(map(check, *leaves))
    except TracerError:
        raise
    except (TypeError, ValueError):
        for name, *arguments in zip(names(), *leaves):
            try:
                check(*arguments)
            except (TypeError, ValueError) as error:
                raise type(error)(f'{name}: {error}') from None
        raise
