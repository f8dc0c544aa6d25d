"""Signatures: the arguments of the user's functions, and their names.

Chapter 20.
"""

import inspect
import operator
import re
from functools import partial, update_wrapper
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import FunctionType, MethodType

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.lines import users_part
from autodiff_mini.core.memory import Loan
from autodiff_mini.core.names import fun_name, own_name
from autodiff_mini.core.trees import containers, leaf_names
from autodiff_mini.core.types import is_array


class UserFunction:
    """A user's function in a wrapper, which also works as a method."""

    def __repr__(self):
        return f'<{type(self).__name__} of {fun_name(self)}>'

    def __get__(self, instance, owner=None):
        return self if instance is None else MethodType(self, instance)


def named_after(f):
    """Return a decorator that gives a function the name of `f`, and more.

    It is like functools.wraps, but `f` can also be a partial or a callable
    object.
    """
    def decorate(g):
        update_wrapper(g, f.func if isinstance(f, partial) else f, updated=())
        g.__wrapped__ = f
        g.__qualname__ = own_name(f)
        g.__name__ = g.__qualname__.rpartition('.')[2]
        return g
    return decorate


def apply(f):
    """Return `f` as a function of a tuple and a dict of arguments."""
    def called(args, kwargs=None):
        return f(*args, **(kwargs or {}))
    called.__qualname__ = own_name(f)
    return called


def argument_names(tree, tag):
    """Return the names of a mapped function's arguments, for errors."""
    return [name for part, what in zip(tree.children, ('args', 'kwargs'))
            for name in leaf_names(part, f'{tag}: {what}')]


def resolve_kwargs(f, args, kwargs, signature=None) -> tuple:
    """Return the positional and the keyword-only arguments of a call.

    Omitted arguments get their default values.

    Args:
        f: any callable.
        args: the arguments given by position.
        kwargs: the arguments given by keyword.
        signature: its signature, if it has been read.

    Returns:
        A tuple, and a dictionary of the keyword-only arguments, in the order
        of the signature.

    Raises:
        TypeError: the call does not fit the signature of `f`, a keyword is
            not in the signature, or the signature cannot be read.

    Source: `resolve_kwargs` in JAX's `jax/_src/api_util.py`, which refuses
    keyword-only arguments.

    Examples:
        >>> def f(x, n=2, *, scale=1.0): ...
        >>> resolve_kwargs(f, (), {'x': 3})
        ((3, 2), {'scale': 1.0})
    """
    signature = signature or signature_of(f)
    if signature is None and kwargs:
        raise TypeError(
            f'The following keyword arguments of {fun_name(f)}, whose '
            'signature cannot be read, could not be resolved to positions: '
            f'{", ".join(kwargs)}. Pass them by position.')
    if signature is None:
        return tuple(args), {}
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise TypeError(f'{fun_name(f)}{signature}: {error}') from None
    bound.apply_defaults()
    names = keyword_only(f, signature.parameters)
    unresolved = bound.kwargs.keys() & kwargs.keys() - {*names}
    if unresolved:
        raise TypeError(
            f'The following keyword arguments of {fun_name(f)}{signature} '
            'could not be resolved to positions: '
            f'{", ".join(x for x in kwargs if x in unresolved)}. '
            'Bind them with functools.partial.')
    return bound.args, {name: bound.kwargs[name] for name in names}


def exact_count(f) -> int | None:
    """Return how many arguments a plain function takes, or None."""
    if type(f) is partial and not f.keywords:
        count = exact_count(f.func)
        return None if count is None else count - len(f.args)
    if type(f) is not FunctionType or hasattr(f, '__wrapped__') or (
            hasattr(f, '__signature__') or f.__code__.co_kwonlyargcount
            or f.__code__.co_flags & (CO_VARARGS | CO_VARKEYWORDS)):
        return None
    return f.__code__.co_argcount


def signature_of(f):
    """Return the signature of `f`, or None for a ufunc or without one."""
    try:    # a rule does not take a ufunc's out= and the like
        return (None if isinstance(without_partials(f)[0], np.ufunc)
                else inspect.signature(f))
    except ValueError:
        return None


def without_partials(f) -> tuple:
    """Return the function inside a partial, and the bound keywords."""
    held = {}
    while isinstance(f, partial):
        f, held = f.func, held | f.keywords
    return f, held


def parameters_of(f):
    """Return the parameters of `f` by name, or {} without a signature."""
    signature = signature_of(f)
    return signature.parameters if signature else {}


def keyword_only(f, parameters) -> list:
    """Return the names of the keyword-only arguments, in order.

    Arguments bound by functools.partial are left out.
    """
    _, held = without_partials(f)
    return [name for name, x in parameters.items()
            if x.kind is x.KEYWORD_ONLY and name not in held]


def names_of(f, keys=None) -> list:
    """Return the names of some arguments of `f`, by default of all.

    Args:
        f: any callable.  Without a signature, it has no names.
        keys: the positions and names of the arguments.
    """
    return [name for i, name in enumerate(parameters_of(f))
            if keys is None or i in keys or name in keys]


def argument_positions(f, argnums, argnames) -> tuple:
    """Return the positions of some arguments of `f`, in order.

    Args:
        f: any callable.
        argnums: a position, or several; negative ones count from the end.
        argnames: a name, or several.

    Raises:
        TypeError: a position is not an integer.
        ValueError: there is no such argument, or a name or a negative
            position is given but the signature of `f` cannot be read.
    """
    argnums = argnums if hasattr(argnums, '__iter__') else [argnums]
    seams.check('static', f, argnums)
    argnums = list(map(operator.index, argnums))
    argnames = [argnames] if isinstance(argnames, str) else [*argnames]
    if not argnums and not argnames:
        return ()       # without reading the signature, which takes long
    parameters = parameters_of(f)
    names, n = [*parameters], len(parameters)
    is_open_ended = signature_of(f) is None or any(
        x.kind is x.VAR_POSITIONAL for x in parameters.values())
    wrong = [name for name in argnames if name not in names] + [
        i for i in argnums if i < -n or i >= n and not is_open_ended]
    if wrong:
        raise ValueError(f'{fun_name(f)} has no argument {wrong[0]!r}. Its '
                         f'arguments are {dict(enumerate(names))}.')
    return tuple(sorted({i + n if i < 0 else i for i in argnums}
                        | {names.index(name) for name in argnames}))


def argument_keys(f, argnums, argnames) -> tuple:
    """Return the positions of some arguments, or names if keyword-only."""
    every, names = names_of(f), keyword_only(f, parameters_of(f))
    return tuple(every[i] if i < len(every) and every[i] in names else i
                 for i in argument_positions(f, argnums, argnames))


def hold_arguments(f, args, kwargs, keys):
    """Hold some arguments of `f` fixed.

    Each of them is replaced by None, which has no leaves, so that the others
    keep their places.

    Args:
        f: a function.
        args: all its positional arguments.
        kwargs: all its keyword arguments.
        keys: the positions and names of the arguments to hold fixed, besides
            the self of a method.

    Returns:
        The other arguments, as a tuple and a dictionary; `f` as a function
        of them; and the held arguments, by position or name.
    """
    if gives_self(f, args):
        keys = {*keys, 0}
    held = {key: x for key, x in [*enumerate(args), *kwargs.items()]
            if key in keys}
    if not held:
        return args, kwargs, f, held

    def f_of_others(*args, **kwargs):
        loan = Loan(f)
        lent = {key: loan.lend(x) for key, x in held.items()}
        args = [lent.get(i, x) for i, x in enumerate(args)]
        return loan.call(*args, **{name: lent.get(name, x)
                                   for name, x in kwargs.items()})
    f_of_others.__qualname__ = own_name(f)
    args = tuple(None if i in held else x for i, x in enumerate(args))
    kwargs = {name: None if name in held else x for name, x in kwargs.items()}
    return args, kwargs, f_of_others, held


def takes_self(f) -> bool:
    """Return whether `f` is written as a method, with self or cls first."""
    f = inspect.unwrap(f, stop=lambda f: isinstance(f, MethodType))
    return isinstance(f, FunctionType) and f.__code__.co_argcount > 0 and (
        f.__code__.co_varnames[0] in ('self', 'cls'))


class Opened:
    """An object, `it`, with traced attributes; see the seam open_self."""


def is_object(x) -> bool:
    """Return whether `x` is an object with attributes but not a tree."""
    kind = type(x)
    return kind.__new__ is object.__new__ and hasattr(x, '__dict__') and not (
        containers[kind] or getattr(kind, '__slots__', ()) or is_array(x))


def gives_self(f, args) -> bool:
    """Return whether the first argument is the self, or cls, of a method."""
    return bool(args) and (is_object(args[0]) or isinstance(args[0], type)
                           ) and takes_self(f)


def is_miscall(error) -> bool:
    """Return whether a function was called with the wrong arguments."""
    return bool(OF_PYTHON.match(str(error))) and (
        not users_part(error.__traceback__))


# Our own messages begin with words such as `grad of f:`.
OF_PYTHON = re.compile(r'[^:]*(\(\) |expected ).*argument')
