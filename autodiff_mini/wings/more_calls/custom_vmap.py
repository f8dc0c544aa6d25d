"""`custom_vmap`: a function with its own batching rule.

A call carries a function and a rule for batches.  `vmap` calls the rule
instead of the function.  The other interpreters transform both.  Chapter 23.
"""

from functools import partial
from itertools import repeat

import numpy as np

from autodiff_mini.calls.call import Store, defcall, named
from autodiff_mini.calls.custom_jvp import (
    Pull, UserRule, any_mapped, custom_call_jvp, run_outside, with_known)
from autodiff_mini.calls.custom_vjp import custom_vjp, is_recorded
from autodiff_mini.calls.programs import (
    for_outputs, interleave, others, picked, prune_equation, stage_program)
from autodiff_mini.calls.staged_calls import (
    StagedFunction, linear_program, stage_call, stage_linear)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Var, dead_rules, pull_rules, pulls_in
from autodiff_mini.core.memory import own_memory, to_read
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.trees import (
    leaf_names, map_leaves, tree_flatten, tree_map)
from autodiff_mini.core.types import array_type, float0, tangent_type, typeof
from autodiff_mini.core.zeros import (
    Zero, instantiate_all, leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jaxpr, jvp, lowering, partial_eval, transpose, vmap)
from autodiff_mini.interpreters.vmap import spread

custom_vmap_call_p = defcall('custom_vmap_call')


def custom_vmap_vmap(axis, xs, dims, fun, **rules):
    """Call the rule; bind the call if no operand is mapped."""
    if any_mapped(dims):
        rule = rules['vmap']
    else:
        def rule(xs, mapped, size):
            ys = custom_vmap_call_p.bind(*xs, fun=fun, **rules)
            return ys, [False] * len(ys)
    ys, mapped = run_outside(
        vmap.BatchTracer, axis.tag, custom_vmap_call_p, fun,
        rule, xs, [dim is not None for dim in dims], axis.size)
    return ys, [0 if here else None for here in mapped]


def derivative_of(x_dots, fun, vmap, **types):
    return partial(derivative, fun, vmap, types)


def derivative(fun, vmap, types, xs, x_dots):
    """Call the derivative of a function; its rule is the rule's derivative.

    If the tangents are recorded, compute the outputs now, and compute the
    values that the tangents need again later.
    """
    fun_jvp, rule_jvp, out_moving = push_forward(
        fun, vmap, perturbed(x_dots))
    arrays = leave_zeros_out(xs, x_dots)
    if not any(map(is_recorded, x_dots)):
        outs = custom_vmap_call_p.bind(*arrays, fun=fun_jvp, vmap=rule_jvp)
        return put_zeros_back(outs, out_moving.value)
    ys = custom_vmap_call_p.bind(*xs, fun=fun, vmap=vmap, **types)
    dot_types = [tangent_type(typeof(y)) for y in ys]
    moving = [aval.dtype != float0 for aval in dot_types]

    def fun_dot(*arrays):
        return fun_jvp(*arrays)[len(ys):]

    def rule_dot(*args):
        return [row[len(ys):] for row in rule_jvp(*args)]
    y_dots = custom_vmap_call_p.bind(
        *arrays, fun=named(fun_dot, fun),
        vmap=named(rule_dot, vmap), out_avals=picked(dot_types, moving))
    return put_zeros_back([*ys, *y_dots], moving)


def push_forward(fun, rule, moving):
    """Return the derivatives of a function and its rule, on arrays.

    Also return a Store that marks the outputs that have a tangent.  Integer
    outputs have none.
    """
    out_moving, tag = Store(), TraceTag('jvp', fun)

    def on_arrays(ys, y_dots):
        moves = [Zero(y).aval.dtype != float0 for y in ys]
        y_dots = instantiate_all(picked(y_dots, moves), ys)
        return [*ys, *y_dots], moves

    def fun_jvp(*arrays):
        return on_arrays(*jvp.jvp_flat(
            fun, *put_zeros_back(arrays, moving), tag))

    def rule_jvp(arrays, mapped, size):
        primals, tangents = put_zeros_back(mapped, moving)
        # A value is mapped if its tangent is, and vice versa.
        either = [x or x_dot is True for x, x_dot in zip(primals, tangents)]
        wanted = [*either, *picked(either, moving)]
        arrays = [spread(x, None, size) if want and not has else x
                  for x, want, has in zip(arrays, wanted, mapped)]
        out_mapped = Store()
        batched = out_mapped.keep(lambda *xs: rule(xs, either, size), rule)
        outs, moves = on_arrays(*jvp.jvp_flat(
            batched, *put_zeros_back(arrays, moving), tag))
        found = out_mapped.value
        return (outs, [*found, *picked(found, moves)]), moves
    return (out_moving.keep(fun_jvp, fun), out_moving.keep(rule_jvp, rule),
            out_moving)


def custom_vmap_partial_eval(trace, args, params):
    """Leave the linear part for later, with its batching rule.

    If a known argument is traced, leave the whole function.
    """
    unknown = list(map(trace.owns, args))
    if not any(unknown):
        return trace.compute(custom_vmap_call_p, args, params)
    fun, vmap = params['fun'], params['vmap']
    if any(isinstance(x, Tracer) for x in others(args, unknown)):
        linear = linear_program('call', fun, args, unknown)
        outs = trace.record(custom_vmap_call_p, args, {
            'out_avals': linear.out_avals, **params,
            'pulls': pulls_for_content(linear)})
        known = [v in linear.constvars for v in linear.outvars]
        return with_known(outs, known, trace, custom_vmap_call_p, args,
                          params)
    linear, residuals = stage_linear(fun, args, unknown)
    n = len(residuals)

    def rule(xs, mapped, size):
        return vmap(xs[n:], mapped[n:], size)
    outs = trace.record(custom_vmap_call_p, [*residuals, *args],
                        {'fun': linear, 'vmap': named(rule, vmap)})
    known = dict(zip(linear.jaxpr.invars, residuals))
    outs = list(map(known.get, linear.jaxpr.outvars, outs))
    return own_memory(outs, residuals)


def custom_vmap_pulls(fun, pulls=None, **rules):
    return pulls_for_content(fun.jaxpr) if pulls is None else pulls


def pulls_for_content(linear):
    """Return {Pull} if a linear program calls functions with rules.

    Otherwise the program and its batching rule are transposed by themselves.
    """
    return {Pull} if pulls_in(linear, linear.invars) else set()


def custom_vmap_transpose(cts, *operands, fun, vmap, **types):
    """Transpose a call; its batching rule is the transpose of the rule."""
    linear = [type(x) is Var for x in operands]
    inputs, known = picked(operands, linear), others(operands, linear)
    given = [type(ct) is not Zero for ct in cts]
    n, zeros = len(known), others(cts, given)

    def pull_back(program, cts):
        x_bars = transpose.backward_pass(
            program, program.consts, interleave(given, cts, zeros))
        return instantiate_all(x_bars, [*cts, *program.consts])

    def fun_transpose(*xs):
        return pull_back(linear_program(
            'transpose', fun, interleave(linear, inputs, xs[:n]), linear),
            xs[n:])

    def rule_transpose(xs, mapped, size):
        rows = [Var(array_type((size, *v.aval.shape), v.aval.dtype))
                for v in inputs]
        marks, out_mapped = interleave(linear, repeat(True), mapped), Store()
        batched = out_mapped.keep(lambda *xs: vmap(xs, marks, size), vmap)
        program = linear_program(
            'transpose', batched, interleave(linear, rows, xs), linear)
        cts = [spread(ct, 0 if here else None, size)
               for ct, here in zip(xs[n:], mapped[n:])]
        # An unmapped output receives the sum of all cotangents.
        cts = [ct if here else np.sum(ct, 0)
               for ct, here in zip(cts, picked(out_mapped.value, given))]
        x_bars = pull_back(program, cts)
        return x_bars, [True] * len(x_bars)

    x_bars = custom_vmap_call_p.bind(
        *known, *picked(cts, given), fun=named(fun_transpose, fun),
        vmap=named(rule_transpose, vmap),
        out_avals=[v.aval for v in inputs])
    return interleave(linear, x_bars, repeat(None))


def custom_vmap_for_outputs(eqn, used):
    """Return a call for some outputs, if its function is staged."""
    fun, rule = eqn.params['fun'], eqn.params['vmap']
    if all(used) or type(fun) is not StagedFunction or (
            'out_avals' in eqn.params):
        return eqn

    def rule_for_outputs(xs, mapped, size):
        return [picked(row, used) for row in rule(xs, mapped, size)]
    program, _ = for_outputs(fun.jaxpr, used)
    return prune_equation(eqn, (True,) * len(eqn.invars), used,
                          fun=StagedFunction(fun, program),
                          vmap=named(rule_for_outputs, rule))


def inline_custom_vmap(*avals, fun, **rules):
    """Return the program of a call's function, without its rule."""
    if type(fun) is StagedFunction:
        return fun.jaxpr
    return stage_program(fun, avals, TraceTag('jit', fun))


def stage_custom_vmap(trace, args, out_avals=None, pulls=None, **params):
    return stage_call(custom_vmap_call_p, trace, args, **params)


def custom_vmap_types(*avals, fun, out_avals=None, **params):
    return out_avals or fun.jaxpr.out_avals


jaxpr.rules[custom_vmap_call_p] = stage_custom_vmap
abstract.rules[custom_vmap_call_p] = custom_vmap_types
lowering.inline_rules[custom_vmap_call_p] = inline_custom_vmap
vmap.rules[custom_vmap_call_p] = custom_vmap_vmap
jvp.rules[custom_vmap_call_p] = partial(
    custom_call_jvp, custom_vmap_call_p, derivative_of)
partial_eval.rules[custom_vmap_call_p] = custom_vmap_partial_eval
transpose.rules[custom_vmap_call_p] = custom_vmap_transpose
pull_rules[custom_vmap_call_p] = custom_vmap_pulls
dead_rules[custom_vmap_call_p] = custom_vmap_for_outputs


class custom_vmap(custom_vjp):
    """A function with a batching rule that you write.

    `vmap` calls the rule instead of the function, and derivatives under
    `vmap` differentiate the rule.  If you define derivatives with `defjvp` or
    `defvjp`, as for `custom_jvp` and `custom_vjp`, they are used whether
    `vmap` is applied first or last.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated and can be any objects.
        nondiff_argnames: the names of such arguments.

    Source: `jax.custom_batching.custom_vmap`.

    Examples:
        >>> @custom_vmap
        ... def solve(a, b):
        ...     return np.linalg.solve(a, b)
        >>> @solve.def_vmap
        ... def solve_all(axis_size, in_batched, a, b):
        ...     if in_batched == [False, True]:     # one matrix for all
        ...         return np.linalg.solve(a, b.T).T, True
        ...     axes = tuple(0 if x else None for x in in_batched)
        ...     return ad.vmap(solve.fun, axes)(a, b), True
        >>> import numpy as np, autodiff_mini as ad
        >>> ad.vmap(solve, (None, 0))(2 * np.eye(2), np.ones((3, 2)))
        array([[0.5, 0.5],
               [0.5, 0.5],
               [0.5, 0.5]])
    """

    needs = 'vmap', 'batching rule', 'def_vmap'

    def bind(self, fun, call, xs):
        if call.rules.fwd or call.rules.jvp:
            return super().bind(fun, call, xs)
        return fun(*xs)


@seams.call_with_batching.take
def call_with_batching(call):
    """Return the function of a custom call, with its rule for vmap."""
    def fun(*xs):
        return custom_vmap_call_p.bind(*xs, fun=call, vmap=FlatBatching(call))
    return named(fun, call)


class FlatBatching(UserRule):
    """A batching rule on arrays, which returns arrays and marks."""

    name, kind = 'vmap', 'vmap'

    def __call__(self, xs, mapped, size):
        call = self.call
        args, kwargs = call.in_place(*call.split(list(map(to_read, xs))))
        out, marks = self.ask(partial(call.rules.vmap, **kwargs), size,
                              marks_like(call, mapped), *args)
        wanted = getattr(call, 'out_tree', None)
        ys, call.out_tree = tree_flatten(out)
        flags, flag_tree = tree_flatten(marks)
        if flag_tree != call.out_tree:
            raise ValueError(
                f'{self} must produce an output and out_batched with equal '
                f'container (pytree) structures, but got {call.out_tree} and '
                f'{flag_tree} respectively')
        if wanted not in (None, call.out_tree):
            raise ValueError(
                f'{self} must produce an output with the same structure as '
                f'the function, {wanted}, but got {call.out_tree}')
        names = lambda: leaf_names(call.out_tree, f'{self}: output')
        map_leaves(partial(check_batch, size), names, ys, flags)
        return ys, list(map(bool, flags))


def marks_like(call, operands):
    """Return all arguments of a call, with marks instead of operands."""
    values = iter(operands)
    held = {key: key in call.arguments.keys and tree_map(
                lambda leaf: isinstance(leaf, Tracer) and next(values), x)
            for key, x in call.arguments.held.items()}
    args, kwargs = call.in_place(held, values)
    return [*args, *kwargs.values()]


def check_batch(size, y, batched):
    """Raise unless `y` is an output, with a batch axis if it says so."""
    typeof(y)
    if not isinstance(batched, (bool, np.bool_)):
        raise TypeError('out_batched must be True or False, but got '
                        f'{batched!r}')
    if batched and np.shape(y)[:1] != (size,):
        raise ValueError(
            'out_batched is True, so the first axis must be the batch axis, '
            f'of length {size}, but got {typeof(y)}')
