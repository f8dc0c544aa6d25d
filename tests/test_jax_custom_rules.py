"""Random programs with custom rules, against JAX, under stacks of transforms.

Some results are not used.  Wherever JAX computes, the library computes the
same, and in a jit, too.  The rules tell the truth: of a lie, JAX forgets a
part in loops at second order, and tests/test_combinations.py knows better
what is right.
`make test-jax` runs it; without JAX it is skipped.
"""

import random
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad
from tests import amount
from tests.real_jax import jax

Literal = pytest.importorskip('jax.extend.core').Literal
partial_eval = pytest.importorskip('jax.interpreters.partial_eval')
pytestmark = pytest.mark.rest

PROGRAMS = 300
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


def ruled_apart(lib):
    """Its fwd does not call the function."""
    f = lib.custom_vjp(lambda x: lib.np.tanh(x))
    f.defvjp(lambda x: (lib.np.tanh(x), lib.np.cosh(x)),
             lambda cosh, ct: (ct / cosh ** 2,))
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
    'backwards': ruled_backwards, 'apart': ruled_apart,
    'on_the_spot': ruled_on_the_spot, 'two': ruled_of_two,
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


def carry(lib, f, g):
    """Nobody needs the second carry."""
    return lambda x: lib.scan(lambda c, w: ((f(c[0]) + w, g(c[1])), None),
                              (x, x), lib.np.array([0.1, 0.2]))[0][0]


NODES = {
    'chain': lambda lib, f, g: lambda x: f(g(x)),
    'add': lambda lib, f, g: lambda x: f(x) + g(x),
    'times': lambda lib, f, g: lambda x: f(x) * g(x),
    'unused': unused, 'two_results': two_results, 'loop': loop,
    'carry': carry,
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


# JAX's programs, without XLA, which would take five times as long.

def by_operations(f):
    """Returns `f` as JAX writes it down, to be run operation by operation."""
    def run(x):
        closed = jax.make_jaxpr(f)(x)
        live, [used] = partial_eval.dce_jaxpr(closed.jaxpr, [True])
        [y] = evaluate(live, closed.consts, *[x][:used])
        return y
    return run


def evaluate(jaxpr, consts, *args):
    env = dict(zip(jaxpr.constvars + jaxpr.invars, [*consts, *args],
                   strict=True))
    read = lambda v: v.val if isinstance(v, Literal) else env[v]
    for eqn in jaxpr.eqns:
        rule = CARRIERS.get(eqn.primitive.name, eqn.primitive.bind)
        out = rule(*map(read, eqn.invars), **eqn.params)
        env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results
                       else [out], strict=True))
    return list(map(read, jaxpr.outvars))


def call(closed, *args):
    return evaluate(closed.jaxpr, closed.consts, *args)


def scan(*operands, jaxpr, length, reverse, ft_in=None, num_consts=0,
         num_carry=0, **_):
    if ft_in:   # so JAX 0.12 says which operands are what
        num_consts, num_carry, _ = [
            len(list(part)) for part in ft_in.update(operands).unpack()]
    end, rows = num_consts + num_carry, []
    consts, carry = operands[:num_consts], operands[num_consts:end]
    xs = list(map(np.asarray, operands[end:]))
    for i in reversed(range(length)) if reverse else range(length):
        outs = call(jaxpr, *consts, *carry, *[x[i] for x in xs])
        carry = outs[:num_carry]
        rows.append(outs[num_carry:])
    return [*carry, *map(np.stack, zip(*rows[::-1] if reverse else rows))]


CARRIERS = {name: lambda *xs, call_jaxpr, **_: call(call_jaxpr, *xs)
            for name in ('custom_jvp_call', 'custom_vjp_call', 'closed_call')}
CARRIERS |= {
    'jit': lambda *xs, jaxpr, **_: call(jaxpr, *xs),
    'remat2': lambda *xs, jaxpr, **_: evaluate(jaxpr, [], *xs),
    'cond': lambda i, *xs, branches, **_: call(branches[int(i)], *xs),
    'scan': scan,
}


def attempt(f, x):
    """Returns a number, or the error that comes in its place."""
    try:
        return float(f(x))
    except (TypeError, NotImplementedError) as error:
        return error    # such as forward mode of a custom_vjp function


def agree(ours, theirs):
    return isinstance(ours, float) and np.isclose(ours, theirs, 1e-6, 1e-6)


def test_every_random_program_is_what_it_is_in_jax():
    computed, wrong = 0, []
    for seed in range(PROGRAMS * amount.TIMES):
        rng = random.Random(seed)
        program = random_program(rng, 3)
        stack = rng.choices(list(STACKS), k=rng.randrange(1, 5))
        x = rng.uniform(-1, 1)
        f, g = [partial(outcome, lib, program, stack)
                for lib in (OURS, THEIRS)]
        theirs = attempt(by_operations(g), x)
        if isinstance(theirs, Exception):
            continue
        computed += 1
        results = [attempt(ad.jit(f), x), attempt(f, x)]
        if (isinstance(results[1], TypeError)
                and isinstance(attempt(g, x), TypeError)):
            results.pop()   # only who writes it down sees what is dead
        if not all(agree(ours, theirs) for ours in results):
            wrong.append((seed, program, stack, theirs, *results))
    assert not wrong, '\n'.join(map(str, wrong))
    assert computed > PROGRAMS * amount.TIMES / 2
