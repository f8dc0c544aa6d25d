"""Traces: primitives, and the interpreters that are asked about them.

Every operation on a traced value calls `bind`, which asks the *current trace*
what the operation means.  To change what a program means, make another trace
current and run it.  Chapter 1.
"""

from _thread import get_ident  # without importing threading
from functools import partial
from importlib import import_module
from operator import attrgetter

from autodiff_mini.core import seams
from autodiff_mini.core.errors import (
    NumPyTable, Refusals, UnexpectedTracerError, trace_at_work)
from autodiff_mini.core.lines import quote_line, user_line


class Primitive:
    """An operation that each interpreter gives a meaning.

    Args:
        name: its name in errors and printed programs.
        impl: the function that computes it on plain arrays.
        multiple_results: whether it returns a list of results.
        is_call: whether it carries Python functions in its parameters.
            They can close over tracers, so an interpreter applies its rule
            even if none of the operands is its own, and tells the rule how
            to re-enter the transformation.

    Source: `Primitive` in JAX's `jax/_src/core.py`.
    """

    def __init__(self, name, impl=None, *, multiple_results=False,
                 is_call=False):
        self.name = name
        self.impl = impl
        self.multiple_results = multiple_results
        self.is_call = is_call

    def bind(self, *args, **params):
        """Return the result, which the current trace determines."""
        trace = current_trace()
        if seams.ask.taken:
            return seams.ask(trace, self, args, params)
        return trace.process_primitive(self, args, params)

    def __repr__(self):
        return self.name

    def __copy__(self, memo=None):
        return self     # its rules are looked up by identity

    __deepcopy__ = __copy__

    def __reduce__(self):
        copying = import_module('autodiff_mini.core.copying')
        return copying.primitive_place(self)


class Kind:
    """A group of primitives that share definitions.

    Call it with a name and an implementation to make another primitive.
    """

    def __init__(self):
        self.primitives = []
        self.definitions = []

    def __call__(self, name, impl):
        primitive = Primitive(name, impl)
        self.primitives.append(primitive)
        for define in self.definitions:
            define(primitive)
        return primitive

    def define(self, define):
        """Call `define` with each primitive; use it as a decorator."""
        self.definitions.append(define)
        for primitive in self.primitives:
            define(primitive)
        return define


elementwise = Kind()


class Trace:
    """An interpreter at work; current inside its `with` block.

    It defines each primitive in terms of primitives that its parent
    interprets.  The trace without a parent, `base`, computes.

    Args:
        parent: the trace that was current before.
        tag: the application of a transformation that it belongs to.
    """

    base: 'Trace'
    thread = None   # the thread it runs in, for an error message
    line = None     # the user's line, if an inner trace has found it
    watcher = None  # checks each result, also in traces inside this one

    def __init__(self, parent, tag):
        self.parent = parent
        self.tag = tag

    def __enter__(self):
        self.thread = get_ident()
        if self.parent.watcher:
            self.parent.watcher.watch(self)
        if seams.note.taken:
            seams.note(type(self))
        set_current_trace(self)
        if self.parent is Trace.base and seams.enter_outermost.taken:
            seams.enter_outermost(self)
        return self

    def __exit__(self, *error):
        self.thread = None
        set_current_trace(self.parent)
        if self.parent is Trace.base and seams.leave_outermost.taken:
            seams.leave_outermost(self)

    def compute(self, primitive, args, params):
        """Return the result, or results, of `primitive` on `args`.

        While `interpret` runs, the parent is current and knows the line of
        the user's program that asked for the operation.  A result records
        that line or, if it belongs to an outer trace, that it was made here.
        """
        parent, line = self.parent, self.line or user_line(2)
        try:
            set_current_trace(parent)
            parent.line = None if primitive.is_call else line
            out = self.interpret(primitive, args, params)
        finally:
            parent.line = None
            set_current_trace(self)
        for y in out if primitive.multiple_results else [out]:
            if isinstance(y, Tracer):
                if y._trace is self:
                    y.line = line
                elif not primitive.is_call:
                    y.made_in = self
        return out

    process_primitive = compute     # a trace can do something else

    def interpret(self, primitive, args, params):
        """Return the result or results, while the parent is current."""
        raise NotImplementedError(
            f'{type(self).__name__} does not define interpret')

    def process_function(self, function, args, kwargs):
        """Return the result of a NumPy function composed of primitives."""
        return function_table[function](*args, **kwargs)

    def lift(self, x):
        """Return the plain array `x` as this trace sees it."""
        return self.parent.lift(x)

    def box(self, x):
        """Return a tracer of this trace for a plain or an outer value."""
        return self.parent.box(x)

    def keep(self, x):
        """Return the plain array `x`, or a copy if it must not change."""
        return self.parent.keep(x)


class EvalTrace(Trace):
    """The interpreter at the bottom, which computes.

    It has no parent, so a tracer that gets here has escaped.
    """

    def process_primitive(self, primitive, args, params):
        for x in args:
            if isinstance(x, Tracer):
                raise UnexpectedTracerError(x)
        return primitive.impl(*args, **params)

    def lift(self, x):
        return x

    keep = lift

    def box(self, x):
        if isinstance(x, Tracer):
            raise UnexpectedTracerError(x)
        return x


base = Trace.base = EvalTrace(parent=None, tag=None)
set_current_trace = trace_at_work.set


# The trace that is asked about the next operation.
current_trace = partial(trace_at_work.get, base)


class at_lines_of:
    """A `with` block that runs equations, each at its line.

    What an equation binds belongs to the user's line that recorded it, and
    an error in it names that line.

    Args:
        eqns: the equations; the block iterates over what `with` returns.
        direction: REVERSE, in a reverse pass.
    """

    def __init__(self, eqns, *direction):
        self.trace, self.eqn = current_trace(), None
        self.eqns, self.direction = eqns, direction

    def __enter__(self):
        """Return a generator, which sets the line for each equation."""
        trace = self.trace
        direction = trace.parent and self.direction     # base records nothing
        for eqn in self.eqns:
            self.eqn, line = eqn, eqn.line
            if line and direction:
                line = *line[:2], *direction
            trace.line = None if eqn.primitive.is_call else line
            yield eqn

    def __exit__(self, kind, error, traceback):
        self.trace.line = None
        if isinstance(error, Exception):
            quote_line(error, self.eqn)


unwrap_as = {}  # by class of array: a function, see `unwrapped`


def unwrapped(x, to_write=False):
    """Return the form of an array that the library reads or writes."""
    kind = type(x)
    return unwrap_as[kind](x, to_write) if kind in unwrap_as else x


class Tracer(Refusals):
    """A value that a trace follows, used like an array.

    A subclass defines `aval`, its type.  When NumPy asks a tracer how to
    compute with it, the tracer finds the primitive in a table.  Converting a
    tracer to a plain number raises an error.
    """

    __slots__ = ('_trace', 'line', 'memory', 'made_in', '__weakref__')

    shape = property(attrgetter('aval.shape'))
    dtype = property(attrgetter('aval.dtype'))
    ndim = property(attrgetter('aval.ndim'))

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        key = (ufunc, method) if kwargs or method != '__call__' else ufunc
        return ufunc_table[key](*inputs, **kwargs)

    def __array_function__(self, function, types, args, kwargs):
        if len(types) > 1 and not unwrap_as.keys().isdisjoint(types):
            return NotImplemented   # the other array's method answers
        if kwargs.get('out') is not None:
            return function_table[function, 'out'](*args, **kwargs)
        kwargs.pop('out', None)
        return current_trace().process_function(function, args, kwargs)

    def __repr__(self):
        return f'{type(self).__name__}<{self.aval}>'


ufunc_table = NumPyTable()
function_table = NumPyTable()
