"""Give a traced program its own np.array, np.zeros, and others.

NumPy's C code makes an array of a list without asking the tracers in it.  So
a traced program finds our functions under some names of `np`.  They call
NumPy unless an argument is traced.  Other code finds NumPy's own functions,
and the module is unchanged when no trace is running.  Appendix W.
"""

import sys
from importlib import import_module
from os import sep
from threading import RLock
from types import ModuleType
from weakref import ref

import numpy as np
from numpy import linalg

from autodiff_mini.core import Trace
from autodiff_mini.errors import is_library, trace_at_work


class TracedModule(ModuleType):
    """The class of a NumPy module while a trace is running."""

    def __reduce__(self):   # pickle knows modules by their class
        return import_module, (self.__name__,)


class TracedNumPy(TracedModule):
    """The class of numpy while a trace is running."""


class TracedLinalg(TracedModule):
    """The class of numpy.linalg while a trace is running."""


CLASSES = {np: TracedNumPy, linalg: TracedLinalg}


def exchange_classes(traced):
    """Give the modules the classes for a traced program, or NumPy's own."""
    np.__class__ = TracedNumPy if traced else ModuleType
    linalg.__class__ = TracedLinalg if traced else ModuleType


class IsPackage(dict):
    """Remember whether a file belongs to the library, NumPy, or SciPy."""

    def __missing__(self, file):
        self[file] = is_library[file] or f'{sep}scipy{sep}' in file
        return self[file]


is_package = IsPackage()


def answer(name, replacement, module=np):
    """Let a traced program find `replacement` under a name of np."""
    names = vars(module)
    own = names[name]

    def look(module):
        found = names[name]     # a test may have replaced it
        if found is not own or (
                is_package[sys._getframe(1).f_code.co_filename]) or (
                trace_at_work.get(None) in NO_TRACE):
            return found
        return replacement

    def put(module, x):
        names[name] = own if x is replacement else x

    def take(module):
        del names[name]
    setattr(CLASSES[module], name, property(look, put, take))


NO_TRACE = None, Trace.base
running = {}    # by id: weak references to outermost traces


class Patch:
    """Exchange the classes of np and np.linalg when traces start and end."""

    lock = RLock()
    on = True

    @classmethod
    def started(cls, trace):
        number = id(trace)
        # If Ctrl-C cuts `__exit__` short, the trace ends when it is freed.
        over = ref(trace, lambda _: cls.ended_is(number))
        with cls.lock:
            running[number] = over
            if cls.on:
                exchange_classes(True)

    @classmethod
    def ended(cls, trace):
        cls.ended_is(id(trace))

    @classmethod
    def ended_is(cls, number):
        with cls.lock:
            if running.keys() <= {number}:
                exchange_classes(False)
            running.pop(number, None)


def patch_numpy(on=True):
    """Choose whether np.array, np.zeros, and others accept traced values.

    By default they do.  While a function is differentiated, batched, or
    staged, its `np.array([x, y])` is traced, and so is `y = np.zeros(n)` once
    a traced value is written into it.  Threads that are not tracing
    find NumPy's own functions, as does all code outside a transformation.

    Args:
        on: False restores NumPy everywhere.  Then `np.array([x, y])` raises
            a TracerArrayConversionError, and `y[0] = x` a ValueError.

    Examples:
        >>> import autodiff_mini as ad
        >>> ad.patch_numpy(False)   # from here on, in all threads
        >>> ad.patch_numpy()
    """
    with Patch.lock:
        Patch.on = on
        exchange_classes(on and running)
