"""Reverse mode: transpose a linear program."""

from functools import partial

import numpy as np

from .calls import custom_jvp_call_p
from .core import Table, typeof
from .jaxpr import Var, stage
from .jvp import (
    assert_close, central_difference, instantiate, jvp, random_like)
from .partial_eval import PartialEvalTrace, linearize_at
from .primitives import (
    add_p, broadcast_to_p, div_p, index_p, mul_p, neg_p, reshape_p, scatter_p,
    sub_p, sum_p, transpose_p, where_p)
from .trees import check_shapes, tree_leaves, tree_like


# 10a. From the last equation to the first.
def backward_pass(linear, residuals, cts):
    """Return the cotangents of the inputs of a linear program."""
    known = dict(zip(linear.invars, residuals))
    sums = {}

    def accumulate(variables, cts):
        for v, ct in zip(variables, cts, strict=True):
            if type(v) is Var and ct is not None:
                sums[v] = sums[v] + ct if v in sums else ct

    accumulate(linear.outvars, cts)
    for eqn in reversed(linear.eqns):
        outs = tree_leaves(eqn.outvars)
        if any(v in sums for v in outs):
            out_cts = [instantiate(v, sums.pop(v, None)) for v in outs]
            operands = [known.get(v, v) if type(v) is Var else v
                        for v in eqn.invars]
            rule = transpose_rules[eqn.primitive]
            accumulate(eqn.invars, rule(out_cts, *operands, **eqn.params))
    return [instantiate(v, sums.get(v))
            for v in linear.invars[len(residuals):]]


# 10b. The form of a rule: a variable among the operands is linear.
transpose_rules = Table()


def deftranspose(primitive, *rules):
    """Define the cotangent of each operand, given that of the output."""
    def transpose_rule(cts, *operands, **params):
        in_cts = []
        for rule, x in zip(rules, operands, strict=True):
            ct = None
            if type(x) is Var:
                ct = rule(*cts, *operands, **params)
                ct = unbroadcast(ct, x.aval.shape)
            in_cts.append(ct)
        return in_cts
    transpose_rules[primitive] = transpose_rule


def unbroadcast(ct, shape):
    """Sum a cotangent over the axes along which its operand was broadcast."""
    if np.shape(ct) == shape:
        return ct
    padded = (1,) * (np.ndim(ct) - len(shape)) + shape
    axes = [i for i, n in enumerate(np.shape(ct)) if n != padded[i]]
    return np.reshape(np.sum(ct, tuple(axes)), shape)


# 10c. The rules of linear operations; no others are needed.
def sum_transpose(ct, x, axis):
    ones = [1 if i in axis else n for i, n in enumerate(x.aval.shape)]
    return np.broadcast_to(np.reshape(ct, ones), x.aval.shape)


def permute_back(ct, x, axes):
    inverse = tuple(int(i) for i in np.argsort(axes))
    return np.transpose(ct, inverse)


deftranspose(neg_p, lambda ct, x: -ct)
deftranspose(add_p, lambda ct, x, y: ct, lambda ct, x, y: ct)
deftranspose(sub_p, lambda ct, x, y: ct, lambda ct, x, y: -ct)
deftranspose(mul_p, lambda ct, x, y: ct * y, lambda ct, x, y: x * ct)
deftranspose(div_p, lambda ct, x, y: np.divide(ct, y), None)
deftranspose(where_p, None, lambda ct, c, x, y: np.where(c, ct, 0.0),
                            lambda ct, c, x, y: np.where(c, 0.0, ct))
deftranspose(sum_p, sum_transpose)
deftranspose(reshape_p, lambda ct, x, shape: np.reshape(ct, x.aval.shape))
deftranspose(transpose_p, permute_back)
deftranspose(broadcast_to_p, lambda ct, x, shape: ct)
deftranspose(index_p, lambda ct, x, index: scatter_p.bind(
    ct, index=index, shape=x.aval.shape))
deftranspose(scatter_p, lambda ct, x, index, shape: ct[index])


# 10d. For users.
def vjp(f, *primals):
    """Return the output of `f`, and its pullback."""
    y, linear, residuals = linearize_at(f, primals)

    def pullback(y_bar):
        check_shapes('vjp: the cotangent', y, y_bar)
        return tree_like(primals, pull(
            linear, residuals, tree_leaves(y_bar)))
    return y, pullback


def grad(f):
    """Return the gradient of `f` with respect to its first argument."""
    def grad_of_f(x, *others):
        if any(typeof(leaf).dtype.kind != 'f' for leaf in tree_leaves(x)):
            raise TypeError('grad needs a float argument: write 3.0, not 3')
        y, pullback = vjp(lambda x: f(x, *others), x)
        if typeof(y).shape or typeof(y).dtype.kind != 'f':
            raise TypeError('grad needs a function with a real scalar output')
        return pullback(1.0)[0]
    return grad_of_f


# 10e. A test for rules: a cotangent agrees with a central difference.
def check_grads(f, args):
    """Raise an AssertionError unless `vjp` agrees with a difference."""
    y, pullback = vjp(f, *args)
    tangents, y_bar = random_like(args, 0), random_like(y, 1)

    def dot(xs, ys):
        pairs = zip(tree_leaves(xs), tree_leaves(ys), strict=True)
        return sum(np.sum(x * y) for x, y in pairs)
    expected = dot(y_bar, central_difference(f, args, tangents))
    assert_close(dot(pullback(y_bar), tangents), expected)


# 12a. To transpose a call, transpose its function.
def call_transpose(cts, *operands, fun, **rules):
    """Transpose the function of a call; its known operands are constants."""
    unknown = [x for x in operands if type(x) is Var]

    def linear(*tangents):
        ts = iter(tangents)
        return fun(*[next(ts) if type(x) is Var else x for x in operands])
    program, residuals, _ = stage(linear, unknown, PartialEvalTrace)
    in_cts = iter(backward_pass(program, residuals, cts))
    return [next(in_cts) if type(x) is Var else None for x in operands]


transpose_rules[custom_jvp_call_p] = call_transpose


# 12b. A pullback with a rule, which keeps the rules of the calls in it.
def pull(linear, residuals, cts):
    """Run a linear program backwards; keep the rules of its calls."""
    n = len(residuals)
    if all(eqn.primitive is not custom_jvp_call_p for eqn in linear.eqns):
        return backward_pass(linear, residuals, cts)
    return custom_jvp_call_p.bind(
        *residuals, *cts, rule=partial(pull_rule, linear, n),
        fun=lambda *xs: backward_pass(linear, xs[:n], xs[n:]))


# 12c. A linear program computes A @ t, and its pullback computes A.T @ ct.
# A depends on the residuals, so the derivative of A.T @ ct has two terms.
def pull_rule(linear, n, xs, x_dots):
    """Return A.T @ ct, and A_dot.T @ ct + A.T @ ct_dot."""
    x_dots = list(map(instantiate, xs, x_dots))
    residuals, residuals_dot = xs[:n], x_dots[:n]
    ct, ct_dot = xs[n:], x_dots[n:]

    def linear_dot(*ts):
        """Return A_dot @ t, so only the residuals change."""
        return jvp(lambda *residuals: linear(*residuals, *ts),
                   residuals, residuals_dot)[1]
    program, captured, _ = stage(linear_dot, linear.invars[n:],
                                 PartialEvalTrace)
    first = pull(program, captured, ct)
    second = pull(linear, residuals, ct_dot)
    return pull(linear, residuals, ct), list(map(np.add, first, second))
