"""`ad.Primitive`, for users: a row of the grid, with a method for each rule.

If a rule is missing, the error names the method that defines it.  Chapter 25.
"""

import inspect
from functools import partial

import numpy as np

from autodiff_mini.calls.custom_jvp import (
    FlatCall, FlatRule, flat_arguments, rules_of, traced_leaves)
from autodiff_mini.calls.custom_vjp import FlatForward, custom_vjp, promise_of
from autodiff_mini.calls.programs import stage_tree
from autodiff_mini.calls.staged_calls import open_program
from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.jaxprs import Var
from autodiff_mini.core.memory import read_by, to_read
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.trace import Primitive, unwrapped
from autodiff_mini.core.trees import LEAF, map_leaves, tree_leaves, tree_map
from autodiff_mini.core.types import ShapedArray, tangent_type, typeof
from autodiff_mini.interpreters import (
    abstract, jvp, lowering, transpose, vmap)

evaluation = RuleTable('Evaluation rule', 'define it with def_impl')
ADVICE = {      # {the name of a table's rules: advice}
    evaluation.what: evaluation.advice,
    abstract.rules.what: 'define it with def_abstract_eval',
    jvp.rules.what: 'define it with def_jvp or def_vjp',
    vmap.rules.what: 'define it with def_vmap',
    transpose.rules.what: 'define it with def_transpose or def_vjp'}


class UserPrimitive(Primitive):
    """An operation of your own, with a rule for each interpreter.

    Arrays are positional operands, and static parameters are keywords:
    `bind(*arrays, **params)`.  Each rule gets the parameters as keywords.

    A rule can be redefined.  The new rule also applies to programs that `jit`
    has already traced, whose derivatives are computed again.

    Args:
        name: its name in errors and printed programs.
        multiple_results: whether it returns a list of arrays.

    Source: `Primitive` in JAX's `jax/_src/core.py`, and the method names of
    the tutorial "Differentiation Rules for Custom Primitives" (ApX Machine
    Learning, 2025).

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> twice_p = ad.Primitive('twice')
        >>> _ = twice_p.def_impl(lambda x: 2 * x)
        >>> _ = twice_p.def_jvp(lambda primals, tangents: (
        ...     twice_p.bind(*primals), twice_p.bind(*tangents)))
        >>> ad.jvp(twice_p.bind, (np.ones(2),), (np.ones(2),))
        (array([2., 2.]), array([2., 2.]))
    """

    def __init__(self, name, multiple_results=False):
        super().__init__(name, multiple_results=multiple_results)
        self.jvp_rule = self.vjp_rule = None
        self.rules, self.advice = {}, ADVICE
        self.impl = lambda *arrays, **params: (     # the current rule
            evaluation[self](*arrays, **params))

    @public
    def bind(self, *args, **params):
        """Apply the operation with the current interpreter.

        Args:
            args: the operands, arrays.
            params: the static parameters.

        Raises:
            TypeError: a parameter is traced.
            NotImplementedError: a rule is missing.
        """
        args = list(map(unwrapped, args))
        params = {key: unwrapped(x) for key, x in params.items()}
        map_leaves(typeof, lambda: [f'operand {i} of {self}'
                                    for i in range(len(args))], args)
        for key, x in params.items():
            if traced_leaves(x):
                raise TypeError(
                    f'the parameter {key!r} of {self} is a traced value. '
                    'Keyword parameters are static and have no derivative. '
                    'Pass it by position, which makes it an operand.')
        return super().bind(*args, **params)

    def def_impl(self, rule):
        """Define `rule(*arrays, **params) -> out`, with plain NumPy."""
        def impl(*arrays, **params):
            what = f'{fun_name(rule)}, the implementation of {self},'
            out = call_rule(rule, params, what, *arrays)
            check_types(self, what, results(self, out), arrays, params)
            return out
        evaluation[self] = impl
        return rule

    def def_abstract_eval(self, rule):
        """Define `rule(*avals, **params) -> aval`, on ShapedArrays.

        With multiple results, it returns a list.  A program that is already
        staged keeps its types.
        """
        def abstract_eval(*avals, **params):
            types = results(self, rule(*avals, **params))
            for aval in types:
                if type(aval) is not ShapedArray:
                    raise TypeError(
                        f'the abstract evaluation rule {fun_name(rule)} of '
                        f'{self} must return a ShapedArray for each result, '
                        f'but returned {aval!r}')
            types = [ShapedArray(tuple(aval.shape), np.dtype(aval.dtype),
                                 aval.weak_type) for aval in types]
            return types if self.multiple_results else types[0]
        abstract.rules[self] = abstract_eval
        return rule

    def def_jvp(self, rule):
        """Define `rule(primals, tangents, **params) -> (out, out_dot)`.

        The tangent of a constant operand is a Zero.
        """
        self.jvp_rule = rule
        jvp.rules[self] = partial(differentiate, self)
        return rule

    def def_vjp(self, fwd, bwd=None):
        """Define the pullback with two functions or, as a decorator, one.

        Args:
            fwd: `fwd(*arrays, **params) -> (out, residuals)`; or, without
                `bwd`, `rule(primals, **params) -> (out, backward)`, where
                `backward(ct)` or `backward(primals, ct)` returns a tuple
                with a cotangent for each operand, or None for zero.
            bwd: `bwd(residuals, ct, **params)`, which returns such a tuple.
        """
        self.vjp_rule = (fwd, bwd) if bwd else two_rules(fwd)
        jvp.rules[self] = partial(differentiate, self)
        return fwd

    def def_vmap(self, rule):
        """Define `rule(args, dims, **params) -> (out, out_dim)`.

        A mapped operand has its batch axis in front, so its dim is 0; any
        other has None.  With multiple results, `out` and `out_dim` are lists.
        """
        def batch(axis, vals, dims, **params):
            what = f'{fun_name(rule)}, the vmap rule of {self},'
            pair = call_rule(rule, params, what, tuple(vals), tuple(dims))
            return fit_batch(self, what, axis.size, pair)
        vmap.rules[self] = batch
        return rule

    def def_transpose(self, rule):
        """Define `rule(ct, *args, **params) -> cotangents`.

        For a linear operand the rule gets a placeholder with an `aval` and a
        `shape`, for which `is_undefined_primal` is True.  It returns a tuple
        with a cotangent for each linear operand, and None for the others.
        With multiple results, `ct` is a list, with a Zero for each unused
        one.
        """
        def cotangents(ct, *operands, **params):
            what = f'{fun_name(rule)}, the transpose rule of {self}'
            cts = call_rule(rule, params, what, ct, *operands)
            if not isinstance(cts, tuple | list) or len(cts) != len(operands):
                raise TypeError(
                    f'{what}, must return a tuple with an entry for each '
                    f'operand ({len(operands)}), but returned {cts!r}')
            names = lambda: [f'{what}: entry {i}' for i in range(len(cts))]
            return map_leaves(check_transposed, names, cts, operands)
        transpose.rules[self] = cotangents
        return rule

    def def_lowering(self, rule):
        """Define `rule(emitter, *names, **params) -> expression`, as text.

        Without it, the program calls the implementation.  A program that is
        already compiled keeps its source.
        """
        lowering.rules[self] = rule
        return rule


def differentiate(primitive, primals, tangents, /, **params):
    """Apply the user's JVP or VJP rule, as for a custom function."""
    function = custom_vjp(partial(primitive.bind, **params))
    function.__qualname__ = primitive.name
    if primitive.jvp_rule:
        function.defjvp(partial(primitive.jvp_rule, **params),
                        symbolic_zeros=True)
    if primitive.vjp_rule:
        function.defvjp(*[partial(rule, **params)
                          for rule in primitive.vjp_rule])
    arguments, xs = flat_arguments(function, primals, {})
    call = FlatCall(function, arguments, rules_of(function))
    rule = promise_of(
        tangents, call, primitive.vjp_rule and FlatForward(call),
        primitive.jvp_rule and FlatRule(call))
    try:
        ys, y_dots = rule(xs, tangents)
    except Exception as error:
        error.add_note(f"in a rule of the primitive '{primitive}'")
        raise
    several = primitive.multiple_results
    if (call.out_tree is LEAF) is several:
        want = 'a list of arrays' if several else 'an array'
        raise TypeError(f'a rule of {primitive} must return {want}, like the '
                        f'primitive, but returned {call.out_tree}')
    check_types(primitive, f'a differentiation rule of {primitive}', ys,
                primals, params)
    return (ys, y_dots) if several else (ys[0], y_dots[0])


def call_rule(rule, params, what, *args):
    """Call a rule with read-only arrays, and return its result."""
    return read_by(partial(rule, **params), what, *tree_map(to_read, args))


def results(primitive, out):
    """Return the results as a list."""
    return list(out) if primitive.multiple_results else [out]


def check_types(primitive, what, outs, arrays, params):
    """Raise a TypeError if results disagree with the abstract rule."""
    rule = abstract.rules.get(primitive)
    if rule is None:
        return
    avals = results(primitive, rule(*map(typeof, arrays), **params))
    have = [(y.shape, y.dtype) for y in map(typeof, outs)]
    if have != [(aval.shape, aval.dtype) for aval in avals]:
        raise TypeError(
            f'{what} returned {", ".join(str(typeof(y)) for y in outs)}, '
            'but its abstract evaluation rule promised '
            f'{", ".join(map(str, avals))}')


def two_rules(rule):
    """Return fwd and bwd, given a rule that combines them."""
    def fwd(*primals, **params):
        pair = rule(primals, **params)
        if not isinstance(pair, tuple) or len(pair) != 2 or not callable(
                pair[1]):
            raise TypeError(
                f'{fun_name(rule)}, a VJP rule, must return a pair (out, '
                'backward), where backward is a function of the cotangent, '
                f'but returned {pair!r}')
        out, backward = pair
        if len(inspect.signature(backward).parameters) == 2:
            return out, (backward, primals)
        ct = tree_map(lambda y: tangent_type(typeof(y)), out)
        jaxpr, out_tree = stage_tree(backward, (ct,), {},
                                     TraceTag('def_vjp', rule))
        backward, values = open_program(rule, jaxpr, jaxpr.invars)
        return out, (lambda values, ct: out_tree.unflatten(
            backward(*values, *tree_leaves(ct))), values)

    def bwd(residuals, ct, **params):
        backward, values = residuals
        return backward(values, ct)
    bwd.__qualname__ = own_name(rule)
    return fwd, bwd


def check_transposed(ct, x):
    """Return the cotangent of `x` from a transpose rule, checked."""
    if ct is None or not is_undefined_primal(x):
        return None
    if np.shape(ct) != x.shape:
        raise ValueError(f'the operand is {x.aval}, but the cotangent is '
                         f'{typeof(ct)}')
    return ct


def fit_batch(primitive, what, size, pair):
    """Return the results of a vmap rule, with each batch axis in front."""
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise TypeError(f'{what} must return a pair (out, out_dim), but '
                        f'returned {pair!r}')
    outs, dims = [results(primitive, x) for x in pair]
    outs = [x if dim is None else to_front(what, size, x, dim)
            for x, dim in zip(outs, dims, strict=True)]
    dims = [None if dim is None else 0 for dim in dims]
    return (outs, dims) if primitive.multiple_results else (outs[0], dims[0])


def to_front(what, size, x, dim):
    """Return the array with its batch axis in front."""
    shape = np.shape(x)
    if dim not in range(-len(shape), len(shape)) or shape[dim] != size:
        raise ValueError(f'{what} returned an array of shape {shape} and '
                         f'out_dim {dim}, but the mapped axis has length '
                         f'{size}')
    return np.moveaxis(x, dim, 0)


def is_undefined_primal(x) -> bool:
    """Return whether a transpose rule is asked for the cotangent of `x`.

    Args:
        x: an operand passed to a rule defined by def_transpose.

    Source: `is_undefined_primal` in JAX's `jax/_src/interpreters/ad.py`.

    Examples:
        >>> is_undefined_primal(2.0)
        False
    """
    return type(x) is Var
