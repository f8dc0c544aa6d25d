"""Signatures: between the user's functions and the interpreters' lists.

Its one idea: users call with trees and keywords, interpreters with flat
lists, and one small object stands between the two.  Chapter 18.
"""

import inspect
import operator
from functools import partial, update_wrapper
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType, ModuleType

import numpy as np

from autodiff_mini import seams
from autodiff_mini.core import Tracer, current_trace, is_array, typeof
from autodiff_mini.errors import (
    TracerError, UnexpectedTracerError, fun_name, is_alive)
from autodiff_mini.pytree import (
    Static, containers, is_cached, leaf_names, register_pytree_node,
    tree_flatten, tree_structure)


class UserFunction:
    """A user's function with something added; in a class, a method."""

    def __repr__(self):
        return f'<{type(self).__name__} of {fun_name(self)}>'

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)


def named_after(f):
    """Return a decorator that gives a function the name of `f`, and more.

    It does what functools.wraps does, also if `f` is a partial, or an object
    that is called.
    """
    def decorate(g):
        update_wrapper(g, f.func if isinstance(f, partial) else f, updated=())
        g.__wrapped__ = f
        g.__qualname__ = fun_name(f)
        g.__name__ = g.__qualname__.rpartition('.')[2]
        return g
    return decorate


class FlatFunction:
    """A user's function, as a function from a flat list to a flat list.

    After a call, `out_tree` is the structure of what the function returned.

    Args:
        f: the function; with `has_aux` it returns a pair, whose second half
            is not to be transformed.  Its leaves follow in the flat list.
        in_tree: the structure of the tuple of its arguments.
        tag: if it is called as `apply` says: which application of which
            transformation calls it.
    """

    def __init__(self, f, in_tree, has_aux=False, tag=None):
        self.f = f
        self.tag = tag
        self.in_tree = in_tree
        self.has_aux = has_aux

    def __call__(self, *leaves):
        args = self.in_tree.unflatten(leaves)
        try:
            out = self.f(*args)
        except TypeError as error:
            if self.tag:
                seams.explain_call(error, self.tag, args[0])
            raise
        aux = []
        if self.has_aux:
            out, aux = self.pair(out)
            aux, self.aux_tree = tree_flatten(aux)
        outs, self.out_tree = tree_flatten(out)
        return outs + aux

    def pair(self, out):
        """Returns `out`; raises a TypeError if it is no pair."""
        if not isinstance(out, tuple) or len(out) != 2:
            raise TypeError(f'With has_aux=True, {self} must return a pair '
                            f'(output, aux), but it returned {out!r}')
        return out

    def split(self, outs):
        """Returns the leaves of the output, and the tree of the aux."""
        n = self.out_tree.num_leaves
        return outs[:n], self.has_aux and self.aux_tree.unflatten(outs[n:])

    def out_names(self) -> list[str]:
        """Returns what error messages call the leaves of the output."""
        return leaf_names(self.out_tree, f'output of {self}')

    @property
    def __name__(self):
        return fun_name(self.f)

    def __str__(self):
        return self.__name__


def map_leaves(check, names, *leaves) -> list:
    """Returns what `check` returns for each leaf of some trees.

    Args:
        check: takes a leaf of each tree; raises if something is wrong.
        names: returns what the leaves are called, and is called only then.
        leaves: the flat lists.

    Raises:
        TypeError, ValueError: whatever `check` raised, with the leaf named.
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


def typeof_result(x):
    """Returns the type of what is handed out; raises if it has escaped."""
    if isinstance(x, Tracer) and x._trace.thread is None:
        check_alive(x, current_trace())
    try:
        return typeof(x)
    except TypeError:
        if isinstance(x, str):
            raise TypeError('a value of type str cannot be traced: leave it '
                            'out of what is returned') from None
        raise


def check_alive(tracer, trace):
    """Raises if a tracer belongs to no trace that this one runs in."""
    if not is_alive(tracer, trace):
        raise UnexpectedTracerError(tracer)


def resolve_kwargs(f, args, kwargs) -> tuple:
    """Return the arguments of a call, the positional ones and the others.

    Arguments that were left out take their default values.

    Args:
        f: any callable.
        args: the arguments given by position.
        kwargs: the arguments given by keyword.

    Returns:
        A tuple, and a dictionary of the keyword-only arguments, in the order
        of the signature.

    Raises:
        TypeError: the call does not fit the signature of `f`, or a keyword
            is not in it, or the signature cannot be read.

    Source: `resolve_kwargs` in JAX's `jax/_src/api_util.py`, which refuses
    keyword-only arguments.

    Examples:
        >>> def f(x, n=2, *, scale=1.0): ...
        >>> resolve_kwargs(f, (), {'x': 3})
        ((3, 2), {'scale': 1.0})
    """
    if not kwargs and takes_exactly(f, len(args)):
        return tuple(args), {}
    try:
        signature = signature_of(f)
    except ValueError:
        if not kwargs:
            return tuple(args), {}
        raise TypeError(
            f'The keyword arguments {", ".join(kwargs)} of {fun_name(f)} '
            'could not be resolved to positions, since it has no signature '
            'that can be read: pass them by position') from None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f'{fun_name(f)}{signature}: {error}') from None
    bound.apply_defaults()
    names = keyword_only(f)
    unresolved = [key for key in kwargs
                  if key in bound.kwargs and key not in names]
    if unresolved:
        raise TypeError(
            f'The following keyword arguments of {fun_name(f)}{signature} '
            f'could not be resolved to positions: {", ".join(unresolved)}. '
            'Close over them, with functools.partial')
    return bound.args, {name: bound.kwargs[name] for name in names}


def signature_of(f):
    """Return the signature of `f`, or raise a ValueError if it has none."""
    inner = f
    while isinstance(inner, partial):
        inner = inner.func
    if isinstance(inner, np.ufunc):
        raise ValueError('out= and its like are no arguments of a rule')
    return inspect.signature(f)


def keyword_only(f) -> list:
    """Return the names of the keyword-only arguments, in their order.

    But not of those that functools.partial has closed over.
    """
    closed_over, inner = set(), f
    while isinstance(inner, partial):
        closed_over |= {*inner.keywords}
        inner = inner.func
    try:
        parameters = signature_of(f).parameters
    except ValueError:  # it can be called by position only
        return []
    return [name for name, x in parameters.items()
            if x.kind is x.KEYWORD_ONLY and name not in closed_over]


def takes_exactly(f, count) -> bool:
    """Returns whether `f` is a plain function of so many arguments."""
    if type(f) is not FunctionType or hasattr(f, '__wrapped__') or (
            hasattr(f, '__signature__') or f.__kwdefaults__):
        return False
    code = f.__code__
    return code.co_argcount == count and not code.co_kwonlyargcount and (
        not code.co_flags & (CO_VARARGS | CO_VARKEYWORDS))


def argument_positions(f, argnums, argnames) -> tuple:
    """Returns the positions of some arguments of `f`, in order.

    Args:
        f: any callable.
        argnums: a position, or several; negative ones count from the end.
        argnames: a name, or several.

    Raises:
        TypeError: a position is not an integer.
        ValueError: there is no such argument, or a name, or a negative
            position, is given and the signature of `f` cannot be read.
    """
    try:
        argnums = tuple(map(operator.index, (
            argnums if hasattr(argnums, '__iter__') else [argnums])))
    except TypeError:
        raise TypeError(
            f'the positions of static arguments of {fun_name(f)} must be '
            f'integers, but got {argnums!r}. To call what jit returns, write '
            f'ad.jit({fun_name(f)})(...).') from None
    argnames = (argnames,) if isinstance(argnames, str) else tuple(argnames)
    try:
        names = list(inspect.signature(f).parameters)
        open_ended = any(x.kind is x.VAR_POSITIONAL for x in
                         inspect.signature(f).parameters.values())
    except ValueError:
        names, open_ended = [], True
    known = f'{fun_name(f)}, whose arguments are {names}'
    if missing := [name for name in argnames if name not in names]:
        raise ValueError(f'no argument {missing[0]!r} in {known}')
    if wrong := [i for i in argnums if i < -len(names)
                 or i >= len(names) and not open_ended]:
        raise ValueError(f'no argument {wrong[0]} in {known}')
    return tuple(sorted({i + len(names) if i < 0 else i for i in argnums}
                        | {names.index(name) for name in argnames}))


def argument_keys(f, argnums, argnames) -> tuple:
    """Return the positions of some arguments, or names if keyword-only."""
    names = keyword_only(f)
    every = list(inspect.signature(f).parameters) if names else []
    keys = {every.index(name): name for name in names}
    return tuple(keys.get(i, i)
                 for i in argument_positions(f, argnums, argnames))


def names_of(f, keys=None) -> list:
    """Returns the names of arguments of `f`, of all if there are no keys.

    Args:
        f: any callable.
        keys: positions and names.
    """
    if keys is not None and not keys:
        return []
    try:
        names = list(inspect.signature(f).parameters)
    except ValueError:  # it can be called by position only
        names = []
    if keys is None:
        return names
    return [name for i, name in enumerate(names) if i in keys or name in keys]


def hold_arguments(f, args, kwargs, keys):
    """Returns the other arguments, `f` as a function of them, and the held.

    In the place of what is held stands None, which has no leaves, so that
    the others keep their places.

    Args:
        f: a function.
        args: all its arguments that are given by position.
        kwargs: those given by keyword.
        keys: the positions and names of those to hold fixed, besides the
            self of a method.

    Returns:
        A tuple and a dictionary of arguments, a function, and a dictionary
        from positions and names to arguments.
    """
    if gives_self(f, args):
        keys = {*keys, 0}
    held = {key: x for key, x in [*enumerate(args), *kwargs.items()]
            if key in keys}
    if not held:
        return args, kwargs, f, held

    @named_after(f)
    def f_of_others(*args, **kwargs):
        args = [held.get(i, x) for i, x in enumerate(args)]
        return f(*args, **{name: held.get(name, x)
                           for name, x in kwargs.items()})
    args = tuple(None if i in held else x for i, x in enumerate(args))
    kwargs = {name: None if name in held else x for name, x in kwargs.items()}
    return args, kwargs, f_of_others, held


def takes_self(f) -> bool:
    """Return whether `f` is written as a method, with self or cls first."""
    f = inspect.unwrap(f, stop=lambda f: isinstance(f, MethodType))
    return isinstance(f, FunctionType) and f.__code__.co_argcount > 0 and (
        f.__code__.co_varnames[0] in ('self', 'cls'))


def is_object(x) -> bool:
    """Return whether `x` is an object with attributes, and not a tree."""
    kind = type(x)
    return kind.__new__ is object.__new__ and hasattr(x, '__dict__') and not (
        containers[kind] or getattr(kind, '__slots__', ()) or is_array(x))


def gives_self(f, args) -> bool:
    """Return whether the first argument is the self, or cls, of a method."""
    return bool(args) and (is_object(args[0]) or isinstance(args[0], type)
                           ) and takes_self(f)


def as_method(f) -> tuple:
    """Return the function of a bound method, or called object, and its self.

    Return `f` and None for another function.
    """
    if isinstance(f, MethodType):
        return f.__func__, f.__self__
    if is_object(f) and not isinstance(f, UserFunction):
        return type(f).__call__, f
    return f, None


class Attributes:
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


def as_attribute(x):
    """Return an attribute as a tree, with what is no array made Static."""
    leaves, treedef = tree_flatten(x)
    return treedef.unflatten(
        [leaf if isinstance(leaf, Tracer) or is_array(leaf) else Static(leaf)
         for leaf in leaves])


def check_static(f, name, treedef, seen):
    """Raise a TypeError if arrays are inside of an object that is static."""
    x = treedef.aux.value if treedef.node_type is Static else None
    if hasattr(x, '__dict__') and id(x) not in seen and not isinstance(
            x, (type, ModuleType, UserFunction)):
        seen.add(id(x))
        treedef = tree_structure(Attributes(x))
        if treedef.num_leaves:
            raise TypeError(
                f'{fun_name(f)} would not see changes of the arrays in '
                f'self.{name}, an object of type {type(x).__name__}. Make '
                f'{type(x).__name__} a dataclass, whose fields are traced, '
                'or keep the arrays in attributes of self')
    for child in treedef.children:
        check_static(f, name, child, seen)


def keeps_self(f):
    """Return a method, which raises if it changes the object."""
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
                    'only once, and to a copy. Return the new value, and '
                    'assign it outside')
        return out
    return f_of_self


def apply(f):
    """Returns `f` as a function of a tuple and a dict of arguments."""
    return named_after(f)(lambda args, kwargs: f(*args, **kwargs))


def argument_names(tree, tag):
    """Returns what error messages call the arguments of a mapped function."""
    args, kwargs = tree.children
    return (leaf_names(args, f'{tag}: args')
            + leaf_names(kwargs, f'{tag}: kwargs'))
