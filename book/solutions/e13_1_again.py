"""In `b` there are three types: float64, int64, and float32. A Python number
counts as an array without axes. In `c` there are three shapes. In `d` there
are five structures, because the key is the printed tree, and dicts print
their keys in order. (JAX sorts the keys and would record four times.)

`e` makes three jitted functions, and each has a table of its own. That's how
programs get slow without an error: a program calls `jit` inside a loop, or
inside a function that is called often.

In `g`, the function is recorded once, for three numbers. An element of the
batch is three numbers, too, and the other transformations ask for the program
and never for the function.
"""

import numpy as np

from autodiff_mini import draft as ad


def a(f):
    f = ad.jit(f)
    return f(1.0), f(2.0), f(-3.0)


def b(f):
    f = ad.jit(f)
    return f(2.0), f(2), f(np.float64(2)), f(np.float32(2)), f(np.array(2.0))


def c(f):
    f = ad.jit(f)
    return f(np.ones(2)), f(np.zeros(2)), f(np.ones(3)), f(np.ones((2, 1)))


def d(f):
    f = ad.jit(f)
    return (f({'x': 1.0, 'y': 2.0}), f({'y': 1.0, 'x': 2.0}),
            f({'x': 1.0}), f((1.0, 2.0)), f([1.0, 2.0]))


def e(f):
    return [ad.jit(f)(x) for x in (1.0, 2.0, 3.0)]


def g(f):
    f, x = ad.jit(f), np.ones(3)
    return (f(x), ad.vmap(f)(np.ones((4, 3))), ad.vjp(f, x),
            ad.jvp(f, (x,), (x,)), ad.jit(f)(x))


def prediction():
    return {'a': 1, 'b': 3, 'c': 3, 'd': 5, 'e': 3, 'g': 1}
