"""In `b` there are four types: Python's float, Python's int, float64 and
float32. (A float64 is the same as an array of it without axes.) In `c` there
are three shapes, and in `d` four structures: the order of a dictionary's keys
is none of them.

`e` makes three jitted functions, each with a table of its own. That is the
way in which programs become slow without anybody noticing: `jit` within a
loop, or within a function that is called often.

In `g` the program is written down once, for three numbers. An element of the
batch is three numbers, too. The others do not ask for the function, but for
its program, and transform that.
"""

import numpy as np

import autodiff_mini as ad


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
    return {'a': 1, 'b': 4, 'c': 3, 'd': 4, 'e': 3, 'g': 1}
