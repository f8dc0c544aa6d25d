"""Vectors of few numbers, number by number.

Its one idea: a vector of two numbers is two numbers.  A program of such
vectors is rewritten for their elements, and becomes one of single numbers;
what only moves elements about, such as an index or a stack, leaves nothing
behind.  Chapter 34.
"""

import math
import operator
from functools import cache, reduce
from itertools import chain
from typing import NamedTuple

import numpy as np

from autodiff_mini import seams
from autodiff_mini.core import ShapedArray
from autodiff_mini.fast.plan import keeps_order
from autodiff_mini.fast.scalars import (
    MATH, PYTHON, as_numpy, has_power_of_box, is_float, is_scalar)
from autodiff_mini.fast.simplify import PIECEWISE, simplify
from autodiff_mini.jaxprs import Equation, Jaxpr, Literal, Var
from autodiff_mini.primitives.elementwise import add_p, max_p, min_p, pow_p
from autodiff_mini.primitives.indexing import index_p, scatter_p
from autodiff_mini.primitives.reductions import reduce_sum_p
from autodiff_mini.primitives.shapes import (
    broadcast_to_p, concatenate_p, reshape_p, stack_p, transpose_p)
from autodiff_mini.zeros import Zero

FEW = 8     # elements: what has more is faster as an array
CALL = 12   # operations of Python's in the time that NumPy needs for one
MOVING = {index_p, scatter_p, concatenate_p, stack_p, broadcast_to_p,
          reshape_p, transpose_p}


class Numbers(NamedTuple):
    """A program of single numbers that stands for one of small arrays.

    Args:
        jaxpr: the program of single numbers.
        ins: for each argument of the other program, its numbers.
        outs: the same for each result.
    """

    jaxpr: Jaxpr
    ins: list
    outs: list


def as_numbers(jaxpr, ordered, is_result=is_float, arrays=0):
    """Returns Numbers for a program, or None if it stays one of arrays.

    Args:
        jaxpr: a program without calls.
        ordered: whether its arguments are C-contiguous arrays of NumPy's.
        is_result: whether a variable can be a result.
        arrays: how many are taken apart or put together at each run.
    """
    if has_power_of_box(jaxpr):
        return None
    if is_scalar(jaxpr, is_result):
        return Numbers(jaxpr, [[v] for v in jaxpr.invars],
                       [[v] for v in jaxpr.outvars])
    if not (has_few_numbers(jaxpr) and ordered and keeps_order(jaxpr)):
        return None
    numbers = split_up(jaxpr)
    if (numbers and is_scalar(numbers.jaxpr, is_result)
            and 2 * price(numbers.jaxpr) < CALL * (len(jaxpr.eqns) - arrays)):
        return numbers
    return None


def has_few_numbers(jaxpr):
    """Returns whether all arrays are of few floats, or of few truths."""
    found = chain(jaxpr.constvars, jaxpr.invars,
                  *[eqn.outvars for eqn in jaxpr.eqns])
    return seams.library_of(jaxpr.consts) is None and all(
        v.aval.dtype in (float, bool)
        and 0 < math.prod(v.aval.shape) <= FEW for v in found)


def price(jaxpr):
    """Returns how long numbers take, about, in operations of Python's."""
    return sum(1 if eqn.primitive in PYTHON or eqn.primitive in MATH
               and as_numpy(eqn.primitive) else CALL for eqn in jaxpr.eqns)


def split_up(jaxpr):
    """Returns Numbers for a program, or None if an equation forbids it."""
    parts = {v: array_of(map(Literal, x.flat if v.aval.shape else [x]),
                         v.aval.shape)
             for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True)}
    parts |= {v: new_numbers(v) for v in jaxpr.invars}
    read = lambda v: parts[v] if type(v) is Var else array_of([v], ())
    eqns = []
    for eqn in jaxpr.eqns:
        if not can_split(eqn):
            return None
        [out], xs = eqn.outvars, [read(v) for v in eqn.invars]
        if eqn.primitive in MOVING:
            parts[out] = rearranged(eqn, xs)
        elif eqn.primitive is reduce_sum_p:
            def add(x, y):
                z = Var(ShapedArray((), out.aval.dtype))
                eqns.append(Equation(add_p, [x, y], {}, [z], eqn.line))
                return z
            rows = np.moveaxis(xs[0], eqn.params['axis'][0], -1)
            sums = [in_turn(row, add)
                    for row in rows.reshape(-1, rows.shape[-1]).tolist()]
            parts[out] = array_of(sums, out.aval.shape)
        else:
            parts[out] = ys = new_numbers(out)
            eqns += [Equation(eqn.primitive, operands, eqn.params, [y],
                              eqn.line)
                     for *operands, y in np.broadcast(*xs, ys)]
    ins = [parts[v].ravel().tolist() for v in jaxpr.invars]
    outs = [read(v).ravel().tolist() for v in jaxpr.outvars]
    program = simplify(Jaxpr([], sum(ins, []), eqns, sum(outs, []), []))
    rest = iter(program.outvars)
    return Numbers(program, ins, [[next(rest) for _ in ys] for ys in outs])


def array_of(numbers, shape):
    """Returns an array of variables and literals."""
    return np.fromiter(numbers, object).reshape(shape)


def new_numbers(v):
    """Returns an array of new variables, for the numbers of an array."""
    if v.aval.shape == ():
        return array_of([v], ())
    aval = ShapedArray((), v.aval.dtype)
    count = math.prod(v.aval.shape)
    return array_of([Var(aval) for _ in range(count)], v.aval.shape)


def can_split(eqn):
    """Returns whether numbers one by one have the bits of the array."""
    primitive, avals = eqn.primitive, [v.aval for v in eqn.invars]
    if any(type(v) is Literal and isinstance(v.val, Zero)
           for v in eqn.invars):
        return False
    if primitive in MOVING:
        [out] = eqn.outvars
        if (primitive is index_p and len(avals) > 1
                or primitive is scatter_p and len(avals) > 2):
            return False    # an index is not known
        is_box = out.aval.shape == () and (
            primitive is not index_p or avals[0].shape == ()
            or Ellipsis in eqn.params['indices'])
        return not is_box and all(
            type(v) is Literal or v.aval.dtype == out.aval.dtype
            for v in eqn.invars)
    if primitive is reduce_sum_p:
        return (len(eqn.params['axis']) == 1 and avals[0].dtype == float
                and adds_in_turn())
    return primitive in PIECEWISE and (
        not any(aval.shape for aval in avals)
        or primitive in PYTHON and primitive not in (pow_p, max_p, min_p)
        or isinstance(primitive.impl, np.ufunc) and is_alike(primitive.impl))


def rearranged(eqn, xs):
    """Returns the numbers of a result that only has them elsewhere."""
    dtype = eqn.outvars[0].aval.dtype
    if eqn.primitive is scatter_p:
        found = xs[0].copy()
        found[eqn.params['indices']] = xs[1][()]
    else:
        found = np.asarray(eqn.primitive.impl(*xs, **eqn.params), object)
    return array_of((x if type(x) is Var else Literal(
        dtype.type(x.val if type(x) is Literal else x))
        for x in found.ravel().tolist()), found.shape)


def in_turn(xs, add, zero=Literal(np.float64(0))):
    """Returns the sum of up to eight numbers, added as NumPy adds them."""
    if len(xs) == FEW:
        while len(xs) > 1:
            xs = [add(x, y) for x, y in zip(xs[::2], xs[1::2])]
    return reduce(add, xs, zero)


@cache
def adds_in_turn():
    """Returns whether NumPy adds up few numbers as `in_turn` does."""
    numbers = np.sin(np.arange(8000.0)) * 10.0 ** (np.arange(8000) % 7)
    for n in range(1, FEW + 1):
        for k in range(1, FEW // n + 1):
            rows = numbers[:100 * n * k].reshape(100, k, n)
            mine = [[in_turn(x, operator.add, 0.0) for x in row]
                    for row in rows.tolist()]
            across = np.swapaxes(rows, 1, 2)
            if not (mine == [np.sum(row, 1).tolist() for row in rows]
                    == [np.sum(row, 0).tolist() for row in across.copy()]
                    == [np.sum(row, 0).tolist() for row in across]):
                return False
    return not math.copysign(1, np.sum(-np.zeros(2))) < 0


@cache
def is_alike(ufunc):
    """Returns whether a ufunc has the same bits for arrays and for numbers.

    Of an array it may do several numbers at once, in another way; or not, if
    it is read backwards.
    """
    x = np.concatenate([[0.0, -0.0], np.linspace(-5.0, 50.0, 1000)])
    xs = [x, np.concatenate([-x[:2], x[:1:-1]])][:ufunc.nin]
    some = [(i, i + n) for n in range(2, FEW + 1) for i in range(0, 99, n)]
    with np.errstate(all='ignore'):
        ys = np.array([ufunc(*pair) for pair in zip(*xs)])
        return (ufunc(*[x[::-1] for x in xs]).tobytes() == ys[::-1].tobytes()
                and all(ufunc(*[x[i:j] for x in xs]).tobytes()
                        == ys[i:j].tobytes() for i, j in some))
