"""The short road: what a gradient usually is, without the general steps.

It is usually a gradient of floats and NumPy arrays, outside of all other
transformations, and the function returns a number.  Then there's no program
to make: the tape is run backwards at once.  On a surprise the usual road goes
on with what the function has returned.  Chapter 37.
"""

from autodiff_mini import seams
from autodiff_mini.api.derivatives import whole_cotangent
from autodiff_mini.arrays import ORDINARY
from autodiff_mini.core import NUMBERS, Trace, current_trace
from autodiff_mini.fast.tape import (
    Tape, finished, on_tape, record_flat, run_back)
from autodiff_mini.fast.tape_tracer import TapeTracer, float_type
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import LEAF, take_apart, tree_flatten
from autodiff_mini.zeros import Zero


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
    trace = current_trace()
    if not is_usual or trace is not Trace.base or trace.watcher or (
            None in map(float_type, xs)):
        return record_flat
    trace, tape, out = on_tape(
        f if tree is LEAF else lambda *xs: f(tree.unflatten(xs)), xs, tag)
    y, aux = out, None
    if has_aux:
        y, aux = out if type(out) is tuple and len(out) == 2 else (None, None)
    if type(y) is not TapeTracer or y._trace is not trace or (
            type(y.primal) not in NUMBERS or y.aval.dtype.kind != 'f'
            or not ORDINARY.issuperset(map(type, tape.consts))):
        return lambda flat_f, xs, tag: finished(
            trace, tape, flat_f.flatten(out))
    if has_aux:
        leaves, aux_tree = tree_flatten(aux)
        aux = aux_tree.unflatten(
            own_memory(trace.split(leaves)[0], [*tape.consts, *xs]))
    if seams.note.taken:
        seams.note(Tape.pull)
    number, known = y.primal, dict(zip(tape.constvars, tape.consts))
    gathered, others = {y.name: type(number)(1)}, [number, *tape.consts]
    run_back(tape.eqns, known, gathered, True)
    found = own_memory([
        whole_cotangent(v.aval, gathered.get(v, Zero(v.aval)), others)
        for v in tape.invars], others)
    return number, aux, found[0] if tree is LEAF else tree.unflatten(found)
