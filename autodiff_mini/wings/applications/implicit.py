"""Solving: `fixed_point`, `custom_root`, and `root`.

Differentiate the answer, not the iterations.  The equation that holds at a
solution also holds near it, and that determines how the solution changes.
Chapter 27.
"""

import warnings
from functools import partial, reduce

import numpy as np

from autodiff_mini.api.derivatives import linearize, vjp
from autodiff_mini.api.forward import jvp, vmap
from autodiff_mini.calls.custom_jvp import custom_jvp
from autodiff_mini.calls.custom_vjp import custom_vjp
from autodiff_mini.calls.loops import promote_carry, while_loop
from autodiff_mini.calls.programs import (
    close_and_dedupe, evaluate, stage_tree)
from autodiff_mini.core.memory import Loan
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import named_after
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.trees import (
    LEAF, leaf_names, map_leaves, register_pytree_node_class, tree_flatten,
    tree_leaves, tree_map, tree_structure)
from autodiff_mini.core.types import array_type, convert, typeof
from autodiff_mini.interpreters import abstract
from autodiff_mini.interpreters.jvp import match
from autodiff_mini.interpreters.vmap import defelementwise
from autodiff_mini.primitives.elementwise import stop_gradient
from autodiff_mini.wings.applications.jacobians import basis, spans


@register_pytree_node_class
class OpenFunction:
    """A function that is a tree: its leaves are the values it captures.

    So it can be an argument of a function with a rule, and has a tangent.
    """

    def __init__(self, program, values):
        self.program = program
        self.values = values

    def __call__(self, *args):
        jaxpr, out_tree, _ = self.program
        outs = evaluate(jaxpr, *self.values, *tree_leaves(args))
        return out_tree.unflatten(outs)

    @property
    def out_types(self):
        """Return the types of its outputs."""
        jaxpr, out_tree, _ = self.program
        return out_tree.unflatten(jaxpr.out_avals)

    @property
    def __name__(self):
        return self.program[2]

    def tree_flatten(self):
        return self.values, self.program

    @classmethod
    def tree_unflatten(cls, program, values):
        return cls(program, values)


def open_function(tag, f, *args):
    """Return `f` as an OpenFunction of arguments like these."""
    jaxpr, out_tree = stage_tree(f, args, {}, tag)
    jaxpr, values = close_and_dedupe(jaxpr)
    return OpenFunction((jaxpr, out_tree, own_name(f)), values)


def open_system(tag, f, guess):
    """Return `f` as an OpenFunction, and the guess.

    A Python number in the guess takes the type that `f` returns, which can
    then change the type of another one.
    """
    while True:
        system = open_function(tag, f, guess)
        check_like(tag, guess, system.out_types)
        better = tree_map(fit_number, guess, system.out_types)
        if same_types(better, guess):
            return system, guess
        guess = better


def same_types(x, y):
    """Return whether two trees have leaves of the same types."""
    return [*map(typeof, tree_leaves(x))] == [*map(typeof, tree_leaves(y))]


def fit_number(x, out_aval):
    """Return the guess `x`; a Python number gets the type of an array."""
    aval = promote_carry(typeof(x), out_aval)
    return convert(x, aval.dtype, aval.weak_type)


def check_like(what, x, out):
    """Raise a TypeError unless the output of a function is like `x`."""
    xs, tree = tree_flatten(x)
    outs, out_tree = tree_flatten(out)
    if out_tree != tree:
        raise TypeError(f'{what}: output pytree structure must match the '
                        f'guess, {tree}, but got {out_tree}. '
                        + how_to_match('the guess', x, out))

    def check(x, y):
        x, y = typeof(x), typeof(y)
        if x.shape != y.shape or x.dtype != y.dtype and not x.weak_type:
            raise TypeError('shapes and dtypes must match the guess, '
                            f'{x}, but got {y}')
        if y.dtype.kind not in 'fc':
            raise TypeError(f'a solution must be a float, but got {y}. '
                            'Make the guess a float.')
    map_leaves(check, lambda: leaf_names(tree, f'{what}: output'), xs, outs)


def how_to_match(name, x, out):
    """Return how to give `out`, a result, the structure of `x`.

    Args:
        name: what `x` is.
    """
    kind, out_kind = type(x), type(out)
    if kind is out_kind:
        return f'Return a {kind.__name__} with as many entries.'
    if kind in (list, tuple) and is_leaf(out):
        return f'Make {name} an array: np.array({name.split()[-1]}).'
    if is_leaf(x) and out_kind in (list, tuple):
        return ('Return a number.', 'Return an array: np.array([...]).',
                'Return an array: np.stack([...]).')[min(typeof(x).ndim, 2)]
    return f'Return {"an array" if is_leaf(x) else f"a {kind.__name__}"}.'


def is_leaf(x) -> bool:
    return tree_structure(x) is LEAF


def at_lent(f, a):
    """Return `f(a, x)` as a function of `x`, which can only read `a`."""
    loan = Loan(f)
    a = loan.lend(a)

    @named_after(f)
    def f_of_x(x):
        return loan.call(a, x)
    return f_of_x


def solution_or_nan(found, x, what):
    """Return `x`, or nan and a warning where it was not found."""
    if not np.all(found):
        warnings.warn(f'{what}, so the result is nan', RuntimeWarning)
    return np.where(found, x, np.nan)[()]


solution_p = Primitive('solution', solution_or_nan)
defelementwise(solution_p)
abstract.rules[solution_p] = lambda found, x, what: array_type(
    x.shape, x.dtype)


def converge(name, step, x, tol, max_steps):
    """Repeat `step` until it settles; return the result, or nan.

    Args:
        name: the name in a warning.
        step: a function from a tree of arrays to the next.
        x: the first tree.
        tol: the largest size of the last step, absolute and relative.
        max_steps: the largest number of steps.
    """
    def goes_on(state):
        steps, moved, _ = state
        return (steps < max_steps) & (moved > tol)

    def move(state):
        steps, _, x = state
        y = step(x)
        moved = tree_map(lambda x, y: (y - x) / (1 + np.abs(y)), x, y)
        return steps + 1, largest(moved), y

    _, moved, x = while_loop(goes_on, move, (0, np.inf, x))
    what = f'{name}: no solution was found within {max_steps} steps'
    found = moved <= tol
    return tree_map(lambda x: solution_p.bind(found, x, what=what), x)


def largest(tree):
    """Return the largest absolute value in a tree of arrays."""
    sizes = [np.max(np.abs(x)) for x in tree_leaves(tree) if np.size(x)]
    return reduce(np.maximum, sizes, 0.0)


def precision(tree):
    """Return the distance from 1 to the next float, in the coarsest dtype."""
    return max([float(np.finfo(typeof(x).dtype).eps)
                for x in tree_leaves(tree)], default=0.0)


@partial(custom_vjp, nondiff_argnums=(2, 3))
def limit(f, guess, tol, max_steps):
    """Return the limit of `guess, f(guess), f(f(guess)), …`."""
    return converge(f'fixed_point of {fun_name(f)}', f, guess, tol,
                    max_steps)


@limit.defjvp
def limit_jvp(tol, max_steps, primals, tangents):
    (f, guess), (f_dot, _) = primals, tangents
    x = limit(f, guess, tol, max_steps)
    _, b_dot = jvp(lambda f: f(x), (f,), (f_dot,))
    _, slope = linearize(f, x)
    return x, affine_limit(f, slope, b_dot, x, tol, max_steps)


def limit_fwd(f, guess, tol, max_steps):
    x = limit(f, guess, tol, max_steps)
    _, pullback = vjp(lambda f, x: f(x), f, x)
    return x, (f, x, pullback)


def limit_bwd(tol, max_steps, residuals, x_bar):
    f, x, pullback = residuals
    slope_back = lambda b_bar: pullback(b_bar)[1]
    b_bar = affine_limit(f, slope_back, x_bar, x, tol, max_steps)
    return pullback(b_bar)[0], None


limit.defvjp(limit_fwd, limit_bwd)


def nan_with(x, x_dot):
    """Return the tangent `x_dot` of `x`, or nan where `x` is nan."""
    return x_dot * np.where(np.isnan(x), x, 1.0)


def affine_limit(f, slope, b, x, tol, max_steps):
    """Return the `v` with `v == b + slope(v)`, a derivative of the limit.

    `b` is scaled to the size 1, so that `tol` is relative to it.
    """
    size = stop_gradient(largest(b))
    size = np.where(size > 0, size, 1.0)
    unit = tree_map(lambda x, b: match(nan_with(x, b) / size, b), x, b)

    def derivative(unit, v):
        return tree_map(np.add, unit, slope(v))
    derivative.__qualname__ = f'a derivative of {fun_name(f)}'

    v = fixed_point(derivative, unit, unit, tol=tol, max_steps=max_steps)
    return tree_map(lambda v: match(v * size, v), v)


@public(takes_function=True)
def fixed_point(f, a, x_guess, *, tol=None, max_steps=10_000):
    """Return the `x` with `x == f(a, x)`, by repeating `x = f(a, x)`.

    It is differentiable any number of times, forwards and backwards, with
    respect to `a` and to the values that `f` captures.  The derivatives are
    found by iteration, too.  The steps are not differentiated, so the
    derivatives do not depend on the guess.

    Args:
        f: `f(a, x)`, a function of two trees of arrays that returns a tree
            like `x`.  It is traced.
        a: a tree of arrays.
        x_guess: where to start, a tree of arrays of floats.
        tol: stop when a step changes each number by less than
            `tol * (1 + abs(x))`.  The default is the dtype's `eps ** 0.75`.
        max_steps: the largest number of steps.

    Returns:
        A tree like `x_guess`.  If the steps do not converge, it is NaN, and
        so are its derivatives, with a RuntimeWarning.  In a batch, only the
        elements that do not converge are NaN.

    Raises:
        TypeError: the output of `f` is not like `x`.

    Source: the JAX documentation, *Custom derivative rules*, which has a
    `fixed_point` with a rule for reverse mode.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> half = lambda a: fixed_point(lambda a, x: a + x / 2, a, 0.0)
        >>> round(half(3.0), 9), round(ad.grad(half)(3.0), 9)
        (6.0, 2.0)
    """
    system, x = open_system(TraceTag('fixed_point', f), at_lent(f, a),
                            x_guess)
    tol = precision(x) ** 0.75 if tol is None else tol
    return limit(system, x, tol, max_steps)


@custom_jvp
def root_of(f, solve, solve_slope, guess):
    return solve(guess)


@root_of.defjvp
def root_of_jvp(primals, tangents):
    (f, _, solve_slope, _), (f_dot, *_) = primals, tangents
    x = root_of(*primals)
    _, y_dot = jvp(lambda f: f(x), (f,), (f_dot,))
    x_dot = solve_slope(x, y_dot)
    return x, tree_map(lambda x, x_dot: nan_with(x, -x_dot), x, x_dot)


@public(takes_function=True)
def custom_root(f, initial_guess, solve, tangent_solve):
    """Return a root of `f`, differentiated by the implicit function theorem.

    It is differentiable with respect to the values that `f` captures.  The
    solver is not differentiated.

    Args:
        f: a function of a tree of arrays that returns a tree like it.
        initial_guess: where to start, a tree of arrays of floats.
        solve: `solve(f, initial_guess) -> x`, such that `f(x)` is zero.
        tangent_solve: `tangent_solve(g, y) -> x`, such that `g(x) == y`,
            for a linear function `g`, the slope of `f` at the root.  It
            must be linear in `y` and, for reverse mode, have a transpose.
            For numbers, write `lambda g, y: y / g(1.0)`.  All three
            functions are traced.

    Returns:
        The result of `solve`.  Its derivatives are NaN where it is NaN.

    Raises:
        TypeError: the output of one of the functions is not like the guess.

    Source: `jax.lax.custom_root`, and the implicit function theorem.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> def sqrt(a):
        ...     return custom_root(lambda x: x * x - a, 1.0,
        ...                        lambda f, guess: np.sqrt(a),
        ...                        lambda g, y: y / g(1.0))
        >>> sqrt(4.0), ad.grad(sqrt)(4.0)
        (2.0, 0.25)
    """
    tag = TraceTag('custom_root', f)
    system, x = open_system(tag, f, initial_guess)
    solver = open_function(tag, partial(solve, f), x)
    check_like(f'{tag}: {fun_name(solve)}', x, solver.out_types)

    def solve_slope(x, y):
        _, slope = linearize(f, x)
        return tangent_solve(slope, y)

    slopes = open_function(tag, solve_slope, x, x)
    check_like(f'{tag}: {fun_name(tangent_solve)}', x, slopes.out_types)
    return root_of(system, solver, slopes, x)


def newton_step(f, x):
    """Return the zero of the tangent line of `f` at `x`."""
    y, slope = linearize(f, x)
    return tree_map(np.subtract, x, dense_solve(slope, y))


def dense_solve(g, y):
    """Return the `x` with `g(x) == y`, for a linear function, or nan."""
    ys, tree = tree_flatten(y)
    if not ys:
        return y
    rows = [np.reshape(column, (len(column), np.size(y)))
            for column, y in zip(tree_leaves(vmap(g)(basis(y))), ys)]
    matrix = np.concatenate(rows, 1).T
    known = stop_gradient(np.where(np.isfinite(matrix), matrix, 0.0))
    sign, _ = np.linalg.slogdet(known)
    matrix = matrix * np.where(sign == 0, np.nan, 1.0)
    x = np.linalg.solve(matrix, np.concatenate([np.ravel(y) for y in ys]))
    return tree.unflatten(match(np.reshape(x[span], np.shape(y)), y)
                          for y, span in zip(ys, spans(ys)))


@public(takes_function=True)
def root(f, a, x_guess, *, tol=None, max_steps=100):
    """Return an `x` for which `f(a, x)` is zero, found by Newton's method.

    It is differentiable any number of times, forwards and backwards, with
    respect to `a` and to the values that `f` captures.  Each step, and each
    derivative, solves a system with the dense Jacobian of `f`.

    Args:
        f: `f(a, x)`, a function of two trees of arrays that returns a tree
            like `x`, so there are as many equations as unknowns.  It is
            traced.
        a: a tree of arrays.
        x_guess: where to start, a tree of arrays of floats.
        tol: stop when a step changes each number by less than
            `tol * (1 + abs(x))`.  The default is the dtype's `eps ** 0.5`,
            because the error of the last step is about its square.
        max_steps: the largest number of steps.

    Returns:
        A tree like `x_guess`.  If no root is found, or if the Jacobian is
        singular, it is NaN, and so are its derivatives, with a
        RuntimeWarning.  In a batch, only the elements without a root are
        NaN.

    Raises:
        TypeError: the output of `f` is not like `x`.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> sqrt = lambda a: root(lambda a, x: x * x - a, a, 1.0)
        >>> sqrt(4.0), ad.grad(sqrt)(4.0)
        (2.0, 0.25)
    """
    def newton(system, x):
        small = precision(x) ** 0.5 if tol is None else tol
        return converge(f'root of {fun_name(f)}',
                        partial(newton_step, system), x, small, max_steps)
    return custom_root(at_lent(f, a), x_guess, newton, dense_solve)
