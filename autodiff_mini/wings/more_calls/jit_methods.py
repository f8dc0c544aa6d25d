"""Trace the attributes of `self` in a method that `jit` compiles.

The arrays in the attributes are leaves of a tree, and the rest is static, so
the method sees new values and is traced again for other static ones.  Without
this, `jit` keeps the attributes as they were when it traced the method.
"""

import operator
from functools import cached_property
from types import MethodType, ModuleType

from autodiff_mini.core import seams
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.signature import (
    Opened, UserFunction, gives_self, is_object, named_after, takes_self)
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import (
    Static, containers, frozen, register_pytree_node, tree_flatten,
    tree_structure)
from autodiff_mini.core.types import is_array


@seams.method_of.take
def method_of(f, held):
    """Return what `jit` calls instead of `f`, which can be a method.

    Args:
        f: a function, a bound method, or an object that is called.
        held: the positions and names of its arguments that are static.

    Returns:
        The function of a method; a tuple of its self, empty for other
        functions; `held`, with self counted; and a function from arguments
        to a function and arguments, in which a self can be traced.
    """
    method, owner = as_method(f)
    bound = (owner,) if gives_self(method, [owner]) else ()
    if bound:
        f = method
        held = {x + 1 if isinstance(x, int) else x for x in held}
    of_self = keeps_self(f) if takes_self(f) else None

    def opened(args):
        if of_self and args and is_object(args[0]) and 0 not in held:
            return of_self, (Attributes(args[0]), *args[1:])
        return f, args
    return f, bound, held, opened


def as_method(f) -> tuple:
    """Return the function of a bound method, or called object, and its self.

    Return `f` and None for another function.
    """
    if isinstance(f, MethodType):
        return f.__func__, f.__self__
    if is_object(f) and not isinstance(f, UserFunction):
        return type(f).__call__, f
    return f, None


@seams.open_self.take
class Attributes(Opened):
    """An object as a tree: its arrays are leaves, and the rest is static."""

    def __init__(self, it):
        self.it = it

    def tree_flatten(self):
        attributes = vars(self.it)
        return (list(map(as_attribute, attributes.values())),
                (type(self.it), tuple(attributes)))

    @classmethod
    def tree_unflatten(cls, aux, children):
        kind, names = aux
        new = object.__new__(kind)
        vars(new).update(zip(names, children))
        return new


register_pytree_node(
    Attributes, Attributes.tree_flatten, Attributes.tree_unflatten,
    lambda aux: [f'.{name}' for name in aux[1]])
register_pytree_node(Static, lambda x: ((), x), lambda x, _: x.value)


class Unsorted:
    """A dict whose keys cannot be sorted, as a tree, in the dict's order."""

    def __init__(self, items):
        self.items = items


register_pytree_node(
    Unsorted, lambda x: (x.items.values(), tuple(x.items)),
    lambda keys, values: dict(zip(keys, values)))


def as_attribute(x):
    """Return an attribute as a tree, with other leaves than arrays Static."""
    try:
        leaves, treedef = tree_flatten(x)
    except TypeError:
        return as_unsorted(x)
    return treedef.unflatten(map(as_leaf, leaves))


def as_leaf(x):
    """Return an array of numbers, or anything else as Static."""
    if isinstance(x, Tracer):
        return x
    if not is_array(x):
        return Static(x)
    if x.dtype.kind in 'biufc':
        return x
    static = Static(x)
    static.key = x.shape, x.dtype, frozen(tuple(x.ravel().tolist()))
    return static


def as_unsorted(x):
    """Return a tree with a dict in it whose keys cannot be sorted."""
    if type(x) is dict:
        items = {key: as_attribute(value) for key, value in x.items()}
        try:
            sorted(x)
        except TypeError:
            return Unsorted(items)
        return items
    children, aux = containers[type(x)].flatten(x)
    return containers[type(x)].unflatten(aux, list(map(as_attribute,
                                                       children)))


def check_static(f, name, treedef, seen):
    """Raise a TypeError if arrays are where jit would not see them change."""
    if treedef.node_type is Unsorted and treedef.num_leaves:
        raise TypeError(
            'The keys of a dict in a pytree must be sortable, but got '
            f'{[*treedef.aux]} in self.{name}, which holds arrays')
    x = treedef.aux.value if treedef.node_type is Static else None
    if hasattr(x, '__dict__') and id(x) not in seen and not isinstance(
            x, (type, ModuleType, UserFunction)):
        seen.add(id(x))
        treedef = tree_structure(Attributes(x))
        if treedef.num_leaves:
            raise TypeError(
                f'{fun_name(f)} would not see changes to the arrays in '
                f'self.{name}, an object of type {type(x).__name__}. Make '
                f'{type(x).__name__} a dataclass, whose fields are traced, '
                'or keep the arrays in attributes of self.')
    for child in treedef.children:
        check_static(f, name, child, seen)


@seams.check_attributes.take
def check_attributes(x, names):
    """Raise a TypeError if a dataclass has attributes besides its fields."""
    for name in getattr(x, '__dict__', {}).keys() - {*names}:
        if not is_cached(x, name):
            kind = type(x).__name__
            raise TypeError(
                f'the attribute {name} of {kind} is not a field, so a copy '
                f'of {kind} would lack it. Make it a property, or declare '
                f'it: {name}: ... = field(init=False)')


def is_cached(x, name) -> bool:
    """Return whether an attribute keeps the value of a cached_property."""
    return isinstance(getattr(type(x), name, None), cached_property)


def keeps_self(f):
    """Return a method that raises an error if it changes the object."""
    def attributes(it):
        return {name: tree_flatten(as_attribute(x))
                for name, x in vars(it).items()}

    @named_after(f)
    def f_of_self(self, *args, **kwargs):
        before = attributes(self)
        for name, (_, treedef) in before.items():
            check_static(f, name, treedef, set())
        out = f(self, *args, **kwargs)
        after = attributes(self)
        for name in before | after:
            old, new = before.get(name), after.get(name)
            if not (old and new and old[1] == new[1]
                    and all(map(operator.is_, old[0], new[0]))
                    or is_cached(self, name)):
                raise TypeError(
                    f'{fun_name(f)} changes self.{name}, which jit would do '
                    'only once, and to a copy. Return the new value and '
                    'assign it outside.')
        return out
    return f_of_self
