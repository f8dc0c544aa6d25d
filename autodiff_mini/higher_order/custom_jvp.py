"""`custom_jvp`: a function that carries its own derivative.

A call carries two functions, and differentiation calls the second.  The other
interpreters transform both.  Chapter 5.
"""

from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from copyreg import __newobj__
from functools import partial, reduce
from itertools import chain, repeat
from typing import NamedTuple

from autodiff_mini import seams
from autodiff_mini.copying import copied, place_of
from autodiff_mini.core import (
    TraceTag, Tracer, float0, fun_name, public, tangent_type, typeof)
from autodiff_mini.errors import UnexpectedTracerError
from autodiff_mini.higher_order.call import Store, defcall, on_arrays
from autodiff_mini.higher_order.programs import interleave, others, picked
from autodiff_mini.higher_order.staged_calls import (
    closed_over, linear_program, stage_linear, stage_rules)
from autodiff_mini.interpreters import jvp, partial_eval, transpose, vmap
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.jaxprs import Jaxpr, Var
from autodiff_mini.memory import own_memory, read_by, to_read
from autodiff_mini.pytree import (
    flatten_up_to, leaf_names, map_leaves, tree_flatten, tree_leaves,
    tree_map, tree_structure)
from autodiff_mini.signature import (
    UserFunction, argument_keys, gives_self, named_after, resolve_kwargs)
from autodiff_mini.zeros import (
    SymbolicZero, Zero, instantiate_all, instantiate_zeros, pack, unpack,
    which_zero)


def custom_call_jvp(primitive, rule_of, tag, xs, x_dots, **params):
    """Call the rule, or bind the call if nothing is perturbed."""
    if all(which_zero(x_dots)):
        def rule(xs, x_dots):
            ys = primitive.bind(*xs, **params)
            return ys, list(map(Zero, ys))
    else:
        rule = rule_of(x_dots, **params)
    return run_outside(jvp.JVPTracer, tag, primitive, params['fun'], rule,
                       xs, x_dots)


def run_outside(kind, tag, primitive, fun, rule, *args):
    """Return the two lists that a rule returns.

    It runs outside of the transformation that calls it, which is known by its
    kind of tracer and its tag.  If it uses such a tracer, it closes over it,
    which is an error.
    """
    try:
        results = rule(*args)
    except UnexpectedTracerError as error:
        if error.tracer._trace.tag is not tag:
            raise
        raise closed_over(fun, primitive, kind is vmap.BatchTracer) from None
    for x in chain(*results):
        if isinstance(x, kind) and x._trace.tag is tag:
            raise closed_over(fun, primitive, kind is vmap.BatchTracer)
    return results


def custom_call_vmap(primitive, mappers, axis, xs, dims, fun, **rules):
    """Map the function and its rules over an axis."""
    out_dims = Store()

    def fun_vmap(*xs):
        ys, found = vmap.vmap_flat(fun, axis, xs, dims)
        return conform(ys, found, len(ys), axis, dims, out_dims.value)

    outs = primitive.bind(*xs, fun=out_dims.keep(fun_vmap, fun), **{
        name: rule and out_dims.keep(
            partial(mappers[name], rule, axis, dims, out_dims), rule)
        for name, rule in rules.items()})
    return outs, out_dims.value


def jvp_vmap(rule, axis, dims, out_dims, xs, x_dots):
    """Return the outputs and tangents of all elements, and the dims."""
    still, out_still = which_zero(x_dots), Store()
    outs, found = vmap.vmap_flat(
        on_arrays(rule, still, out_still, rule), axis, pack(xs, x_dots),
        [*dims, *others(dims_of_tangents(dims), still)])
    outs, y_dims = conform(outs, found, len(out_still.value), axis, dims,
                           out_dims.value)
    return unpack(outs, out_still.value), y_dims


def dims_of_tangents(dims) -> list:
    """Return the dims of tangents, or cotangents, of values with `dims`."""
    return [None if dim is None else 0 for dim in dims]


def conform(outs, found, count, axis, dims, out_dims):
    """Return the outputs of a call, all mapped or none, and their dims.

    They are mapped if an operand is, since a rule may depend on an operand on
    which the function does not; or if one turns out to be.  An output whose
    value is not mapped is shared then: each element i has the output y, and a
    tangent of its own,

        y_dot[i] = jvp(xs[i], x_dots[i]).

    Outside of the batch y is that of the first element: `y_dot` is
    `y_dot[0]`, and the reverse pass counts y_bar once, with
    `y_bar[0] = y_bar` and zeros for the others, in

        x_bar = sum of bwd(residuals[i], y_bar[i]) over i.

    The function or a rule decides, whichever runs first.
    """
    if out_dims is None:
        some = 0 in [*dims, *found]
        out_dims = [vmap.SHARED if some and dim is None else dim
                    for dim in found[:count]]
    if 0 in out_dims:
        outs = [vmap.spread(y, dim, axis.size) for y, dim in zip(outs, found)]
    elif 0 in found:
        raise closed_alone(axis, 'rule of a staged custom function')
    return outs, out_dims


def closed_alone(axis, rule):
    """Return the error for a rule that closes over more than its function."""
    return TypeError(
        f'{axis.tag}: the {rule} closes over a mapped value, but the '
        'function does not: pass the value to the function as an argument')


# What a call means in a linear program.  A rule may apply a function with a
# rule of its own to a tangent, and a derivative of that asks for this rule.
def leave_call(primitive, trace, args, fun, **rules):
    """Leave a call with an unknown operand for later, with its rules.

    A tangent that another rule passes to the function is a value, and can be
    differentiated itself.

    Args:
        primitive, args, fun, rules: the call.
        trace: the one that records it.
    """
    unknown = list(map(trace.is_unknown, args))
    if not any(unknown):
        try:
            return trace.compute(primitive, args, {'fun': fun, **rules})
        except UnexpectedTracerError as error:
            if not trace.is_unknown(error.tracer):
                raise
        return seams.leave_closure(trace, primitive, args, fun, rules)
    linear, residuals = stage_linear(fun, args, unknown)
    if any(map(trace.is_unknown, residuals)):
        return seams.leave_closure(trace, primitive, args, fun, rules)
    n = len(residuals)
    outs = trace.record(primitive, [*residuals, *args], {
        'fun': linear,
        **stage_rules(primitive, linear, rules, n, residuals=True)})
    known = [v in linear.jaxpr.invars[:n] for v in linear.jaxpr.outvars]
    return with_known(outs, known, trace, primitive, args,
                      {'fun': fun, **rules})


def with_known(outs, known, trace, primitive, args, params):
    """Return the outputs of a call, those that are known as values.

    They depend on no unknown operand, so a call with zeros computes them.
    """
    if not any(known):
        return outs
    at_zero = [instantiate_zeros(Zero(x.aval)) if trace.is_unknown(x) else x
               for x in args]
    ys = trace.compute(primitive, at_zero, params)
    return [y if here else out for y, out, here in zip(ys, outs, known)]


@seams.leave_closure.define
def leave_closure(trace, primitive, args, fun, rules):
    """Leave a call whose function closes over an unknown value.

    Another rule has made the function, and it closes over a tangent of that
    rule, in which it is linear.  If no transformation outside can ask for its
    own rules, it is part of the linear program.
    """
    if trace.parent.parent is None:
        return fun(*args)
    raise closed_over(fun, primitive)


def call_transpose(cts, *operands, fun, **rules):
    """Transpose the function of a call; a `Pull` keeps its rules."""
    linear = [type(x) is Var for x in operands]
    jaxpr = linear_program('transpose', fun, operands, linear)
    x_bars = transpose.backward_pass(jaxpr, jaxpr.consts, cts)
    return interleave(linear, x_bars, repeat(None))


def custom_call(name, rule_of, **mappers):
    """Return a primitive that calls a function with rules for its derivative.

    Args:
        name: the primitive's.
        rule_of: from the tangents and the parameters, returns the rule to
            call.  It takes primals and tangents, and returns the outputs'.
        mappers: by name, how a rule is mapped over an axis.
    """
    primitive = defcall(name)
    jvp.rules[primitive] = partial(custom_call_jvp, primitive, rule_of)
    vmap.rules[primitive] = partial(custom_call_vmap, primitive, mappers)
    partial_eval.rules[primitive] = partial(leave_call, primitive)
    transpose.rules[primitive] = call_transpose
    return primitive


# jvp(custom_jvp_call(f, f_jvp)) == f_jvp
custom_jvp_call_p = custom_call(
    'custom_jvp_call', lambda x_dots, fun, jvp: jvp, jvp=jvp_vmap)


class Pull:
    """A linear program, run backwards: the function of a custom call.

    The derivative of a transposed program is the transpose of the program's
    derivative, and in there the calls still have their rules.

    Called with the traced residuals and the cotangents that are no zeros, it
    returns cotangents of the inputs, but for those of integers.

    Args:
        jaxpr: the program.
        consts: the residuals, one for each of its `constvars`.
        cts: a cotangent for each output, or a Zero.
    """

    def __init__(self, jaxpr, consts, cts):
        self.jaxpr = jaxpr
        self.traced = [isinstance(x, Tracer) for x in consts]
        self.fixed = others(consts, self.traced)
        self.zeros = which_zero(cts)
        self.moves = [v.aval.dtype != float0 for v in jaxpr.invars]

    def cotangents(self, consts, cts) -> list:
        """Return the cotangents of all inputs."""
        x_bars = self.bind(*picked(consts, self.traced),
                           *others(cts, self.zeros))
        still = others(self.jaxpr.invars, self.moves)
        return interleave(self.moves, x_bars, [Zero(v.aval) for v in still])

    def bind(self, *operands):
        return custom_jvp_call_p.bind(*operands, fun=self, jvp=self.jvp)

    def split(self, operands):
        """Return the residuals, and a cotangent for each output."""
        n = sum(self.traced)
        zeros = [Zero(v.aval) for v in picked(self.jaxpr.outvars, self.zeros)]
        return (interleave(self.traced, operands[:n], self.fixed),
                interleave(self.zeros, zeros, operands[n:]))

    def __call__(self, *operands):
        x_bars = transpose.backward_pass(self.jaxpr, *self.split(operands))
        return instantiate_all(picked(x_bars, self.moves), operands)

    def jvp(self, operands, dots):
        residuals, cts = self.split(operands)
        n, tag = sum(self.traced), TraceTag('jvp', Jaxpr)
        r_dots = interleave(self.traced, dots[:n], map(Zero, self.fixed))

        def derivative(*ts):
            return jvp.jvp_flat(
                lambda *rs: eval_jaxpr(self.jaxpr, rs, *ts),
                residuals, r_dots, tag)[1]

        program = partial_eval.linear_flat(
            derivative, self.jaxpr.in_avals, tag)
        x_dots = picked(transpose.pull(program, program.consts, cts),
                        self.moves)
        if not all(which_zero(dots[n:])):
            ct_dots = map(instantiate_zeros, dots[n:])
            x_dots = map(jvp.add_tangents, x_dots,
                         self.bind(*operands[:n], *ct_dots))
        return self.bind(*operands), list(x_dots)


transpose.pull_rules[custom_jvp_call_p] = Pull


class Rules(NamedTuple):
    """The rules of a custom function; a call keeps those that it began with.

    Args:
        jvp: the rule that `defjvp` was given.
        symbolic_zeros: whether it takes SymbolicZeros.
        fwd, bwd: the rules that `defvjp` was given.
        symbolic_zeros_back: whether these take SymbolicZeros.
        optimize_remat: as of `defvjp`.
        vmap: the rule that `def_vmap` was given.
    """

    jvp: Callable | None = None
    symbolic_zeros: bool = False
    fwd: Callable | None = None
    bwd: Callable | None = None
    symbolic_zeros_back: bool = False
    optimize_remat: bool = False
    vmap: Callable | None = None


rules_at_work = ContextVar('rules_at_work')    # a dictionary, by function


def rules_of(function) -> Rules:
    """Return the rules that a call of the function has now."""
    return rules_at_work.get({}).get(function, function.rules)


class custom_jvp(UserFunction):
    """A function whose derivative is a rule that you write.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated, and may be anything.  They come first in the
            rule: `rule(*nondiff, primals, tangents)`.  The self of a method
            is one of them, unless it is a pytree, such as a dataclass.
        nondiff_argnames: the names of such arguments.

    Keyword-only arguments follow the others in the primals and the
    tangents, in the order of the signature, if a call gives one of them; the
    others have their defaults there.  If it gives none, the rule sees none.

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

        >>> @custom_jvp
        ... def scaled(x, *, scale):
        ...     return scale * x
        >>> @scaled.defjvp
        ... def scaled_jvp(primals, tangents):
        ...     (x, scale), (x_dot, scale_dot) = primals, tangents
        ...     return scaled(x, scale=scale), scale * x_dot + scale_dot * x
        >>> ad.grad(lambda s: scaled(3.0, scale=s))(2.0)
        3.0
    """

    needs = 'jvp', 'JVP', 'defjvp'      # which rule, and who defines it

    @public
    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        named_after(fun)(self)
        self.fun = fun
        self.rules = Rules()
        self.nondiff = argument_keys(fun, nondiff_argnums, nondiff_argnames)

    __copy__ = __deepcopy__ = copied

    def __reduce__(self):
        return place_of(self) or (__newobj__, (type(self),), vars(self))

    def defjvp(self, rule, symbolic_zeros=False):
        """Define the derivative; may be used as a decorator.

        The rule holds for calls from now on.  A call that was made before
        keeps its rule: in a linear function, in a pullback, in a jaxpr, and
        in a program that jit has traced.

        Args:
            rule: `rule(primals, tangents) -> (primal_out, tangent_out)`,
                with two tuples like the arguments, and two trees like the
                output.  For higher derivatives, it calls the function
                itself.
            symbolic_zeros: whether the tangent of an argument that is not
                perturbed is a SymbolicZero, and not an array of zeros.

        Returns:
            The rule.
        """
        self.rules = self.rules._replace(
            jvp=rule, symbolic_zeros=symbolic_zeros)
        return rule

    def defjvps(self, *rules):
        """Define the derivative by one rule for each argument.

        Args:
            rules: `rule(tangent, out, *primals)`, which returns a tangent of
                the output; None for an argument on which it does not depend.

        Raises:
            TypeError: there are nondiff arguments.
        """
        if self.nondiff:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``: "
                            f'define the rule of {fun_name(self)} by defjvp')
        self.defjvp(partial(sum_of_rules, self, rules))

    def def_vmap(self, rule):
        """Define the batching; may be used as a decorator.

        The rule holds for calls from now on, as that of `defjvp` does.
        Derivatives still ask the rules for derivatives, whether the function
        is batched before or afterwards.

        Args:
            rule: `rule(axis_size, in_batched, *args) -> (out, out_batched)`.
                The arguments that `in_batched` marks with True, in a list of
                trees like the arguments, have a batch axis of this size in
                front.  So has what `out_batched` marks, in a tree like the
                output.  Keyword-only arguments are passed by keyword, and
                follow the others in `in_batched`, in the order of the
                signature.

        Returns:
            The rule.
        """
        self.rules = self.rules._replace(vmap=rule)
        return rule

    @public
    def __call__(self, *args, **kwargs):
        rule, what, method = self.needs
        if getattr(self.rules, rule) is None:
            kind, name = type(self).__name__, fun_name(self)
            raise AttributeError(
                f'No {what} defined for {kind} function {name} using '
                f'{method}. Define it with {name}.{method}.')
        call = FlatCall(self)
        xs = call.operands(args, kwargs)
        ys = self.bind(call, xs)
        return call.out_tree.unflatten(own_memory(ys, xs))

    def bind(self, call, xs):
        """Return the outputs of a call with these operands."""
        return custom_jvp_call_p.bind(*xs, fun=with_batching(call),
                                      jvp=FlatRule(call))


def with_batching(call):
    """Return the function of a custom call, with its rule for vmap.

    That call is inside the other one, so that other rules are asked first.
    """
    return seams.call_with_batching(call) if call.rules.vmap else call


@seams.call_with_batching.define
@seams.call_if_unused.define
def refuse_without_wing(call, *_):
    raise NotImplementedError(
        f'{call} needs the wing autodiff_mini/more, which is off or missing: '
        'def_vmap and optimize_remat are defined there')


# Between what users write and flat lists.
class FlatCall:
    """The function of a custom call, from a flat list to a flat list.

    Args:
        function: what the user calls.

    Attributes:
        rules: the rules that it has now.
        held: its nondiff arguments, by their positions, or their names.
        keys: of those that the first operands are for.
        free: the positions, or names, of the other arguments.
        in_tree: the structure of the tuple of these.
        names: those of the arguments that are keyword-only.
        left_out: how many more the function has.
    """

    def __init__(self, function):
        self.function = function
        self.rules = rules_of(function)

    def operands(self, args, given) -> list:
        """Take the arguments of the call, and return its operands.

        They are what is traced in the nondiff arguments, and the other
        arguments.
        """
        function, nondiff = self.function, self.function.nondiff
        args, kwargs = resolve_kwargs(function.fun, args, given)
        if 0 not in nondiff and gives_self(function.fun, args):
            nondiff = (0, *nondiff)
            opened = seams.open_self(args[0])
            if traced_leaves(opened):
                args = (opened, *args[1:])
        left_out = kwargs.keys() - {*nondiff}
        left_out = left_out if left_out.isdisjoint(given) else ()
        self.left_out = len(left_out)
        self.names = [key for key in kwargs if key not in left_out]
        free = dict(enumerate(args))
        free |= {key: kwargs[key] for key in self.names}
        self.held = {key: free.pop(key) for key in nondiff if key in free}
        self.free = list(free)
        xs, self.in_tree = tree_flatten(tuple(free.values()))
        names = lambda: leaf_names(tree_structure(OrderedDict(free)),
                                   f'arguments of {self}')
        map_leaves(typeof, names, xs)
        traced = [(key, leaf) for key, x in self.held.items()
                  for leaf in traced_leaves(x)]
        self.keys = [key for key, _ in traced]
        return [*(leaf for _, leaf in traced), *xs]

    def __call__(self, *operands):
        args, kwargs = self.in_place(*self.split(operands))
        return self.flatten(self.function.fun(*args, **kwargs))

    def flatten(self, out):
        """Return the leaves of an output, and set the call's `out_tree`.

        The output is the function's, or that of a rule which ran instead.
        """
        ys, self.out_tree = tree_flatten(out)
        return ys

    def split(self, operands):
        """Return the nondiff arguments, and the leaves of the others."""
        n = len(self.keys)
        values = iter(operands[:n])
        held = {key: replace_traced(x, values) if key in self.keys else x
                for key, x in self.held.items()}
        return held, operands[n:]

    def in_place(self, held, xs):
        """Return all arguments: those in positions, and those by name."""
        if not (held or self.names):
            return self.in_tree.unflatten(xs), {}
        every = held | dict(zip(self.free, self.in_tree.unflatten(xs)))
        args = [every[i] for i in range(len(every) - len(self.names))]
        return args, {name: every[name] for name in self.names}

    def __getstate__(self):
        """In a pickle, the rules of now are found with the function."""
        return {key: x for key, x in vars(self).items()
                if x is not self.function.rules}

    def __setstate__(self, state):
        vars(self).update({'rules': state['function'].rules} | state)

    def check_still(self, perturbed):
        """Raise a TypeError if a nondiff argument is differentiated."""
        for key, is_perturbed in zip(self.keys, perturbed):
            if is_perturbed:
                why = ('is named in nondiff_argnums'
                       if key in self.function.nondiff
                       else 'is the self of a method')
                raise TypeError(
                    f'Argument {key} of {self} {why}, but is being '
                    'differentiated, and its rule would drop that '
                    'derivative. Leave it out of nondiff_argnums, or pass '
                    'it by another argument.')

    def __str__(self):
        return fun_name(self.function)

    __name__ = property(__str__)


def traced_leaves(x) -> list:
    """Return the tracers in a nondiff argument, which may be anything."""
    try:
        leaves = tree_leaves(x)
    except TypeError:   # such as a dictionary whose keys have no order
        return []
    return [leaf for leaf in leaves if isinstance(leaf, Tracer)]


def replace_traced(x, values):
    """Return a nondiff argument with these values for its tracers."""
    return tree_map(lambda leaf: next(values) if isinstance(leaf, Tracer)
                    else leaf, x)


def for_rule(ts, others, symbolic) -> list:
    """Return tangents as a rule sees them, beside the `others`."""
    if symbolic:
        return [SymbolicZero(t.like) if type(t) is Zero else t for t in ts]
    return instantiate_all(ts, [*ts, *others])


class UserRule:
    """A user's rule, as a function of flat lists.

    A subclass says the rule's `name` in Rules, and the `kind` for errors.

    Args:
        call: the function, as it was called.
    """

    def __init__(self, call):
        self.call = call

    @property
    def __name__(self):
        return fun_name(getattr(self.call.rules, self.name))

    def __str__(self):
        return (f'Custom {self.kind} rule {self.__name__} for function '
                f'{self.call}')

    def ask(self, rule, *args):
        """Return what the rule returns.

        If it calls the function, the rules of this call hold there, too.
        """
        if self.call.rules is rules_of(self.call.function):
            return seams.ask_rule(self, rule, args)
        token = rules_at_work.set(
            rules_at_work.get({}) | {self.call.function: self.call.rules})
        try:
            return seams.ask_rule(self, rule, args)
        finally:
            rules_at_work.reset(token)


@seams.ask_rule.define
def ask_unchecked(rule, function, args):
    return read_by(function, rule, *args)


class FlatRule(UserRule):
    """The rule of forward mode: from primals and tangents to both."""

    name, kind = 'jvp', 'JVP'

    def __call__(self, operands, dots):
        call, rules = self.call, self.call.rules
        held, xs = call.split(operands)
        call.check_still(not zero for zero in which_zero(dots))
        x_dots = for_rule(dots[len(call.keys):], xs, rules.symbolic_zeros)
        tuples = [call.in_tree.unflatten(map(to_read, row))
                  for row in (xs, x_dots)]
        out, out_dot = self.ask(rules.jvp, *held.values(), *tuples)
        ys = call.flatten(out)
        y_dots = flatten_up_to(call.out_tree, out_dot)
        names = lambda: leaf_names(
            call.out_tree, f'{self} must produce primal and tangent outputs '
            'with corresponding shapes and dtypes: output')
        return ys, map_leaves(fit_rule_tangent, names, ys, y_dots)


def fit_rule_tangent(y, y_dot):
    """Return the tangent that a rule returned, converted to fit `y`."""
    if not isinstance(y_dot, Zero):
        return jvp.fit_tangent(y, y_dot)
    if y_dot.aval != tangent_type(typeof(y)):
        jvp.fit_tangent(y, instantiate_zeros(y_dot))    # which may raise
    return Zero(y)


def sum_of_rules(function, rules, *args):
    """Return the output and its tangent, a sum of what the rules return."""
    *owner, primals, tangents = args
    if owner or len(primals) != len(rules):
        raise (TypeError if owner else ValueError)(
            f'{fun_name(function)} has {len(rules)} rules, by defjvps, but '
            f'{len(owner) + len(primals)} arguments. Give one for each '
            'argument, or None. For self, or keyword-only arguments, define '
            'a rule by defjvp: rule(self, primals, tangents).')
    y = function(*primals)
    terms = [rule(t, y, *primals) for rule, t in zip(rules, tangents) if rule]
    return y, tree_map(
        lambda y, *terms: reduce(jvp.add_tangents, terms, Zero(y)), y, *terms)
