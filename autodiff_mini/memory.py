"""Memory: whose an array is, and for how long.

NumPy's arrays change in place, and a recorded program must not.  So what is
kept is copied, what is lent can only be read, and what is handed out is the
caller's own.  Chapter 23.
"""

import gc
from functools import wraps

import numpy as np

from autodiff_mini import seams
from autodiff_mini.core import Tracer
from autodiff_mini.errors import TracerError

GIVEN = 'was passed to a rule, which can only read it'
ARGUMENT = "is an argument, and so its caller's"
ONLY_SEEN = 'is a view that is read-only in NumPy, too'
CLOSED_OVER = 'is an array that the program closes over'


class Snapshot:
    """Copies NumPy arrays, which their owner can change later.

    As long as an array has not changed, its copies are one.
    """

    def __init__(self):
        self.subok = False  # whether a copy is of its array's own class
        self.copies = {}    # by id: the array, so that it lives; its copy

    def __call__(self, x):
        if isinstance(x, Tracer):
            return seams.content_of.run(x, self.copies)
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

def bits(x):
    """Return `x` with the bits of its elements, so that NaN equals NaN.

    And -0.0 does not equal 0.0.
    """
    return np.asarray(x).view(f'V{x.itemsize}')


def innermost_array(x):
    """Return the array in a tracer, or None if it is unknown."""
    while isinstance(x, Tracer):
        x = getattr(x, 'primal', getattr(x, 'val', None))
    return x


def owner_of(x):
    """Return the array to which the memory of `x` belongs."""
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
            x = seams.own_tracer.run(x, id(x) in taken)
            taken.add(id(x))
        owned.append(x)
    return owned


def to_read(x, why=GIVEN):
    """Return an array that its receiver can only read.

    Args:
        x: the array.
        why: what an error says of it, if it is traced.
    """
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x = x.view()
        x.flags.writeable = False
    elif isinstance(x, Tracer):
        x = seams.lend.run(x, why)
    return x


def read_by(rule, name, *args):
    """Return what a user's rule returns; its errors name it.

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
                           'which is not its own: instead of `a *= b` write '
                           '`a = a * b`, or take a copy first.')
        raise


def fresh(x):
    """Return a copy, in the order that a NumPy result would have.

    If `x` is broadcast, `x.copy('K')` would have another one.
    """
    if x.dtype.kind not in 'fc':
        return x.copy('K')
    return np.positive(x).astype(x.dtype, copy=False)


def mark_as_arguments(trace, xs) -> list:
    """Return the arguments of a function that is traced: only to be read."""
    xs = list(xs)
    for x in xs:
        if isinstance(x, Tracer) and x._trace is trace:
            x.memory = ARGUMENT
    return xs


def as_new_result(y, args):
    """Return `y`, as what NumPy would return in memory of its own."""
    if isinstance(y, Tracer):
        known = False
        for x in args:
            known = known or y is x
        return seams.own_tracer.run(y, known)
    if isinstance(y, (tuple, list)):
        parts = [as_new_result(part, args) for part in y]
        return getattr(y, '_make', type(y))(parts)
    return y[()] if isinstance(y, np.ndarray) and y.ndim == 0 else y


def writable_result(y, args=()):
    """Return `y` as an array that the program can fill, if a wing lets it."""
    return seams.writable.run(y)


def as_new_array(y, args):
    """Return `y` as `as_new_result` does; of shape (), also as an array."""
    y = as_new_result(y, args)
    if isinstance(y, Tracer):
        return y if y.ndim else writable_result(y)
    return np.array(y) if isinstance(y, np.generic) else y


@seams.check_writable.define
def refuse_to_write(x):
    """Raise the error for a write into a traced array."""
    raise TracerError(
        f'assignment destination is read-only: {x.describe()} never changes '
        'without the wing `more`. Make a new array, such as np.where(i, y, x)'
        ' or np.stack(rows).')


@seams.set_item.define
def refuse_item(x, indices, value):
    """Raise the error for `x[indices] = value`."""
    refuse_to_write(x)


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
