"""`odeint`: solve a differential equation and differentiate the solution.

The derivative of a flow is a flow, run backwards.  So the reverse pass solves
one more differential equation, with the same solver.  Chapter 28.
"""

import operator
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from autodiff_mini.api.derivatives import vjp
from autodiff_mini.api.forward import jvp, vmap
from autodiff_mini.calls.custom_vjp import custom_vjp
from autodiff_mini.calls.loops import scan, while_loop
from autodiff_mini.core.memory import Loan
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import named_after
from autodiff_mini.core.trees import (
    leaf_names, map_leaves, tree_flatten, tree_leaves, tree_map)
from autodiff_mini.core.types import convert, typeof
from autodiff_mini.numpy_functions.table import asarray, inexact
from autodiff_mini.wings.applications.implicit import (
    how_to_match, open_function)

# J. R. Dormand and P. J. Prince, "A family of embedded Runge-Kutta
# formulae", Journal of Computational and Applied Mathematics 6 (1980).
NODES = np.array([1/5, 3/10, 4/5, 8/9, 1, 1])
WEIGHTS = np.array([
    [1/5, 0, 0, 0, 0, 0],
    [3/40, 9/40, 0, 0, 0, 0],
    [44/45, -56/15, 32/9, 0, 0, 0],
    [19372/6561, -25360/2187, 64448/6561, -212/729, 0, 0],
    [9017/3168, -355/33, 46732/5247, 49/176, -5103/18656, 0],
    [35/384, 0, 500/1113, 125/192, -2187/6784, 11/84]])
ERRORS = np.array([71/57600, 0, -71/16695, 71/1920, -17253/339200, 22/525,
                   -1/40])
# Between the ends: E. Hairer's dopri5.f, after L. F. Shampine, "Some
# practical Runge-Kutta formulas", Mathematics of Computation 46 (1986).
BENDS = np.array([
    -12715105075/11282082432, 0, 87487479700/32700410799,
    -10690763975/1880347072, 701980252875/199316789632,
    -1453857185/822651844, 69997945/29380423])


def weighted(h, weights, slopes):
    """Return the change after a time `h` along a weighted sum of slopes."""
    used = [(w, f) for w, f in zip(weights.tolist(), slopes) if w]

    def far(*fs):
        products = [w * f for (w, _), f in zip(used, fs)]
        return convert(h, fs[0].dtype) * reduce(operator.add, products)
    return tree_map(far, *[f for _, f in used])


def stages(func, t, y, f, h):
    """Return the state after a step, and the slopes at its stages.

    Args:
        func: `func(y, t)`, the slope.
        t, y, f: the time, the state, and its slope at the start.
        h: the length of the step.
    """
    slopes = [f]
    for node, weights in zip(NODES.tolist(), WEIGHTS):
        y1 = tree_map(operator.add, y, weighted(h, weights, slopes))
        slopes.append(func(y1, t + node * h))
    return y1, slopes


class Course(NamedTuple):
    """The settings of the solver.

    Args:
        rtol, atol, mxstep: see `odeint`.
        sign: 1 if time increases, and -1 if not.
        end: the time that no step exceeds.
    """

    rtol: Any
    atol: Any
    mxstep: Any
    sign: Any
    end: Any


def tolerated(course, *ys):
    """Return the tolerated error for a state near these."""
    largest = lambda *ys: reduce(np.maximum, map(np.abs, ys))
    return tree_map(
        lambda *ys: course.atol + course.rtol * largest(*ys), *ys)


def tree_dot(xs, ys):
    """Return the inner product of two trees."""
    products = tree_leaves(tree_map(operator.mul, xs, ys))
    return reduce(operator.add, [np.sum(x) if x.ndim else x
                                 for x in products])


def size(tree, units):
    """Return the root mean square of all numbers, in these units."""
    ratios = tree_map(operator.truediv, tree, units)
    count = sum(map(np.size, tree_leaves(tree)))
    return np.sqrt(tree_dot(ratios, ratios) / count)


class RungeKuttaStep(NamedTuple):
    """A step of the solver, which can turn out to be too long.

    Args:
        t0, y0: the time and the state at the start.
        t1, y1: the time and the state at the end.
        slopes: the slopes at the stages, from the start to the end.
        error: if more than 1, the step was too long.
        width: the proposed length of the next step.
    """

    t0: Any
    y0: Any
    t1: Any
    y1: Any
    slopes: list
    error: Any
    width: Any


def next_step(func, course, last):
    """Return the next step, or a shorter one to replace the last."""
    t, y, f = tree_map(partial(np.where, last.error <= 1),
                       (last.t1, last.y1, last.slopes[-1]),
                       (last.t0, last.y0, last.slopes[0]))
    left = course.sign * (course.end - t)
    width = np.minimum(last.width, left)
    h = course.sign * width
    t1 = np.where(width < left, t + h, course.end)
    y1, slopes = stages(func, t, y, f, h)
    error = convert(size(weighted(h, ERRORS, slopes),
                         tolerated(course, y, y1)), t.dtype)
    return RungeKuttaStep(t, y, t1, y1, slopes, error,
                          width * growth(error))


def growth(error):
    """Return the factor for the next step's length, from 1/5 to 10.

    A nan counts as the largest error.
    """
    least = (0.9 / 10)**5
    factor = 0.9 * np.maximum(error, least)**-0.2
    return np.where(factor > 1/5, factor, 1/5)


def first_step(func, course, t, y):
    """Return a step of length 0 that proposes the length of the next.

    Source: E. Hairer, S. P. Nørsett, G. Wanner, *Solving Ordinary
    Differential Equations I*, 2nd ed., Springer 1993, sec. II.4.
    """
    f, units = func(y, t), tolerated(course, y)
    far, fast = size(y, units), size(f, units)
    width = np.where(np.minimum(far, fast) < 1e-5, 1e-6,
                     0.01 * far / np.maximum(fast, 1e-5))
    h = course.sign * width
    y1 = tree_map(operator.add, y, weighted(h, np.ones(1), [f]))
    change = tree_map(operator.sub, func(y1, t + h), f)
    fastest = np.maximum(fast, size(change, units) / width)
    better = np.where(fastest > 1e-15,
                      (0.01 / np.maximum(fastest, 1e-15))**0.2,
                      np.maximum(1e-6, width * 1e-3))
    width = convert(np.minimum(100 * width, better), t.dtype)
    return RungeKuttaStep(t, y, t, y, [f] * 7, np.zeros_like(t), width)


def between(step, t):
    """Return the state at a time between the ends of a step."""
    h = step.t1 - step.t0
    part = (t - step.t0) / np.where(h == 0, 1, h)

    def curve(y0, y1, f0, f1, bend):
        x, dt = convert(part, y0.dtype), convert(h, y0.dtype)
        rise = y1 - y0
        early = dt * f0 - rise
        late = rise - dt * f1 - early
        return y0 + x * (rise + (1 - x) * (
            early + x * (late + (1 - x) * bend)))
    bend = weighted(h, BENDS, step.slopes)
    return tree_map(curve, step.y0, step.y1, step.slopes[0],
                    step.slopes[-1], bend)


def arrive(func, course, step, t):
    """Return the step that reaches a time, and the state at that time.

    If no step reaches it, the state is NaN, and no further step is made.
    """
    def reaches(step):
        return (step.error <= 1) & (course.sign * (step.t1 - t) >= 0)

    def goes_on(state):
        step, count = state
        return (~reaches(step) & np.isfinite(t) & (count < course.mxstep)
                & (step.t1 + step.width > step.t1))

    def advance(state):
        step, count = state
        return next_step(func, course, step), count + 1

    step, _ = while_loop(goes_on, advance, (step, 0.0))
    found = reaches(step) & (course.sign * (t - step.t0) >= 0)
    y = tree_map(lambda y: np.where(found, y, np.nan), between(step, t))
    width, error = (np.where(found, x, np.nan)
                    for x in (step.width, step.error))
    return step._replace(width=width, error=error), y


@partial(custom_vjp, nondiff_argnums=(1,))
def integrate(func, limits, y0, t):
    """Return the states at all times.

    Args:
        func: `func(y, t)`, the slope, an OpenFunction.
        limits: rtol, atol and mxstep.
        y0: the state at the first time, a tree.
        t: float[n], the times.
    """
    sign = np.where(t[-1] < t[0], -1.0, 1.0).astype(t.dtype)
    course = Course(*limits, sign, sign * np.max(sign * t))
    step = first_step(func, course, t[0], y0)
    _, ys = scan(partial(arrive, func, course), step, t[1:])
    return tree_map(lambda y0, ys: np.concatenate([y0[None], ys]), y0, ys)


def integrate_fwd(func, limits, y0, t):
    ys = integrate(func, limits, y0, t)
    return ys, (func, ys, t)


def integrate_bwd(limits, residuals, cts):
    """Follow the cotangents from each time back to the one before."""
    func, ys, t = residuals

    def adjoint(state, t):
        y, (_, y_bar) = state
        f, pullback = vjp(lambda func, y: func(y, t), func, y)
        return f, of_floats(operator.neg, pullback(y_bar))

    def back(bars, now):
        y, t, before, ct = now
        func_bar, y_bar = bars
        bars = func_bar, tree_map(operator.add, y_bar, ct)
        _, ends = integrate(flow, limits, (y, bars), np.stack([t, before]))
        return at(1, ends), tree_dot(ct, func(y, t))

    y0, ct0, later = at(0, ys), at(0, cts), slice(1, None)
    bars = of_floats(np.zeros_like, (func, y0))
    flow = open_function(TraceTag('odeint', func), adjoint, (y0, bars),
                         t[0])
    (func_bar, y_bar), t_bar = scan(
        back, bars, (at(later, ys), t[1:], t[:-1], at(later, cts)),
        reverse=True)
    start = -tree_dot(y_bar, func(y0, t[0]))
    t_bar = convert(np.concatenate([start[None], t_bar]), t.dtype)
    return func_bar, tree_map(operator.add, y_bar, ct0), t_bar


def of_floats(f, tree):
    """Map `f` over the floats in a tree; other leaves become None."""
    return tree_map(lambda x: asarray(f(x)) if typeof(x).dtype.kind in 'fc'
                    else None, tree)


def at(index, tree):
    """Index each array in a tree."""
    return tree_map(lambda x: x[index], tree)


integrate.defvjp(integrate_fwd, integrate_bwd)


@integrate.defjvp
def integrate_jvp(limits, primals, tangents):
    """Follow the state and its tangent together."""
    (func, y0, t), (func_dot, y_dot, t_dot) = primals, tangents

    def tangent(state, t):
        y, y_dot = state
        return jvp(lambda func, y: func(y, t), (func, y), (func_dot, y_dot))

    def delayed(y_dot, t_dot, y, t):
        return tree_map(
            lambda y_dot, f: y_dot + convert(t_dot, f.dtype) * f,
            y_dot, func(y, t))

    start = y0, delayed(y_dot, -t_dot[0], y0, t[0])
    flow = open_function(TraceTag('odeint', func), tangent, start, t[0])
    ys, y_dots = integrate(flow, limits, start, t)
    return ys, vmap(delayed)(y_dots, t_dot, ys, t)


@public(takes_function=True)
def odeint(func, y0, t, *args, rtol=1.4e-8, atol=1.4e-8, mxstep=100_000):
    """Solve the differential equation `dy/dt = func(y, t)` at given times.

    The solver takes the longest steps that the tolerances allow.  The flow
    is differentiated, not the steps, so the reverse pass solves the adjoint
    equation and needs no memory for the steps.  The derivatives are as exact
    as the tolerances make them.

    Args:
        func: `func(y, t, *args)`, the slope dy/dt, a tree like `y`.  It is
            recorded as a program, and can capture values that are being
            differentiated.
        y0: the state at the time `t[0]`, a tree of arrays of real numbers,
            of any shapes.  Integers and booleans become float64.
        t: float[n], the times, all increasing or all decreasing.  Some can
            be equal.
        args: trees of arrays, for `func`.
        rtol: the relative tolerance.  A step is accepted if its error, in
            units of `atol + rtol * abs(y)`, has a root mean square of at
            most 1.
        atol: the absolute tolerance.
        mxstep: the largest number of steps between two times.

    Returns:
        A tree like `y0`, with an axis of length n in front of each array.
        It is NaN from the first time that the solver does not reach, because
        it would take more than mxstep steps, because the steps become too
        short to change the time, or because the times change direction or
        are infinite.  Then the derivatives are NaN, too.

    Raises:
        TypeError: a state or a time is not a real number, `func` does not
            return a tree like `y0` with arrays of the same types, or `func`
            needs the values of its arguments.
        ValueError: the times are not a list, there is no time, or the state
            is empty.

    Source: `jax.experimental.ode.odeint`.

    Examples:
        >>> import autodiff_mini as ad
        >>> decay = lambda y, t, rate: -rate * y
        >>> odeint(decay, 1.0, [0.0, 1.0, 2.0], 0.5).round(6)
        array([1.      , 0.606531, 0.367879])
        >>> after = lambda rate: odeint(decay, 1.0, [0.0, 2.0], rate)[1]
        >>> round(ad.grad(after)(0.5), 6)
        -0.735759
    """
    tag = TraceTag('odeint', func)
    leaves, tree = tree_flatten(y0)
    names = lambda: leaf_names(tree, f'{tag}: y0')
    leaves = map_leaves(float_array, names, leaves)
    [t] = map_leaves(float_array, lambda: [f'{tag}: t'], [t])
    if t.ndim != 1 or not t.size:
        raise ValueError(f'{tag}: t must be a 1-D array with at least one '
                         f'time, but got {typeof(t)}')
    if not sum(x.size for x in leaves):
        raise ValueError(f'{tag}: the state y0 contains no numbers. Pass at '
                         'least one.')

    loan = Loan(func)
    args = loan.lend(args)

    @named_after(func)
    def slope(y, t):
        out = loan.call(y, t, *args)
        slopes, found = tree_flatten(out)
        if found != tree:
            raise TypeError(
                f'{tag}: the function must return a slope with the tree '
                f'structure of y0, {tree}, but returned {found}. '
                + how_to_match('y0', y, out))
        names = lambda: leaf_names(tree, f'{tag}: slope')
        return tree.unflatten(map_leaves(fit_slope, names, leaves, slopes))

    t = convert(t, np.result_type(t, *leaves))
    y0 = tree.unflatten(leaves)
    flow = open_function(tag, slope, y0, t[0])
    return integrate(flow, (rtol, atol, mxstep), y0, t)


def float_array(x):
    """Return an array of floats; integers and booleans become float64."""
    x = asarray(x)
    if x.dtype.kind not in 'biuf':
        raise TypeError(f'expected real numbers, but got {typeof(x)}')
    return inexact(x)


def fit_slope(y, f):
    """Return the slope `f` in the dtype of the state, if that is safe."""
    want, have = typeof(y), typeof(f)
    casting = 'same_kind' if have.weak_type else 'safe'
    if have.shape != want.shape or not np.can_cast(have.dtype, want.dtype,
                                                   casting):
        raise TypeError(f'expected {want} as in y0, but got {have}')
    return convert(f, want.dtype)
