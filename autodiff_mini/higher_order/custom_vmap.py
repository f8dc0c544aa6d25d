"""`custom_vmap`: a function that carries its own batching.

Its one idea: a call that carries a function and a rule for batches of it.
Batching calls the rule in place of the function; the others transform both.
Chapter 24.
"""

from functools import partial
from itertools import repeat

import numpy as np

from autodiff_mini.arrays import foreign_one
from autodiff_mini.core import (
    Primitive, TraceTag, Tracer, array_type, float0, typeof)
from autodiff_mini.errors import UnexpectedTracerError, fun_name, public
from autodiff_mini.higher_order.custom_jvp import (
    Pull, UserRule, apply_rule, check_output, custom_jvp, flatten_call,
    with_known)
from autodiff_mini.higher_order.custom_vjp import (
    custom_vjp, element, is_written_down)
from autodiff_mini.higher_order.programs import (
    for_outputs, interleave, others, picked, prune_equation)
from autodiff_mini.higher_order.scan import scan
from autodiff_mini.higher_order.staged_calls import (
    LateRule, LinearCall, StagedFunction, call_late, check_outputs,
    inline_call, stage_call, stage_linear, staged_kinds)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import staging_rules
from autodiff_mini.interpreters.jvp import jvp_flat, jvp_rules
from autodiff_mini.interpreters.lowering import inline_rules
from autodiff_mini.interpreters.partial_eval import (
    linear_flat, partial_eval_rules)
from autodiff_mini.interpreters.transpose import (
    backward_pass, pull_rules, transpose_rules)
from autodiff_mini.interpreters.vmap import BatchTracer, spread, vmap_rules
from autodiff_mini.jaxprs import Var, dead_rules
from autodiff_mini.memory import apart
from autodiff_mini.pytree import (
    leaf_names, tree_flatten, tree_leaves, tree_map)
from autodiff_mini.signature import map_leaves, names_of
from autodiff_mini.zeros import (
    Zero, instantiate_all, pack, tangent_type, unpack, which_zero)

custom_vmap_call_p = Primitive(
    'custom_vmap_call', lambda *xs, fun, vmap, out_avals=None: fun(*xs),
    multiple_results=True, is_call=True)


def custom_vmap_vmap(axis, xs, dims, fun, vmap, out_avals=None):
    try:
        if 0 in dims:
            ys, mapped = vmap(axis.size, [dim == 0 for dim in dims], xs)
        else:
            ys = custom_vmap_call_p.bind(*xs, fun=fun, vmap=vmap,
                                         out_avals=out_avals)
            mapped = [False] * len(ys)
    except UnexpectedTracerError as error:
        if error.tracer._trace.tag is not axis.tag:
            raise
        raise mapped_outside(fun) from None
    if any(type(y) is BatchTracer and y._trace.tag is axis.tag for y in ys):
        raise mapped_outside(fun)
    return ys, [0 if here else None for here in mapped]


def mapped_outside(fun):
    """Returns the error for a batch that the rule cannot know of."""
    return TypeError(
        'Detected batching of a custom_vmap function with respect to a '
        f'closed-over value: {fun_name(fun)}, or its rule, uses a value that '
        'is being mapped and is none of its arguments. Pass the value as an '
        'argument, and adapt the rule.')


vmap_rules[custom_vmap_call_p] = custom_vmap_vmap


def custom_vmap_jvp(tag, xs, x_dots, fun, vmap, out_avals=None):
    """The derivative of a call has a rule too: the rule's derivative.

    Where it is written down, the outputs are computed now, and what their
    tangents need again.
    """
    def call():
        return custom_vmap_call_p.bind(*xs, fun=fun, vmap=vmap,
                                       out_avals=out_avals)

    def derivative(xs, x_dots):
        fun_jvp, rule_jvp, still = push_forward(fun, vmap, which_zero(x_dots))
        arrays = pack(xs, x_dots)
        if not any(map(is_written_down, x_dots)):
            outs = custom_vmap_call_p.bind(*arrays, fun=fun_jvp,
                                           vmap=rule_jvp)
            return unpack(outs, still)
        ys = call()
        types = [tangent_type(typeof(y)) for y in ys]
        still = [aval.dtype == float0 for aval in types]
        fun_dot, rule_dot = without_first(len(ys), fun_jvp, rule_jvp)
        y_dots = custom_vmap_call_p.bind(*arrays, fun=fun_dot, vmap=rule_dot,
                                         out_avals=others(types, still))
        return unpack([*ys, *y_dots], still)
    return apply_rule(tag, xs, x_dots, fun, call, derivative, 'custom_vmap')


def push_forward(fun, rule, zeros):
    """Returns the derivatives of a function and its rule, on arrays; a list.

    When one of the two has run, the list says which outputs have no tangent,
    because they are integers.
    """
    still, tag = [], TraceTag('jvp', fun)

    def on_arrays(ys, y_dots):
        still[:] = [Zero(y).aval.dtype == float0 for y in ys]
        return [*ys, *instantiate_all(others(y_dots, still),
                                      foreign_one(ys))]

    def fun_jvp(*arrays):
        return on_arrays(*jvp_flat(fun, *unpack(arrays, zeros), tag))

    def rule_jvp(size, mapped, arrays):
        primals, tangents = unpack(mapped, zeros)
        # A value is mapped if its tangent is, and the other way round.
        either = [x or x_dot is True for x, x_dot in zip(primals, tangents)]
        wanted = [*either, *others(either, zeros)]
        arrays = [spread(x, None, size) if want and not has else x
                  for x, want, has in zip(arrays, wanted, mapped)]
        found = []

        def batched(*xs):
            ys, found[:] = rule(size, either, xs)
            return ys
        outs = on_arrays(*jvp_flat(batched, *unpack(arrays, zeros), tag))
        return outs, [*found, *others(found, still)]
    fun_jvp.__qualname__ = fun_name(fun)
    rule_jvp.__qualname__ = fun_name(rule)
    return fun_jvp, rule_jvp, still


def without_first(count, fun, rule):
    """Returns a function and its rule, without their first outputs."""
    def fun_rest(*xs):
        return fun(*xs)[count:]

    def rule_rest(size, mapped, xs):
        ys, out_mapped = rule(size, mapped, xs)
        return ys[count:], out_mapped[count:]
    fun_rest.__qualname__ = fun_name(fun)
    rule_rest.__qualname__ = fun_name(rule)
    return fun_rest, rule_rest


jvp_rules[custom_vmap_call_p] = custom_vmap_jvp


def custom_vmap_staging(trace, args, fun, vmap, out_avals=None):
    return stage_call(custom_vmap_call_p, trace, args, fun, vmap=vmap)


class StagedBatching(LateRule):
    """A `LateRule` for a function with a rule for batches."""

    def __call__(self, size, mapped, xs):
        n = self.num_consts
        if any(mapped[:n]):
            raise mapped_outside(self.fun)
        ys, out_mapped = call_late(self.fun, self.rule, size, mapped[n:],
                                   xs[n:])
        check_outputs(self.fun, self.rule, [
            element(typeof(y), 0 if here else None)
            for y, here in zip(ys, out_mapped)])
        return ys, out_mapped


def custom_vmap_types(*avals, fun, vmap, out_avals=None):
    return fun.jaxpr.out_avals if out_avals is None else out_avals


staged_kinds['vmap'] = StagedBatching
staging_rules[custom_vmap_call_p] = custom_vmap_staging
abstract_rules[custom_vmap_call_p] = custom_vmap_types


def custom_vmap_partial_eval(trace, args, fun, vmap, out_avals=None):
    """What is linear is left for later, and for a batch the rule.

    Where a known argument is mapped, or moves, the function waits as well.
    """
    unknown = list(map(trace.is_unknown, args))
    params = {'fun': fun, 'vmap': vmap, 'out_avals': out_avals}
    if not any(unknown):
        return trace.compute(custom_vmap_call_p, args, params)
    if any(isinstance(x, Tracer) for x in others(args, unknown)):
        if out_avals is not None:
            return trace.record(custom_vmap_call_p, args, params)
        linear = LinearCall(fun, args, unknown)
        outs = trace.record(custom_vmap_call_p, args,
                            params | {'fun': linear})
        constants = linear.jaxpr.constvars
    else:
        linear, residuals = stage_linear(fun, args, unknown)
        n = len(residuals)

        def rule(size, mapped, xs):
            return vmap(size, mapped[n:], xs[n:])
        rule.__qualname__ = fun_name(vmap)
        outs = trace.record(custom_vmap_call_p, [*residuals, *args],
                            {'fun': linear, 'vmap': rule})
        constants = linear.jaxpr.invars[:n]
    known = [v in constants for v in linear.jaxpr.outvars]
    return with_known(outs, known, trace, custom_vmap_call_p, args, params)


partial_eval_rules[custom_vmap_call_p] = custom_vmap_partial_eval


def custom_vmap_transpose(cts, *operands, fun, vmap, out_avals=None):
    """The transpose of a call has a rule too: the rule's transpose."""
    linear = [type(x) is Var for x in operands]
    avals = [x.aval for x in operands if type(x) is Var]
    known = [x for x in operands if type(x) is not Var]
    given = [ct is not None for ct in cts]
    n, tag = len(known), TraceTag('transpose', fun)

    def pull_back(jaxpr, cts):
        return instantiate_all(backward_pass(jaxpr, jaxpr.consts, cts),
                               foreign_one([*cts, *jaxpr.consts]))

    def fun_transpose(*xs):
        jaxpr = linear_flat(
            lambda *ts: fun(*interleave(linear, ts, xs[:n])), avals, tag)
        return pull_back(jaxpr, interleave(given, xs[n:], repeat(None)))

    def rule_transpose(size, mapped, xs):
        types = [array_type((size, *aval.shape), aval.dtype)
                 for aval in avals]
        marks, found = interleave(linear, repeat(True), mapped[:n]), []

        def batched(*ts):
            ys, found[:] = vmap(size, marks, interleave(linear, ts, xs[:n]))
            return ys
        jaxpr = linear_flat(batched, types, tag)
        cts = [spread(ct, 0 if here else None, size)
               for ct, here in zip(xs[n:], mapped[n:])]
        # What is one for all elements has the cotangents of all.
        cts = [ct if here else np.sum(ct, 0)
               for ct, here in zip(cts, picked(found, given))]
        x_bars = pull_back(jaxpr, interleave(given, cts, repeat(None)))
        return x_bars, [True] * len(x_bars)

    fun_transpose.__qualname__ = fun_name(fun)
    rule_transpose.__qualname__ = fun_name(vmap)
    x_bars = custom_vmap_call_p.bind(
        *known, *picked(cts, given), fun=fun_transpose, vmap=rule_transpose,
        out_avals=avals)
    return interleave(linear, x_bars, repeat(None))


def custom_vmap_for_outputs(eqn, used):
    """Return a call for some outputs, if its function is written down."""
    fun, rule = eqn.params['fun'], eqn.params['vmap']
    if all(used) or type(fun) is not StagedFunction:
        return eqn

    def rule_for_outputs(size, mapped, xs):
        return [picked(results, used) for results in rule(size, mapped, xs)]
    rule_for_outputs.__qualname__ = fun_name(rule)
    program, _ = for_outputs(fun.jaxpr, used)
    return prune_equation(eqn, (True,) * len(eqn.invars), used,
                          fun=StagedFunction(fun, program),
                          vmap=rule_for_outputs)


transpose_rules[custom_vmap_call_p] = custom_vmap_transpose
pull_rules[custom_vmap_call_p] = Pull   # what is in it is not known
dead_rules[custom_vmap_call_p] = custom_vmap_for_outputs
inline_rules[custom_vmap_call_p] = inline_call


class custom_vmap(custom_vjp):
    """A function whose batching is a rule that you write.

    The rule is used wherever an axis meets the function: by vmap, and under
    vmap also in the derivatives, which are those of the rule.  But `defjvp`
    and `defvjp`, as in custom_jvp and custom_vjp, define derivatives of its
    own, and then these are asked, whether vmap comes first or last.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated, and may be anything.
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

    @public
    def __call__(self, *args, **kwargs):
        if self.rules.vmap is None:
            raise AttributeError('No batching rule defined for custom_vmap '
                                 f'function {fun_name(self)}: define it with '
                                 f'{fun_name(self)}.def_vmap.')
        if self.rules.fwd:
            return super().__call__(*args, **kwargs)
        if self.rules.jvp:
            return custom_jvp.__call__(self, *args, **kwargs)
        call, xs = flatten_call(self, args, kwargs)
        ys = call_with_batching(call)(*xs)
        return call.out_tree.unflatten(apart(ys, xs))


def call_with_batching(call):
    """Return the function of a custom call, with its rule for vmap."""
    def fun(*xs):
        return custom_vmap_call_p.bind(*xs, fun=call, vmap=FlatBatching(call))
    fun.__qualname__ = fun_name(call)
    return fun


class FlatBatching(UserRule):
    """The rule for batches: from a size, marks, and arrays to both."""

    name, kind = 'vmap', 'vmap'

    def takes(self):
        return ['axis_size', 'in_batched', *names_of(self.call.function.fun)]

    def __call__(self, size, mapped, xs):
        call = self.call
        args, kwargs = call.in_place(*call.split(xs))
        out = self.ask(partial(call.rules.vmap, **kwargs), size,
                       call.marks(mapped), *args)
        self.check_pair(out, 'of its output and, in a tree like it, which '
                        'parts of it are batched, but got')
        ys, out_tree = tree_flatten(out[0])
        flags, flag_tree = tree_flatten(out[1])
        if flag_tree != out_tree:
            raise ValueError(
                f'{self} must produce an output and out_batched with equal '
                f'container (pytree) structures, but got {out_tree} and '
                f'{flag_tree} respectively')
        wanted = getattr(call, 'out_tree', out_tree)
        if out_tree != wanted:
            raise ValueError(
                f'{self} must produce an output with the structure of the '
                f"function's, {wanted}, but got {out_tree}")
        call.out_tree = out_tree
        names = lambda: leaf_names(out_tree, f'{self}: output')
        map_leaves(partial(check_batch, size), names, ys, flags)
        return ys, list(map(bool, flags))


def check_batch(size, y, batched):
    """Raises unless `y` is an output, with a batch axis if it says so."""
    check_output(y)
    if not isinstance(batched, (bool, np.bool_)):
        raise TypeError('out_batched must be True or False, but got '
                        f'{batched!r}')
    if batched and np.shape(y)[:1] != (size,):
        raise ValueError(
            f'out_batched says that it has a batch axis of length {size} in '
            f'front, but it is {typeof(y)}')


def sequential_vmap(fun):
    """Returns `fun`, of which vmap makes a loop over the elements.

    Args:
        fun: the function, of arrays or trees of arrays.  Under vmap it is
            written down, as the body of a scan, so it may not ask for the
            values of its arguments.

    Returns:
        A custom_vmap function.

    Source: `jax.custom_batching.sequential_vmap`.

    Examples:
        >>> import autodiff_mini as ad
        >>> f = sequential_vmap(lambda x, y: x * y)
        >>> ad.vmap(f, (0, None))(np.arange(3.0), 2.0)
        array([0., 2., 4.])
    """
    f = custom_vmap(fun)

    @f.def_vmap
    def loop(axis_size, in_batched, *args, **kwargs):
        leaves, tree = tree_flatten((*args, *kwargs.values()))
        mapped = tree_leaves(in_batched)
        fixed, n = others(leaves, mapped), len(args)

        def step(_, xs):
            xs = tree.unflatten(interleave(mapped, xs, fixed))
            return None, f(*xs[:n], **dict(zip(kwargs, xs[n:])))
        _, out = scan(step, None, picked(leaves, mapped), axis_size)
        return out, tree_map(lambda _: True, out)
    return f
