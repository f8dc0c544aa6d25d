"""Slips: programs with a common mistake, and the one thing to write instead.

Each entry has a program, the error that it raises, and words of its cure. The
error also has to name a function, an argument, or a line of the program, so
the tests look for `f`, or for a traceback that ends in the program.
"""

from textwrap import dedent
from typing import NamedTuple

import autodiff_mini as ad


class Slip(NamedTuple):
    """A program that fails, and the words that its error needs."""
    program: str
    error: type
    cure: str


def slips(**rows):
    return {name: Slip(dedent(program).strip('\n') + '\n', error, cure)
            for name, (program, error, cure) in rows.items()}


SLIPS = slips(
    leaked=('''
        kept = []
        def f(x):
            kept.append(np.sum(x ** 2))
            return kept[-1]
        ad.grad(f)(np.ones(3))
        np.mean(kept)
        ''', ad.UnexpectedTracerError,
        'Return it from f instead, as (result, value) with has_aux=True'),
    bwd_without_nondiff=('''
        @partial(ad.custom_vjp, nondiff_argnums=(0,))
        def f(n, x):
            return x ** n
        def bwd(x, ct):
            return 3 * x ** 2 * ct,
        f.defvjp(lambda n, x: (x ** n, x), bwd)
        ad.grad(f, 1)(3, 2.0)
        ''', TypeError, 'Write def bwd(n, residuals, cotangent).'),
    caught=('''
        def f(x):
            try:
                return x * math.log(x)
            except Exception:
                return 0.0
        ad.grad(f)(2.0)
        ''', UserWarning, 'its derivative is lost. The error was: '),
    caught_with_a_rule=('''
        class Ball:
            def __init__(self, height):
                self.height = height
        def f(ball):
            return 2 * ball.height
        ruled = ad.custom_vjp(f)
        ruled.defvjp(lambda ball: (ruled(ball), None), lambda _, ct: (ct,))
        def either(height):
            try:
                return ruled(Ball(height))
            except TypeError:
                return f(Ball(height))
        ad.jit(either)(2.0)
        ''', UserWarning, 'and its rule is lost. The error was: arguments of '
        'f[0]: a value of type Ball cannot be traced: '),
    tuples_in_a_rule=('''
        f = ad.custom_jvp(lambda x: x ** 3)
        @f.defjvp
        def rule(x, t):
            return x ** 3, 3 * x ** 2 * t
        ad.grad(f)(2.0)
        ''', TypeError, 'Unpack them: (x,), (x_dot,) = x, t.'),
    product=('''
        W = np.ones((3, 4))
        def f(x):
            return np.sum(np.tanh(W @ x))
        ad.grad(f)(np.ones(3))
        ''', ValueError,
        'W has shape (3, 4) and x has shape (3,): write W.T @ x.'),
    table=('''
        class DataFrame:
            def to_numpy(self):
                return np.ones((2, 2))
        def f(w, table):
            return np.sum((table @ w) ** 2)
        ad.jit(f)(np.ones(2), DataFrame())
        ''', TypeError, 'args[1]: a value of type DataFrame cannot be '
        'traced: convert it with .to_numpy()'),
    quad=('''
        from scipy.integrate import quad
        def f(a):
            return quad(lambda t: np.exp(-a * t), 0.0, 1.0)[0]
        ad.grad(f)(2.0)
        ''', ad.ConcretizationTypeError, 'Write np.trapezoid(f(t), t)'),
    sparse=('''
        import scipy.sparse
        A = scipy.sparse.eye(3).tocsr()
        def f(x):
            return np.sum((A @ x) ** 2)
        ad.grad(f)(np.ones(3))
        ''', ad.TracerArrayConversionError, 'Write A.toarray() @ x.'),
    cache=('''
        from functools import lru_cache
        @lru_cache
        def slow(x):
            return np.sin(x)
        def f(x):
            return slow(x)
        ad.grad(f)(1.0)
        ''', TypeError, 'Leave the lookup out.'),
)

# Wrong calls, where f(w, x=1.0) returns np.sum(w * x).
CALLS = {
    'ad.grad(np.ones(3), f)': 'Put f first.',
    'ad.grad(f)(w=np.ones(3), x=2.0)': 'Pass w by position, not by keyword.',
    'ad.grad(f, argnums=2)(np.ones(3), 2.0)':
        'argnums is 2, but f takes two arguments (0 and 1).',
    'ad.odeint(lambda y, t: np.array([y[1], -y[0]]), [1.0, 0.0], np.ones(2))':
        'Make y0 an array: np.array(y0).',
    'ad.odeint(lambda y, t: [y[1], -y[0]], np.ones(2), np.ones(2))':
        'Return an array: np.array([...]).',
    'ad.odeint(lambda y, t: (y[1], -y[0]), [1.0, 0.0], np.ones(2))':
        'Return a list.',
    'ad.odeint(lambda y, t: [y[1]], [1.0, 0.0], np.ones(2))':
        'Return a list with as many entries.',
    'ad.root(lambda a, x: np.array([x[0] - a]), 1.0, [1.0])':
        'Make the guess an array: np.array(guess).',
    "ad.fixed_point(lambda a, x: [a], 1.0, {'x': 1.0})": 'Return a dict.',
    "ad.grad(f, argnums='x')": "but got 'x'. Write 1.",
    'ad.jacrev(f(np.ones(3)))':
        'Pass the function itself, as in ad.jacrev(f)',
    'ad.grad(f)(3)': 'has no derivative. Write 3.0.',
    "ad.jit(f)(2.0, 'tanh')":
        'args[1]: a value of type str cannot be traced: make it a static',
    'ad.jit(f, static_argnums=1)(2.0, [3, 4])':
        'argument 1 of f is of type list. Pass a tuple.',
    'ad.jit(static_argnums=1)(f)':
        'functools.partial(ad.jit, static_argnums=1).',
    'ad.lax.scan(f, 0.0, np.arange(3.0))': 'Leave lax out',
    'ad.grad(lambda x: ad.while_loop(lambda c: c < 1, f, x))(2.0)':
        'Use fori_loop with bounds that are Python integers.',
    'ad.switch(1, f, f, 2.0)': 'takes a list of functions after its index',
    'ad.fori_loop(0, 3, 1.0, f)': 'takes a function after its bounds, but',
    'ad.while_loop(f, 2.0, f)': 'takes two functions first, but got',
    'ad.grad(lambda x: (f(x), x))(2.0)': 'Pass has_aux=True',
    'ad.grad(lambda x: print())(2.0)': 'None. Is a `return` missing?',
    'ad.vmap(lambda n: range(n))(np.arange(3))':
        'entry in in_axes must be None',
    'ad.grad(lambda x: np.argmax(x))(np.ones(3))':
        'such as np.max(x) and not np.argmax(x). Do not convert the integers',
    'ad.grad(lambda x: np.histogram(x)[0].sum())(np.ones(3))':
        'Return floats from the function',
    'ad.make_jaxpr(f, 1.0)': 'in a second call: ad.make_jaxpr(f)(1.0).',
    'ad.jit(f, np.ones(3))': 'in a second call: ad.jit(f)(x).',
    "ad.jit(f, static_argnums='x')": "Write static_argnames='x'.",
    'ad.custom_vjp(f, 2.0)': 'nondiff_argnums of f must be integers',
    'ad.vmap(f, np.ones(3))': 'write ad.vmap(f)(x).',
    'ad.checkpoint(f, 1.0)': 'Write ad.checkpoint(f)(x).',
    'ad.root(f, 1.0)':
        'Write ad.root(f, a, x_guess), which solves f(a, x) == 0 for x.',
    'ad.check_grads(f, (1.0,))': 'Write ad.check_grads(f, args, order).',
    'ad.odeint(lambda y, t, k: -y, 1.0, np.ones(2), args=(1.0,))':
        'Pass the arguments themselves: ad.odeint(func, y0, t, k).',
    'ad.jit(f, argnums=0)': 'Pass it to ad.grad',
    'ad.watch(1.0)': 'Pass the function itself, as in ad.watch(f)',
    'ad.while_loop(lambda a, b: a < 3, lambda a, b: (a + 1, b), (0, 1.0))':
        'Unpack it inside: a, b = state.',
    'ad.jit(lambda p, g: p - 0.1 * g)({1: 1.0}, {1: 1.0})':
        'Write ad.tree_map(lambda p, g: p - 0.1 * g, p, g).',
    'ad.jit(lambda p, g: p - 0.1 * g)([1.0], [1.0])':
        'Write ad.tree_map(lambda p, g: p - 0.1 * g, p, g).',
    'ad.jit(lambda p: 2.0 * p)((2.0,))':
        'Write ad.tree_map(lambda p: 2.0 * p, p).',
}

# More lines that fail with a tracer, and the advice for each.
ASKED = {
    'math.sin(x) * x': 'Write np.sin(x).',
    'np.max(x).item()': 'Leave out .item() and write np.max(x).',
    '[1.0, 4.0][n]': 'Write ad.asarray([1.0, 4.0])[n].',
    'np.zeros(n) + 1': "Make n static: ad.jit(f, static_argnames='n').",
    '0 < x < 1 and not x == 0.5':
        'Write ((0 < x) & (x < 1)) & (np.logical_not(x == 0.5)).',
    'x.at[0].set(0.0)': 'y = np.copy(x), then y[0] = 0.0.',
    'ad.cond(x > 0, lambda x: x, lambda x: -x)':
        'Pass the operands after the functions.',
    'ad.cond(x > 0, x, -x)': 'write np.where(pred, a, b).',
    'max(x, 2.0, 3.0)': 'Write np.max(np.array([x, 2.0, 3.0])).',
    'any(v > 1 for v in [x, y])':
        'Write np.any(np.array([v > 1 for v in [x, y]])).',
    'max(x, y, key=abs)': 'Choose between two results with np.where',
    'float(x)': 'Write x instead of float(x).',
    'x or 1.0': 'Write np.logical_or(x, 1.0).',
    "f'{x:.3f}'": 'To print it, leave out the format.',
    'x if x > 0 else -x': 'Write np.where(x > 0, x, -x).',
    'x > 0 or x < -1': 'Write (x > 0) | (x < -1).',
    '[1 for _ in [0] if x > 0]': 'np.where(condition, a, b)',
    'int(x)': 'Write np.trunc(x).',
    'n in [1, 2]': 'Write np.isin(n, [1, 2]).',
    'math.erf(x)': 'Write scipy.special.erf(x).',
    "'%.3f' % x": 'To print it, write an f-string.',
    'range(1, n + 1)': "Make n static: ad.jit(f, static_argnames='n').",
    'range(int_of(x))': 'ad.fori_loop(0, int_of(x), body, x).',
    'np.eye(int_of(x))': 'so make it a static argument of jit.',
    'x.numpy()': 'Leave it out, because NumPy accepts x.',
    'x.exp()': 'Write np.exp(x).',
    '{x: 1}': 'A traced value has no hash',
}
STATEMENTS = {
    'a = np.zeros(3)\n    a.flat[0] = x': 'y = np.copy(a.flat)',
    'for _ in range(3):\n        if x > 3:\n            break':
        'Write the loop as ad.while_loop(condition, body, x), with x > 3 in',
    'a = np.frombuffer(bytearray(16))\n    a[1:] += x':
        'Write into a copy made by np.copy: y = np.copy(a).',
    'if x > 0:\n        return x\n    return 0.0':
        'Write np.where(x > 0, a, b)',
    'assert x > 0': 'Check x > 0 before the call',
    'if np.any(x > 0):\n        raise ValueError':
        'Check np.any(x > 0) before',
    'if x > 0:\n        x = x + 1\n        x = x * 2':
        'Write ad.cond(x > 0, f, g, x)',
    'while x > y:\n        x = x - 1':
        'Write the loop as ad.while_loop(condition, body, (x, y)).',
    'while n > 0:\n        n -= 1':
        "Make n static: ad.jit(f, static_argnames='n').",
    'a = np.frombuffer(bytearray(16))\n    a[0] = x':
        'Write into a copy made by np.copy: y = np.copy(a).',
    'while x > 1:\n        x = x / 2':
        'Write the loop as ad.while_loop(lambda x: x > 1, body, x).',
}
