"""Loops: `scan`, which runs backwards, too."""

import numpy as np

from .core import Primitive
from .jaxpr import Jaxpr, abstract_rules, stage, types
from .jit import run
from .jvp import instantiate, jvp_rules
from .programs import (
    count_known, linearize_jaxpr, transpose_jaxpr, vmap_jaxpr)
from .transpose import transpose_rules
from .trees import check_shapes, tree_leaves, tree_like, tree_map
from .vmap import row_type, rows_type, vmap_rules


# 13a. A loop is an operation.
def run_scan(*operands, fun, num_carry, length, reverse):
    """Return the stacked outputs of the steps, then the last carry.

    The operands are the arrays to walk along, then the first carry; a step
    takes a row of each array, and the carry.
    """
    xs, carry = split(operands, num_carry)
    rows = [None] * length
    for i in range(length)[::-1 if reverse else 1]:
        outs = run(fun, *[x[i] for x in xs], *carry)
        rows[i], carry = split(outs, num_carry)
    return [*map(np.stack, zip(*rows)), *carry]


def split(xs, num_carry):
    n = len(xs) - num_carry
    return xs[:n], xs[n:]


def scan_types(*avals, fun, num_carry, length, reverse):
    ys, carry = split(types(fun.outvars), num_carry)
    return [rows_type(y, length) for y in ys] + carry


scan_p = Primitive('scan', run_scan)
abstract_rules[scan_p] = scan_types


# 13b. For users.
def scan(f, init, xs=None, length=None):
    """Return the last carry of a loop, and the outputs of its steps."""
    fun, consts, out = stage(lambda x, carry: f(carry, x)[::-1],
                             (tree_map(row_type, xs), init))
    check_shapes('scan: the carry that a step returns', init, out[1])
    n = len(consts)     # what a step captures is a carry that never changes
    fun = Jaxpr(fun.invars[n:] + fun.invars[:n], fun.eqns,
                fun.outvars + fun.invars[:n])
    rows, carry = tree_leaves(xs), tree_leaves(init) + consts
    [length] = {length, *map(len, rows)} - {None}       # all are equal
    outs = scan_p.bind(*rows, *carry, fun=fun, num_carry=len(carry),
                       length=length, reverse=False)
    return tree_like(out, outs)[::-1]


# 13c. Forward mode: a loop over primals keeps the residuals for a loop over
# tangents, which is linear.
def scan_jvp(tag, primals, tangents, fun, **loop):
    known, linear = linearize_jaxpr(fun)
    outs = scan_p.bind(*primals, fun=known, **loop)
    n = len(outs) - len(fun.outvars)
    return outs[n:], scan_p.bind(
        *outs[:n], *map(instantiate, primals, tangents), fun=linear, **loop)


jvp_rules[scan_p] = scan_jvp


# 13d. Reverse mode: the loop over tangents, transposed, from its end.
def scan_transpose(cts, *operands, fun, num_carry, length, reverse):
    n = min(count_known(operands), len(operands) - num_carry)
    return [None] * n + scan_p.bind(
        *operands[:n], *cts, fun=transpose_jaxpr(fun, n),
        num_carry=num_carry, length=length, reverse=not reverse)


transpose_rules[scan_p] = scan_transpose


# 13e. A batch of loops is one loop over batches: the steps come first.
def scan_vmap(axis, *vals, fun, num_carry, **loop):
    xs, carry = split(vals, num_carry)
    outs = scan_p.bind(*map(swap_axes, xs), *carry, num_carry=num_carry,
                       fun=vmap_jaxpr(fun, axis.size), **loop)
    ys, carry = split(outs, num_carry)
    return [*map(swap_axes, ys), *carry]


def swap_axes(x):
    """Exchange the first two axes: those of the batch and of the steps."""
    return np.transpose(x, (1, 0, *range(2, np.ndim(x))))


vmap_rules[scan_p] = scan_vmap
