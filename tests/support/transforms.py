"""Transformations of a function, by name, and points to call it at."""

import numpy as np

import autodiff_mini as ad
from tests.support.jaxpr_checks import check_jaxpr

X = np.linspace(0.2, 1.5, 4)


def d(f):
    """Return the derivative of a function of one array along ones."""
    return lambda x: ad.jvp(f, (x,), (np.ones(np.shape(x))[()],))[1]


def staged(f):
    """Return `f` as a function that records and runs itself."""
    def f_by_jaxpr(*args):
        trees = []

        def flat(*xs):
            ys, tree = ad.tree_flatten(f(*xs))
            trees.append(tree)
            return ys
        jaxpr = ad.make_jaxpr(flat)(*args)
        check_jaxpr(jaxpr)
        return trees[0].unflatten(ad.eval_jaxpr(
            jaxpr, jaxpr.consts, *ad.tree_leaves(args)))
    return f_by_jaxpr


def summed_grad(f):
    """Return the derivative of a function that works element by element."""
    return ad.grad(lambda x: np.sum(f(x)))


TRANSFORMS = {
    's': staged, 'i': ad.jit, 'v': ad.vmap, 'j': d, 'g': summed_grad,
    'l': lambda f: lambda x: ad.linearize(f, x)[1](np.ones(np.shape(x))[()]),
    'c': ad.checkpoint,
    'n': lambda f: lambda x: ad.scan(lambda c, _: (f(c), None), x, None,
                                     1)[0],
    'b': lambda f: lambda x: ad.cond(True, f, lambda x: x, x)}


def nested(f, names):
    """Return the transforms of `f`, with the last name innermost."""
    for name in reversed(names):
        f = TRANSFORMS[name](f)
    return f


def point(names):
    """Return a point with an axis for each vmap."""
    shape = [2] * names.count('v')
    return np.linspace(-1, 1, 2 ** len(shape)).reshape(shape)[()]


EDGES = {
    'jvp': lambda f: ad.jvp(f, (1.0,), (1.0,)),
    'vmap': lambda f: ad.vmap(f)(np.ones(2)),
    'grad': lambda f: ad.grad(f)(1.0), 'jit': lambda f: ad.jit(f)(1.0),
    'linearize': lambda f: ad.linearize(f, 1.0),
    'scan': lambda f: ad.scan(lambda c, _: (c, f(c)), 1.0, length=2),
    'while': lambda f: ad.while_loop(lambda c: c < 2, f, 1.0),
    'cond': lambda f: ad.cond(True, f, f, 1.0),
    'checkpoint': lambda f: ad.checkpoint(f)(1.0),
    'make_jaxpr': lambda f: ad.make_jaxpr(f)(1.0),
}
