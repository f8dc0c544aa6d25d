"""Forward mode: push a tangent forward beside every primal."""

from functools import partial, reduce

import numpy as np

from .core import Table, Trace, Tracer, current_trace, typeof
from .primitives import (
    add_p, cos_p, div_p, exp_p, gt_p, log_p, max_p, min_p, mul_p, ne_p, neg_p,
    pow_p, sin_p, sqrt_p, structural, sub_p, tanh_p, where_p)
from .trees import check_shapes, tree_map


# 2a. The interpreter opens its own tracers, and no others.
class JVPTrace(Trace):
    """Compute a primal and a tangent; a tangent of None is zero."""

    def process_primitive(self, primitive, args, params):
        primals = [self.primal(x) for x in args]
        tangents = [self.tangent(x) for x in args]
        with self.parent:
            if all(t is None for t in tangents):
                return primitive.bind(*primals, **params)
            rule = jvp_rules[primitive]
            out, out_dot = rule(self.tag, primals, tangents, **params)
        return tree_map(self.pack, out, out_dot)

    def primal(self, x):
        return x.primal if self.owns(x) else x

    def tangent(self, x):
        return x.tangent if self.owns(x) else None

    def pack(self, y, y_dot):
        """Return a tracer of both; the primal alone, if its tangent is 0."""
        if y_dot is None:
            return y
        return Tracer(self, typeof(y), primal=y, tangent=y_dot)


# 2b. The form of a rule: one linear function for each operand.
jvp_rules = Table()


def defjvp(primitive, *rules):
    """Define how the tangent of each operand contributes to the output's."""
    def jvp_rule(tag, primals, tangents, **params):
        y = primitive.bind(*primals, **params)
        terms = [rule(x_dot, y, *primals, **params)
                 for rule, x_dot in zip(rules, tangents, strict=True)
                 if rule and x_dot is not None]
        return y, fit(reduce(np.add, terms), y) if terms else None
    jvp_rules[primitive] = jvp_rule


def fit(x_dot, y):
    """Broadcast a tangent to the shape of the output."""
    if np.shape(x_dot) == np.shape(y):
        return x_dot
    return np.broadcast_to(x_dot, np.shape(y))


# 2c. The two rules of a power: for its base, and for its exponent.
def power_by_base(x_dot, z, x, y):
    """Multiply by y * x ** (y - 1), and by 0 where y is 0."""
    one_less = y - (y != 0)     # y - 1, but 0 where y is 0
    return x_dot * (y * np.power(x, one_less))


def power_by_exponent(y_dot, z, x, y):
    """Multiply by x ** y * log(x), and by 0 where x is 0."""
    nonzero = np.where(x != 0, x, 1.0)      # x, but 1 where x is 0
    return y_dot * (z * np.log(nonzero))


# 2d. The rules of arithmetic,
defjvp(neg_p, lambda x_dot, y, x: -x_dot)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))
defjvp(exp_p, lambda x_dot, y, x: x_dot * y)
defjvp(log_p, lambda x_dot, y, x: np.divide(x_dot, x))
defjvp(sqrt_p, lambda x_dot, y, x: x_dot / (2 * y))
defjvp(tanh_p, lambda x_dot, y, x: x_dot * (1 - y * y))
defjvp(add_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: y_dot)
defjvp(sub_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: -y_dot)
defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: x * y_dot)
defjvp(div_p, lambda x_dot, z, x, y: np.divide(x_dot, y),
              lambda y_dot, z, x, y: y_dot * (-z / y))
defjvp(pow_p, power_by_base, power_by_exponent)


# 2e. of choices,
def share(x_dot, z, x, y):
    """Return the tangent of `x` where `z` is `x`; half of it at a tie."""
    contributed = np.where(x != y, x_dot, x_dot / 2)
    return np.where(x != z, 0.0, contributed)


for primitive in max_p, min_p:
    defjvp(primitive, share, lambda y_dot, z, x, y: share(y_dot, z, y, x))
for primitive in gt_p, ne_p:
    defjvp(primitive, None, None)
defjvp(where_p, None, lambda x_dot, z, c, x, y: np.where(c, x_dot, 0.0),
                      lambda y_dot, z, c, x, y: np.where(c, 0.0, y_dot))


# 2f. and of linear functions, which treat a tangent as they treat a primal.
def linear_rule(primitive, x_dot, y, x, **params):
    return primitive.bind(x_dot, **params)


for primitive in structural:
    defjvp(primitive, partial(linear_rule, primitive))


# 2i. For users.
def jvp(f, primals, tangents, tag=None):
    """Return the output of `f` and its directional derivative."""
    if not isinstance(primals, (tuple, list)):
        raise TypeError('jvp: the primals and the tangents are tuples: write '
                        'jvp(f, (x,), (x_dot,))')
    check_shapes('jvp: the tangents', primals, tangents)
    with JVPTrace(current_trace(), tag or object()) as trace:
        out = f(*tree_map(trace.pack, primals, tangents))
    y = tree_map(trace.primal, out)
    y_dot = tree_map(trace.tangent, out)
    return y, tree_map(instantiate, y, y_dot)


def instantiate(x, x_dot):
    """Return the tangent of `x` as an array: zeros for None."""
    if x_dot is not None:
        return x_dot
    dtype = np.result_type(typeof(x).dtype, np.float16)     # of an int: float
    return np.zeros(typeof(x).shape, dtype)


# 2j. A test for rules: a tangent agrees with a central difference.
def central_difference(f, args, tangents, step=1e-6):
    """Return the derivative of `f` along some tangents, from two values."""
    def moved(step):
        return f(*tree_map(lambda x, t: x + step * t, args, tangents))
    return tree_map(lambda high, low: (high - low) / (2 * step),
                    moved(step), moved(-step))


def random_like(tree, seed):
    rng = np.random.default_rng(seed)
    return tree_map(lambda x: rng.standard_normal(np.shape(x)), tree)


def check_jvp(f, args):
    """Raise an AssertionError unless `jvp` agrees with a difference."""
    tangents = random_like(args, 0)
    _, found = jvp(f, args, tangents)
    tree_map(assert_close, found, central_difference(f, args, tangents))


assert_close = partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6)
