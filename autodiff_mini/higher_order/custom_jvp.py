"""`custom_jvp`: a function that carries its own derivative.

Its one idea: a call that carries two functions.  Other transformations
transform both; differentiation calls the second in place of the first.
Chapter 6.
"""

from functools import partial, update_wrapper

from autodiff_mini.core import Primitive, typeof
from autodiff_mini.errors import UnexpectedTracerError, fun_name
from autodiff_mini.forward import fit_tangent
from autodiff_mini.higher_order.call import (
    on_arrays, pack, unpack, which_zero)
from autodiff_mini.interpreters.jvp import (
    JVPTracer, Zero, instantiate_zeros, jvp_rules)
from autodiff_mini.interpreters.vmap import (
    BatchTracer, spread, vmap_flat, vmap_rules)
from autodiff_mini.pytree import (
    leaf_names, tree_flatten, tree_leaves, tree_map)
from autodiff_mini.signature import (
    FlatFunction, argument_positions, hold_arguments, map_leaves,
    resolve_kwargs)

custom_jvp_call_p = Primitive(
    'custom_jvp_call', lambda *xs, fun, jvp: fun(*xs),
    multiple_results=True, is_call=True)


def custom_jvp_vmap(axis, xs, dims, fun, jvp):
    out_dims = []   # of the outputs, when one of the two has run

    def fun_vmap(*xs):
        ys, y_dims = vmap_flat(fun, axis, xs, dims)
        conform(ys, list(map(Zero, ys)), y_dims, axis, 0 in dims, out_dims)
        return ys
    fun_vmap.__qualname__ = fun_name(fun)

    def jvp_vmap(xs, x_dots):
        zero = which_zero(x_dots)
        jvp_arrays, out_zero = on_arrays(jvp, zero, fun)
        moving = [dim for dim, is_zero in zip(dims, zero) if not is_zero]
        outs, dims_out = vmap_flat(jvp_arrays, axis, pack(xs, x_dots),
                                   [*dims, *moving])
        ys, y_dots = unpack(outs, out_zero)
        conform(ys, y_dots, dims_out, axis, 0 in dims, out_dims)
        return ys, y_dots
    jvp_vmap.__qualname__ = fun_name(jvp)

    outs = custom_jvp_call_p.bind(*xs, fun=fun_vmap, jvp=jvp_vmap)
    return outs, out_dims


def conform(ys, y_dots, dims, axis, mapped, out_dims):
    """Maps primal and tangent of each output alike, as `out_dims` says.

    Whoever runs first decides: an output is mapped if an operand is, since
    the rule may move what the function does not; or if it turns out to be.
    """
    moving = iter(dims[len(ys):])
    pairs = [(dim, dim if type(y_dot) is Zero else next(moving))
             for dim, y_dot in zip(dims, y_dots)]
    if not out_dims:
        out_dims[:] = [0 if mapped or 0 in pair else None for pair in pairs]
    for i, (pair, dim) in enumerate(zip(pairs, out_dims, strict=True)):
        if dim == 0:
            ys[i] = spread(ys[i], pair[0], axis.size)
            if type(y_dots[i]) is not Zero:
                y_dots[i] = spread(y_dots[i], pair[1], axis.size)
        elif 0 in pair:
            raise TypeError(
                f'{axis.tag}: the rule of a staged custom function closes '
                'over a mapped value, but the function does not: pass the '
                'value to the function as an argument')


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
        if error.tracer.trace.tag is not tag:
            raise
        raise closed_over(fun, kind) from None
    if any(type(y) is JVPTracer and y.trace.tag is tag
           for y in [*ys, *y_dots]):
        raise closed_over(fun, kind)
    return ys, y_dots


def closed_over(fun, kind):
    """Returns the error for a derivative that the rule cannot give."""
    return TypeError(
        f'Detected differentiation of a {kind} function with respect to a '
        f'closed-over value: {fun_name(fun)} uses a value that is being '
        'differentiated and is none of its arguments, and its rule speaks of '
        'its arguments only. Pass the value as an argument, and adapt the '
        'rule; or wrap it in stop_gradient.')


vmap_rules[custom_jvp_call_p] = custom_jvp_vmap
jvp_rules[custom_jvp_call_p] = custom_jvp_jvp


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

    def __call__(self, *args, **kwargs):
        if self.rule is None:
            raise AttributeError('No JVP defined for custom_jvp function '
                                 f'{fun_name(self)} using defjvp.')
        xs, fun, nondiff = flatten_call(self, args, kwargs)
        jvp = FlatRule(self, nondiff, fun)
        ys = custom_jvp_call_p.bind(*xs, fun=fun, jvp=jvp)
        return fun.out_tree.unflatten(ys)


def flatten_call(function, args, kwargs):
    """Returns the arguments as a list, a function of it, and the held."""
    args = resolve_kwargs(function.fun, args, kwargs)
    args, fun, nondiff = hold_arguments(function.fun, args, function.nondiff)
    if nondiff:
        check_unperturbed(function, nondiff)
    xs, in_tree = tree_flatten(args)
    names = lambda: leaf_names(in_tree, f'arguments of {fun_name(function)}')
    map_leaves(typeof, names, xs)
    return xs, FlatFunction(fun, in_tree), nondiff


class FlatRule:
    """A user's rule, as a function of flat lists."""

    def __init__(self, function, nondiff, fun):
        self.function = function
        self.nondiff = nondiff
        self.fun = fun

    def __call__(self, xs, x_dots):
        rule, tree = self.function.rule, self.fun.in_tree
        zero = (symbolic_zero if self.function.symbolic_zeros
                else instantiate_zeros)
        out = rule(*self.nondiff.values(), tree.unflatten(xs),
                   tree.unflatten(map(zero, x_dots)))
        if not isinstance(out, (tuple, list)) or len(out) != 2:
            raise TypeError(
                f'{self} must produce a pair (list or tuple of length two) '
                f'representing primal and tangent outputs, but got {out!r}')
        ys, self.fun.out_tree = tree_flatten(out[0])
        y_dots, dot_tree = tree_flatten(out[1])
        if dot_tree != self.fun.out_tree:
            raise TypeError(
                f'{self} must produce primal and tangent outputs with equal '
                f'container (pytree) structures, but got {self.fun.out_tree} '
                f'and {dot_tree} respectively')
        return ys, map_leaves(fit_rule_tangent, self.out_names, ys, y_dots)

    @property
    def __name__(self):
        return fun_name(self.function.rule)

    def out_names(self):
        return leaf_names(
            self.fun.out_tree, f'{self} must produce primal and tangent '
            'outputs with corresponding shapes and dtypes: output')

    def __str__(self):
        return (f'Custom JVP rule {fun_name(self.function.rule)} for '
                f'function {fun_name(self.function)}')


class SymbolicZero(Zero):
    """What a rule sees in place of a tangent that is zero, if it asks to.

    It has the `aval`, `shape`, `dtype` and `ndim` of the tangent.  A rule may
    also return one.
    """

    __slots__ = ()
    shape = property(lambda self: self.aval.shape)
    dtype = property(lambda self: self.aval.dtype)
    ndim = property(lambda self: self.aval.ndim)


def symbolic_zero(t):
    """Returns the tangent `t` as a rule with symbolic zeros sees it."""
    return SymbolicZero(t.like) if type(t) is Zero else t


def zero_from_primal(x, symbolic_zeros=False):
    """Returns the zero tangent of the value `x`.

    Args:
        x: an array.
        symbolic_zeros: whether it is to be a SymbolicZero.

    Source: `jax.custom_derivatives.zero_from_primal`.

    Examples:
        >>> zero_from_primal(2.0)
        0.0
    """
    return SymbolicZero(x) if symbolic_zeros else instantiate_zeros(Zero(x))


def fit_rule_tangent(y, y_dot):
    """Returns the tangent that a rule returned, converted to fit `y`."""
    return Zero(y) if isinstance(y_dot, Zero) else fit_tangent(y, y_dot)


def check_unperturbed(function, nondiff):
    """Raises a TypeError if a nondiff argument is being differentiated."""
    for position, x in nondiff.items():
        try:
            leaves = tree_leaves(x)
        except TypeError:   # it may be anything, also a dict without order
            leaves = [x]
        if any(map(is_perturbed, leaves)):
            raise TypeError(
                f'Argument {position} of {fun_name(function)} is named in '
                'nondiff_argnums, but is being differentiated, and its rule '
                'would drop that derivative. Make it an ordinary argument, '
                'or wrap it in stop_gradient.')


def is_perturbed(x) -> bool:
    """Returns whether a value moves under some differentiation."""
    while isinstance(x, BatchTracer):
        x = x.val
    return isinstance(x, JVPTracer)


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
