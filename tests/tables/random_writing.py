"""Random programs that write into arrays, and what NumPy makes of them.

A program is Python source, a function of an array of shape (3, 3) that
returns a number.  It is made of statements that NumPy can run: each was tried
when it was chosen.  It names views, aliases and copies of arrays, and writes
into them in many ways, including inside functions that are transformed, that
close over them, or that yield.

Under a transformation, it must return what NumPy returns or raise one of
`REFUSALS`.  See test_writing.py.
"""

import random
from types import SimpleNamespace

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.errors import TracerError
from tests.tables.rule_laws import ROWS

SHAPE = 3, 3
REFUSALS = (TracerError, IndexError, NotImplementedError)
OUTSIDE = np.array([0.5, -0.25, 0.75])

# What an expression may be.  {a} and {b} are arrays; {e} is what is written,
# {i} is where, {n} a new name, and {T} a transformation.
VALUES = (
    'np.sin({a})', '{a} * {b}', '{a} + {b} * 0.5', '{a} * 0.7',
    'np.where({a} > 0.1, {a}, {b})', '{a} @ {b}', 'np.maximum({a}, {b})',
    'np.sort({a}, 0)', 'np.floor({a})', 'OUTSIDE * {a}',
    'np.sum({a}, axis=0)', '{a}[1]', '{a}[[0, 2]]', '{a}[0, 1]',
    'np.stack([{a}, {b}])[0]', '{a}[{a} > 0]', '{a}[np.argsort({a}[0])]')
NEW = (
    'np.zeros_like({a})', 'np.copy({a})', '{a}.copy()',
    'np.array({a}, like=x)', 'np.zeros(3, x.dtype, like=x)',
    'np.zeros(SHAPE, x.dtype, like=x)', 'np.full_like({a}, 0.3)',
    '{a}.astype({a}.dtype)', '{a}.flatten()', '+{a}', 'np.stack([{a}, {b}])',
    'np.stack([{a}, {b}, {a}], 1)', 'np.zeros((2, *SHAPE), x.dtype, like=x)')
VIEWS = (
    '{a}', '{a}[1:]', '{a}.T', '{a}[::-1]', '{a}[0]', '{a}[:, 1]',
    '{a}[..., 2]', '{a}[None]', '{a}.ravel()', '{a}.reshape(-1)',
    'np.flip({a})', 'np.swapaxes({a}, 0, 1)', 'np.real({a})',
    'np.diagonal({a})', 'np.broadcast_to({a}, SHAPE)',
    'np.moveaxis({a}, 0, -1)', 'np.split({a}, [1])[1]', 'list({a})[1]',
    'np.expand_dims({a}, 0)', 'np.asarray({a}, like=x)',
    'np.reshape({a}, (1, -1))', 'np.einsum("ij->ji", {a})', '{a}[...]',
    '{a}.transpose(2, 0, 1)', '{a}[0, ..., 1]', '{a}[:, None, 1]')
PLACES = ('0', '1:', ':2', '0, 1', ':, 1', '...', '::2', '::-1', '[0, 2]',
          '[1, 1, 0]', '{a} > 0.2', '[True, False, True]', '-1',
          'np.array([[0], [1]])', ':, [2, 0]', '1, :2', '[0, 1], [1, 1]',
          'np.argsort({a}[0])', 'np.argmax({a}[0]), 1:', '0, ..., 1',
          ':, 0, 1:')
WRITES = (
    '{a}[{i}] = {e}', '{a}[{i}] += {e}', '{a}[{i}] = {b}[{i}]', '{a} += {e}',
    '{a} *= {e}', 'np.add({a}, {b}, out={a})', 'np.sin({b}, out={a})',
    'np.multiply({a}, 0.5, {b})', 'np.add.at({a}, {i}, {e})', '{a}.fill({e})',
    'np.fill_diagonal({a}, {e})', 'np.copyto({a}, {b})',
    'np.copyto({a}, {b}, where={a} > 0)', '{a}.sort(0)', '{a}.T[0] = {e}',
    'np.sum({b}, axis=0, out={a})', '{a}[{a} < 0] = 0.1',
    '{a}[0], {a}[1] = {a}[1], {a}[0]', '{a}[1:] += {a}[:-1]',
    # Not for a number, for which out= crashes NumPy.
    'np.cumsum({b}[:], 0, out={a})', '{a}[[0, 1]] = {a}[[1, 0]]',
    'np.putmask({a}, {a} > 0.1, {b})')
BLOCKS = (
    'def g(t):\n    u = np.zeros_like(t)\n    u[...] = t\n    u += {e}\n'
    '    return u\n{n} = {T}(g)({a})',
    '{n} = {T}(lambda t: t)({a})',
    'def g(t):\n    {b}[0] = t[0]\n    return t * 2\n{n} = T.jit(g)({a})',
    'for row in {a}:\n    row *= 0.5',
    'for p, q in zip({a}, {b}):\n    p[...] = q * 0.5\n    q *= 0.9',
    'def g():\n    for i in range(3):\n        {a}[i] = {e}\n'
    '        yield {a}[i]\n{n} = sum(g())',
    'def g(t):\n    return t * {b}\n{b}[0] = {e}\n{n} = {T}(g)({a})',
    'def outer(t):\n    w = t * 1\n    def g(s):\n        return s * w\n'
    '    w[0] = {e}\n    r = {T}(g)(t)\n    w *= 0.5\n    return r + w\n'
    '{n} = {T}(outer)({a})',
    'def g(t):\n    u = np.stack([t, t * t])\n    np.swapaxes(u, 0, 1)[0] '
    '= {e}\n    return u[1]\n{n} = {T}(g)({a})')
TRANSFORMS = ('jit', 'call', 'checkpoint', 'custom_jvp', 'custom_vjp', 'vmap',
              'jvp', 'grad', 'scan', 'rows', 'cond', 'while_loop')
KINDS = {VALUES: 3, NEW: 3, VIEWS: 4, WRITES: 6, BLOCKS: 3.5}


def source_of(seed) -> str:
    """Return the source of a random program, which the seed determines."""
    rng = random.Random(seed)
    lines, names = ['y = x * 0.5'], ['x', 'y']
    scope = namespace(PLAIN) | {'x': point(0)}
    exec(lines[0], scope)
    for count in range(rng.randrange(4, 14)):
        kind = rng.choices([*KINDS], KINDS.values())[0]
        line = fill(rng, rng.choice(kind), names, f'v{count}')
        if kind in (VALUES, NEW, VIEWS):
            line = f'v{count} = {line}'
        before = {name: np.copy(scope[name]) for name in names}
        trial = dict(scope)
        try:
            with np.errstate(all='ignore'):
                exec(line, trial)
            usable(trial)
        except Exception:   # NumPy does not run it, or the numbers explode
            for name, x in before.items():
                restore(scope[name], x)
            continue
        scope = trial
        lines.append(line)
        if isinstance(scope.get(f'v{count}'), np.ndarray | float):
            names.append(f'v{count}')
    last = names[-1]
    rng.shuffle(names)
    results = [f'np.sum({name} * weights({name}))'
               for name in dict.fromkeys([*names[:3], last]) if name != 'x']
    body = '\n'.join(lines + [f'return {" + ".join([*results, "0.0"])}'])
    return 'def program(x):\n' + '\n'.join(
        f'    {line}' for line in body.splitlines())


def fill(rng, text, names, name):
    """Return a statement with arrays in its places."""
    expression = rng.choice(['{a}', '0.4', '{a}[0]', 'x[0]', '{a} * {b}',
                             'np.sin({a})', '{a}[0, 0]', 'x[1, 1]'])
    text = text.replace('{e}', expression).replace(
        '{i}', rng.choice(PLACES)).replace('{n}', name).replace(
        '{T}', f'T.{rng.choice(TRANSFORMS)}')
    for letter in 'ab':
        text = text.replace(f'{{{letter}}}', rng.choice(names))
    return text


def restore(y, x):
    """Restore the content of an array."""
    if isinstance(y, np.ndarray) and y.flags.writeable:
        y[...] = x


def usable(scope):
    """Raise an error if numbers overflow, or if the argument has changed."""
    if not np.array_equal(scope['x'], point(0)):
        raise ValueError    # it belongs to the caller
    for x in list(scope.values()):
        if isinstance(x, np.ndarray | np.generic) and not (
                np.all(np.isfinite(x)) and np.all(np.abs(x) < 1e3)):
            raise ValueError


def weights(x):
    """Return an array of constants that all differ."""
    return np.sin(1 + np.arange(np.size(x), dtype=np.float64)).reshape(
        np.shape(x))


def own(f):
    """Assert that a transformation's results belong to the caller."""
    return lambda x: np.array(f(x))[()]


def slope(f):
    """Compute what grad computes, one direction at a time."""
    return lambda x: differences(lambda x: total(f(x)), x)


def differences(f, x):
    """Return the gradient by central differences in many digits.

    At an edge, a program that asks for the gradient raises an error.
    """
    h, out = np.longdouble(1e-6), np.zeros_like(x)
    for i in np.ndindex(np.shape(x)):
        e = np.zeros(np.shape(x), np.longdouble)
        e[i] = h
        above, here, below = (f(y) for y in (x + e, x, x - e))
        if abs(above - 2 * here + below) > 1e-4 * h:
            raise ValueError    # an edge, where there is no slope
        out[i] = (above - below) / (2 * h)
    return out


def total(y):
    return np.sum(y * weights(y))


def mapped(f):
    return lambda x: np.stack([f(row) for row in x])


def either(f):
    """Choose between two functions."""
    def run(x):
        return f(x) if np.sum(x) > 0 else f(x * -1)
    return run


PLAIN = SimpleNamespace(
    **{name: own for name in ('jit', 'call', 'checkpoint', 'custom_jvp',
                              'custom_vjp', 'scan', 'while_loop')},
    vmap=mapped, grad=slope, rows=mapped, cond=lambda f: own(either(f)),
    jvp=lambda f: lambda x: np.sum(slope(f)(x) * weights(x)))


def ruled_forwards(f):
    g = ad.custom_jvp(f)
    g.defjvp(lambda xs, ts: ad.jvp(f, xs, ts))
    return g


def ruled_backwards(f):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: ad.vjp(f, x), lambda pull, ct: pull(ct))
    return g


OURS = SimpleNamespace(
    **{name: ROWS[name] for name in ('jit', 'call', 'checkpoint', 'scan')},
    while_loop=ROWS['while'], custom_jvp=ruled_forwards,
    custom_vjp=ruled_backwards, vmap=ad.vmap,
    jvp=lambda f: lambda x: ad.jvp(lambda x: total(f(x)), (x,), (
        weights(x),))[1],
    grad=lambda f: ad.grad(lambda x: total(f(x))),
    rows=lambda f: lambda x: ad.scan(lambda c, x: (c, f(x)), 0.0, x)[1],
    cond=lambda f: lambda x: ad.cond(
        np.sum(x) > 0, f, lambda x: f(x * -1), x))


def namespace(transforms):
    return {'np': np, 'ad': ad, 'T': transforms, 'SHAPE': SHAPE,
            'OUTSIDE': OUTSIDE, 'weights': weights}


def functions_of(source):
    """Return the program for NumPy, and for the library."""
    functions = []
    for transforms in PLAIN, OURS:
        scope = namespace(transforms)
        exec(compile(source, '<random program>', 'exec'), scope)
        functions.append(scope['program'])
    return functions


def point(i):
    rng = np.random.default_rng(i)
    return rng.uniform(-1, 1, SHAPE)


def refused(error) -> bool:
    """Return whether an error is one that a user can understand.

    NumPy raises its own error if a traced number is written into a plain
    array, and our error is its cause.
    """
    return any(
        isinstance(e, REFUSALS) or any(words in str(e) for words in WORDS)
        for e in (error, error.__context__))


WORDS = ('cannot hold traced values', 'is no longer traced',
         'Under vmap, a boolean index', 'has only a rule for reverse',
         'Detected differentiation of', 'but out= has',
         'Reverse-mode differentiation does not work for while_loop',
         'carry output must have equal types',
         'but it was called after')


def wrongs_of(source, seed=0):
    """Run a program in all ways.

    Returns:
        The names of the ways whose results differ from NumPy's, the number of
        ways that were right, and the number of ways that refused.
    """
    plain, traced = functions_of(source)
    xs, x_dot = np.stack([point(0), point(seed + 1)]), point(-seed % 97)
    with np.errstate(all='ignore'):
        try:
            values = [plain(x.copy()) for x in xs]
            slopes = [differences(plain, x.astype(np.longdouble)) for x in xs]
        except Exception:   # an edge, or NumPy does not run it elsewhere
            return [], 0, 0
        wrong, right, refusals = [], 0, 0
        for name, (way, expected) in ways(values, slopes, x_dot).items():
            held = xs.copy()
            try:
                result = way(traced, held)
            except Exception as error:
                if not refused(error):
                    wrong.append(f'{name}: {error!r}')
                refusals += 1
                continue
            if not np.allclose(result, expected, 1e-5, 1e-5, equal_nan=True):
                wrong.append(f'{name}: {result} for {expected}')
            elif not np.array_equal(held, xs):
                wrong.append(f'{name}: writes into its argument')
            elif not np.array_equal(OUTSIDE, [0.5, -0.25, 0.75]):
                wrong.append(f'{name}: writes into what it closes over')
            else:
                right += 1
    return wrong, right, refusals


def ways(values, slopes, x_dot):
    """Return how to transform a program, and the expected results.

    Args:
        values, slopes: for two elements, what the program returns, and its
            gradient.
        x_dot: a direction.
    """
    along = np.sum(slopes[0] * x_dot)
    return {
        'value': (lambda f, xs: f(xs[0]), values[0]),
        'jvp': (lambda f, xs: ad.jvp(f, (xs[0],), (x_dot,)),
                (values[0], along)),
        'vmap': (lambda f, xs: ad.vmap(f)(xs), values),
        'jit': (lambda f, xs: ad.jit(f)(xs[0]), values[0]),
        'grad': (lambda f, xs: ad.grad(f)(xs[0]), slopes[0]),
        'jit of grad': (lambda f, xs: ad.jit(ad.grad(f))(xs[0]), slopes[0]),
        'grad of jit': (lambda f, xs: ad.grad(ad.jit(f))(xs[0]), slopes[0]),
        'vmap of grad': (lambda f, xs: ad.vmap(ad.grad(f))(xs), slopes),
        'grad of vmap': (lambda f, xs: ad.grad(
            lambda xs: np.sum(ad.vmap(f)(xs)))(xs), slopes),
        'linearize': (lambda f, xs: ad.linearize(f, xs[0])[1](x_dot), along),
    }
