"""Random programs that write into arrays, and what NumPy makes of them.

A program is Python source, a function of one or two arrays of shape (3, 3)
that returns a number.  It is made of statements that NumPy can run: each was
tried when it was chosen.  It names views, aliases and copies of arrays, of
integers and booleans, too, and writes into them in many ways, also inside of
functions that are transformed, that close over them, and that yield.

Under a transformation it is to give what NumPy gives, or to raise one of
`REFUSALS`; see tests/test_writing.py.
"""

import random
from types import SimpleNamespace

import numpy as np

import autodiff_mini as ad
from autodiff_mini.errors import TracerError, UnexpectedTracerError
from autodiff_mini.higher_order.call import call

SHAPE = 3, 3
REFUSALS = (TracerError, IndexError, NotImplementedError)
OUTSIDE = np.array([0.5, -0.25, 0.75])

# What an expression may be.  {a} and {b} are arrays, {k} is one of integers,
# to index with, and {m} one of booleans; {e} is what is written, {i} is where,
# {n} a new name, and {T} a transformation.
VALUES = (
    'np.sin({a})', '{a} * {b}', '{a} + {b} * 0.5', '{a} * 0.7',
    'np.where({a} > 0.1, {a}, {b})', '{a} @ {b}', 'np.maximum({a}, {b})',
    'np.sort({a}, 0)', 'np.floor({a})', 'OUTSIDE * {a}',
    'np.sum({a}, axis=0)', '{a}[1]', '{a}[[0, 2]]', '{a}[0, 1]',
    'np.stack([{a}, {b}])[0]', '{a}[{a} > 0]', '{a}[{k}]',
    'np.where({m}, {a}, 0.3)', 'np.take_along_axis({a}, {k}[:, None], 1)',
    '{a}[{k}[0]]', '{a}[{m}]')
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
          '{k}', '{k}, {k}', ':, {k}', '{k}[0]', '{m}', '{k}[1], 1:',
          '0, ..., 1', ':, 0, 1:')
WRITES = (
    '{a}[{i}] = {e}', '{a}[{i}] += {e}', '{a}[{i}] = {b}[{i}]', '{a} += {e}',
    '{a} *= {e}', 'np.add({a}, {b}, out={a})', 'np.sin({b}, out={a})',
    'np.multiply({a}, 0.5, {b})', 'np.add.at({a}, {i}, {e})', '{a}.fill({e})',
    'np.fill_diagonal({a}, {e})', 'np.copyto({a}, {b})',
    'np.copyto({a}, {b}, where={a} > 0)', '{a}.sort(0)', '{a}.T[0] = {e}',
    'np.sum({b}, axis=0, out={a})', '{a}[{a} < 0] = 0.1',
    '{a}[0], {a}[1] = {a}[1], {a}[0]', '{a}[1:] += {a}[:-1]',
    # Not for a number, for which out= crashes NumPy.
    'np.cumsum({b}[:], 0, out={a})', 'np.add.at({a}, {k}, {e})',
    '{a}[[0, 1]] = {a}[[1, 0]]',
    'np.putmask({a}, {m}, {b})', '{a}[{k}] += {b}[{k}]',
    '{a}, {b} = {b}, {a}')
INTEGERS = ('np.zeros(3, int, like=x)', 'np.arange(3, like=x)',
            'np.array([2, 0, 1], like=x)', 'np.argsort({a}[0])', '{k}[::-1]',
            '{k}.copy()', '{k}', '{k}[1:]', '({a}[0] > 0).astype(int)',
            'np.argmax({a}, 0)', 'np.array({k}, like=x)')
COUNTS = (
    '{k}[0] = 2', '{k}[1:] = {k}[:-1]', '{k} += 1', '{k}[{a}[0] > 0] = 1',
    '{k}[...] = np.argsort({a}[0])', '{k}.fill(1)',
    'np.add.at({k}, [0, 0], 1)', 'np.remainder({k}, 3, out={k})',
    '{k}[1] = {e}', 'for i in range(3):\n    {k}[i] = (i + 1) % 3')
BOOLEANS = ('{a} > 0.1', 'np.zeros(3, bool, like=x)', '{k} > 1',
            '{a}[0] < {b}[1]', 'np.ones(SHAPE, bool, like=x)', '{m}.copy()',
            '{m}[0]', '~{m}', '{m}[::-1]', '{m}')
MARKS = (
    '{m}[0] = True', '{m}[1:] = {m}[:-1]', '{m} |= {a} > 0',
    '{m}[...] = {a} < {b}', 'np.logical_not({m}, out={m})', '{m}.fill(True)',
    '{m}[{k}] = False', '{m}[0] = {e}')
BLOCKS = (
    'def g(t):\n    u = np.zeros_like(t)\n    u[...] = t\n    u += {e}\n'
    '    return u\n{n} = {T}(g)({a})',
    '{n} = {T}(lambda t: t)({a})',
    'def g(t):\n    {b}[0] = t[0]\n    return t * 2\n{n} = T.jit(g)({a})',
    'for row in {a}:\n    row *= 0.5',
    'for p, q in zip({a}, {b}):\n    p[...] = q * 0.5\n    q *= 0.9',
    'rows = iter({a})\nnext(rows)[...] = {e}\n{n} = next(rows)',
    'def g():\n    for i in range(3):\n        {a}[i] = {e}\n'
    '        yield {a}[i]\n{n} = sum(g())',
    'def g(t):\n    return t * {b}\n{b}[0] = {e}\n{n} = {T}(g)({a})',
    'def outer(t):\n    w = t * 1\n    def g(s):\n        return s * w\n'
    '    w[0] = {e}\n    r = {T}(g)(t)\n    w *= 0.5\n    return r + w\n'
    '{n} = {T}(outer)({a})',
    'def g(t):\n    u = t.copy()\n    v = u[1:]\n    v *= 0.5\n'
    '    u[0] += np.sin(u[-1])\n    return u\n{n} = {T}(g)({a})',
    'def g(t):\n    u = np.stack([t, t * t])\n    np.swapaxes(u, 0, 1)[0] '
    '= {e}\n    return u[1]\n{n} = {T}(g)({a})')
TRANSFORMS = ('jit', 'call', 'checkpoint', 'custom_jvp', 'custom_vjp', 'vmap',
              'jvp', 'vjp', 'grad', 'linearize', 'scan', 'cond', 'switch',
              'fori_loop', 'while_loop', 'custom_gradient', 'rows',
              'sequential_vmap')
KINDS = {VALUES: 3, NEW: 3, VIEWS: 4, WRITES: 6, BLOCKS: 3.5, INTEGERS: 1,
         COUNTS: 1, BOOLEANS: 0.8, MARKS: 0.8}


def source_of(seed) -> str:
    """Return the source of a random program, which the seed determines."""
    rng = random.Random(seed)
    arguments = arguments_of(seed)
    lines, scope = ['y = x * 0.5'], namespace(PLAIN)
    scope |= {name: point(i) for i, name in enumerate(arguments)}
    exec(lines[0], scope)
    names = {'a': [*arguments, 'y'], 'k': [], 'm': []}
    for count in range(rng.randrange(4, 14)):
        kind = rng.choices([*KINDS], KINDS.values())[0]
        line = fill(rng, rng.choice(kind), names, f'v{count}')
        if kind in (VALUES, NEW, VIEWS, INTEGERS, BOOLEANS):
            line = f'v{count} = {line}'
        before = {key: np.copy(scope[key]) for key in sum(names.values(), [])}
        trial = dict(scope)
        try:
            with np.errstate(all='ignore'):
                exec(line, trial)
            usable(trial, arguments)
        except Exception:   # NumPy does not run it, or the numbers explode
            for key, x in before.items():
                restore(scope[key], x)
            continue
        scope = trial
        lines.append(line)
        names = {letter: [key for key in keys if key in scope]
                 for letter, keys in names.items()}
        new = scope.get(f'v{count}')
        if isinstance(new, np.ndarray | float):
            names[{'i': 'k', 'b': 'm'}.get(np.result_type(new).kind, 'a')
                  ].append(f'v{count}')
    last = names['a'][-1]
    rng.shuffle(names['a'])
    results = [f'np.sum({name} * weights({name}))' for name in dict.fromkeys(
        [*names['a'][:3], last, *names['k'][-1:], *names['m'][-1:]])
        if name not in arguments]
    body = '\n'.join(lines + [f'return {" + ".join([*results, "0.0"])}'])
    return f'def program({", ".join(arguments)}):\n' + '\n'.join(
        f'    {line}' for line in body.splitlines())


def arguments_of(seed) -> list:
    """Return the names of the arguments of a random program."""
    return ['x', 'z'] if seed % 3 == 0 else ['x']


def fill(rng, text, names, name):
    """Return a statement with arrays in its places.

    If there is no array of this kind, the statement has an unknown name.
    """
    expression = rng.choice(['{a}', '0.4', '{a}[0]', 'x[0]', '{a} * {b}',
                             'np.sin({a})', '{a}[0, 0]', 'x[1, 1]'])
    text = text.replace('{e}', expression).replace(
        '{i}', rng.choice(PLACES)).replace('{n}', name).replace(
        '{T}', f'T.{rng.choice(TRANSFORMS)}')
    for letter, kind in zip('abkm', 'aakm'):
        text = text.replace(f'{{{letter}}}',
                            rng.choice(names[kind] or ['unknown']))
    return text


def restore(y, x):
    """Restore the content of an array."""
    if isinstance(y, np.ndarray) and y.flags.writeable:
        y[...] = x


def usable(scope, arguments):
    """Raise an error if numbers overflow, or if an argument has changed."""
    for i, name in enumerate(arguments):
        if not np.array_equal(scope[name], point(i)):
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
    """What grad does, one direction at a time, in many digits.

    At an edge, where a program that asks for it has none, it is an error.
    """
    def derivative(x):
        h = np.longdouble(1e-6)
        out = np.zeros_like(x)
        for i in np.ndindex(np.shape(x)):
            e = np.zeros(np.shape(x), np.longdouble)
            e[i] = h
            above, here, below = (total(f(y)) for y in (x + e, x, x - e))
            if abs(above - 2 * here + below) > 1e-4 * h:
                raise ValueError    # an edge, where there is no slope
            out[i] = (above - below) / (2 * h)
        return out
    return derivative


def total(y):
    return np.sum(y * weights(y))


def mapped(f):
    return lambda x: np.stack([f(row) for row in x])


def either(f):
    """Choose between two functions."""
    def run(x):
        return f(x) if np.sum(x) > 0 else f(x * -1)
    return run


def scanned(f):
    def run(x):
        for _ in range(2):
            x = f(x)
        return x
    return run


PLAIN = SimpleNamespace(
    **{name: own for name in ('jit', 'call', 'checkpoint', 'custom_jvp',
                              'custom_vjp')},
    vmap=mapped, vjp=slope, grad=slope,
    **{name: lambda f: lambda x: np.sum(slope(f)(x) * weights(x))
       for name in ('jvp', 'linearize')},
    rows=mapped, sequential_vmap=mapped, custom_gradient=own,
    cond=lambda f: own(either(f)), switch=lambda f: own(either(f)),
    **{name: lambda f: own(scanned(f))
       for name in ('scan', 'fori_loop', 'while_loop')})


def ruled_forwards(f):
    g = ad.custom_jvp(f)
    g.defjvp(lambda xs, ts: ad.jvp(f, xs, ts))
    return g


def ruled_backwards(f):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: ad.vjp(f, x), lambda pull, ct: pull(ct))
    return g


OURS = SimpleNamespace(
    jit=ad.jit, call=lambda f: lambda x: call(f, x),
    checkpoint=ad.checkpoint, custom_jvp=ruled_forwards,
    custom_vjp=ruled_backwards, vmap=ad.vmap,
    jvp=lambda f: lambda x: ad.jvp(lambda x: total(f(x)), (x,), (
        weights(x),))[1],
    vjp=lambda f: lambda x: ad.vjp(lambda x: total(f(x)), x)[1](1.0)[0],
    grad=lambda f: ad.grad(lambda x: total(f(x))),
    linearize=lambda f: lambda x: ad.linearize(
        lambda x: total(f(x)), x)[1](weights(x)),
    scan=lambda f: lambda x: ad.scan(lambda x, _: (f(x), None), x, None,
                                     length=2)[0],
    rows=lambda f: lambda x: ad.scan(lambda c, x: (c, f(x)), 0.0, x)[1],
    cond=lambda f: lambda x: ad.cond(np.sum(x) > 0, f, lambda x: f(x * -1), x),
    switch=lambda f: lambda x: ad.switch(
        np.where(np.sum(x) > 0, 1, 0), [lambda x: f(x * -1), f], x),
    fori_loop=lambda f: lambda x: ad.fori_loop(0, 2, lambda i, x: f(x), x),
    while_loop=lambda f: lambda x: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, f(c[1])), (0, x))[1],
    custom_gradient=lambda f: ad.custom_gradient(
        lambda x: (f(x), ad.vjp(f, x)[1])),
    sequential_vmap=lambda f: ad.vmap(ad.sequential_vmap(f)))


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


def refused(error, source) -> bool:
    """Return whether an error is one that a user can understand.

    NumPy's own, where a plain array is asked to take a traced number, has it
    for its cause.
    """
    if isinstance(error, UnexpectedTracerError):
        # One for each example cannot close over an array made by like=.
        return 'T.sequential_vmap' in source
    return any(
        isinstance(e, REFUSALS) or any(words in str(e) for words in WORDS)
        for e in (error, error.__context__))


WORDS = ('cannot hold traced values', 'is no longer traced',
         'Under vmap, a boolean index', 'has only a rule for reverse',
         'Detected differentiation of', 'but out= has',
         'Detected batching of a custom_vmap function',
         'Reverse-mode differentiation does not work for while_loop',
         'carry output must have equal types',
         'but it was called after')


def differences(f, xs):
    """Return the gradient of a program in NumPy, or None at an edge."""
    xs = np.stack(xs).astype(np.longdouble)
    slopes = [central(f, xs, h) for h in (1e-6, 3e-6)]
    return slopes[0] if close(*slopes, 1e-7) else None


def central(f, xs, h):
    """Return the gradient by central differences with the step `h`."""
    h = np.longdouble(h)
    slope = np.zeros(xs.shape, np.longdouble)
    for i in np.ndindex(xs.shape):
        e = np.zeros(xs.shape, np.longdouble)
        e[i] = h
        slope[i] = (f(*(xs + e)) - f(*(xs - e))) / (2 * h)
    return slope


def close(a, b, tolerance=1e-5) -> bool:
    return np.allclose(a, b, tolerance, tolerance, equal_nan=True)


DERIVED = 'T.jvp', 'T.vjp', 'T.grad', 'T.linearize'


def wrongs_of(seed):
    """Run a random program in all ways.

    Returns:
        The names of the ways that gave something else than NumPy does, the
        number of those that were right, and that of those that refused.
    """
    return wrongs_in(source_of(seed), len(arguments_of(seed)), seed)


def wrongs_in(source, count=1, seed=0):
    """Run a program of so many arguments in all ways, and says the same."""
    plain, traced = functions_of(source)
    xs = tuple(np.stack([point(i), point(seed + 1 + i)]) for i in range(count))
    tangents = tuple(point(-(seed + i) % 97) for i in range(count))
    with np.errstate(all='ignore'):
        try:
            elements = [[x[i] for x in xs] for i in range(2)]
            values = [plain(*[x.copy() for x in args]) for args in elements]
            slopes = [differences(plain, args) for args in elements]
        except Exception:   # it runs at the point for which it was made
            return [], 0, 0
        if any(slope is None for slope in slopes):
            return [], 0, 0
        wrong, right, refusals = [], 0, 0
        for name, (way, expected) in ways(values, slopes, tangents).items():
            held = tuple(x.copy() for x in xs)
            try:
                result = way(traced, held)
            except Exception as error:
                if not refused(error, source):
                    wrong.append(f'{name}: {error!r}')
                refusals += 1
                continue
            if not close(result, expected):
                wrong.append(f'{name}: {result} for {expected}')
            elif not np.array_equal(held, xs):
                wrong.append(f'{name}: writes into its arguments')
            elif not np.array_equal(OUTSIDE, [0.5, -0.25, 0.75]):
                wrong.append(f'{name}: writes into what it closes over')
            else:
                right += 1
    return wrong, right, refusals


def first(xs):
    """Return the first element of each batch."""
    return [x[0] for x in xs]


def gradients(f):
    """Return the gradient with respect to all arguments, as one array."""
    return lambda *xs: np.stack(ad.grad(f, tuple(range(len(xs))))(*xs))


def ways(values, slopes, tangents):
    """Return how to transform a program, and what is to come out.

    Args:
        values, slopes: for two elements, what the program returns, and its
            gradient by all arguments.
        tangents: a direction, an array for each argument.
    """
    along = [np.sum(slope * np.stack(tangents)) for slope in slopes]
    push = lambda f, xs: ad.jvp(f, tuple(first(xs)), tangents)
    return {
        'value': (lambda f, xs: f(*first(xs)), values[0]),
        'jvp': (push, (values[0], along[0])),
        'vmap': (lambda f, xs: ad.vmap(f)(*xs), values),
        'jit': (lambda f, xs: ad.jit(f)(*first(xs)), values[0]),
        'grad': (lambda f, xs: gradients(f)(*first(xs)), slopes[0]),
        'jit of grad': (lambda f, xs: ad.jit(gradients(f))(*first(xs)),
                        slopes[0]),
        'grad of jit': (lambda f, xs: gradients(ad.jit(f))(*first(xs)),
                        slopes[0]),
        'vmap of grad': (lambda f, xs: ad.vmap(gradients(f))(*xs), slopes),
        'grad of vmap': (lambda f, xs: np.swapaxes(gradients(lambda *xs: (
            np.sum(ad.vmap(f)(*xs))))(*xs), 0, 1), slopes),
        'linearize': (lambda f, xs: ad.linearize(f, *first(xs))[1](*tangents),
                      along[0]),
    }
