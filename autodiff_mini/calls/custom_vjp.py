"""`custom_vjp`: a function that carries its own pullback.

A custom_vjp function is a custom_jvp function whose rule returns a promise as
the tangent: an equation, `custom_lin`, of a linear program.  It cannot be
evaluated, but transposing it calls the pullback.  Chapter 11.
"""

from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np

from autodiff_mini.calls.call import named
from autodiff_mini.calls.custom_jvp import (
    FlatRule, Pull, UserRule, any_mapped, closed_alone, conform, custom_call,
    custom_jvp, for_rule, jvp_vmap)
from autodiff_mini.calls.programs import (
    defpartial, interleave, only_backwards_rules, others, picked,
    stage_program)
from autodiff_mini.calls.staged_calls import (
    call_late, closed_over, element_type)
from autodiff_mini.core import seams
from autodiff_mini.core.errors import UnexpectedTracerError
from autodiff_mini.core.jaxprs import Var, pull_rules
from autodiff_mini.core.memory import mark_as_arguments, to_read
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.trace import (
    Primitive, Tracer, current_trace, unwrapped)
from autodiff_mini.core.trees import (
    flatten_up_to, leaf_names, map_leaves, tree_flatten)
from autodiff_mini.core.types import (
    NUMBERS, ShapedArray, convert, float0, is_array, tangent_type, typeof,
    typeof_result)
from autodiff_mini.core.zeros import (
    Zero, add_tangents, instantiate_zeros, leave_zeros_out, perturbed,
    put_zeros_back)
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import JaxprTrace


def promise_of(x_dots, fun, fwd, jvp):
    """Return the rule for a call, which makes a promise.

    In forward mode, return `jvp` if there is one.
    """
    if jvp and not (fwd and any(map(is_recorded, x_dots))):
        return jvp
    return partial(promise, own_name(fun), fwd, jvp)


def is_recorded(x_dot) -> bool:
    """Return whether a tangent belongs to a trace that records a program.

    Such a program could be run backwards.
    """
    while isinstance(x_dot, Tracer):
        if isinstance(x_dot._trace, JaxprTrace):
            return True
        [x_dot], *_ = x_dot._trace.unpack([x_dot])
    return False


def promise(name, fwd, jvp, xs, x_dots):
    """Return the outputs, and a promise instead of their tangents.

    Args:
        name: the name of the function, for errors.
        fwd: takes primals, and whether each is perturbed; returns the
            outputs, the residuals, and `bwd`, which takes the residuals and
            the cotangents, and returns cotangents of the last operands.
        jvp: the rule for forward mode, or None.
        xs, x_dots: primals, and their tangents.
    """
    moving = perturbed(x_dots)
    ys, residuals, bwd = fwd(xs, moving)
    count = len(residuals)

    def forwards(*operands):
        _, y_dots = jvp(*put_zeros_back(operands[count:], moving))
        return list(map(instantiate_zeros, y_dots))

    known = [*residuals, *(xs if jvp else [])]
    types = [tangent_type(typeof(y)) for y in ys]
    y_dots = custom_lin_p.bind(
        *known, *picked(x_dots, moving), name=name,
        jvp=jvp and named(forwards, jvp),
        bwd=partial(keep_promise, bwd, count, moving), n=len(known),
        out_avals=types)
    return ys, [Zero(y) if aval.dtype == float0 else y_dot
                for y, y_dot, aval in zip(ys, y_dots, types)]


def keep_promise(bwd, count, moving, residuals, cts):
    """Return the cotangents of the perturbed operands, None for zeros."""
    x_bars = bwd(residuals[:count], cts)
    return picked([None] * (len(moving) - len(x_bars)) + x_bars, moving)


def custom_lin(*operands, name, jvp, bwd, n, out_avals, is_pulled=False):
    if jvp is None:
        refuse_forward_mode(name)
    return jvp(*operands)


custom_lin_p = Primitive('custom_lin', custom_lin, multiple_results=True,
                         is_call=True)


def refuse_forward_mode(name):
    raise TypeError(
        "can't apply forward-mode autodiff (jvp) to a custom_vjp "
        f'function: {fun_name(name)} has only a rule for reverse mode. '
        + seams.advise('forward', 'Use grad or vjp, or define a rule for '
                       'forward mode with defjvp.', name))


def custom_lin_transpose(cts, *operands, name, bwd, n, **params):
    residuals = operands[:n]
    if Var in map(type, residuals):
        refuse_forward_mode(name)
    return [None] * n + bwd(residuals, cts)


def custom_lin_jvp(tag, operands, dots, bwd, n, is_pulled=False, **params):
    """Differentiate a promise: bind one with `bwd_dot`, and one with `bwd`.

    If there is a rule for forward mode, differentiate that instead, unless
    the promise belongs to a program that is run backwards.
    """
    forwards, moving = params.pop('jvp'), perturbed(dots)
    if forwards and not is_pulled:
        return jvp.jvp_flat(forwards, operands, dots, tag)
    params['is_pulled'] = is_pulled

    def forwards_dot(*arrays):
        known, ts = arrays[:len(arrays) - count], arrays[len(arrays) - count:]
        residuals, r_dots = put_zeros_back(known, moving[:n])
        _, y_dots = jvp.jvp_flat(forwards, [*residuals, *ts],
                                 [*r_dots, *map(Zero, ts)], tag)
        return list(map(instantiate_zeros, y_dots))

    def bwd_dot(arrays, cts):
        x_bars, x_dots = jvp.jvp_flat(
            lambda *residuals: bwd(residuals, cts),
            *put_zeros_back(arrays, moving[:n]), tag)
        return [None if x_bar is None else instantiate_zeros(x_dot)
                for x_bar, x_dot in zip(x_bars, x_dots)]

    y_dots = [[Zero(aval) for aval in params['out_avals']]]
    count = len(operands) - n
    if any(moving[:n]):
        known = leave_zeros_out(operands[:n], dots[:n])
        y_dots.append(custom_lin_p.bind(
            *known, *operands[n:], jvp=forwards and named(
                forwards_dot, forwards),
            bwd=named(bwd_dot, bwd), n=len(known), **params))
    params |= {'jvp': forwards, 'bwd': bwd, 'n': n}
    if any(moving[n:]):
        y_dots.append(custom_lin_p.bind(
            *operands[:n], *map(instantiate_zeros, dots[n:]), **params))
    return (custom_lin_p.bind(*operands, **params),
            [reduce(add_tangents, terms) for terms in zip(*y_dots)])


def custom_lin_partial_eval(trace, operands, unknown, **params):
    """Evaluate a promise with unknown residuals if it has a forward rule."""
    if params['jvp'] and any(unknown[:params['n']]):
        return custom_lin(*operands, **params)
    return trace.record(custom_lin_p, operands, params)


def custom_lin_vmap(axis, operands, dims, jvp, bwd, n, out_avals, **params):
    y_dims = [None] * len(out_avals)
    if any_mapped(dims):
        jvp = jvp and partial(forwards_vmap, jvp, axis, dims)
        y_dims = [0] * len(out_avals)
        bwd = partial(bwd_vmap, bwd, axis, dims[:n], y_dims, dims[n:])
        out_avals = [ShapedArray((axis.size, *aval.shape), aval.dtype)
                     for aval in out_avals]
    return custom_lin_p.bind(*operands, jvp=jvp, bwd=bwd, n=n,
                             out_avals=out_avals, **params), y_dims


def forwards_vmap(jvp, axis, dims, *operands):
    """Return the tangents of all elements."""
    y_dots, found = vmap.vmap_flat(jvp, axis, operands, dims)
    return [vmap.spread(y_dot, dim, axis.size)
            for y_dot, dim in zip(y_dots, found)]


def bwd_vmap(bwd, axis, res_dims, y_dims, x_dims, residuals, cts):
    """Return the cotangents of all elements.

    Sum the cotangents of an operand that all elements share.
    """
    given, n = perturbed(cts), len(residuals)

    def flat_bwd(*arrays):
        zeros = [Zero(element_type(ct.aval, dim))
                 for ct, dim, has in zip(cts, y_dims, given) if not has]
        return bwd(arrays[:n], interleave(given, arrays[n:], zeros))

    dims = [*res_dims, *picked(vmap.plain_dims(y_dims), given)]
    x_bars, found = vmap.vmap_flat(
        flat_bwd, axis, leave_zeros_out(residuals, cts), dims)
    return [None if x_bar is None else fit_axis(x_bar, dim, x_dim, axis, dims)
            for x_bar, dim, x_dim in zip(
                x_bars, found, x_dims[len(x_dims) - len(x_bars):])]


def fit_axis(x_bar, dim, x_dim, axis, dims):
    """Return a cotangent: mapped if its argument is, and summed if not."""
    if any_mapped([x_dim, *dims]):
        x_bar = vmap.spread(x_bar, dim, axis.size)
    elif dim is not None:
        raise closed_alone(axis, 'bwd of a custom function')
    if x_dim is None and any_mapped(dims):
        return np.sum(x_bar, 0)
    return x_bar


def inline_linear(*avals, **params):
    if params['jvp'] is None:
        return None     # it raises an error unless it is dead
    return stage_program(lambda *xs: custom_lin(*xs, **params), avals,
                         TraceTag('jvp', params['name']))


def fwd_vmap(fwd, axis, dims, out_dims, xs, perturbed):
    """Run `fwd` for the whole batch, and return its results and the dims."""
    with vmap.BatchTrace(current_trace(), axis) as trace:
        ys, residuals, bwd = fwd(
            mark_as_arguments(trace, map(trace.pack, xs, dims)), perturbed)
        ys, found = trace.unpack(ys)
        residuals, res_dims = trace.unpack(residuals)
    ys, y_dims = conform(ys, [*found, *res_dims], len(ys), axis, dims,
                         out_dims.value)
    return (ys, residuals, partial(bwd_vmap, bwd, axis, res_dims, y_dims,
                                   dims)), y_dims


custom_vjp_call_p = custom_call('custom_vjp_call', promise_of, fwd=fwd_vmap,
                                jvp=jvp_vmap)
jvp.rules[custom_lin_p] = custom_lin_jvp
vmap.rules[custom_lin_p] = custom_lin_vmap
abstract.rules[custom_lin_p] = lambda *avals, out_avals, **_: out_avals
defpartial(custom_lin_p, custom_lin_partial_eval)
transpose.rules[custom_lin_p] = custom_lin_transpose
only_backwards_rules[custom_lin_p] = lambda params: (
    params | {'is_pulled': True})
lowering.inline_rules[custom_lin_p] = inline_linear


class PullBothWays(Pull):
    """The transpose of a linear program, with rules for both modes."""

    def bind(self, *operands):
        return seams.bind_both_ways(self, *operands)


seams.bind_both_ways.define(Pull.bind)
pull_rules[custom_vjp_call_p] = lambda **_: {PullBothWays}


class custom_vjp(custom_jvp):
    """A function whose pullback is a rule that you write.

    Reverse mode uses this rule.  Forward mode, as in `jvp`, `jacfwd`, and
    `hessian`, is refused until `defjvp` adds another rule, as in
    `custom_jvp`.  `jacrev(jacrev(f))` needs only this one.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated and can be anything.  `fwd` takes them in their
            positions, and `bwd` takes them first.
        nondiff_argnames: the names of such arguments.

    Keyword-only arguments are passed to `fwd` by keyword, and `bwd` returns
    their cotangents after the others, in the order of the signature.  If a
    call passes none of them, `fwd` gets none, and `bwd` can leave out their
    cotangents.

    Source: `jax.custom_vjp`, and its design document, *Custom JVP/VJP rules
    for JAX-transformable functions*.

    Examples:
        >>> @custom_vjp
        ... def f(x, y):
        ...     return np.sin(x) * y
        >>> def f_fwd(x, y):
        ...     return f(x, y), (np.cos(x), np.sin(x), y)
        >>> def f_bwd(residuals, ct):
        ...     cos_x, sin_x, y = residuals
        ...     return ct * cos_x * y, ct * sin_x
        >>> f.defvjp(f_fwd, f_bwd)
        >>> import autodiff_mini as ad
        >>> np.round([f(1.0, 2.0), ad.grad(f)(1.0, 2.0)], 2)
        array([1.68, 1.08])

        >>> @custom_vjp
        ... def scaled(x, *, scale=1.0):
        ...     return scale * x
        >>> def scaled_fwd(x, *, scale):
        ...     return scaled(x, scale=scale), (x, scale)
        >>> def scaled_bwd(residuals, ct):
        ...     x, scale = residuals
        ...     return scale * ct, x * ct
        >>> scaled.defvjp(scaled_fwd, scaled_bwd)
        >>> ad.grad(lambda s: scaled(3.0, scale=s))(2.0)
        3.0
    """

    needs = 'fwd', 'VJP', 'defvjp'

    def defvjp(self, fwd, bwd, symbolic_zeros=False, optimize_remat=False):
        """Define the derivative with a forward pass and a backward pass.

        The rules apply to later calls, as in `defjvp`.

        Under `checkpoint`, the first run needs only the output, because the
        reverse pass runs `fwd` again.  Operations that compute only
        residuals are left out of the first run.  But an operation that
        computes the output and residuals together must run.  With
        `optimize_remat=True`, the first run calls the function instead of
        `fwd`, which must return the same output.  All derivatives are still
        those of `fwd` and `bwd`.

        Args:
            fwd: `fwd(*args) -> (out, residuals)`, which also returns the
                values that `bwd` needs.  To support higher derivatives, it
                calls the function itself.
            bwd: `bwd(residuals, cotangent) -> cotangents`, which returns a
                tuple with an entry for each argument, like the argument.
                None instead of an entry, or of any part of it, means zeros.
            symbolic_zeros: whether `fwd` is given a CustomVJPPrimal instead
                of each array, and `bwd` a SymbolicZero instead of each
                cotangent that is zero.
            optimize_remat: whether the first run under `checkpoint` calls
                the function instead of `fwd`.

        Examples:
            >>> @custom_vjp
            ... def energies(a):
            ...     return np.linalg.eigvalsh(a)
            >>> def fwd(a):
            ...     return np.linalg.eigh(a)    # the vectors, too
            >>> def bwd(vectors, ct):
            ...     return vectors * ct @ vectors.T,
            >>> energies.defvjp(fwd, bwd, optimize_remat=True)
            >>> import autodiff_mini as ad
            >>> first = ad.jit(
            ...     lambda a: ad.vjp(ad.checkpoint(energies), a)[0])
            >>> first(np.diag([2.0, 1.0]))
            array([1., 2.])
            >>> 'eigvalsh' in first.source, 'eigh' in first.source
            (True, False)
        """
        self.rules = self.rules._replace(
            fwd=fwd, bwd=bwd, symbolic_zeros_back=symbolic_zeros,
            optimize_remat=bool(optimize_remat))

    def bind(self, fun, call, xs):
        if call.rules.fwd is None:
            return super().bind(fun, call, xs)
        fwd = FlatForward(call)
        if call.rules.optimize_remat:
            fwd = seams.call_if_unused(fun, fwd)
        return custom_vjp_call_p.bind(
            *xs, fun=fun, fwd=fwd, jvp=call.rules.jvp and FlatRule(call))


@dataclass(frozen=True, slots=True)
class CustomVJPPrimal:
    """An argument of `fwd` if `symbolic_zeros=True`.

    Args:
        value: the array.
        perturbed: whether it is being differentiated.

    Source: `jax.custom_derivatives.CustomVJPPrimal`.

    Examples:
        >>> import autodiff_mini as ad
        >>> f = ad.custom_vjp(lambda x, y: x * y)
        >>> def fwd(x, y):
        ...     print(x.value, x.perturbed, y.perturbed)
        ...     return f(x.value, y.value), (x.value, y.value)
        >>> f.defvjp(fwd, lambda kept, ct: (ct * kept[1], ct * kept[0]),
        ...          symbolic_zeros=True)
        >>> ad.grad(f)(3.0, 2.0)
        3.0 True False
        2.0
    """

    value: Any
    perturbed: bool


class FlatForward(UserRule):
    """The rule `fwd`, which also returns the `bwd` of the call."""

    name, kind = 'fwd', 'VJP fwd'

    def __call__(self, operands, perturbed):
        """Return the outputs, the residuals, and `bwd`."""
        call, rules = self.call, self.call.rules
        held, xs = call.split(operands, perturbed)
        n = len(call.arguments.keys)
        primals = list(map(to_read, xs))
        if rules.symbolic_zeros_back:
            primals = map(CustomVJPPrimal, primals, perturbed[n:])
        args, kwargs = call.in_place(held, primals)
        out, saved = self.ask(partial(rules.fwd, **kwargs), *args)
        ys = self.outputs(out)
        map_leaves(typeof_result, lambda: leaf_names(
            call.out_tree, f'{self}: output'), ys)
        leaves, res_tree = tree_flatten(saved)
        kept = list(map(is_residual, leaves))
        residuals = picked(leaves, kept)
        list(map(typeof_result, residuals))     # raises if one has escaped
        return ys, [*operands[:n], *residuals], FlatBackward(
            call, list(map(typeof, xs)), res_tree, kept, others(leaves, kept))


def is_residual(x) -> bool:
    """Return whether `x` is an array; other values are kept unchanged."""
    return (isinstance(x, Tracer) or type(x) in NUMBERS
            or is_array(x) and x.dtype.kind in 'biufc')


class FlatBackward(UserRule):
    """The rule `bwd` for one call, with flat residuals and cotangents.

    It returns an array, or None for zero, for each leaf of the arguments.
    """

    name, kind = 'bwd', 'VJP bwd'

    def __init__(self, call, in_avals, res_tree, kept, static):
        self.call = call
        self.in_avals = in_avals
        self.out_tree = call.out_tree
        self.res_tree = res_tree
        self.kept = kept
        self.static = static

    def __call__(self, residuals, cts):
        try:
            return call_late(self.call, self.cotangents, residuals, cts)
        except UnexpectedTracerError as error:
            if not isinstance(error.tracer, jvp.JVPTracer):
                raise
            raise closed_over(self.call, 'custom_vjp') from None

    def cotangents(self, residuals, cts):
        """Call the rule, and return its result, checked and flat."""
        call, rules = self.call, self.call.rules
        tree, *_, left_out = call.arguments
        held, residuals = call.split(residuals)
        cts = for_rule(cts, residuals, rules.symbolic_zeros_back)
        leaves = interleave(self.kept, map(to_read, residuals), self.static)
        out = self.ask(rules.bwd, *held.values(),
                       self.res_tree.unflatten(leaves),
                       self.out_tree.unflatten(map(to_read, cts)))
        out = tuple(out) if isinstance(out, list) else out
        if len(out) == len(tree.children) + left_out:
            out = out[:len(tree.children)]
        cts = flatten_up_to(tree, out, or_none=True)
        names = lambda: leaf_names(tree, f'{self} must produce cotangents '
                                   'like the arguments: arguments')
        return map_leaves(fit_bwd, names, self.in_avals, cts)


def fit_bwd(aval, ct):
    """Convert a cotangent from `bwd` to the argument's type, or to None."""
    ct = unwrapped(ct)
    if ct is None or aval.dtype.kind not in 'fc':
        return None
    have = ct.aval if isinstance(ct, Zero) else typeof_result(ct)
    weak = have.weak_type or aval.weak_type
    if have.shape != aval.shape or have.dtype != aval.dtype and not (
            weak and np.can_cast(have.dtype, aval.dtype, 'same_kind')):
        cure = seams.advise('cotangent', '', have.shape, aval.shape)
        raise ValueError(
            f'the argument is {aval}, but the cotangent is {have}{cure}')
    return None if isinstance(ct, Zero) else convert(ct, aval.dtype)
