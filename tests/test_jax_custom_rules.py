"""Random programs with custom rules, against JAX, under stacks of transforms.

Some results are not used.  Wherever JAX computes, the library computes the
same.  The rules tell the truth: of a lie, JAX forgets a part in loops at
second order, and tests/test_combinations.py knows better what is right.
`make test-jax` runs it; without JAX it is skipped.
"""

import random
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad
from tests import amount

if not amount.WHOLE:
    pytest.skip('`make test-jax` runs it', allow_module_level=True)
jax = pytest.importorskip(
    'jax', reason='JAX is not installed: `make test-jax` installs it')
jax.config.update('jax_enable_x64', True)
pytestmark = pytest.mark.rest

PROGRAMS = 80
NAMES = ('jit', 'vmap', 'grad', 'jvp', 'vjp', 'linearize', 'checkpoint',
         'custom_jvp', 'custom_vjp', 'custom_gradient')
CONTROL = 'scan', 'cond', 'fori_loop'
OURS = SimpleNamespace(np=np, **{name: getattr(ad, name)
                                 for name in NAMES + CONTROL})
THEIRS = SimpleNamespace(np=jax.numpy, **{
    name: getattr(jax, name) for name in NAMES}, **{
    name: getattr(jax.lax, name) for name in CONTROL})


# A program is a tree of tuples; `build` makes a function of a number of it.

def random_program(rng, depth):
    if depth == 0:
        return (rng.choice(list(LEAVES)),)
    name = rng.choice(list(NODES))
    return name, *[random_program(rng, rng.randrange(depth))
                   for _ in range(2)]


def build(lib, program):
    name, *parts = program
    if name in LEAVES:
        return LEAVES[name](lib)
    return NODES[name](lib, *[build(lib, part) for part in parts])


def ruled_forwards(lib):
    f = lib.custom_jvp(lambda x: lib.np.sin(x))
    f.defjvp(lambda p, t: (f(*p), lib.np.cos(p[0]) * t[0]))
    return f


def ruled_backwards(lib):
    f = lib.custom_vjp(lambda x: lib.np.tanh(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (
        ct * (1 - lib.np.tanh(x) ** 2),))
    return f


def ruled_on_the_spot(lib):
    return lib.custom_gradient(lambda x: (
        lib.np.cos(x), lambda ct: -lib.np.sin(x) * ct))


def ruled_of_two(lib):
    f = lib.custom_vjp(lambda x, y: (x * y, lib.np.sin(x)))
    f.defvjp(lambda x, y: (f(x, y), (x, y)), lambda r, cts: (
        cts[0] * r[1] + cts[1] * lib.np.cos(r[0]), cts[0] * r[0]))
    return lambda x: f(x, 0.5 * x)[0]


LEAVES = {
    'sin': lambda lib: lib.np.sin, 'square': lambda lib: lambda x: x * x,
    'half': lambda lib: lambda x: 0.5 * x, 'forwards': ruled_forwards,
    'backwards': ruled_backwards, 'on_the_spot': ruled_on_the_spot,
    'two': ruled_of_two,
}


def unused(lib, f, g):
    def first(x):
        g(x)
        return f(x)
    return first


def two_results(lib, f, g):
    pair = lib.jit(lambda x: (f(x), g(x)))
    return lambda x: pair(x)[0]


def loop(lib, f, g):
    def looped(x):
        carry, ys = lib.scan(lambda c, w: (f(c) + w, (g(c), c * x)), x,
                             lib.np.array([0.1, 0.2]))
        return carry + ys[1].sum()
    return looped


NODES = {
    'chain': lambda lib, f, g: lambda x: f(g(x)),
    'add': lambda lib, f, g: lambda x: f(x) + g(x),
    'times': lambda lib, f, g: lambda x: f(x) * g(x),
    'unused': unused, 'two_results': two_results, 'loop': loop,
    'jit': lambda lib, f, g: lib.jit(lambda x: f(g(x))),
    'checkpoint': lambda lib, f, g: lib.checkpoint(lambda x: f(g(x))),
    'cond': lambda lib, f, g: lambda x: lib.cond(x < 0.5, f, g, x),
    'fori': lambda lib, f, g: lambda x: lib.fori_loop(
        0, 2, lambda i, c: f(c), g(x)),
    'vmap': lambda lib, f, g: lambda x: lib.vmap(f)(
        lib.np.stack([x, g(x)])).sum(),
}
STACKS = {
    'jit': lambda lib, f: lib.jit(f),
    'grad': lambda lib, f: lib.grad(f),
    'jvp': lambda lib, f: lambda x: lib.jvp(f, (x,), (x + 0.1,))[1],
    'vjp': lambda lib, f: lambda x: lib.vjp(f, x)[1](2 * x)[0],
    'linearize': lambda lib, f: lambda x: lib.linearize(f, x)[1](x),
    'vmap': lambda lib, f: lambda x: lib.vmap(f)(
        lib.np.stack([x, 0.5 * x])).sum(),
}


def outcome(lib, program, stack, x):
    f = build(lib, program)
    for name in stack:
        f = STACKS[name](lib, f)
    return f(x)


def is_excused(program, error):
    """Returns whether checkpoint ran a custom_gradient function once more.

    It calls the function, whose rule says nothing about the way out.
    """
    text = str(program)
    return 'checkpoint' in text and 'on_the_spot' in text and (
        "can't apply forward-mode" in str(error))


def test_every_random_program_is_what_it_is_in_jax():
    computed, wrong = 0, []
    for seed in range(PROGRAMS * amount.TIMES):
        rng = random.Random(seed)
        program = random_program(rng, 3)
        stack = rng.choices(list(STACKS), k=rng.randrange(1, 5))
        x = rng.uniform(-1, 1)
        try:
            theirs = outcome(THEIRS, program, stack, x)
        except Exception:
            continue    # such as forward mode of a custom_vjp function
        computed += 1
        try:
            ours = outcome(OURS, program, stack, x)
            np.testing.assert_allclose(ours, theirs, 1e-6, 1e-6)
        except (TypeError, ValueError, AssertionError) as error:
            if not is_excused(program, error):
                wrong.append((seed, program, stack, str(error)[:200]))
    assert not wrong, '\n'.join(map(str, wrong))
    assert computed > PROGRAMS / 4
