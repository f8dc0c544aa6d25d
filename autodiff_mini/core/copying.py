"""Copies: how primitives and functions with rules are copied and pickled.

Both are looked up by identity, so each is pickled as the name of the variable
that holds it.
"""

import sys
from copyreg import __newobj__
from pickle import PicklingError
from pkgutil import resolve_name


def primitive_place(primitive):
    """Return how pickle finds a primitive again.

    Raises:
        PicklingError: no variable of a module holds it.
    """
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()):
            if value is primitive:
                return resolve_name, (f'{name}:{key}',)
    raise PicklingError(
        f"the primitive '{primitive}' cannot be pickled. Assign it to a "
        'variable of a module, where unpickling can find it.')


def place_of(function):
    """Return how pickle finds a function with a rule again, or None.

    A decorated function is looked up under the name of the one it wraps.
    """
    place = f'{function.__module__}:{function.__qualname__}'
    try:
        found = resolve_name(place)
    except (AttributeError, ImportError, ValueError):
        return None     # it was defined inside a function
    return (resolve_name, (place,)) if found is function else None


def copied(function, memo=None):
    """Return a copy of a function, whose rule can be replaced."""
    copy = __newobj__(type(function))
    vars(copy).update(vars(function))
    return copy
