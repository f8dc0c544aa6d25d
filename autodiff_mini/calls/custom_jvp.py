"""`custom_jvp`: a function that carries its own derivative.

A call carries two functions, and differentiation calls the second.  The other
interpreters transform both.  Chapter 5.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from copyreg import __newobj__
from functools import cached_property, partial, reduce
from itertools import chain, repeat
from typing import NamedTuple

from autodiff_mini.calls.call import Store, defcall, on_arrays
from autodiff_mini.calls.programs import (
    interleave, only_backwards, others, picked)
from autodiff_mini.calls.staged_calls import (
    closed_over, linear_program, stage_linear, stage_rules)
from autodiff_mini.core import seams
from autodiff_mini.core.copying import copied, place_of
from autodiff_mini.core.errors import UnexpectedTracerError
from autodiff_mini.core.jaxprs import Jaxpr, Var, pull_rules
from autodiff_mini.core.memory import Loan, own_memory, read_by, to_read
from autodiff_mini.core.names import TraceTag, fun_name, own_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import (
    UserFunction, argument_keys, exact_count, gives_self, named_after,
    resolve_kwargs, signature_of, takes_self)
from autodiff_mini.core.trace import EvalTrace, Tracer, current_trace
from autodiff_mini.core.trees import (
    PyTreeDef, flatten_up_to, leaf_names, map_leaves, tree_flatten,
    tree_leaves, tree_map, tree_structure)
from autodiff_mini.core.types import float0, tangent_type, typeof
from autodiff_mini.core.zeros import (
    SymbolicZero, Zero, add_tangents, fit_tangent, instantiate_all,
    instantiate_zeros, leave_zeros_out, perturbed, put_zeros_back)
from autodiff_mini.interpreters import jvp, partial_eval, transpose, vmap
from autodiff_mini.interpreters.jaxpr import eval_jaxpr


def custom_call_jvp(primitive, rule_of, tag, xs, x_dots, **params):
    """Call the rule, or bind the call if nothing is perturbed."""
    if any(perturbed(x_dots)):
        rule = rule_of(x_dots, **params)
    else:
        def rule(xs, x_dots):
            ys = primitive.bind(*xs, **params)
            return ys, list(map(Zero, ys))
    return run_outside(jvp.JVPTracer, tag, primitive, params['fun'], rule,
                       xs, x_dots)


def run_outside(kind, tag, primitive, fun, rule, *args):
    """Call a rule outside of a transformation, and return its two lists.

    The kind of tracer and the tag identify the transformation.  A rule that
    uses such a tracer has closed over it, which is an error.
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
    """Return the outputs and tangents of a batch, and their dims."""
    moving, out_moving = perturbed(x_dots), Store()
    outs, found = vmap.vmap_flat(
        on_arrays(rule, moving, out_moving, rule), axis,
        leave_zeros_out(xs, x_dots),
        [*dims, *picked(vmap.plain_dims(dims), moving)])
    outs, y_dims = conform(outs, found, len(out_moving.value), axis, dims,
                           out_dims.value)
    return put_zeros_back(outs, out_moving.value), y_dims


def any_mapped(dims) -> bool:
    """Return whether a value with one of the dims has the batch axis."""
    return any(dim is not None for dim in dims)


def conform(outs, found, count, axis, dims, out_dims):
    """Return the outputs of a call, all mapped or none, and their dims.

    The outputs are mapped if an operand is, because a rule can use an operand
    that the function ignores, or if an output turns out to be.  An output
    whose value is not mapped is then shared: every element i has the same
    output y, but its own tangent,

        y_dot[i] = jvp(xs[i], x_dots[i]).

    Outside of the batch, y is the first element's output: `y_dot` is
    `y_dot[0]`, and the reverse pass counts y_bar once, with
    `y_bar[0] = y_bar` and zeros for the other elements, in

        x_bar = sum of bwd(residuals[i], y_bar[i]) over i.

    The function and its rules must agree, so the first to run decides.
    """
    if out_dims is None:
        out_dims = found[:count]
        if any_mapped([*dims, *found]):
            out_dims = [vmap.Dim.SHARED if dim is None else dim
                        for dim in out_dims]
    if any_mapped(out_dims):
        outs = [vmap.spread(y, dim, axis.size) for y, dim in zip(outs, found)]
    elif any_mapped(found):
        raise closed_alone(axis, 'rule of a staged custom function')
    return outs, out_dims


def closed_alone(axis, rule):
    """Return the error for a rule that closes over more than its function."""
    return TypeError(
        f'{axis.tag}: the {rule} closes over a mapped value, but the '
        'function does not. Pass the value to the function as an argument.')


# Calls in a linear program.  A rule can apply a function with its own rule
# to a tangent, and differentiating the result needs that function's rule.
def leave_call(primitive, trace, args, params):
    """Record a call with an unknown operand, and keep its rules.

    A tangent that another rule passes to the function is an ordinary value,
    so it can be differentiated too.

    Args:
        primitive, args, params: the call.
        trace: the trace that records it.
    """
    unknown = list(map(trace.owns, args))
    if True not in unknown:
        try:
            return trace.compute(primitive, args, params)
        except UnexpectedTracerError as error:
            if not trace.owns(error.tracer):
                raise
        return seams.leave_closure(trace, primitive, args, params)
    linear, residuals = stage_linear(params['fun'], args, unknown)
    if any(map(trace.owns, residuals)):
        return seams.leave_closure(trace, primitive, args, params)
    n, rules = len(residuals), {**params}
    del rules['fun']
    outs = trace.record(primitive, [*residuals, *args], {
        'fun': linear,
        **stage_rules(primitive, linear, rules, n, residuals=True)})
    known = [v in linear.jaxpr.invars[:n] for v in linear.jaxpr.outvars]
    return with_known(outs, known, trace, primitive, args, params)


def with_known(outs, known, trace, primitive, args, params):
    """Replace the known outputs of a call by their values.

    They depend only on known operands, so a call with zeros computes them.
    """
    if not any(known):
        return outs
    at_zero = [instantiate_zeros(Zero(x.aval)) if trace.owns(x) else x
               for x in args]
    ys = trace.compute(primitive, at_zero, params)
    return [y if here else out for y, out, here in zip(ys, outs, known)]


@seams.leave_closure.define
def leave_closure(trace, primitive, args, params):
    """Record a call whose function closes over an unknown value.

    Another rule made the function, which closes over a tangent of that rule
    and is linear in it.  If no outer transformation can need the call's own
    rules, its operations become part of the linear program.
    """
    if trace.parent.parent is None:
        return params['fun'](*args)
    raise closed_over(params['fun'], primitive)


def call_transpose(cts, *operands, fun, **rules):
    """Transpose the function of a call; a `Pull` keeps its rules."""
    linear = [type(x) is Var for x in operands]
    jaxpr = linear_program('transpose', fun, operands, linear)
    x_bars = transpose.backward_pass(jaxpr, jaxpr.consts, cts)
    return interleave(linear, x_bars, repeat(None))


def custom_call(name, rule_of, **mappers):
    """Return a primitive that calls a function with rules for its derivative.

    Args:
        name: the name of the primitive.
        rule_of: `rule_of(tangents, **params)`, which returns the rule to
            call.  The rule takes and returns primals and tangents.
        mappers: for each rule, by name, a function that maps it over an axis.
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
    """The transpose of a linear program, as the function of a custom call.

    The derivative of a transposed program is the transpose of the program's
    derivative, where the calls still have their rules.

    It takes the traced residuals and the nonzero cotangents, and returns the
    cotangents of the inputs that are not integers.

    Args:
        jaxpr: the program.
        consts: the residuals, one for each of its `constvars`.
        cts: a cotangent for each output, or a Zero.
    """

    def __init__(self, jaxpr, consts, cts):
        self.jaxpr = jaxpr
        self.traced = [isinstance(x, Tracer) for x in consts]
        self.fixed = others(consts, self.traced)
        self.given = perturbed(cts)
        self.moves = [v.aval.dtype != float0 for v in jaxpr.invars]

    def cotangents(self, consts, cts) -> list:
        """Return the cotangents of all inputs."""
        x_bars = self.bind(*picked(consts, self.traced),
                           *picked(cts, self.given))
        still = others(self.jaxpr.invars, self.moves)
        return interleave(self.moves, x_bars, [Zero(v.aval) for v in still])

    def bind(self, *operands):
        return custom_jvp_call_p.bind(*operands, fun=self, jvp=self.jvp)

    def split(self, operands):
        """Return the residuals, and a cotangent for each output."""
        n = sum(self.traced)
        zeros = [Zero(v.aval) for v in others(self.jaxpr.outvars, self.given)]
        return (interleave(self.traced, operands[:n], self.fixed),
                interleave(self.given, operands[n:], zeros))

    def __call__(self, *operands):
        x_bars = transpose.backward_pass(self.jaxpr, *self.split(operands))
        return instantiate_all(picked(x_bars, self.moves), operands)

    def jvp(self, operands, dots):
        residuals, cts = self.split(operands)
        n, tag = sum(self.traced), TraceTag('jvp', Jaxpr)
        r_dots = interleave(self.traced, dots[:n], map(Zero, self.fixed))
        jaxpr = only_backwards(self.jaxpr)

        def derivative(*ts):
            return jvp.jvp_flat(
                lambda *rs: eval_jaxpr(jaxpr, rs, *ts),
                residuals, r_dots, tag)[1]

        program = partial_eval.linear_flat(
            derivative, self.jaxpr.in_avals, tag)
        x_dots = picked(transpose.pull(program, program.consts, cts),
                        self.moves)
        if any(perturbed(dots[n:])):
            ct_dots = map(instantiate_zeros, dots[n:])
            x_dots = map(add_tangents, x_dots,
                         self.bind(*operands[:n], *ct_dots))
        return self.bind(*operands), list(x_dots)


pull_rules[custom_jvp_call_p] = lambda **_: {Pull}


class Rules(NamedTuple):
    """The rules of a custom function; a call keeps the rules it starts with.

    Args:
        jvp: the rule passed to `defjvp`.
        symbolic_zeros: whether this rule takes SymbolicZeros.
        fwd, bwd: the rules passed to `defvjp`.
        symbolic_zeros_back: whether these rules take SymbolicZeros.
        optimize_remat: see `defvjp`.
        vmap: the rule passed to `def_vmap`.
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
    """Return the rules that a call of the function would have now."""
    return rules_at_work.get({}).get(function, function.rules)


class custom_jvp(UserFunction):
    """A function whose derivative is a rule that you write.

    Args:
        fun: the function, of arrays or trees of arrays.
        nondiff_argnums: the positions of arguments that are not
            differentiated and can be anything.  The rule takes them first:
            `rule(*nondiff, primals, tangents)`.  A method's `self` is one of
            them, unless it is a pytree, such as a dataclass.
        nondiff_argnames: the names of such arguments.

    If a call passes at least one keyword-only argument, the primals and
    tangents end with all of the keyword-only arguments, in the order of the
    signature, defaults included.  If it passes none, the rule gets none.

    Inside of transformations, the function and its rules can only read their
    arguments.  Outside, a call only calls the function.

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

    needs = 'jvp', 'JVP', 'defjvp'      # the rule, its kind, and its method

    @public(takes_function=True)
    def __init__(self, fun, nondiff_argnums=(), nondiff_argnames=()):
        named_after(fun)(self)
        self.fun = fun
        self.rules = Rules()
        self.nondiff = argument_keys(fun, nondiff_argnums, nondiff_argnames)
        self.count, self.is_method = exact_count(fun), takes_self(fun)

    __copy__ = __deepcopy__ = copied
    signature = cached_property(lambda self: signature_of(self.fun))

    def __reduce__(self):
        return place_of(self) or (__newobj__, (type(self),), vars(self))

    def defjvp(self, rule, symbolic_zeros=False):
        """Define the derivative rule; can be used as a decorator.

        The rule applies to later calls.  Existing linear functions,
        pullbacks, and jaxprs, and programs that `jit` has traced, keep the
        rule that they were made with.

        Args:
            rule: `rule(primals, tangents) -> (primal_out, tangent_out)`,
                which takes two tuples like the arguments and returns two
                trees like the output.  To support higher derivatives, it
                calls the function itself.
            symbolic_zeros: whether the tangent of an unperturbed argument
                is a SymbolicZero instead of an array of zeros.

        Returns:
            The rule.
        """
        self.rules = self.rules._replace(
            jvp=rule, symbolic_zeros=symbolic_zeros)
        return rule

    def defjvps(self, *rules):
        """Define the derivative with one rule for each argument.

        Args:
            rules: for each argument, `rule(tangent, out, *primals)`, which
                returns a tangent of the output, or None if the output does
                not depend on that argument.  The rule of an argument that
                contains only integers or booleans is not called.

        Raises:
            TypeError: there are nondiff arguments.
        """
        if self.nondiff:
            raise TypeError("Can't use ``defjvps`` with ``nondiff_argnums``. "
                            f'Define the rule of {fun_name(self)} with '
                            'defjvp.')
        self.defjvp(partial(sum_of_rules, self, rules))

    def def_vmap(self, rule):
        """Define the batching rule; can be used as a decorator.

        The rule applies to later calls, as in `defjvp`.  Differentiation
        still uses the derivative rules, whether the function is batched
        before or afterwards.

        Args:
            rule: `rule(axis_size, in_batched, *args) -> (out, out_batched)`.
                `in_batched` is a list of trees like the arguments.  Where
                it is True, the argument has a batch axis of that size in
                front.  `out_batched` marks the output in the same way.
                Keyword-only arguments are passed by keyword and follow the
                others in `in_batched`, in the order of the signature.

        Returns:
            The rule.
        """
        self.rules = self.rules._replace(vmap=rule)
        return rule

    @public
    def __call__(self, *args, **kwargs):
        rule, what, method = self.needs
        if getattr(self.rules, rule) is None:
            raise AttributeError(
                f'No {what} defined for {type(self).__name__} function '
                f'{fun_name(self)} using {method}. Call {method} first.')
        out = seams.short_call(self, args, kwargs)
        if out is not NotImplemented:
            return out
        try:
            arguments, xs = flat_arguments(self, args, kwargs)
        except TypeError as error:
            seams.note_refusal(error)
            raise
        # Outside of transformations, a call only calls the function.
        call = FlatCall(self, arguments, rules_of(self), lends=not isinstance(
            current_trace(), EvalTrace))
        # The call with the rule for vmap is inside: other rules come first.
        fun = seams.call_with_batching(call) if call.rules.vmap else call
        ys = self.bind(fun, call, xs)
        return call.out_tree.unflatten(own_memory(ys, xs))

    def bind(self, fun, call, xs):
        return custom_jvp_call_p.bind(*xs, fun=fun, jvp=FlatRule(call))


@seams.call_with_batching.define
@seams.call_if_unused.define
def refuse_without_wing(call, *_):
    raise NotImplementedError(
        f'{call} needs the wing autodiff_mini/wings/more_calls, which is off '
        'or missing: '
        'def_vmap and optimize_remat are defined there')


# From users' functions and rules to flat lists.
class Arguments(NamedTuple):
    """The arguments of a custom call, without the operands.

    The operands are the traced values in the nondiff arguments, and the
    leaves of the other arguments, which are free.

    Args:
        in_tree: the structure of the tuple of the free arguments.
        free: their positions or names.
        held: the nondiff arguments, by position or name.
        keys: for each traced value in these, the key of its argument.
        names: the names of the keyword-only arguments.
        left_out: how many keyword-only arguments the call left out.
    """

    in_tree: PyTreeDef
    free: Sequence
    held: dict
    keys: Sequence
    names: Sequence
    left_out: int


def flat_arguments(function, args, given) -> tuple[Arguments, list]:
    """Return the arguments of a call of a custom function, and its operands.

    Args:
        function: the custom function.
        args: its positional arguments.
        given: its keyword arguments.
    """
    kwargs, nondiff = {}, function.nondiff
    held, traced, keys, names, left_out = {}, [], (), (), ()
    if given or len(args) != function.count:
        args, kwargs = resolve_kwargs(
            function.fun, args, given, function.signature)
    if function.is_method and 0 not in nondiff and (
            gives_self(function.fun, args)):
        nondiff = (0, *nondiff)
        opened = seams.open_self(args[0])
        if traced_leaves(opened):
            args = (opened, *args[1:])
    free = range(len(args))
    if nondiff or kwargs:
        left_out = kwargs.keys() - {*nondiff}
        left_out = left_out if left_out.isdisjoint(given) else ()
        names = [key for key in kwargs if key not in left_out]
        every = dict(enumerate(args)) | {key: kwargs[key] for key in names}
        held = {key: every.pop(key) for key in nondiff if key in every}
        free, args = list(every), tuple(every.values())
        found = {key: traced_leaves(x) for key, x in held.items()}
        keys = [key for key in found for _ in found[key]]
        traced = [*chain(*found.values())]
    xs, in_tree = tree_flatten(args)
    map_leaves(typeof, lambda: leaf_names(
        tree_structure(OrderedDict(zip(free, args))),
        f'arguments of {fun_name(function)}'), xs)
    return Arguments(
        in_tree, free, held, keys, names, len(left_out)), traced + xs


class FlatCall:
    """The function of a custom call, from a flat list to a flat list.

    Args:
        function: the custom function that the user calls.
        arguments: its Arguments.
        rules: its rules at the time of the call.
        lends: whether the function and its rules can only read arguments.

    Attributes:
        out_tree: the structure of its output, once it has run.
    """

    def __init__(self, function, arguments, rules, lends=False):
        self.function = function
        self.arguments = arguments
        self.rules = rules
        self.lends = lends
        self.__qualname__ = function.__qualname__

    def __call__(self, *operands):
        fun, loan = self.function.fun, None
        if self.lends:
            loan = Loan(fun)
            fun, operands = loan.call, list(map(loan.lend, operands))
        args, kwargs = self.in_place(*self.split(operands, loan=loan))
        ys, self.out_tree = tree_flatten(fun(*args, **kwargs))
        return ys

    def split(self, operands, marks=(), loan=None):
        """Return the nondiff arguments, and the leaves of the others.

        Args:
            operands: the operands of the call.
            marks: for each operand, its tangent or whether it is perturbed.
            loan: the Loan of a function that can only read the arguments.
        """
        held, keys = self.arguments.held, self.arguments.keys
        n = len(keys)
        if keys:
            self.check_still(marks)
            values = map(to_read, operands[:n])
            held = {key: replace_traced(x, values) if key in keys else x
                    for key, x in held.items()}
        if self.lends and held:
            loan = loan or Loan(self.function.fun)
            held = {key: loan.lend(x) for key, x in held.items()}
        return held, operands[n:]

    def in_place(self, held, xs):
        """Return the positional arguments, and the keyword arguments."""
        in_tree, names = self.arguments.in_tree, self.arguments.names
        if not (held or names):
            return in_tree.unflatten(xs), {}
        every = held | dict(zip(self.arguments.free, in_tree.unflatten(xs)))
        args = [every[i] for i in range(len(every) - len(names))]
        return args, {name: every[name] for name in names}

    def __getstate__(self):
        """Return the state to pickle, without the function's own rules."""
        return {key: x for key, x in vars(self).items()
                if x is not self.function.rules}

    def __setstate__(self, state):
        vars(self).update({'rules': state['function'].rules} | state)

    def check_still(self, marks):
        """Raise a TypeError if a nondiff argument is differentiated."""
        for key, mark in zip(self.arguments.keys, marks):
            if not (type(mark) is Zero or mark is False):
                why = ('is named in nondiff_argnums'
                       if key in self.function.nondiff
                       else 'is the self of a method')
                raise TypeError(
                    f'Argument {key} of {self} {why}, but it is being '
                    'differentiated, and the rule would drop that '
                    'derivative. Remove it from nondiff_argnums, or pass '
                    'the value as another argument.')

    def __str__(self):
        return fun_name(self)


def traced_leaves(x) -> list:
    """Return the tracers in a nondiff argument, which can be anything."""
    try:
        leaves = tree_leaves(x)
    except TypeError:   # such as a dictionary whose keys have no order
        return []
    return [leaf for leaf in leaves if isinstance(leaf, Tracer)]


def replace_traced(x, values):
    """Replace the tracers in a nondiff argument by these values."""
    return tree_map(lambda leaf: next(values) if isinstance(leaf, Tracer)
                    else leaf, x)


def for_rule(ts, others, symbolic) -> list:
    """Return tangents as a rule takes them: zeros are symbolic, or arrays."""
    if symbolic:
        return [SymbolicZero(t.like) if type(t) is Zero else t for t in ts]
    return instantiate_all(ts, chain(ts, others))


class UserRule:
    """A user's rule, as a function of flat lists.

    A subclass defines `name`, a field of Rules, and `kind`, for errors.

    Args:
        call: the FlatCall of the function.
    """

    def __init__(self, call):
        self.call = call

    @property
    def __name__(self):
        return own_name(getattr(self.call.rules, self.name))

    def __str__(self):
        return (f'Custom {self.kind} rule {fun_name(self)} for function '
                f'{self.call}')

    def outputs(self, out) -> list:
        """Return the leaves of the primal output, which is like `fun`'s."""
        ys, tree = tree_flatten(out)
        wanted = getattr(self.call, 'out_tree', tree)
        if tree != wanted:      # the function was staged before
            raise TypeError(
                f'{self} must produce primal outputs equal to those of the '
                f'function, in the same container (pytree) structure, '
                f'{wanted}, but got {tree}')
        self.call.out_tree = tree
        return ys

    def ask(self, rule, *args):
        """Call the rule, and return its result.

        If the rule calls the function, that call has the same rules.
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
    """The rule for forward mode, from primals and tangents to both."""

    name, kind = 'jvp', 'JVP'

    def __call__(self, operands, dots):
        call, rules = self.call, self.call.rules
        held, xs = call.split(operands, dots)
        in_tree, n = call.arguments.in_tree, len(call.arguments.keys)
        x_dots = for_rule(dots[n:], xs, rules.symbolic_zeros)
        primals = in_tree.unflatten(map(to_read, xs))
        tangents = in_tree.unflatten(map(to_read, x_dots))
        out, out_dot = self.ask(
            rules.jvp, *held.values(), primals, tangents)
        ys = self.outputs(out)
        y_dots = flatten_up_to(call.out_tree, out_dot)
        names = lambda: leaf_names(
            call.out_tree, f'{self} must produce primal and tangent outputs '
            'with corresponding shapes and dtypes: output')
        return ys, map_leaves(fit_rule_tangent, names, ys, y_dots)


def fit_rule_tangent(y, y_dot):
    """Return the tangent that a rule returned, converted to fit `y`."""
    if not isinstance(y_dot, Zero):
        return fit_tangent(y, y_dot)
    if y_dot.aval != tangent_type(typeof(y)):
        fit_tangent(y, instantiate_zeros(y_dot))    # which can raise
    return Zero(y)


def sum_of_rules(function, rules, *args):
    """Return the output and its tangent, the sum of the rules' results."""
    *owner, primals, tangents = args
    if owner or len(primals) != len(rules):
        raise ValueError(
            f'wrong number of rules from defjvps for {fun_name(function)}: '
            f'expected {len(owner) + len(primals)}, but got {len(rules)}. '
            'Pass a rule or None for each argument. With self, or with '
            'keyword-only arguments, use defjvp: rule(self, primals, '
            'tangents).')
    y = function(*primals)
    terms = [rule(t, y, *primals) for rule, t in zip(rules, tangents)
             if rule and {*map(is_float0, tree_leaves(t))} != {True}]
    return y, tree_map(
        lambda y, *terms: reduce(add_terms, terms, Zero(y)), y, *terms)


def is_float0(t):
    """Return whether `t` is the tangent of an integer or a boolean."""
    return (t.aval if isinstance(t, Zero) else typeof(t)).dtype == float0


def add_terms(s, t):
    """Add two tangents of an output, which can be an integer."""
    return s if is_float0(s) and is_float0(t) else add_tangents(s, t)
