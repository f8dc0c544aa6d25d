"""Give a traced program its own `np.array`, `np.zeros`, and others.

NumPy's C code makes an array from a list without asking the tracers in it.
So during an outermost trace, np and np.linalg have classes whose properties
answer for some 80 names.  Under these names, a traced program finds our
functions, and all other code, in any thread, finds NumPy's.  That costs
1.2 us for each outermost trace, and 0.1 us when other code looks up one of
these names in the meantime.  See the page *Arrays made inside*.
"""

import sys
from _thread import RLock
from importlib import import_module
from types import ModuleType
from weakref import ref

import numpy as np
from numpy import linalg

from autodiff_mini.core.errors import trace_at_work
from autodiff_mini.core.lines import in_a_library
from autodiff_mini.core.trace import Trace


class TracedModule(ModuleType):
    """A NumPy module while a trace is running."""

    def __reduce__(self):   # pickle knows modules by their class
        return import_module, (self.__name__,)


CLASSES = {module: type('TracedModule', (TracedModule,), {})
           for module in (np, linalg)}


def exchange_classes(traced):
    """Give the modules the classes for a traced program, or NumPy's own."""
    for module, kind in CLASSES.items():
        module.__class__ = kind if traced else ModuleType


def answer(name, replacement, module=np):
    """Let a traced program find `replacement` under a name of np."""
    names = vars(module)
    own = names[name]

    def look(module):
        found = names[name]     # a test can have replaced it
        # The base trace, and a trace that has ended, run in no thread.
        if (trace_at_work.get(Trace.base).thread is None
                or found is not own or in_a_library(sys._getframe(1))):
            return found
        return replacement

    def put(module, x):
        names[name] = own if x is replacement else x

    def take(module):
        del names[name]
    setattr(CLASSES[module], name, property(look, put, take))


running = set()     # weak references to outermost traces
lock = RLock()
is_on = True


def started(trace):
    """Note that an outermost trace has started, and patch the modules."""
    with lock:
        # If Ctrl-C cuts `__exit__` short, the trace ends when it is freed.
        running.add(ref(trace, ended))
        exchange_classes(is_on)


def ended(trace):
    """Note that a trace has ended, and restore the modules after the last."""
    with lock:
        exchange_classes(is_on and running - {trace})
        running.discard(trace)


def patch_numpy(on=True):
    """Choose whether `np.array`, `np.zeros`, and others accept traced values.

    By default they do.  While a function is differentiated, batched, or
    staged, its `np.array([x, y])` is traced, and so is `y = np.zeros(n)` once
    a traced value is written into it.  Threads that are not tracing find
    NumPy's own functions, as does all code outside a transformation.

    Args:
        on: False restores NumPy everywhere.  Then `np.array([x, y])` raises
            a TracerArrayConversionError, and `y[0] = x` a ValueError.

    Examples:
        >>> import autodiff_mini as ad
        >>> ad.patch_numpy(False)   # from here on, in all threads
        >>> ad.patch_numpy()
    """
    global is_on
    with lock:
        is_on = on
        exchange_classes(on and running)
