"""An interpreter for tests that observes programs.

`spied` runs a program under a trace that computes, counts the primitives,
and, unlike evaluation, lifts constants.
"""

import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
import scipy.special  # noqa: F401  (adds its rows)

import autodiff_mini as ad
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import (
    Primitive, Trace, Tracer, current_trace, set_current_trace)
from autodiff_mini.core.types import typeof
from tests.support.wings import is_there


class SpyTracer(Tracer):
    __slots__ = ('value', 'aval')

    def __init__(self, trace, value):
        self._trace = trace
        self.value = value
        self.aval = typeof(value)
        self.line = None

    def __bool__(self):
        return bool(self.value)

    def __index__(self):
        return self.value.__index__()


class SpyTrace(Trace):
    """Compute at the parent, and count the primitives."""

    def __init__(self, function):
        super().__init__(current_trace(), TraceTag('spy', function))
        self.counts = Counter()
        self.params = []

    def process_primitive(self, primitive, args, params):
        self.counts[primitive] += 1
        self.params.append(params)
        set_current_trace(self.parent)
        try:
            out = primitive.bind(*map(self.unwrap, args), **params)
        finally:
            set_current_trace(self)
        if primitive.multiple_results:
            return [SpyTracer(self, y) for y in out]
        return SpyTracer(self, out)

    def unwrap(self, x):
        mine = isinstance(x, SpyTracer) and x._trace is self
        return x.value if mine else x

    def lift(self, x):
        return SpyTracer(self, self.parent.lift(x))

    def box(self, x):
        return SpyTracer(self, x)


def spied(f, *args):
    """Return the result of `f`, and how often it used a primitive."""
    with SpyTrace(f) as trace:
        out = f(*[SpyTracer(trace, x) for x in args])
        if isinstance(out, (list, tuple)):
            return type(out)(map(trace.unwrap, out)), trace.counts
        return trace.unwrap(out), trace.counts


def assert_named_everywhere(mistake, error, words):
    """Assert that a mistake raises an error, also under transformations.

    After the error, the library still works.

    Args:
        mistake: a function without arguments that makes the mistake.
        error: the type of the error.
        words: a regular expression that its text matches.
    """
    under = lambda x: mistake() or x
    for run in (mistake, lambda: ad.grad(under)(1.0),
                lambda: ad.vmap(under)(np.arange(3.0)),
                lambda: ad.jit(under)(1.0)):
        with pytest.raises(error, match=f'(?s){words}'):
            run()
        assert current_trace() is Trace.base


def bring_all():
    """Import the rows of the wing `more_numpy`, if it is there."""
    if is_there('more_numpy'):
        import_module('autodiff_mini.wings.more_numpy.on_demand').bring_all()


def first_order():
    """Return all primitives that are rows of the first order."""
    bring_all()
    return rows_in('primitives') | rows_in('wings.more_numpy')


def rows_of_numpy():
    """Return the primitives of the common NumPy functions."""
    bring_all()
    found = set().union(*map(rows_in, ('primitives', *(
        f'wings.more_numpy.{name}'
        for name in ('more_elementwise', 'along_axis', 'sorting', 'matrices',
                     'statistics')))))
    return {p for p in found if p.name != 'complex'}    # only writes ask it


CARRYING_PROGRAMS = (
    'error_states', 'custom_vmap', 'optimize_remat', 'checkpoint', 'policies')


def rows_in(folder):
    """Return the primitives that a folder, or a module, defines."""
    return {primitive for name, module in list(sys.modules.items())
            if f'{name}.'.startswith(f'autodiff_mini.{folder}.')
            and not name.endswith(CARRYING_PROGRAMS)
            for primitive in list(vars(module).values())
            if isinstance(primitive, Primitive)}
