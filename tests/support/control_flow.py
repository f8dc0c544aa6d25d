"""Control flow for random programs: the library's, and Python's."""

import numpy as np

import autodiff_mini as ad
from autodiff_mini.calls.call import call


class ours:
    """The library, with `call`."""

    scan, while_loop, fori_loop = ad.scan, ad.while_loop, ad.fori_loop
    cond, switch, vmap, jit = ad.cond, ad.switch, ad.vmap, ad.jit
    checkpoint, call = ad.checkpoint, call


class unrolled:
    """Python's control flow, instead of the library's."""

    @staticmethod
    def scan(f, init, xs=None, length=None, reverse=False):
        rows = ad.tree_leaves(xs)
        n = len(rows[0]) if rows else length
        carry, ys = init, [None] * n
        for i in reversed(range(n)) if reverse else range(n):
            carry, ys[i] = f(carry, ad.tree_map(lambda x: x[i], xs))
        if n:
            return carry, ad.tree_map(lambda *rows: np.stack(rows), *ys)
        x = ad.tree_map(lambda x: np.zeros(np.shape(x)[1:]), xs)
        return carry, ad.tree_map(
            lambda y: np.zeros((0, *np.shape(y)), np.result_type(y)),
            f(carry, x)[1])

    @staticmethod
    def cond(pred, true_fun, false_fun, *operands):
        return true_fun(*operands) if pred else false_fun(*operands)

    @staticmethod
    def switch(index, branches, *operands):
        *earlier, last = enumerate(branches)
        for i, branch in earlier:
            if index <= i:
                return branch(*operands)
        return last[1](*operands)

    @staticmethod
    def while_loop(cond_fun, body_fun, init_val):
        while cond_fun(init_val):
            init_val = body_fun(init_val)
        return init_val

    @staticmethod
    def fori_loop(lower, upper, body_fun, init_val):
        for i in np.arange(lower, upper):
            init_val = body_fun(i, init_val)
        return init_val

    @staticmethod
    def vmap(f):
        return lambda xs: np.stack([f(x) for x in xs])

    jit = checkpoint = staticmethod(lambda f: f)
    call = staticmethod(lambda f, *args: f(*args))
