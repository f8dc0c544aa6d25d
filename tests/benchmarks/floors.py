"""The floor: the NumPy calls of a person, and nothing around them.

We run the program by hand once and record its NumPy calls. The floor makes
the same calls again, each with `out=` into an array that already exists. If
all arguments are vectors of one length, it takes them in blocks that stay in
the cache. It writes into the same arrays each time, so a program could not
use it. For numbers, the floor is the program by hand itself.
"""

import sys
from collections import defaultdict
from functools import partial
from weakref import finalize

import numpy as np

from autodiff_mini import tree_leaves, tree_map
from autodiff_mini.core.memory import gc_paused

BLOCK = 16_384


def floor_of(hand, args):
    """Return a call of the floor; its `count` is the number of its calls."""
    if not any(map(np.ndim, tree_leaves(args))):
        call = partial(hand, *args)
        call.count = python_calls(call)
        return call
    steps, result = recorded(hand, args)

    def call():
        for step in steps:
            step()
        return result
    call.count = len(steps)
    return call


@gc_paused   # JAX is called in each collection
def python_calls(call):
    """Return how many functions a call calls, in Python and in C."""
    count = -1      # to leave out the last one, of setprofile

    def listen(frame, event, argument):
        nonlocal count
        count += event in ('call', 'c_call')
    sys.setprofile(listen)
    try:
        call()
    finally:
        sys.setprofile(None)
    return count


def recorded(hand, args):
    """Return the NumPy calls of a program by hand, and what they write.

    They are recorded with other numbers in the arguments, so if one was
    missed, the values are wrong.
    """
    memory = tree_map(lambda x: np.multiply(x, 0.5, dtype=np.result_type(x)),
                      tree_map(np.asarray, args))
    leaves = tree_leaves(memory)
    steps, n = [], leaves[0].size
    if n > BLOCK and {x.shape for x in leaves} == {(n,)}:
        results = tree_map(np.copy, hand(*memory))
        for start in range(0, n, BLOCK):
            block = lambda x: x[start:start + BLOCK]
            here, found = calls_of(hand, tree_map(block, memory))
            places = {id(old): block(new) for old, new in zip(
                tree_leaves(found), tree_leaves(results), strict=True)}
            steps += [moved(step, places) for step in here]
    else:
        steps, results = calls_of(hand, memory)
    for x, y in zip(leaves, tree_leaves(args)):
        np.copyto(x, y)
    return steps, results


def calls_of(hand, args):
    """Return the NumPy calls of `hand`, and the arrays with its results."""
    Watched.steps = []
    found = hand(*tree_map(lambda x: x.view(Watched), args))
    return Watched.steps, tree_map(plain, found)


def moved(step, places):
    """Return a call that uses other arrays in the places of some."""
    there = lambda x: places.get(id(x), x)
    return partial(step.func, *map(there, step.args),
                   **{name: there(x) for name, x in step.keywords.items()})


class Watched(np.ndarray):
    """An array whose NumPy calls are recorded.

    Attributes:
        steps: the calls, each with an array for its result.
        free: the arrays that are no longer needed, by shape and dtype.
    """

    steps, free = [], defaultdict(list)

    def __array_ufunc__(self, ufunc, method, *inputs, out=(None,), **options):
        inputs = [*map(plain, inputs)]
        dtype = np.result_type(*inputs)
        inputs = [x if isinstance(x, np.ndarray) else np.asarray(x, dtype)
                  for x in inputs]
        f = ufunc if method == '__call__' else getattr(ufunc, method)
        if ufunc is np.matmul:
            f = np.dot      # the faster one
        call, [y] = partial(f, *inputs, **options), out
        if y is None:
            y = empty_like(call())
        return record(y, partial(call, plain(y)) if method == '__call__'
                      else partial(call, out=plain(y)))

    def __array_function__(self, f, types, args, options):
        if f is not np.zeros_like:
            return super().__array_function__(f, types, args, options)
        y = empty_like(f(*map(plain, args), **options))
        y[...] = 0.0
        return y

    def __setitem__(self, place, x):
        record(self, partial(np.copyto, plain(self[place]), plain(x)))


def record(y, step):
    """Make a call, record it, and return the array that it writes to."""
    step()
    Watched.steps.append(step)
    return y


def empty_like(y):
    """Return an array like `y`, whose memory is reused when it is gone."""
    free = Watched.free[np.shape(y), y.dtype]
    memory = free.pop() if free else np.empty(np.shape(y), y.dtype)
    array = memory.view(Watched)
    finalize(array, free.append, memory)
    return array


def plain(x):
    """Return an array of the same memory that does not keep `x` alive."""
    if not isinstance(x, Watched):
        return x
    owner = x
    while isinstance(owner.base, Watched):
        owner = owner.base
    memory = owner.base
    return memory if owner is x else np.ndarray(
        x.shape, x.dtype, memory, x.ctypes.data - memory.ctypes.data,
        x.strides)
