"""Programs that the draft, the library, and JAX have in common.

Each takes a library and returns a function of a number. The library has `np`,
the transformations, and control flow, under JAX's names.
"""

import itertools
from types import SimpleNamespace

import numpy as np

import autodiff_mini as ad
from autodiff_mini import draft

NAMES = ('jvp', 'vmap', 'grad', 'jit', 'custom_jvp', 'custom_vjp', 'scan',
         'cond', 'while_loop', 'checkpoint')
DRAFT = SimpleNamespace(np=np, **{name: getattr(draft, name)
                                  for name in NAMES})
LIBRARY = SimpleNamespace(np=np, **{name: getattr(ad, name)
                                    for name in NAMES})


def expit(lib):
    return lambda x: 1 / (1 + lib.np.exp(-x))


def layers(lib):
    w = lib.np.array([[0.5, -1.0], [2.0, 0.3], [1.0, 1.0]])

    def f(x):
        h = lib.np.tanh(w @ (x * lib.np.array([1.0, 0.5])))
        return lib.np.sum(h[1:] * lib.np.sin(x) + h[0] ** 2)
    return f


def shapes(lib):
    def f(x):
        square = lib.np.reshape(x * lib.np.arange(6.0), (2, 3))
        turned = lib.np.transpose(square, (1, 0))
        wide = lib.np.broadcast_to(lib.np.cos(turned), (2, 3, 2))
        return lib.np.sum(wide - lib.np.sum(square, 1) / 7)
    return f


def choices(lib):
    return lambda x: lib.np.sum(lib.np.where(
        lib.np.array([True, False]), lib.np.log(x * x), -x)) + (
        lib.np.maximum(x, 0.1) * lib.np.clip(x, -3.0, 0.5))


def ruled(lib):
    f = lib.custom_jvp(lambda x: lib.np.sin(x))
    f.defjvp(lambda p, t: (f(*p), 10 * lib.np.cos(p[0]) * t[0]))
    return f


def ruled_of_two(lib):
    f = lib.custom_jvp(lambda x, y: x * lib.np.sin(y))
    f.defjvp(lambda p, t: (f(*p), 2 * t[0] * p[1] + 3 * t[1] * f(*p)))
    return lambda x: f(x, lib.np.sin(x)) * x


def backwards(lib):
    f = lib.custom_vjp(lambda x: lib.np.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (
        5 * lib.np.cos(x) * ct,))
    return lambda x: f(x * x)


def loop(lib):
    f = ruled(lib)

    def looped(x):
        step = lambda c, w: ((f(c[0]) + w * x, c[0]), c[1] * x)
        carry, ys = lib.scan(step, (x, 1.0 * x), lib.np.arange(3.0))
        return carry[0] + lib.np.sum(ys)
    return looped


def branch(lib):
    f = ruled(lib)
    return lambda x: lib.cond(x < 0.9, lambda x: f(x) * x, lib.np.cos, x)


def forgetful(lib):
    f = ruled(lib)
    return lambda x: lib.checkpoint(lambda y: f(lib.np.sin(y)) * x)(x)


def compiled(lib):
    f = ruled(lib)
    return lambda x: lib.jit(lambda y: f(y) * x + lib.jit(f)(x))(x * x)


def as_long_as(lib):
    """It has only forward mode, for one number at a time."""
    return lambda x: lib.while_loop(lambda s: s[1] < 3.0, lambda s: (
        lib.np.sin(s[0]) * x, s[1] + 1.0), (x, 0.0 * x))[0]


PROGRAMS = [expit, layers, shapes, choices, ruled, ruled_of_two, backwards,
            loop, branch, forgetful, compiled]
TRANSFORMS = {
    'jvp': lambda lib, f: lambda x: lib.jvp(f, (x,), (1.0,))[1],
    'grad': lambda lib, f: lib.grad(f),
    'jit': lambda lib, f: lib.jit(f),
    'vmap': lambda lib, f: lambda x: lib.np.sum(lib.vmap(f)(
        x * lib.np.array([1.0, 0.5]))),
}
STACKS = [names for depth in range(4)
          for names in itertools.product(TRANSFORMS, repeat=depth)]


def transformed(lib, program, names):
    f = program(lib)
    for name in names:
        f = TRANSFORMS[name](lib, f)
    return f


def cannot(program, names):
    """Return whether it can refuse: a `custom_vjp` has no forward mode.

    A gradient has one if dead code is left out first.
    """
    return program is backwards and 'jvp' in names
