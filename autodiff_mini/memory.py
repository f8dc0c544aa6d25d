"""Memory: whose an array is, and for how long.

Its one idea: NumPy's arrays change in place, and a program that is written
down must not.  So what is kept is copied, and what is handed out is the
caller's own.  Chapters 7 and 10.
"""

import gc
from threading import Lock

import numpy as np


class Snapshot:
    """Copies arrays of NumPy's, which their owner may change later.

    As long as an array has not changed, its copies are one.
    """

    def __init__(self):
        self.subok = False  # whether a copy is of its array's own class
        self.copies = {}    # by id: the array, so that it lives; its copy

    def __call__(self, x):
        if not isinstance(x, np.ndarray):
            return x
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
    """Returns `x` with the bits of its elements, of which NaN equals NaN.

    And -0.0 does not equal 0.0.
    """
    return np.asarray(x).view(f'V{x.itemsize}')


def owner_of(x):
    """Returns the array to which the memory of `x` belongs."""
    while isinstance(x, np.ndarray) and x.base is not None:
        x = x.base
    return x


def own_memory(arrays, others) -> list:
    """Returns the arrays, each in memory that is no other's.

    NumPy's arrays are changed in place: `gradient *= 0.1` must not change
    another gradient, nor fail because the gradient is a view.
    """
    others, owned = set(map(id, others)), []
    for x in arrays:
        if isinstance(x, np.ndarray):
            if x.ndim == 0:
                x = x[()]   # a scalar, as from NumPy's functions
            elif x.base is not None or id(x) in others:
                x = fresh(x)
            others.add(id(x))
        owned.append(x)
    return owned


def apart(arrays, others) -> list:
    """Returns the arrays, copied where their memory is that of others."""
    taken, free = {id(owner_of(x)) for x in others}, []
    for x in arrays:
        if isinstance(x, np.ndarray):
            if id(owner_of(x)) in taken:
                x = fresh(x)
            taken.add(id(owner_of(x)))
        free.append(x)
    return free


def to_read(x):
    """Returns an array for a rule of the user's, which may only read it."""
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x = x.view()
        x.flags.writeable = False
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

    If `x` is broadcast, `x.copy` would have another one.
    """
    if x.dtype.kind not in 'fc':
        return x.copy('K')
    return np.positive(x).astype(x.dtype, copy=False)


class Uncollected:
    """Lets Python's garbage collector wait, in all threads.

    It goes through all objects again and again, and a program that is being
    written down is many objects, of which none is garbage.  Its threshold is
    set to never: whether it is enabled is the user's business.
    """

    lock, depth, thresholds = Lock(), 0, ()

    def __enter__(self):
        with self.lock:
            if Uncollected.depth == 0:
                Uncollected.thresholds = gc.get_threshold()
                gc.set_threshold(0)
            Uncollected.depth += 1

    def __exit__(self, *error):
        with self.lock:
            Uncollected.depth -= 1
            if Uncollected.depth == 0 and gc.get_threshold()[0] == 0:
                gc.set_threshold(*self.thresholds)
