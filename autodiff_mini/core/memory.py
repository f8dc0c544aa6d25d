"""Memory: which code owns an array, and for how long.

NumPy arrays change in place, but a recorded program must not.  So the arrays
that a program keeps are copied, arrays that a rule gets are read-only, and
results belong to the caller.  Chapter 24.
"""

import gc
import operator
from dataclasses import dataclass, field
from functools import wraps

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import TracerError, explain_write
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import containers
from autodiff_mini.core.types import NUMBERS

GIVEN = 'was passed to a rule, which can only read it'
ARGUMENT = 'is an argument, so it belongs to the caller'
ONLY_SEEN = 'is a view that is read-only in NumPy, too'
CLOSED_OVER = 'is an array that the program closes over'


@dataclass(slots=True, eq=False)
class Snapshot:
    """Copy NumPy arrays, because their owner can change them later.

    An array is copied only once as long as it does not change.

    Args:
        subok: whether a copy keeps the class of its array.
        copies: by id, an array, kept alive, and its copy.
        foreign: by id, the arrays that belong to other code; see `mark`.
    """

    subok: bool = False
    copies: dict = field(default_factory=dict)
    foreign: dict = field(default_factory=dict)

    def __call__(self, x):
        if isinstance(x, Tracer):
            return seams.content_of.run(x, self.copies)
        if not isinstance(x, np.ndarray) or type(x.base) is bytes:
            return x    # it never changes
        _, copy = self.copies.get(id(x), (x, None))
        # Broadcast elements are compared and copied once, and stay broadcast.
        once = ...
        if 0 in x.strides:
            once = ..., *[slice(None) if stride else slice(1)
                          for stride in x.strides]
        new = x[once]
        if copy is None or not np.array_equal(bits(copy[once]), bits(new)):
            copy = np.array(new, order='K', subok=self.subok)
            if copy.shape != x.shape:
                copy = np.broadcast_to(copy, x.shape, self.subok)
            copy.flags.writeable = False
            self.copies[id(x)] = x, copy
        return copy

    def mark(self, x):
        """Remember that the memory of `x` belongs to other code."""
        owner = x if x.base is None else owner_of(x)
        self.foreign[id(owner)] = owner


def bits(x):
    """Return the bits of `x`: NaN equals NaN, and -0.0 differs from 0.0."""
    # NumPy compares integers much faster than raw bytes.
    kind = 'u' if x.itemsize in (1, 2, 4, 8) else 'V'
    return np.asarray(x).view(f'{kind}{x.itemsize}')


def innermost_array(x):
    """Return the array inside a tracer, or None if it is unknown."""
    while isinstance(x, Tracer):
        x = getattr(x, 'primal', getattr(x, 'val', None))
    return x


def owner_of(x):
    """Return the array to which the memory of `x` belongs."""
    while isinstance(x, np.ndarray) and x.base is not None:
        x = x.base
    return x


def own_memory(arrays, others) -> list:
    """Return results that the caller can change, copied where necessary.

    `gradient *= 0.1` must not change an argument or another gradient, or
    fail because the gradient is read-only.  A small result must not keep a
    large array alive.  An array of shape () becomes a number, as in NumPy.

    Args:
        arrays: the list of results.
        others: arrays that must not share memory with the results.
    """
    if PLAIN.issuperset(map(type, arrays)):
        return arrays   # numbers have no memory
    taken, owned = set(), []
    for x in others:
        if isinstance(x, Tracer):
            taken.add(id(x))
            x = innermost_array(x)
        taken.add(id(x if getattr(x, 'base', None) is None else owner_of(x)))
    for x in arrays:
        if isinstance(x, np.ndarray):
            owner = x if x.base is None else owner_of(x)
            if x.ndim == 0:
                x = x[()]
            elif id(owner) in taken or not x.flags.writeable or (
                    owner is not x and x.nbytes != owner.nbytes):
                x = owner = fresh(x)
            taken.add(id(owner))
        elif isinstance(x, Tracer):
            if id(x) in taken or getattr(x, 'memory', None) is not None:
                x = seams.own_tracer.run(x)
            taken.add(id(x))
        owned.append(x)
    return owned


def to_read(x, why=GIVEN):
    """Return an array as read-only.

    Args:
        x: the array.
        why: the reason that an error gives, if it is traced.
    """
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x = x.view()
        x.setflags(False)   # faster than x.flags.writeable = False
    elif isinstance(x, Tracer):
        x = seams.lend.run(x, why)
    return x


def read_by(rule, name, *args):
    """Call a user's rule, and name it in errors about read-only arrays.

    Args:
        rule: the function.
        name: its name in an error.
        args: its arguments: trees of arrays from `to_read`.
    """
    try:
        return rule(*args)
    except ValueError as error:
        explain_write(error, name)
        raise


PLAIN = {*NUMBERS, str, type(None)}     # these cannot be written into


class Loan:
    """The arguments that a user's function can read but not change.

    Args:
        f: the function.
    """

    __slots__ = 'f', 'lent', 'copies'

    def __init__(self, f):
        self.f = f
        self.lent = False   # whether there is an array
        self.copies = []    # of containers, and what they contained

    def lend(self, x):
        """Return a value of any type, with the arrays in it read-only.

        A container of arrays is copied, so that the caller's container still
        holds arrays that can be changed.
        """
        if isinstance(x, np.ndarray):
            self.lent = True
            return to_read(x)
        container = containers[type(x)]
        if container is None:
            return x
        parts, aux = opened(x)
        if PLAIN.issuperset(map(type, parts)):
            return x
        lent = list(map(self.lend, parts))
        if all(map(operator.is_, parts, lent)):
            return x
        copy = container.unflatten(aux, lent)
        self.copies.append((copy, lent))
        return copy

    def call(self, *args, **kwargs):
        """Call the function with arguments that have been lent."""
        try:
            out = self.f(*args, **kwargs)
        except ValueError as error:
            if self.lent:
                explain_write(error, fun_name(self.f))
            raise
        for copy, lent in self.copies:
            self.check(copy, lent)
        return out

    def check(self, copy, lent):
        """Raise a TypeError if the function has changed a container."""
        parts, _ = opened(copy)
        if len(parts) != len(lent) or not all(map(operator.is_, parts, lent)):
            raise TypeError(
                f'{fun_name(self.f)} changes a {type(copy).__name__} that it '
                'was passed, which holds arrays and belongs to the caller. '
                'Return the new values, or close over the container.')


def opened(x) -> tuple:
    """Return the children of a container, and what is needed to rebuild it.

    A container that cannot be taken apart has no children.
    """
    if type(x) is dict:     # in its own order, even if its keys have none
        return list(x.values()), tuple(x)
    try:
        children, aux = containers[type(x)].flatten(x)
    except (TypeError, ValueError):
        return [], None
    return list(children), aux


def fresh(x):
    """Return a copy with the memory order of a NumPy result.

    If `x` is broadcast, `x.copy('K')` has another order.
    """
    if x.dtype.kind not in 'fc':
        return x.copy('K')
    return np.positive(x).astype(x.dtype, copy=False)


def mark_as_arguments(trace, xs) -> list:
    """Return a traced function's arguments as a list, all read-only."""
    xs = list(xs)
    for i, x in enumerate(xs):
        if isinstance(x, np.ndarray):
            xs[i] = to_read(x)
        elif isinstance(x, Tracer) and x._trace is trace:
            x.memory = ARGUMENT
    return xs


def as_new_result(y, args):
    """Return `y` in the form of a NumPy result with its own memory."""
    if isinstance(y, Tracer):
        shared = getattr(y, 'memory', None) is not None
        for x in args:
            shared = shared or y is x
        return seams.own_tracer.run(y) if shared else y
    if isinstance(y, (tuple, list)):
        parts = [as_new_result(part, args) for part in y]
        return getattr(y, '_make', type(y))(parts)
    return y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y


def writable_result(y, args=()):
    """Return `y` as an array to fill, if a wing allows it."""
    return seams.writable.run(y)


def as_new_array(y, args):
    """Return `y` as `as_new_result` does, but always as an array."""
    y = as_new_result(y, args)
    if isinstance(y, Tracer):
        return y if y.ndim else writable_result(y)
    return np.array(y) if isinstance(y, np.generic) else y


@seams.check_writable.define
def refuse_to_write(x):
    """Raise the error for a write into a traced array."""
    raise TracerError(
        f'assignment destination is read-only: {x.describe()} cannot change '
        'without the wing `writing`. Make a new array, such as '
        'np.where(i, y, x) or np.stack(rows).')


seams.set_item.define(lambda x, *_: refuse_to_write(x))


def gc_paused(f):
    """Wrap `f` so that Python's garbage collector is paused while it runs.

    A compiler makes many objects, none of them garbage, and the collector
    would scan them again and again: a first call of 1,000 operations would
    take 1.3 times as long, and of 5,000 operations 1.5 times.  Python has one
    collector for all threads, so no user code runs while it is paused.  Its
    threshold is set to 0, but enabling or disabling it is left to the user.
    """
    @wraps(f)
    def paused_f(*args, **kwargs):
        found, now = gc.get_threshold(), None
        try:
            gc.set_threshold(0)
            return f(*args, **kwargs)
        finally:
            try:    # Ctrl-C can interrupt any call
                now = gc.get_threshold()[0]
            finally:
                if found[0] and not now:
                    gc.set_threshold(*found)
    return paused_f
