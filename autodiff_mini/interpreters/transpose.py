"""Transposition: a linear program, run backwards.

Its one idea: read the equations from the last to the first.  Where the
program used a value twice, two cotangents come back, and are added.
Chapter 10.
"""

import math
from itertools import accumulate

import numpy as np

from autodiff_mini.core import (
    Primitive, array_type, current_trace, typeof)
from autodiff_mini.errors import RuleTable
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import Var, quote_line
from autodiff_mini.interpreters.jvp import Zero, jvp_rules
from autodiff_mini.interpreters.vmap import (
    index_place, index_rank, lengthen, spread, vmap_rules)
from autodiff_mini.numpy_api import convert
from autodiff_mini.primitives import (
    OPERAND, add_p, astype_p, broadcast_to_p, concatenate_p, conj_p, cumsum_p,
    div_p, imag_p, index_p, matmul_p, mul_p, neg_p, real_p, reduce_sum_p,
    reshape_p, solve_p, stack_p, sub_p, transpose_p, where_p)


transpose_rules = RuleTable(
    'Transpose rule', 'only what is linear can be run backwards; if this is, '
    'define transpose_rules[primitive]')


def backward_pass(jaxpr, consts, cts) -> list:
    """Returns the cotangents of the inputs of a linear program.

    Args:
        jaxpr: the program; see `linear_flat`.
        consts: the arrays for its `constvars`.
        cts: a cotangent for each output, or a Zero.
    """
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    gathered = {}

    def give(variables, cts):
        for v, ct in zip(variables, cts):
            if ct is not None and type(ct) is not Zero:
                gathered[v] = gathered[v] + ct if v in gathered else ct

    give(jaxpr.outvars, cts)
    eqn, trace = None, current_trace()
    try:
        for eqn in reversed(jaxpr.eqns):
            if gathered.keys().isdisjoint(eqn.outvars):
                continue    # nothing depends on it
            cts = [gathered.pop(v, None) for v in eqn.outvars]
            ct = cts if eqn.primitive.multiple_results else cts[0]
            operands = [known.get(v, v) for v in eqn.invars]
            rule = transpose_rules[eqn.primitive]
            trace.line = None if eqn.primitive.is_call else eqn.line
            give(eqn.invars, rule(ct, *operands, **eqn.params))
    except Exception as error:
        quote_line(error, eqn)
        raise
    finally:
        trace.line = None
    return [gathered.get(v, Zero(v.aval)) for v in jaxpr.invars]


def deftranspose(primitive, *rules):
    """Defines how a cotangent of the output goes back to each operand.

    Args:
        rules: for each operand `rule(ct, *operands, **params)`, which
            returns a cotangent of the operand; None in place of a rule where
            the primitive is not linear in it.
    """
    def transpose_rule(ct, *operands, **params):
        cts = []
        for rule, x in zip(rules, operands, strict=True):
            if type(x) is Var:
                x_bar = (rule or x.refuse)(ct, *operands, **params)
                cts.append(fit_cotangent(x_bar, x.aval))
            else:
                cts.append(None)
        return cts
    transpose_rules[primitive] = transpose_rule


def fit_cotangent(ct, aval):
    """Returns `ct` as a cotangent of a value of this type.

    What was broadcast on the way out is summed on the way back.
    """
    have = typeof(ct)
    if have is aval:
        return ct
    if have.shape != aval.shape:
        ct = unbroadcast(ct, aval.shape)
    if have.dtype.kind == 'c' and aval.dtype.kind != 'c':
        refuse_complex()
    if have.dtype == aval.dtype and have.weak_type <= aval.weak_type:
        return ct
    return convert(ct, aval.dtype)


def unbroadcast(ct, shape):
    """Returns the sum of `ct` along what was broadcast from this shape."""
    extra = np.ndim(ct) - len(shape)
    if extra:
        ct = np.sum(ct, tuple(range(extra)))
    axes = [i for i, n in enumerate(shape)
            if n == 1 and np.shape(ct)[i] != 1]
    return np.sum(ct, tuple(axes), keepdims=True) if axes else ct


def refuse_complex(*_, **__):
    raise TypeError('reverse mode is not defined here for complex numbers: '
                    'compute with real and imaginary parts, or use ad.jvp')


deftranspose(neg_p, lambda ct, x: -ct)
deftranspose(add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
deftranspose(sub_p, lambda ct, x, y: ct, lambda ct, x, y: -ct)
deftranspose(mul_p, lambda ct, x, y: ct * y, lambda ct, x, y: ct * x)
deftranspose(div_p, lambda ct, x, y: ct / y, None)


def sum_transpose(ct, x, axis, keepdims):
    spread_out = ct if keepdims else np.expand_dims(ct, axis)
    return np.broadcast_to(spread_out, x.shape)


deftranspose(reduce_sum_p, sum_transpose)
deftranspose(broadcast_to_p, lambda ct, x, shape: ct)
deftranspose(reshape_p, lambda ct, x, shape: np.reshape(ct, x.shape))
deftranspose(transpose_p, lambda ct, x, axes: np.transpose(
    ct, np.argsort(axes).tolist()))
deftranspose(astype_p, lambda ct, x, dtype, weak_type: ct)
deftranspose(where_p, None, lambda ct, c, x, y: np.where(c, ct, 0),
                            lambda ct, c, x, y: np.where(c, 0, ct))
deftranspose(cumsum_p, lambda ct, x, axis: np.flip(
    np.cumsum(np.flip(ct, axis), axis), axis))
deftranspose(real_p, refuse_complex)
deftranspose(imag_p, refuse_complex)


def conj_transpose(ct, x):
    return refuse_complex() if x.aval.dtype.kind == 'c' else ct


deftranspose(conj_p, conj_transpose)


def matmul_left(ct, x, y):
    """Returns `ct @ y.T`; a vector is a row on the left, or a column."""
    row, column = len(x.shape) == 1, np.ndim(y) == 1
    if row and column:
        return ct * y
    if column:
        y, ct = np.expand_dims(y, -1), np.expand_dims(ct, -1)
    if row:
        ct = np.expand_dims(ct, -2)
    x_bar = ct @ np.swapaxes(y, -2, -1)
    return np.squeeze(x_bar, -2) if row else x_bar


def matmul_right(ct, x, y):
    """Returns `x.T @ ct`; a vector is a row on the left, or a column."""
    if len(y.shape) > 2:
        if np.ndim(x) == 1:
            x, ct = np.expand_dims(x, -2), np.expand_dims(ct, -2)
        return np.swapaxes(x, -2, -1) @ ct
    if np.ndim(x) == len(y.shape) == 1:
        return ct * x
    # One large product, in place of many small ones that are added.
    count = math.prod(np.shape(x)[:-1])
    x = np.reshape(x, (count, y.shape[0]))
    ct = np.reshape(ct, (count, *y.shape[1:]))
    return np.transpose(x) @ ct


deftranspose(matmul_p, matmul_left, matmul_right)
deftranspose(solve_p, None, lambda ct, a, b: np.linalg.solve(
    np.swapaxes(a, -2, -1), ct))


def stack_transpose(ct, *operands, axis):
    before = (slice(None),) * axis
    return [fit_cotangent(ct[(*before, i)], x.aval)
            if type(x) is Var else None
            for i, x in enumerate(operands)]


def concatenate_transpose(ct, *operands, axis):
    before = (slice(None),) * axis
    ends = list(accumulate(x.shape[axis] for x in operands))
    return [fit_cotangent(ct[(*before, slice(end - x.shape[axis], end))],
                          x.aval)
            if type(x) is Var else None
            for x, end in zip(operands, ends, strict=True)]


transpose_rules[stack_p] = stack_transpose
transpose_rules[concatenate_p] = concatenate_transpose


def scatter_add(x, *arrays, shape, indices):
    """Returns zeros of this shape, with `x` added at the indices."""
    arrays = iter(arrays)
    place = tuple(next(arrays) if i is OPERAND else i for i in indices)
    out = np.zeros_like(x, shape=shape)
    if OPERAND in indices:
        np.add.at(out, place, x)    # an element may be meant twice
    else:
        out[place] = x
    return out[()]


scatter_add_p = Primitive('scatter_add', scatter_add)


def check_known(arrays):
    """Raises a TypeError if an index has no value: it depends on inputs."""
    for i in arrays:
        if type(i) is Var:
            i.refuse()


def index_transpose(ct, x, *arrays, indices):
    check_known(arrays)
    x_bar = scatter_add_p.bind(ct, *arrays, shape=x.shape, indices=indices)
    return [x_bar, *[None] * len(arrays)]


def scatter_add_transpose(ct, x, *arrays, shape, indices):
    check_known(arrays)
    x_bar = index_p.bind(ct, *arrays, indices=indices)
    return [x_bar, *[None] * len(arrays)]


def scatter_add_jvp(primals, tangents, **params):
    (x, *arrays), x_dot = primals, tangents[0]
    y = scatter_add_p.bind(x, *arrays, **params)
    return y, scatter_add_p.bind(x_dot, *arrays, **params)


transpose_rules[index_p] = index_transpose
transpose_rules[scatter_add_p] = scatter_add_transpose
jvp_rules[scatter_add_p] = scatter_add_jvp
abstract_rules[scatter_add_p] = lambda x, *arrays, shape, indices: (
    array_type(shape, x.dtype))


def scatter_add_vmap(axis, vals, dims, shape, indices):
    """The rule of `index`, read from right to left."""
    (x, *arrays), (x_dim, *dims) = vals, dims
    x, shape = spread(x, x_dim, axis.size), (axis.size, *shape)
    rank = max((index_rank(a, d) for a, d in zip(arrays, dims)), default=0)
    place = index_place(indices, len(shape) - 1, arrays)
    if all(dim is None for dim in dims):
        if place is None:
            x = np.moveaxis(x, 0, rank)
        return scatter_add_p.bind(x, *arrays, shape=shape, indices=(
            slice(None), *indices)), 0
    arrays = [a if d is None else lengthen(a, rank - index_rank(a, d))
              for a, d in zip(arrays, dims)]
    block = range(1, rank + 1)
    x = np.moveaxis(x, [i + (place or 0) for i in block], block)
    rows = np.reshape(np.arange(axis.size), (-1, *[1] * rank))
    return scatter_add_p.bind(x, rows, *arrays, shape=shape, indices=(
        OPERAND, *indices)), 0


vmap_rules[scatter_add_p] = scatter_add_vmap
