"""Memory: whose an array is, and for how long.

Its one idea: NumPy's arrays change in place, and a program that is written
down must not.  So what is kept is copied, what is handed out is the caller's
own, and what a program writes into is a box, whose content is exchanged.
"""

import gc
from functools import wraps
from typing import NamedTuple
from weakref import ref

import numpy as np

from autodiff_mini.core import Tracer, current_trace
from autodiff_mini.errors import NumPyReadOnlyError, ReadOnlyError

GIVEN = 'was given to a rule, which may only read it'
ARGUMENT = "is an argument, and so its caller's"
ONLY_SEEN = 'is a view that NumPy lets nobody write into'
CLOSED_OVER = 'is an array that the program closes over'


class Snapshot:
    """Copies arrays of NumPy's, which their owner may change later.

    As long as an array has not changed, its copies are one.
    """

    def __init__(self):
        self.subok = False  # whether a copy is of its array's own class
        self.copies = {}    # by id: the array, so that it lives; its copy

    def __call__(self, x):
        if isinstance(x, Tracer):
            return self.content_of(x)
        if not isinstance(x, np.ndarray) or type(x.base) is bytes:
            return x    # it never changes
        _, copy = self.copies.get(id(x), (x, None))
        # What is broadcast is compared and copied once, and stays broadcast.
        once = ..., *[slice(None) if stride else slice(1)
                      for stride in x.strides]
        new = x[once]
        if copy is None or not np.array_equal(bits(copy[once]), bits(new)):
            copy = np.broadcast_to(new.copy('K'), x.shape, self.subok)
            self.copies[id(x)] = x, copy
        return copy

    def content_of(self, x):
        """Returns a traced array that holds, for good, what `x` holds now."""
        if whose(holder_of(x)):
            return x    # nobody writes into it
        _, copy = self.copies.get(id(x), (x, None))
        if copy is None or any(getattr(x, slot) is not getattr(copy, slot)
                               for slot in slots_of(x)):
            copy = duplicate(x)
            self.copies[id(x)] = x, copy
        return copy


def bits(x):
    """Returns `x` with the bits of its elements, of which NaN equals NaN.

    And -0.0 does not equal 0.0.
    """
    return np.asarray(x).view(f'V{x.itemsize}')


def innermost_array(x):
    """Returns the array in a tracer, and None where nobody knows it."""
    while isinstance(x, Tracer):
        x = getattr(x, 'primal', getattr(x, 'val', None))
    return x


def owner_of(x):
    """Returns the array to which the memory of `x` belongs."""
    while isinstance(x, np.ndarray) and x.base is not None:
        x = x.base
    return x


def own_memory(arrays, others) -> list:
    """Return results that their caller may change: NumPy's arrays, or copies.

    `gradient *= 0.1` must not change another gradient, nor an argument, nor
    fail because the gradient is read-only; and a small result must not keep
    a large array alive.  An array of shape () becomes a number, as NumPy's
    functions return it.

    Args:
        arrays: the results.
        others: arrays whose memory is someone else's.
    """
    taken, owned = set(), []
    for x in others:
        taken.add(id(x))
        while isinstance(x, Tracer):
            x = getattr(x, 'primal', getattr(x, 'val', None))
        taken.add(id(x if getattr(x, 'base', None) is None else owner_of(x)))
    for x in arrays:
        if isinstance(x, np.ndarray):
            if x.ndim == 0:
                x = x[()]
            elif x.base is not None or id(x) in taken:
                owner = owner_of(x)
                if id(owner) in taken or not (
                        x.flags.writeable and x.nbytes == owner.nbytes):
                    x = owner = fresh(x)
                taken.add(id(owner))
            else:
                taken.add(id(x))
        elif isinstance(x, Tracer):
            if whose(x) or id(x) in taken:
                x = duplicate(x)
            taken.add(id(x))
        owned.append(x)
    return owned


def to_read(x, why=GIVEN):
    """Returns an array, which may only be read by whoever gets it.

    Args:
        x: the array.
        why: what an error says of it, if it is traced.
    """
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x = x.view()
        x.flags.writeable = False
    elif isinstance(x, Tracer):
        x = duplicate(x)
        x.memory = why
    return x


def read_by(rule, name, *args):
    """Returns what a rule of the user's returns; its errors name it.

    Args:
        rule: the function.
        name: what an error calls it.
        args: what it is given: trees, with arrays of `to_read`.
    """
    try:
        return rule(*args)
    except ValueError as error:
        if 'read-only' in str(error):
            error.add_note(f'{name} writes into an array that it was given, '
                           'which is not its own: in place of `a *= b` write '
                           '`a = a * b`, or take a copy first.')
        raise


def fresh(x):
    """Returns a copy, in the order that a result of NumPy's would have.

    If `x` is broadcast, `x.copy('K')` would have another one.
    """
    if x.dtype.kind not in 'fc':
        return x.copy('K')
    return np.positive(x).astype(x.dtype, copy=False)


def become(x, y):
    """Lets the tracer `x` hold what `y`, of the same class, holds."""
    for slot in slots_of(x):
        setattr(x, slot, getattr(y, slot))
    if type(x).__dictoffset__:
        vars(x).update(vars(y))
    x._trace = y._trace
    x.line = getattr(y, 'line', None)


def slots_of(x):
    """Returns the names of what a tracer holds."""
    return vars(type(x)).get('__slots__', ())


def duplicate(x):
    """Returns a tracer that holds what `x` does, and is nobody else's."""
    copy = object.__new__(type(x))
    become(copy, x)
    copy.made_in = current_trace()
    return copy


class Shared:
    """Memory that several traced arrays look at.

    Args:
        content: all of it, in a tracer of its own; or, if it can only be
            read, the array itself.
    """

    __slots__ = ('content', 'views')

    def __init__(self, content):
        self.content = content
        self.views = []     # weak references to tracers

    def add(self, x, path):
        """Lets `x` look at a part of it."""
        while self.views and self.views[-1]() is None:
            self.views.pop()
        self.views.append(ref(x))
        x.memory = View(self, path)

    def others(self, x) -> list:
        """Return the other views of it, but for programs that are over."""
        self.views = [view for view in self.views if view() is not None]
        return [y for y in (view() for view in self.views) if y is not x
                and (y._trace.thread or y._trace.tag is x._trace.tag)]


class View(NamedTuple):
    """How a traced array looks at memory.

    Args:
        shared: the memory.
        path: steps from all of it to what is seen; None if nobody knows.
            A step has two methods: `read(whole)` returns the part, and
            `write(whole, part)` the whole with the part in its place.
        why: what an error says of it, if it may only be read.
    """

    shared: Shared
    path: tuple | None
    why: str | None = None


def whose(x):
    """Returns whose the memory of a tracer is.

    A View, if others look at it, too; what an error says of it, if it may
    only be read; None, if it is its own.
    """
    return getattr(x, 'memory', None)


def holder_of(x):
    """Return the tracer that holds all of the memory that `x` looks at."""
    mine = whose(x)
    return mine.shared.content if type(mine) is View else x


def mark_as_arguments(trace, xs) -> list:
    """Return the arguments of a function that is traced: only to be read."""
    xs = list(xs)
    for x in xs:
        if isinstance(x, Tracer) and x._trace is trace:
            x.memory = ARGUMENT
    return xs


def view_of(x, y, step=None, why=None):
    """Returns `y`, a view of the traced array `x`.

    Args:
        x: the array.
        y: what NumPy would return as a view, or might return as one.
        step: how it looks at `x`, see View; None if nobody knows.
        why: what an error says of it, if it may only be read.
    """
    mine = whose(x)
    why = why or (mine.why if type(mine) is View else None)
    if y is x or mine is None and is_a_number(x):
        return y if y is x or why is None else only_seen_of(x, y, why)
    if mine and type(mine) is not View and isinstance(y, Tracer):
        # What may only be read never changes, so no view has to follow.
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
    shared.add(y, (*path, step) if known else None)
    y.memory = y.memory._replace(why=why)
    return y


def only_seen_of(x, y, why):
    """Return `y`, made of the number `x`, as an array that is only read."""
    content = boxed(y, x._trace)
    content.memory = why
    y = duplicate(content)
    Shared(content).add(y, ())
    return y


def share(x):
    """Return the View of a tracer, of which another becomes a view."""
    mine = whose(x)
    if isinstance(mine, str):
        shared = Shared(x)
        shared.views.append(ref(x))
        return View(shared, None)
    if mine and (mine.path is not None or mine.shared.others(x)):
        return mine     # else it was a view of what is gone
    content = duplicate(x)
    content.made_in = getattr(x, 'made_in', None)
    Shared(content).add(x, ())
    return x.memory


def is_outer(y, x) -> bool:
    """Return whether the program of `y` is outside that of `x`, or over."""
    trace = current_trace()
    while trace and trace.tag is not y._trace.tag:
        if trace.tag is x._trace.tag:
            return True
        trace = trace.parent
    return trace is None


def as_new_result(y, args):
    """Returns `y`, as what NumPy would return in memory of its own."""
    if isinstance(y, Tracer):
        known = getattr(y, 'memory', None) is not None
        for x in args:
            known = known or y is x
        return duplicate(y) if known else y
    if isinstance(y, (tuple, list)):
        parts = [as_new_result(part, args) for part in y]
        return getattr(y, '_make', type(y))(parts)
    return y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y


def boxed(x, trace):
    """Returns `x` as a tracer of this trace, which is nobody else's."""
    if isinstance(x, Tracer):
        x = duplicate(x)
    mine = isinstance(x, Tracer) and x._trace is trace
    return x if mine else trace.box(x)


def is_at_home(x) -> bool:
    """Returns whether a tracer was made by the program that runs now."""
    trace = current_trace()
    return x._trace is trace or getattr(x, 'made_in', None) is trace


def writable_result(y, args=()):
    """Returns `y` as an array of the program's own, which it may fill.

    Of shape (), it is an array, too, and no number.
    """
    y = boxed(y, current_trace())
    if isinstance(y, Tracer) and y.ndim == 0:
        share(y)
    return y


def as_new_array(y, args):
    """Return `y` as `as_new_result` does; of shape (), also as an array."""
    y = as_new_result(y, args)
    if isinstance(y, Tracer):
        return y if y.ndim else writable_result(y)
    return np.array(y) if isinstance(y, np.generic) else y


def is_a_number(x) -> bool:
    """Returns whether a tracer stands for a number, which does not change."""
    return x.ndim == 0 and not isinstance(whose(x), View)


def check_writable(x):
    """Raises a ReadOnlyError if the traced array `x` may only be read."""
    owner = holder_of(x)
    mine = is_at_home(owner)
    why = getattr(whose(x), 'why', None) or whose(owner)
    if why is None and mine:
        return
    if why in (GIVEN, ONLY_SEEN):
        raise NumPyReadOnlyError(x, why)
    if not mine and why in (None, ARGUMENT):
        why = (f'has memory that belongs to {owner._trace.tag}, and '
               f'{current_trace().tag} is at work')
    raise ReadOnlyError(x, why)


def write(x, new):
    """Lets the traced array `x` hold `new`.

    All that look at the same memory see it.

    Raises:
        ReadOnlyError: it is not the program's own; or it may be a view of
            another, or another of it, and nobody knows.
    """
    check_writable(x)
    contents, trace = [(x, new)], holder_of(x)._trace
    if isinstance(whose(x), View):
        shared, path, _ = x.memory
        others = shared.others(x)
        paths = [path, *[y.memory.path for y in others]]
        if others and None in paths:
            raise ReadOnlyError(x, 'may share its memory with another array '
                                'that is in use, since one was made of the '
                                'other, by reshape or the like')
        if others:
            whole = put(shared.content, path, new)
        else:
            whole, x.memory = new, View(shared, ())
        contents += [(y, look(whole, y.memory.path)) for y in others]
        contents.append((shared.content, whole))
    if isinstance(new, Tracer) and trace is not current_trace() and (
            new._trace is not trace):
        raise ReadOnlyError(x, f'holds still in {current_trace().tag}, and '
                            'what is written does not')
    for box, content in [(box, boxed(content, trace))
                         for box, content in contents]:
        become(box, content)


def look(whole, path):
    """Returns the part of an array at which a path ends."""
    for step in path:
        whole = step.read(whole)
    return whole


def put(whole, path, part):
    """Returns the array with another part where a path ends."""
    if not path:
        return part
    step, *rest = path
    return step.write(whole, put(step.read(whole), rest, part))


def gc_paused(f):
    """Return `f`, during which Python's garbage collector is paused.

    The collector looks at all objects again and again, and a program that is
    being recorded is many objects, none of them garbage.  Its threshold is
    set to never, in all threads.  Enabling it is left to the user.
    """
    @wraps(f)
    def paused_f(*args, **kwargs):
        found, now = gc.get_threshold(), None
        try:
            gc.set_threshold(0)
            return f(*args, **kwargs)
        finally:
            try:    # Ctrl-C can come after each call
                now = gc.get_threshold()[0]
            finally:
                if found[0] and not now:
                    gc.set_threshold(*found)
    return paused_f
