"""Boxes: a traced array is given new content.

An array that a program writes into is a box, whose content is replaced.
Boxes that share memory are updated together.  Chapter 24.
"""

from typing import NamedTuple
from weakref import ref

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import NumPyReadOnlyError, ReadOnlyError
from autodiff_mini.core.memory import ARGUMENT, CLOSED_OVER, GIVEN, ONLY_SEEN
from autodiff_mini.core.trace import Primitive, Tracer, current_trace
from autodiff_mini.primitives.elementwise import real_p
from autodiff_mini.primitives.indexing import index_p, scatter_p
from autodiff_mini.primitives.parts import imag_p, with_imag, with_real
from autodiff_mini.primitives.shapes import transpose_p


@seams.content_of.take
def content_of(x, copies):
    """Return a tracer that permanently holds the current content of `x`.

    Args:
        x: a tracer.
        copies: earlier copies, {id: (tracer, copy)}.
    """
    mine = whose(x)
    if mine and (type(mine) is not View or whose(mine.shared.content)):
        return x    # it can only be read
    _, copy = copies.get(id(x), (x, None))
    if copy is None or any(getattr(x, slot) is not getattr(copy, slot)
                           for slot in slots_of(x)):
        copy = duplicate(x)
        copies[id(x)] = x, copy
    return copy


@seams.lend.take
def lend(x, why):
    """Return a read-only duplicate that records why."""
    if why is GIVEN and is_a_number(x):
        return x
    x = duplicate(x)
    x.memory = why
    return x


@seams.is_seen.take
def is_seen(x) -> bool:
    """Return whether another array shares or owns the memory of `x`.

    A view whose array has been freed counts as unshared.
    """
    mine = whose(x)
    return bool(mine) and (type(mine) is not View
                           or bool(mine.shared.others(x)))


def become(x, y):
    """Copy the content of the tracer `y`, of the same class, into `x`."""
    for slot in slots_of(x):
        setattr(x, slot, getattr(y, slot))
    if type(x).__dictoffset__:
        vars(x).update(vars(y))
    x._trace = y._trace
    x.line = getattr(y, 'line', None)


def slots_of(x):
    """Return the names of the slots of a tracer's class."""
    return vars(type(x)).get('__slots__', ())


@seams.own_tracer.take
def duplicate(x):
    """Return a new tracer with the content of `x`."""
    copy = object.__new__(type(x))
    become(copy, x)
    copy.made_in = current_trace()
    return copy


class Shared:
    """Memory that several traced arrays share.

    Args:
        content: a separate tracer that holds all of it, or the array itself
            if it is read-only.
    """

    __slots__ = ('content', 'views')

    def __init__(self, content):
        self.content = content
        self.views = []     # weak references to tracers

    def add(self, x, path):
        """Make `x` a view of a part of it."""
        while self.views and self.views[-1]() is None:
            self.views.pop()
        self.views.append(ref(x))
        x.memory = View(self, path)

    def others(self, x) -> list:
        """Return its other views, except those of finished programs."""
        self.views = [view for view in self.views if view() is not None]
        return [y for y in (view() for view in self.views) if y is not x
                and (y._trace.thread or y._trace.tag is x._trace.tag)]


class Step(NamedTuple):
    """The operation that takes a view of an array.

    Args:
        primitive: the operation, which must be in `WRITES`.
        arrays: its operands after the array.
        params: its parameters.
    """

    primitive: Primitive
    arrays: tuple
    params: dict

    def __eq__(self, other):
        return (type(other) is Step and self.primitive is other.primitive
                and self.params == other.params
                and list(map(id, self.arrays)) == list(map(id, other.arrays)))

    def read(self, whole):
        """Return the part of the array that the view shows."""
        return self.primitive.bind(whole, *self.arrays, **self.params)

    def write(self, whole, part):
        """Return the whole with this part replaced."""
        return WRITES[self.primitive](
            whole, part, *self.arrays, **self.params)


WRITES = {
    index_p: scatter_p.bind, real_p: with_real, imag_p: with_imag,
    transpose_p: lambda whole, part, axes: np.transpose(
        part, np.argsort(axes).tolist())}


class View(NamedTuple):
    """The part of shared memory that a traced array shows.

    Args:
        shared: the memory.
        path: the steps from all of it to the part, or None if unknown.
        why: the text for an error if it is read-only.
    """

    shared: Shared
    path: tuple | None
    why: str | None = None


def whose(x):
    """Return the owner of a tracer's memory.

    It is a View if the memory is shared, the text for an error if it is
    read-only, and None if the tracer owns it.
    """
    return getattr(x, 'memory', None)


def holder_of(x):
    """Return the tracer that holds all of the memory that `x` shares."""
    mine = whose(x)
    return mine.shared.content if type(mine) is View else x


@seams.view_of.take
def view_of(x, y, step=None, why=None):
    """Return `y`, a view of the traced array `x`.

    Args:
        x: the array.
        y: a result that is or can be a view in NumPy.
        step: the content of its Step from `x`, or None if unknown.
        why: the text for an error if it is read-only.
    """
    mine = whose(x)
    why = why or (mine.why if type(mine) is View else None)
    if y is x or mine is None and is_a_number(x):
        return y if y is x or why is None else only_seen_of(x, y, why)
    if mine and type(mine) is not View and isinstance(y, Tracer):
        # A read-only array never changes, so its views need no updates.
        if y.ndim:
            y.memory = why or mine
        if y.ndim or is_a_number(x):
            return y
    shared, path, _ = share(x)
    if getattr(whose(y), 'shared', None) is shared:
        return y
    if not isinstance(y, Tracer) or is_outer(y, x):
        y = boxed(y, x._trace)
        if not isinstance(y, Tracer):
            return y    # a trace that has no boxes
    elif whose(y) is not None:
        y = duplicate(y)
    # If an inner program made the view, this one cannot follow its path.
    known = step is not None and path is not None and y._trace is x._trace
    shared.add(y, (*path, Step(*step)) if known else None)
    y.memory = y.memory._replace(why=why)
    return y


def only_seen_of(x, y, why):
    """Return `y`, made from the number `x`, as a read-only array."""
    content = boxed(y, x._trace)
    content.memory = why
    y = duplicate(content)
    Shared(content).add(y, ())
    return y


def share(x):
    """Return the View of a tracer, before another becomes a view of it."""
    mine = whose(x)
    if isinstance(mine, str):
        shared = Shared(x)
        shared.views.append(ref(x))
        return View(shared, None)
    if mine and (mine.path is not None or mine.shared.others(x)):
        return mine     # else the other views have been freed
    content = duplicate(x)
    content.made_in = getattr(x, 'made_in', None)
    Shared(content).add(x, ())
    return x.memory


def is_outer(y, x) -> bool:
    """Return whether the program of `y` encloses that of `x`, or is over."""
    trace = current_trace()
    while trace and trace.tag is not y._trace.tag:
        if trace.tag is x._trace.tag:
            return True
        trace = trace.parent
    return trace is None


@seams.writable.take
def writable(y):
    """Return `y` as an array that the current program owns and can fill.

    With shape () it is an array, too, not a number.
    """
    y = boxed(y, current_trace())
    if isinstance(y, Tracer) and y.ndim == 0:
        share(y)
    return y


def boxed(x, trace):
    """Return `x` as a new tracer of this trace."""
    if isinstance(x, Tracer):
        x = duplicate(x)
    mine = isinstance(x, Tracer) and x._trace is trace
    return x if mine else trace.box(x)


def is_at_home(x) -> bool:
    """Return whether a tracer was made by the program that runs now."""
    trace = current_trace()
    return x._trace is trace or getattr(x, 'made_in', None) is trace


@seams.is_a_number.take
def is_a_number(x) -> bool:
    """Return whether a tracer represents a number, which is immutable."""
    return x.shape == () and type(getattr(x, 'memory', None)) is not View


@seams.check_writable.take
def check_writable(x):
    """Raise a ReadOnlyError if the traced array `x` is read-only."""
    owner = holder_of(x)
    mine = is_at_home(owner)
    why = getattr(whose(x), 'why', None) or whose(owner)
    if why is None and mine:
        return
    if why in (GIVEN, ONLY_SEEN):
        raise NumPyReadOnlyError(x, why)
    if not mine and why in (None, ARGUMENT):
        why = (f'has memory that belongs to {owner._trace.tag}, but '
               f'{current_trace().tag} is running')
    raise ReadOnlyError(x, why)


def write(x, new):
    """Replace the content of the traced array `x`, and update its views.

    Raises:
        ReadOnlyError: the current program does not own `x`, or `x` may share
            memory with another array in an unknown way.
    """
    check_writable(x)
    contents, trace = [(x, new)], holder_of(x)._trace
    if isinstance(whose(x), View):
        shared, path, _ = x.memory
        others = shared.others(x)
        paths = [path, *[y.memory.path for y in others]]
        if others and None in paths:
            raise ReadOnlyError(x, 'may share memory with another array that '
                                'is still in use, because one was made from '
                                'the other (by reshape, for example)')
        if others:
            whole = write_path(shared.content, path, new)
        else:
            whole, x.memory = new, View(shared, ())
        contents += [(y, read_path(whole, y.memory.path)) for y in others]
        contents.append((shared.content, whole))
    if isinstance(new, Tracer) and trace is not current_trace() and (
            new._trace is not trace):
        raise ReadOnlyError(x, f'is constant in {current_trace().tag}, but '
                            'the value to write is not')
    for box, content in [(box, boxed(content, trace))
                         for box, content in contents]:
        become(box, content)


def read_path(whole, path):
    """Return the part of an array that a path leads to."""
    for step in path:
        whole = step.read(whole)
    return whole


def write_path(whole, path, part):
    """Return the array with the part that a path leads to replaced."""
    if not path:
        return part
    step, *rest = path
    return step.write(whole, write_path(step.read(whole), rest, part))


@seams.part_of.take
def part_of(x, y, indices, arrays):
    """Return `y`, which is `x[indices]`: a view, a copy, or a number.

    In `x[[0, 2]] += v` Python adds `v` to the copy and writes it back.  A
    copy of booleans is not made writable, because it is usually a mask.
    """
    trace = current_trace()
    if not all(map(is_traced_number, arrays)) or not (
            y.ndim or Ellipsis in indices):
        is_filled = x._trace is trace and getattr(y, '_trace', None) is not (
            trace) and np.ndim(y) and y.dtype != bool
        return writable(y) if is_filled else y
    if is_a_number(x):
        return y if y.ndim else writable(y)
    return view_of(x, y, (index_p, arrays, {'indices': indices}))


def is_traced_number(i):
    """Return whether `i` is a traced integer, not an array of shape ()."""
    return (isinstance(i, Tracer) and i.dtype.kind in 'iu'
            and is_a_number(i) and whose(i) is not CLOSED_OVER)
