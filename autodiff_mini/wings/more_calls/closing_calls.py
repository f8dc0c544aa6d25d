"""Calls in a linear program whose function closes over a tangent.

A JVP rule can define a custom function that closes over a tangent, and call
it.  The tangent becomes an operand of the call, so the call keeps its rule.
Chapter 22.
"""

from autodiff_mini.calls.call import Store, named, on_arrays
from autodiff_mini.calls.custom_jvp import (
    custom_jvp_call_p, leave_call, leave_closure)
from autodiff_mini.calls.staged_calls import closed_over, stage_function
from autodiff_mini.core import seams
from autodiff_mini.core.types import typeof
from autodiff_mini.core.zeros import (
    Zero, add_tangents, instantiate_zeros, leave_zeros_out, perturbed,
    put_zeros_back)


@seams.leave_closure.take
def leave_opened(trace, primitive, args, params):
    """Record a call whose function closes over an unknown value."""
    if trace.parent.parent is None or primitive is not custom_jvp_call_p:
        return leave_closure(trace, primitive, args, params)
    return leave_call(primitive, trace, *open_call(
        trace, args, params['fun'], params['jvp']))


def open_call(trace, args, fun, rule):
    """Return a call whose operands include the values it closes over.

    The function and the rule are staged first.  The derivative with respect
    to an unknown value follows from linearity.  The rule has none with
    respect to a known value.

    Returns:
        The operands, and the parameters.
    """
    types, out_moving = list(map(typeof, args)), Store()
    moving = [aval.dtype.kind in 'fc' for aval in types]
    dots = [x if moves else Zero(x) for x, moves in zip(types, moving)]
    slope, more = stage_function(on_arrays(rule, moving, out_moving, rule),
                                 leave_zeros_out(types, dots))
    staged, consts = stage_function(fun, types)
    args, n, end = [*consts, *more, *args], len(consts), len(consts + more)
    linear = list(map(trace.owns, args))

    def opened(*xs):
        return staged(*xs[:n], *xs[end:])

    def opened_rule(xs, x_dots):
        given = perturbed(x_dots[:end])
        if not all(free for here, free in zip(given, linear) if here):
            raise closed_over(fun, custom_jvp_call_p)
        dots = [instantiate_zeros(t) if moves else Zero(x)
                for x, t, moves in zip(xs[end:], x_dots[end:], moving)]
        arrays = slope(*xs[n:end], *leave_zeros_out(xs[end:], dots))
        ys, y_dots = put_zeros_back(arrays, out_moving.value)
        if any(given[:n]):
            ts = [*x_dots[:end], *map(Zero, xs[end:])]
            ts = [instantiate_zeros(t) if free else x
                  for x, t, free in zip(xs, ts, linear)]
            y_dots = list(map(add_tangents, y_dots, opened(*ts)))
        return ys, y_dots
    return args, {'fun': named(opened, fun), 'jvp': named(opened_rule, rule)}
