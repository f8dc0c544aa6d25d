"""Forward mode: push a tangent forward beside every primal."""

from functools import partial, reduce

import numpy as np

from .core import Table, Trace, Tracer, current_trace, typeof
from .primitives import (
    add_p, cos_p, div_p, exp_p, gt_p, log_p, max_p, min_p, mul_p, ne_p, neg_p,
    pow_p, sin_p, structural, sub_p, tanh_p, where_p)
from .trees import check_shapes, tree_leaves, tree_like, tree_map


# 2a. The interpreter opens its own tracers, and no others.
class JVPTrace(Trace):
    """Compute a primal and a tangent; a tangent of None is zero."""

    def process_primitive(self, primitive, args, params):
        primals, tangents = self.unpack(args)
        with self.parent:
            if all(t is None for t in tangents):
                return primitive.bind(*primals, **params)
            rule = jvp_rules[primitive]
            out, out_dot = rule(self.tag, primals, tangents, **params)
        return tree_map(self.pack, out, out_dot)

    def unpack(self, xs):
        """Return the primals, and the tangents: None where one is zero."""
        primals = [x.primal if self.owns(x) else x for x in xs]
        tangents = [x.tangent if self.owns(x) else None for x in xs]
        return primals, tangents

    def pack(self, y, y_dot):
        """Return a tracer of both; the primal alone, if its tangent is 0."""
        return y if y_dot is None else Tracer(
            self, typeof(y), primal=y, tangent=y_dot)


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
    same = np.shape(x_dot) == np.shape(y)
    return x_dot if same else np.broadcast_to(x_dot, np.shape(y))


# 2c. The rules of arithmetic,
defjvp(neg_p, lambda x_dot, y, x: -x_dot)
defjvp(sin_p, lambda x_dot, y, x: x_dot * np.cos(x))
defjvp(cos_p, lambda x_dot, y, x: x_dot * -np.sin(x))
defjvp(exp_p, lambda x_dot, y, x: x_dot * y)
defjvp(log_p, lambda x_dot, y, x: np.divide(x_dot, x))
defjvp(tanh_p, lambda x_dot, y, x: x_dot * (1 - y * y))
defjvp(add_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: y_dot)
defjvp(sub_p, lambda x_dot, z, x, y: x_dot, lambda y_dot, z, x, y: -y_dot)
defjvp(mul_p, lambda x_dot, z, x, y: x_dot * y,
              lambda y_dot, z, x, y: x * y_dot)
defjvp(div_p, lambda x_dot, z, x, y: np.divide(x_dot, y),
              lambda y_dot, z, x, y: y_dot * (-z / y))
defjvp(pow_p, lambda x_dot, z, x, y: x_dot * (y * np.power(x, y - (y != 0))),
              lambda y_dot, z, x, y: y_dot * (
                  z * np.log(np.where(x != 0, x, 1.0))))


# 2d. of choices,
def share(x_dot, z, x, y):
    """Return the tangent of `x` where `z` is `x`; half of it at a tie."""
    return np.where(x != z, 0.0, np.where(x != y, x_dot, x_dot / 2))


for primitive in max_p, min_p:
    defjvp(primitive, share, lambda y_dot, z, x, y: share(y_dot, z, y, x))
for primitive in gt_p, ne_p:
    defjvp(primitive, None, None)
defjvp(where_p, None, lambda x_dot, z, c, x, y: np.where(c, x_dot, 0.0),
                      lambda y_dot, z, c, x, y: np.where(c, 0.0, y_dot))


# 2e. and of linear functions, which treat a tangent as they treat a primal.
for primitive in structural:
    defjvp(primitive, lambda x_dot, y, x, bind=primitive.bind, **params:
           bind(x_dot, **params))


# 2h. For users.
def jvp(f, primals, tangents, tag=None):
    """Return the output of `f` and its directional derivative."""
    check_shapes('jvp: the tangents', primals, tangents)
    with JVPTrace(current_trace(), tag or object()) as trace:
        out = f(*tree_map(trace.pack, primals, tangents))
    ys, y_dots = trace.unpack(tree_leaves(out))
    y_dots = map(instantiate, ys, y_dots)
    return tree_like(out, ys), tree_like(out, y_dots)


def instantiate(x, x_dot):
    """Return the tangent of `x` as an array: zeros for None."""
    return x_dot if x_dot is not None else np.zeros(
        typeof(x).shape, np.result_type(typeof(x).dtype, np.float16))


# 2i. A test for rules: a tangent agrees with a central difference.
def central_difference(f, args, tangents, step=1e-6):
    """Return the derivative of `f` along some tangents, from two values."""
    high, low = [f(*tree_map(lambda x, t, s=s: x + s * t, args, tangents))
                 for s in (step, -step)]
    return tree_map(lambda a, b: (a - b) / (2 * step), high, low)


def random_like(tree, seed):
    rng = np.random.default_rng(seed)
    return tree_map(lambda x: rng.standard_normal(np.shape(x)), tree)


def check_jvp(f, args):
    """Raise an AssertionError unless `jvp` agrees with a difference."""
    tangents = random_like(args, 0)
    tree_map(partial(np.testing.assert_allclose, rtol=1e-4, atol=1e-6),
             jvp(f, args, tangents)[1], central_difference(f, args, tangents))
