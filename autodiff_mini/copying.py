"""Copies: what is known by its identity is copied as itself.

Its one idea: rules know a primitive, and users a function, by where it
stands.  So it is pickled by that place, and whoever reads it finds there the
one that is at home.
"""

import sys
from copyreg import __newobj__
from importlib import import_module
from operator import attrgetter
from pickle import PicklingError


def at_place(module, name):
    """Returns what a module calls by this name, with dots in it or none."""
    return attrgetter(name)(import_module(module))


def primitive_place(primitive):
    """Returns how to find a primitive again, for pickle.

    Raises:
        PicklingError: no module has it among its variables.
    """
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()):
            if value is primitive:
                return at_place, (name, key)
    raise PicklingError(
        f"the primitive '{primitive}' cannot be pickled: let it be a "
        'variable of a module, where whoever reads the pickle finds it')


def place_of(function):
    """Returns how to find a function with a rule again, for pickle; or None.

    One that stands in the place of the function that it was made of, as a
    decorated function does, is found there.
    """
    place = function.__module__, function.__qualname__
    try:
        return (at_place, place) if at_place(*place) is function else None
    except (AttributeError, ImportError):
        return None     # it was made inside of a function


def copied(function, memo=None):
    """Returns a function with the same rule, which may be given another."""
    copy = __newobj__(type(function))
    vars(copy).update(vars(function))
    return copy
