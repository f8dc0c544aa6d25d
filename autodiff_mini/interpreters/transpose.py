"""Transposition: run a linear program backwards.

The reverse pass reads the equations from the last to the first.  If the
program uses a value twice, its two cotangents are added.  Chapter 10.
"""

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.jaxprs import (
    Jaxpr, Var, for_results, has_several_results, pulls_in)
from autodiff_mini.core.lines import REVERSE
from autodiff_mini.core.trace import at_lines_of, current_trace
from autodiff_mini.core.types import array_type, convert, typeof
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters.jvp import defjvp

rules = RuleTable(
    'Transpose rule', 'only linear operations can be transposed; if this one '
    'is linear, define transpose.rules[primitive]')


def backward_pass(jaxpr, consts, cts) -> list:
    """Return the cotangents of the inputs of a linear program.

    Args:
        jaxpr: the program; see `linear_flat`.
        consts: the arrays for its `constvars`.
        cts: a cotangent for each output, or a Zero.
    """
    if seams.note.taken:
        seams.note(backward_pass)
    known = dict(zip(jaxpr.constvars, consts, strict=True))
    sums = {}
    accumulate(sums, jaxpr.outvars, cts)
    transpose_equations(reversed(jaxpr.eqns), known, sums)
    return [sums[v] if v in sums else Zero(v.aval) for v in jaxpr.invars]


def accumulate(sums, variables, cts):
    """Add cotangents to the sums of the variables, which can repeat."""
    for v, ct in zip(variables, cts):
        if type(ct) is not Zero:
            sums[v] = sums[v] + ct if v in sums else ct


def transpose_equations(equations, known, sums):
    """Replace the cotangents of results by cotangents of operands.

    Args:
        equations: from the last to the first.
        known: the values that are not linear, by variable.
        sums: the sum of the cotangents of each variable so far; updated.
    """
    with at_lines_of(equations, REVERSE) as eqns:
        for eqn in eqns:
            if sums.keys().isdisjoint(eqn.outvars):
                continue    # nothing depends on it
            if eqn.primitive.multiple_results:
                eqn = for_results(eqn, sums)
                ct = [sums.pop(v) if v in sums else Zero(v.aval)
                      for v in eqn.outvars]
            else:
                ct = sums.pop(eqn.outvars[0])
            operands = list(map(known.get, eqn.invars, eqn.invars))
            rule = rules[eqn.primitive]
            if seams.transpose.taken:
                rule = seams.transpose(eqn.primitive, rule)
            cts = rule(ct, *operands, **eqn.params)
            for v, x_bar in zip(eqn.invars, cts):
                if x_bar is None or type(x_bar) is Zero:
                    continue
                if type(x_bar) is not np.ndarray or (
                        array_type(x_bar.shape, x_bar.dtype) is not v.aval):
                    x_bar = fit_cotangent(x_bar, v.aval)
                sums[v] = sums[v] + x_bar if v in sums else x_bar
            if watcher := current_trace().watcher:
                watcher.check_transposed(eqn, [ct, *operands],
                                         map(sums.get, eqn.invars))


def pull(jaxpr, consts, cts) -> list:
    """Run a linear program backwards, using the rules of its calls.

    Args:
        jaxpr, consts, cts: as for `backward_pass`.
    """
    kinds = True in map(has_several_results, jaxpr.eqns) and (
        pulls_in(jaxpr, jaxpr.invars))
    if not kinds:
        return backward_pass(jaxpr, consts, cts)
    # A subclass also handles the calls that its base class handles.
    kind = max(kinds, key=lambda kind: len(kind.__mro__))
    return kind(jaxpr, consts, cts).cotangents(consts, cts)


Jaxpr.pull = pull   # a wing's program can have a `pull` of its own


def deftranspose(primitive, *each):
    """Define each operand's cotangent, given the cotangent of the output.

    Args:
        each: for each operand `rule(ct, *operands, **params)`, which returns
            a cotangent of the operand; None where the primitive is not
            linear in it.
    """
    def transpose_rule(ct, *operands, **params):
        cts = [None] * len(each)
        for i, (rule, x) in enumerate(zip(each, operands, strict=True)):
            if type(x) is Var:
                cts[i] = (rule or x.refuse)(ct, *operands, **params)
        return cts
    rules[primitive] = transpose_rule


def deflinear(primitive, transpose_rule):
    """Define both rules of a primitive that is linear in its one operand.

    The JVP rule applies the primitive to the tangent.

    Args:
        transpose_rule: as for `deftranspose`.
    """
    defjvp(primitive,
           lambda x_dot, y, x, **params: primitive.bind(x_dot, **params))
    deftranspose(primitive, transpose_rule)


def fit_cotangent(ct, aval):
    """Return `ct` as a cotangent of a value of this type.

    If the value was broadcast, `ct` is summed, and if the value is real, the
    real part of `ct` is taken.
    """
    have = typeof(ct)
    if have.shape != aval.shape:
        ct = unbroadcast(ct, aval.shape)
    if have.dtype.kind == 'c' and aval.dtype.kind != 'c':
        ct = np.real(ct)
    if have.dtype == aval.dtype and have.weak_type <= aval.weak_type:
        return ct
    return convert(ct, aval.dtype)


def unbroadcast(ct, shape):
    """Sum `ct` over the axes that were broadcast from this shape."""
    extra = np.ndim(ct) - len(shape)
    if extra:
        ct = np.sum(ct, tuple(range(extra)))
    axes = [i for i, n in enumerate(shape)
            if n == 1 and np.shape(ct)[i] != 1]
    return np.sum(ct, tuple(axes), keepdims=True) if axes else ct
