"""`custom_jvp`: a function that carries its own derivative.

Its one idea: a call that carries two functions.  Other transformations
transform both; differentiation calls the second in place of the first.
Chapter 6.
"""

import operator
from copyreg import __newobj__
from functools import partial, update_wrapper
from itertools import chain, repeat

from autodiff_mini.arrays import foreign_one
from autodiff_mini.copying import copied, place_of
from autodiff_mini.core import Primitive, TraceTag, Tracer, typeof
from autodiff_mini.errors import (
    UnexpectedTracerError, closed_over, fun_name, public)
from autodiff_mini.higher_order.call import on_arrays
from autodiff_mini.higher_order.programs import interleave
from autodiff_mini.higher_order.staged_calls import (
    LinearCall, StagedRule, inline_call, stage_function, staged_types)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import staging_rules
from autodiff_mini.interpreters.jvp import JVPTracer, fit_tangent, jvp_rules
from autodiff_mini.interpreters.lowering import inline_rules
from autodiff_mini.interpreters.partial_eval import (
    linear_flat, partial_eval_rules)
from autodiff_mini.interpreters.transpose import (
    backward_pass, transpose_rules)
from autodiff_mini.interpreters.vmap import spread, vmap_flat, vmap_rules
from autodiff_mini.jaxprs import Var
from autodiff_mini.memory import apart, read_by, to_read
from autodiff_mini.pytree import (
    leaf_names, tree_flatten, tree_leaves, tree_map, tree_structure)
from autodiff_mini.signature import (
    argument_positions, map_leaves, resolve_kwargs)
from autodiff_mini.zeros import (
    SymbolicZero, Zero, instantiate_all, instantiate_zeros, pack, unpack,
    which_zero, zero_from_primal)

custom_jvp_call_p = Primitive(
    'custom_jvp_call', lambda *xs, fun, jvp: fun(*xs),
    multiple_results=True, is_call=True)


def custom_jvp_jvp(tag, xs, x_dots, fun, jvp):
    def call():
        return custom_jvp_call_p.bind(*xs, fun=fun, jvp=jvp)
    return apply_rule(tag, xs, x_dots, fun, call, jvp, 'custom_jvp')


def apply_rule(tag, xs, x_dots, fun, call, rule, kind):
    """Returns what the rule returns; makes the call if nothing moves."""
    try:
        if all(which_zero(x_dots)):
            ys = call()
            y_dots = list(map(Zero, ys))
        else:
            ys, y_dots = rule(xs, x_dots)
    except UnexpectedTracerError as error:
        if error.tracer._trace.tag is not tag:
            raise
        raise closed_over(fun, kind) from None
    if any(isinstance(y, JVPTracer) and y._trace.tag is tag
           for y in [*ys, *y_dots]):
        raise closed_over(fun, kind)
    return ys, y_dots


jvp_rules[custom_jvp_call_p] = custom_jvp_jvp


def custom_jvp_vmap(axis, xs, dims, fun, jvp):
    out_dims = []   # of the outputs, when one of the two has run
    outs = custom_jvp_call_p.bind(
        *xs, fun=map_function(fun, axis, dims, out_dims),
        jvp=map_rule(jvp, fun, axis, dims, out_dims))
    return outs, out_dims


def map_function(fun, axis, dims, out_dims):
    """Returns the function of a custom call, mapped over an axis."""
    def fun_vmap(*xs):
        ys, found = vmap_flat(fun, axis, xs, dims)
        return conform(ys, found, len(ys), axis, dims, out_dims)
    fun_vmap.__qualname__ = fun_name(fun)
    return fun_vmap


def map_rule(jvp, fun, axis, dims, out_dims):
    """Returns the rule of a custom call, mapped over an axis."""
    def jvp_vmap(xs, x_dots):
        zero = which_zero(x_dots)
        jvp_arrays, out_zero = on_arrays(jvp, zero, fun)
        moving = [dim for dim, is_zero in zip(dims, zero) if not is_zero]
        outs, found = vmap_flat(jvp_arrays, axis, pack(xs, x_dots),
                                [*dims, *moving])
        outs = conform(outs, found, len(out_zero), axis, dims, out_dims)
        return unpack(outs, out_zero)
    jvp_vmap.__qualname__ = fun_name(jvp)
    return jvp_vmap


def conform(outs, found, count, axis, dims, out_dims):
    """Returns the outputs of a call, all of them mapped or none.

    Whoever runs first decides: they are if an operand is mapped, since the
    rule may move what the function does not; or if one turns out to be.
    """
    if not out_dims:
        out_dims[:] = [0 if 0 in [*dims, *found] else None] * count
    if 0 in out_dims:
        return [spread(y, dim, axis.size) for y, dim in zip(outs, found)]
    if 0 in found:
        raise TypeError(
            f'{axis.tag}: the rule of a staged custom function closes over '
            'a mapped value, but the function does not: pass the value to '
            'the function as an argument')
    return outs


vmap_rules[custom_jvp_call_p] = custom_jvp_vmap


def custom_jvp_staging(trace, args, fun, jvp):
    fun, consts = stage_function(fun, args)
    jvp = StagedRule(fun, jvp, len(consts))
    return trace.record(custom_jvp_call_p, [*consts, *args],
                        {'fun': fun, 'jvp': jvp})


staging_rules[custom_jvp_call_p] = custom_jvp_staging
abstract_rules[custom_jvp_call_p] = staged_types


def custom_partial_eval(primitive, trace, args, fun, **rules):
    unknown = list(map(trace.is_unknown, args))
    if not any(unknown):
        return trace.compute(primitive, args, {'fun': fun, **rules})
    if any(isinstance(x, Tracer) and not trace.is_unknown(x) for x in args):
        linear = LinearCall(fun, args, unknown)
        if not any(map(trace.is_unknown, linear.jaxpr.consts)):
            return trace.record(primitive, args, {'fun': linear, **rules})
    return fun(*args)


partial_eval_rules[custom_jvp_call_p] = partial(
    custom_partial_eval, custom_jvp_call_p)
inline_rules[custom_jvp_call_p] = inline_call


def custom_jvp_transpose(cts, *operands, fun, jvp):
    """The transpose of a call has a rule too: the rule's transpose."""
    linear, args, fun, jvp = transpose_call(cts, operands, fun, jvp)
    x_bars = custom_jvp_call_p.bind(*args, fun=fun, jvp=jvp)
    return interleave(linear, x_bars, repeat(None))


def transpose_call(cts, operands, fun, jvp):
    """Returns what the transpose of a call is made of.

    It is a call of the cotangents and of the known operands.

    Returns:
        In which operands the call is linear, the arguments of its transpose,
        the function, and the rule for the way out.
    """
    linear = [type(x) is Var for x in operands]
    avals = [x.aval for x in operands if type(x) is Var]
    known = [x for x in operands if type(x) is not Var]
    cts = instantiate_all(
        [Zero(aval) if ct is None else ct
         for ct, aval in zip(cts, fun.jaxpr.out_avals, strict=True)],
        foreign_one([*cts, *known]))
    n = len(cts)

    def backwards(f, cts):
        jaxpr = linear_flat(f, avals, TraceTag('transpose', fun))
        return list(map(instantiate_zeros,
                        backward_pass(jaxpr, jaxpr.consts, cts)))

    def fun_transpose(*xs):
        return backwards(
            lambda *ts: fun(*interleave(linear, ts, xs[n:])), xs[:n])
    fun_transpose.__qualname__ = fun_name(fun)

    def jvp_transpose(xs, x_dots):
        def moved(*ts):
            return jvp(interleave(linear, ts, xs[n:]),
                       interleave(linear, map(Zero, ts), x_dots[n:]))[1]
        call = partial(custom_jvp_call_p.bind, fun=fun_transpose,
                       jvp=jvp_transpose)
        ct_dots = map(instantiate_zeros, x_dots[:n])
        return call(*xs), list(map(
            operator.add, call(*ct_dots, *xs[n:]), backwards(moved, xs[:n])))
    return linear, [*cts, *known], fun_transpose, jvp and jvp_transpose


transpose_rules[custom_jvp_call_p] = custom_jvp_transpose


class custom_jvp:
    """A function whose derivative is a rule that you write.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated, and may be anything.  They come first in the
            rule: `rule(*nondiff, primals, tangents)`.
        nondiff_argnames: the names of such arguments.

    Source: `jax.custom_jvp`, and its design document, *Custom JVP/VJP rules
    for JAX-transformable functions*.

    Examples:
        >>> @custom_jvp
        ... def expit(x):
        ...     return 1 / (1 + np.exp(-x))
        >>> @expit.defjvp
        ... def expit_jvp(primals, tangents):
        ...     (x,), (x_dot,) = primals, tangents
        ...     y = expit(x)
        ...     return y, y * (1 - y) * x_dot
        >>> import numpy as np, autodiff_mini as ad
        >>> ad.jvp(expit, (0.0,), (1.0,))
        (0.5, 0.25)
    """

    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        update_wrapper(self, fun, updated=())
        self.fun = fun
        self.rule = None
        self.symbolic_zeros = False
        self.nondiff = argument_positions(
            fun, nondiff_argnums, nondiff_argnames)

    def __get__(self, instance, owner=None):
        return self if instance is None else partial(self, instance)

    __copy__ = __deepcopy__ = copied

    def __reduce__(self):
        return place_of(self) or (__newobj__, (type(self),), vars(self))

    def defjvp(self, rule, symbolic_zeros=False):
        """Defines the derivative; may be used as a decorator.

        Args:
            rule: `rule(primals, tangents) -> (primal_out, tangent_out)`,
                with two tuples like the arguments, and two trees like the
                output.  For higher derivatives, it calls the function
                itself.
            symbolic_zeros: whether the tangents of arguments that do not
                move are given as SymbolicZero, and not as arrays of zeros.

        Returns:
            The rule.
        """
        self.rule, self.symbolic_zeros = rule, symbolic_zeros
        return rule

    def defjvps(self, *rules):
        """Defines the derivative by one rule for each argument.

        Args:
            rules: `rule(tangent, out, *primals)`, which returns a tangent of
                the output; None for an argument whose motion moves nothing.

        Raises:
            TypeError: there are nondiff arguments.
        """
        if self.nondiff:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``: "
                            f'define the rule of {fun_name(self)} by defjvp')
        self.defjvp(partial(sum_of_rules, self, rules))

    @public
    def __call__(self, *args, **kwargs):
        if self.rule is None:
            raise AttributeError('No JVP defined for custom_jvp function '
                                 f'{fun_name(self)} using defjvp. Define it '
                                 f'with {fun_name(self)}.defjvp.')
        call, xs = flatten_call(self, args, kwargs)
        ys = custom_jvp_call_p.bind(*xs, fun=call, jvp=FlatRule(call))
        return call.out_tree.unflatten(apart(ys, xs))


def flatten_call(function, args, kwargs):
    """Returns a function of flat operands, and the operands of this call.

    They are what is traced in the nondiff arguments, and the other arguments.
    """
    args = resolve_kwargs(function.fun, args, kwargs)
    held = {i: args[i] for i in function.nondiff if i < len(args)}
    traced = {i: traced_leaves(x) for i, x in held.items()}
    free = {i: x for i, x in enumerate(args) if i not in held}
    xs, in_tree = tree_flatten(tuple(free.values()))
    names = lambda: leaf_names(tree_structure(free),
                               f'arguments of {fun_name(function)}')
    map_leaves(typeof, names, xs)
    positions = [i for i, leaves in traced.items() for _ in leaves]
    call = FlatCall(function, held, positions, in_tree)
    return call, [*chain(*traced.values()), *xs]


class FlatCall:
    """The function of a custom call, from a flat list to a flat list.

    Args:
        function: what the user calls.
        held: its nondiff arguments, by their positions.
        positions: of those that the first operands are for.
        in_tree: the structure of the tuple of the other arguments.
    """

    def __init__(self, function, held, positions, in_tree):
        self.function = function
        self.held = held
        self.positions = positions
        self.in_tree = in_tree

    def __call__(self, *operands):
        held, xs = self.split(operands)
        out = self.function.fun(*self.in_place(held, xs))
        ys, self.out_tree = tree_flatten(out)
        return ys

    def split(self, operands):
        """Returns the nondiff arguments, and the leaves of the others."""
        n = len(self.positions)
        values = iter(operands[:n])
        held = {i: replace_traced(x, values) if i in self.positions else x
                for i, x in self.held.items()}
        return held, operands[n:]

    def in_place(self, held, xs) -> list:
        """Returns all arguments, in their positions."""
        args = iter(self.in_tree.unflatten(xs))
        count = len(held) + len(self.in_tree.children)
        return [held[i] if i in held else next(args) for i in range(count)]

    def check_still(self, perturbed):
        """Raises a TypeError if a nondiff argument is differentiated."""
        for position, moves in zip(self.positions, perturbed):
            if moves:
                raise TypeError(
                    f'Argument {position} of {self} is named in '
                    'nondiff_argnums, but is being differentiated, and its '
                    'rule would drop that derivative. Make it an ordinary '
                    'argument, or wrap it in stop_gradient.')

    @property
    def __name__(self):
        return fun_name(self.function)

    def __str__(self):
        return self.__name__


def traced_leaves(x) -> list:
    """Returns the tracers in a nondiff argument, which may be anything."""
    try:
        leaves = tree_leaves(x)
    except TypeError:   # such as a dictionary whose keys have no order
        return []
    return [leaf for leaf in leaves if isinstance(leaf, Tracer)]


def replace_traced(x, values):
    """Returns a nondiff argument with these values for its tracers."""
    return tree_map(lambda leaf: next(values) if isinstance(leaf, Tracer)
                    else leaf, x)


def for_rule(ts, others, symbolic) -> list:
    """Returns tangents as a rule sees them, beside the `others`."""
    if symbolic:
        return [SymbolicZero(t.like) if type(t) is Zero else t for t in ts]
    return instantiate_all(ts, foreign_one([*ts, *others]))


class FlatRule:
    """A user's rule, as a function of flat lists."""

    def __init__(self, call):
        self.call = call

    def __call__(self, operands, dots):
        call, function = self.call, self.call.function
        held, xs = call.split(operands)
        call.check_still(not zero for zero in which_zero(dots))
        x_dots = for_rule(dots[len(call.positions):], xs,
                          function.symbolic_zeros)
        out = read_by(function.rule, self, *held.values(),
                      call.in_tree.unflatten(map(to_read, xs)),
                      call.in_tree.unflatten(map(to_read, x_dots)))
        if not isinstance(out, (tuple, list)) or len(out) != 2:
            raise TypeError(
                f'{self} must produce a pair (list or tuple of length two) '
                f'representing primal and tangent outputs, but got {out!r}')
        ys, call.out_tree = tree_flatten(out[0])
        y_dots, dot_tree = tree_flatten(out[1])
        if dot_tree != call.out_tree:
            raise TypeError(
                f'{self} must produce primal and tangent outputs with equal '
                f'container (pytree) structures, but got {call.out_tree} '
                f'and {dot_tree} respectively')
        map_leaves(check_output, self.out_names, ys)
        return ys, map_leaves(fit_rule_tangent, self.out_names, ys, y_dots)

    @property
    def __name__(self):
        return fun_name(self.call.function.rule)

    def out_names(self):
        return leaf_names(
            self.call.out_tree, f'{self} must produce primal and tangent '
            'outputs with corresponding shapes and dtypes: output')

    def __str__(self):
        return f'Custom JVP rule {self.__name__} for function {self.call}'


def fit_rule_tangent(y, y_dot):
    """Returns the tangent that a rule returned, converted to fit `y`."""
    return Zero(y) if isinstance(y_dot, Zero) else fit_tangent(y, y_dot)


def check_output(y):
    """Raises a TypeError if `y` is nothing that a function may return."""
    if isinstance(y, Zero):
        raise TypeError(f'{y} is a record of a tangent or a cotangent, no '
                        'array, and cannot be an output')
    typeof(y)


def sum_of_rules(function, rules, primals, tangents):
    """Returns the output and its tangent, a sum of what the rules return."""
    out = function(*primals)
    tangent = tree_map(partial(zero_from_primal, symbolic_zeros=True), out)
    for rule, t in zip(rules, tangents, strict=True):
        if rule is not None:
            tangent = tree_map(add_rule_tangents, tangent,
                               rule(t, out, *primals))
    return out, tangent


def add_rule_tangents(s, t):
    return t if type(s) is SymbolicZero else s + t
