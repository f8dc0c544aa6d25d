"""`check_grads`: compare derivatives with difference quotients.

Along a random direction a derivative is a number, and so is a difference
quotient.  Chapter 11.
"""

import numpy as np

from autodiff_mini.api.derivatives import vjp
from autodiff_mini.api.forward import jvp
from autodiff_mini.core.memory import Loan
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.public import public
from autodiff_mini.core.trees import tree_leaves, tree_map
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.core.zeros import Zero, instantiate_zeros

# By precision: a step that balances the error of the difference quotient
# with the rounding error, and the tolerance for the error that is left.
STEPS = {np.dtype(np.float16): 1e-1, np.dtype(np.float32): 1e-2,
         np.dtype(np.float64): 1e-4}
TOLERANCES = {np.dtype(np.float16): 5e-2, np.dtype(np.float32): 5e-3,
              np.dtype(np.float64): 1e-5}


@public(takes_function=True)
def check_grads(f, args, order, modes=('fwd', 'rev'), eps=None, atol=None,
                rtol=None):
    """Raise an error if derivatives of `f` differ from difference quotients.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        args: a tuple of the arguments at which to check.
        order: the highest order of derivatives to check.
        modes: `'fwd'` compares `jvp` with central differences.  `'rev'`
            compares the product of `vjp(w)` and v with the product of w and
            the difference along v, and never calls `jvp`.  Directions are
            random.
        eps: half the distance between the points of a difference.  By default
            it depends on the lowest precision among arguments and outputs.
        atol: the absolute tolerance, with a similar default.
        rtol: the relative tolerance, with a similar default.

    Raises:
        AssertionError: the derivatives differ; the error names the function,
            the mode, the order, and both numbers.
        ValueError: there is no such mode or order.

    Source: `jax.test_util.check_grads`.

    Examples:
        >>> check_grads(np.sin, (1.0,), order=2)
    """
    if not isinstance(args, (tuple, list)):
        raise TypeError(f'check_grads of {fun_name(f)}: args must be a tuple '
                        f'of the arguments, but got {args!r}. For a single '
                        'argument, write (x,).')
    if not isinstance(order, int) or order < 1:
        raise ValueError(f'check_grads of {fun_name(f)}: order must be an '
                         f'integer of at least 1, but got {order!r}')
    modes = (modes,) if isinstance(modes, str) else modes
    for mode in modes:
        if mode not in CHECKS:
            raise ValueError(f'check_grads of {fun_name(f)}: modes must be '
                             f"'fwd' or 'rev', but got {mode!r}")
    loan = Loan(f)
    args = loan.lend(tuple(args))
    precision = lowest_precision(args, loan.call(*args))
    eps = STEPS[precision] if eps is None else eps
    tolerance = TOLERANCES[precision]
    atol = tolerance if atol is None else atol
    rtol = tolerance if rtol is None else rtol
    for mode in modes:
        rng = np.random.default_rng(0)
        g = f
        for level in range(1, order + 1):
            what = (f'check_grads of {fun_name(f)}, mode {mode!r}, order '
                    f'{level}')
            exact, numerical, g = CHECKS[mode](g, args, eps, rng)
            compare(what, exact, numerical, atol, rtol)


def check_forward(f, args, eps, rng):
    """Return a derivative, the same by differences, and its function."""
    v = tree_map(lambda x: random_tangent(x, rng), tuple(args))

    def derivative(*xs):
        return jvp(f, xs, v)[1]
    return derivative(*args), central_difference(f, args, v, eps), derivative


def check_reverse(f, args, eps, rng):
    """Return a product, the same by differences, and the vjp's function."""
    v = tree_map(lambda x: random_tangent(x, rng), tuple(args))
    y, pullback = vjp(f, *args)
    w = tree_map(lambda y: random_tangent(y, rng), y)

    def derivative(*xs):
        return vjp(f, *xs)[1](w)
    numerical = inner(w, central_difference(f, args, v, eps))
    return inner(pullback(w), v), numerical, derivative


CHECKS = {'fwd': check_forward, 'rev': check_reverse}


def moves(x) -> bool:
    """Return whether `x` has a derivative: integers have none."""
    return typeof(x).dtype.kind in 'fc'


def random_tangent(x, rng):
    """Return a random tangent of `x`."""
    aval = typeof(x)
    if aval.dtype.kind not in 'fc':
        return instantiate_zeros(Zero(x))
    t = rng.standard_normal(aval.shape)
    if aval.dtype.kind == 'c':
        t = t + 1j * rng.standard_normal(aval.shape)
    return convert(np.asarray(t)[()], aval.dtype, aval.weak_type)


def central_difference(f, args, v, eps):
    """Return the central difference quotient of `f` along `v`."""
    def moved(step):
        return f(*tree_map(lambda x, t: x + step * t if moves(x) else x,
                           tuple(args), v))
    return tree_map(lambda ahead, behind: (ahead - behind) / (2 * eps)
                    if moves(ahead) else 0.0, moved(eps), moved(-eps))


def inner(xs, ys):
    """Return the real part of the inner product of two trees."""
    return sum(float(np.real(np.sum(np.multiply(x, y, dtype=complex))))
               for x, y in zip(tree_leaves(xs), tree_leaves(ys), strict=True)
               if moves(x))


def lowest_precision(*trees):
    """Return the dtype of the least precise number in the trees."""
    kinds = [np.finfo(typeof(x).dtype).dtype for x in tree_leaves(trees)
             if moves(x)]
    kinds = [kind for kind in kinds if kind in STEPS]
    return min(kinds, key=lambda kind: kind.itemsize,
               default=np.dtype(np.float64))


def compare(what, exact, numerical, atol, rtol):
    """Raise an AssertionError if two trees of numbers differ too much."""
    for x, y in zip(tree_leaves(exact), tree_leaves(numerical), strict=True):
        if moves(x) and not np.allclose(x, y, rtol, atol, equal_nan=True):
            raise AssertionError(f'{what}: the derivative is {x}, but the '
                                 f'difference quotient is {y}')
