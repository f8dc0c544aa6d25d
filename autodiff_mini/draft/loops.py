"""Loops: `scan`, which runs backwards, too."""

from functools import partial

import numpy as np

from .core import Primitive
from .jaxpr import Jaxpr, abstract_rules, stage, types
from .jit import run
from .jvp import jvp_rules
from .programs import count_known, cut_jvp, transpose_jaxpr, vmap_jaxpr
from .transpose import transpose_rules
from .trees import check_shapes, tree_leaves, tree_like, tree_map
from .vmap import common_length, row_type, rows_type, vmap_rules


# 15a. A loop is an operation.
def run_scan(*operands, fun, num_carry, length, reverse):
    """Return the stacked outputs of the steps, then the last carry.

    The operands are the arrays to walk along, then the first carry; a step
    takes a row of each array, and the carry.
    """
    if length == 0:
        raise TypeError('scan: a loop has at least one step')
    xs, carry = split(operands, num_carry)
    rows = [None] * length
    steps = reversed(range(length)) if reverse else range(length)
    for i in steps:
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


# 15b. For users.
def scan(f, init, xs=None, length=None):
    """Return the last carry of a loop, and the outputs of its steps."""
    def step(x, carry):     # rows first, as in the lines above
        carry, y = f(carry, x)
        return y, carry
    program, captured, out = stage(step, (tree_map(row_type, xs), init))
    check_shapes('scan: the carry that a step returns', init, out[1])
    rows, carry = tree_leaves(xs), tree_leaves(init) + captured
    length = common_length('scan', [length, *map(len, rows)])
    outs = scan_p.bind(
        *rows, *carry, fun=carry_along(program, len(captured)),
        num_carry=len(carry), length=length, reverse=False)
    y, carry = tree_like(out, outs)
    return carry, y


def carry_along(program, n):
    """Make `n` captured values, the first inputs, a carry that stays."""
    captured, inputs = program.invars[:n], program.invars[n:]
    return Jaxpr(inputs + captured, program.eqns, program.outvars + captured)


# 15c. Forward mode: a loop over primals keeps the residuals for a loop over
# tangents, which is linear.
jvp_rules[scan_p] = partial(cut_jvp, scan_p, scan_p)


# 15d. Reverse mode: the loop over tangents, transposed, from its end.
def scan_transpose(cts, *operands, fun, num_carry, length, reverse):
    rows, _ = split(operands, num_carry)
    n = count_known(rows)       # a carry changes, so it is never known
    in_cts = scan_p.bind(
        *rows[:n], *cts, fun=transpose_jaxpr(fun, n),
        num_carry=num_carry, length=length, reverse=not reverse)
    return [None] * n + in_cts


transpose_rules[scan_p] = scan_transpose


# 15e. A batch of loops is one loop over batches: the steps come first.
def scan_vmap(axis, *vals, fun, num_carry, **loop):
    xs, carry = split(vals, num_carry)
    rows = map(swap_axes, xs)
    outs = scan_p.bind(*rows, *carry, fun=vmap_jaxpr(fun, axis.size),
                       num_carry=num_carry, **loop)
    ys, carry = split(outs, num_carry)
    return [*map(swap_axes, ys), *carry]


def swap_axes(x):
    """Exchange the first two axes: those of the batch and of the steps."""
    return np.transpose(x, (1, 0, *range(2, np.ndim(x))))


vmap_rules[scan_p] = scan_vmap
