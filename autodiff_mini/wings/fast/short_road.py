"""The short road: what a gradient usually is, without the general steps.

It is usually a gradient of floats and NumPy arrays, outside of all other
transformations except `vmap`, and the function returns a number.  Then there
is no program to make: the tape is run backwards at once.  On a surprise the
general road goes on with what the function has returned.  See the page *How
fast is it?*.
"""

import numpy as np

from autodiff_mini.api.derivatives import whole_cotangent
from autodiff_mini.core import seams
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.trace import current_trace
from autodiff_mini.core.trees import LEAF, take_apart, tree_flatten
from autodiff_mini.core.types import NUMBERS, ORDINARY
from autodiff_mini.interpreters.vmap import BatchTracer
from autodiff_mini.wings.fast.tape import (
    finished, is_outermost, on_tape, opened, record_flat)
from autodiff_mini.wings.fast.tape_tracer import TapeTracer, float_type


@seams.short_gradient.take
def short_gradient(tag, f, point, has_aux, is_usual):
    """Return what `f` returns and its gradient, or how to go on.

    Args:
        tag: which application of grad this is.
        f: a function of one tree.
        point: where to differentiate it.
        has_aux: whether it returns a pair.
        is_usual: whether the leaves of the point must be real.

    Returns:
        The number, aux, and the gradient; or a function that replaces
        `linearize_flat`, because something is not usual.
    """
    xs = []
    tree = take_apart(point, xs)
    if not is_usual or not is_outermost(current_trace()) or (
            None in map(float_type, map(opened, xs))):
        return record_flat
    trace, tape, out = on_tape(
        f if tree is LEAF else lambda *xs: f(tree.unflatten(xs)), xs, tag)
    y, aux = out, None
    if has_aux:
        y, aux = out if type(out) is tuple and len(out) == 2 else (None, None)
    if type(y) is not TapeTracer or y._trace is not trace or (
            not is_number(y.primal) or y.aval.dtype.kind != 'f'
            or not ORDINARY.issuperset(
                map(type, map(opened, tape.consts)))):
        return lambda flat_f, xs, tag: finished(
            trace, tape, flat_f.flatten(out))
    if has_aux:
        leaves, aux_tree = tree_flatten(aux)
        aux = aux_tree.unflatten(
            own_memory(trace.unpack(leaves)[0], [*tape.consts, *xs]))
    [number] = own_memory([y.primal], [*tape.consts, *xs])
    others = [number, *tape.consts]
    one = y.aval.dtype.type(1)
    cts = tape.pull_gathered(
        tape.consts, {y.name: one.item() if y.aval.weak_type else one})
    found = own_memory([
        ct if type(ct) is BatchTracer and ct.aval is v.aval
        else whole_cotangent(v.aval, ct, others)
        for v, ct in zip(tape.invars, cts)], others)
    return number, aux, found[0] if tree is LEAF else tree.unflatten(found)


def is_number(x) -> bool:
    """Return whether `x` is a number, also in an array or of a batch."""
    return type(x) in NUMBERS or (
        type(opened(x)) is np.ndarray and x.shape == ())
