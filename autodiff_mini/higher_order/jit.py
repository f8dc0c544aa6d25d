"""`jit`: a function that is written down once, and becomes Python.

Its one idea: a primitive that carries a program.  What interprets it makes
another program of it, and only who computes has it compiled.  Chapter 12.
"""

from functools import partial
from itertools import repeat

import numpy as np

from autodiff_mini import seams
from autodiff_mini.copying import place_of
from autodiff_mini.core import (
    Primitive, Trace, TraceTag, current_trace, typeof)
from autodiff_mini.errors import fun_name, public, tell_user
from autodiff_mini.higher_order.programs import (
    batch_jaxpr, close, for_arguments, for_outputs, forward, interleave,
    jvp_jaxpr, nothing, others, partial_eval_jaxpr, picked, remember,
    remembered, smaller, transpose_jaxpr)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import stage_tree
from autodiff_mini.interpreters.jvp import jvp_rules
from autodiff_mini.interpreters.lowering import (
    MISS, inline_rules, lower, lowering_rules)
from autodiff_mini.interpreters.partial_eval import partial_eval_rules
from autodiff_mini.interpreters.transpose import transpose_rules
from autodiff_mini.interpreters.vmap import vmap_rules
from autodiff_mini.jaxprs import Var, dead_rules, is_loud
from autodiff_mini.memory import own_memory
from autodiff_mini.pytree import check_hash, frozen, tree_flatten
from autodiff_mini.signature import (
    UserFunction, argument_names, argument_positions, hold_arguments,
    is_object, map_leaves, named_after, names_of)
from autodiff_mini.zeros import Zero, pack, unpack

compiled = remembered(lower)


def run_compiled(*xs, jaxpr, **params):
    program = compiled(jaxpr)
    return own_memory(program(*xs), [*xs, *program.constants])


def run_in_state(*xs, jaxpr, name, **state):
    if not state:
        return run_compiled(*xs, jaxpr=jaxpr)
    with np.errstate(**state):
        return run_compiled(*xs, jaxpr=jaxpr)


jit_p = Primitive('jit', run_in_state, multiple_results=True)


def program_jvp(primitive, primals, tangents, jaxpr, **params):
    moving = tuple(type(t) is not Zero for t in tangents)
    jaxpr, out_moving = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
    outs = primitive.bind(*pack(primals, tangents), jaxpr=jaxpr, **params)
    return unpack(outs, [not moves for moves in out_moving])


def program_vmap(primitive, axis, vals, dims, jaxpr, **params):
    mapped = tuple(dim == 0 for dim in dims)
    jaxpr, out_dims = batch_jaxpr(jaxpr, axis.size, mapped, nothing(jaxpr))
    return primitive.bind(*vals, jaxpr=jaxpr, **params), out_dims


def program_transpose(primitive, cts, *operands, jaxpr, **params):
    linear = tuple(type(x) is Var for x in operands)
    given = tuple(ct is not None for ct in cts)
    outs = primitive.bind(
        *others(operands, linear), *picked(cts, given),
        jaxpr=transpose_jaxpr(jaxpr, linear, given), **params)
    return interleave(linear, outs, repeat(None))


jvp_rules[jit_p] = partial(program_jvp, jit_p)
vmap_rules[jit_p] = partial(program_vmap, jit_p)
transpose_rules[jit_p] = partial(program_transpose, jit_p)
abstract_rules[jit_p] = lambda *avals, jaxpr, **params: jaxpr.out_avals


def jit_partial_eval(trace, args, jaxpr, **params):
    unknown = tuple(map(trace.is_unknown, args))
    if not any(unknown):
        return trace.compute(jit_p, args, {'jaxpr': jaxpr, **params})
    known, later, out_unknown = partial_eval_jaxpr(jaxpr, unknown,
                                                   nothing(jaxpr))
    xs, n = others(args, unknown), out_unknown.count(False)
    known, passed = forward(known, n)
    outs = iter(trace.compute(jit_p, xs, {'jaxpr': known, **params}))
    outs = [next(outs) if i is None else xs[i] for i in passed]
    if is_loud(params):     # only what is known now speaks up if it is dead
        params = params | {'name': 'errstate of tangents'}
    late = trace.record(jit_p, [*outs[n:], *picked(args, unknown)],
                        {'jaxpr': later, **params})
    return interleave(out_unknown, late, outs[:n])


partial_eval_rules[jit_p] = jit_partial_eval


def program_for_outputs(eqn, used):
    if is_loud(eqn.params):
        return eqn
    program, matter = for_outputs(eqn.params['jaxpr'], used)
    return smaller(eqn, matter, used, jaxpr=for_arguments(program, matter))


dead_rules[jit_p] = program_for_outputs


inline_rules[jit_p] = lambda *avals, jaxpr, name, **state: (
    None if state else jaxpr)


def jit_lowering(emitter, *operands, jaxpr, name, **state):
    part = emitter.nested('part', jaxpr)
    states = ', '.join(f'{kind}={emitter.value(what)}'
                       for kind, what in state.items())
    return f'np.errstate({states})({part})({", ".join(operands)})'


lowering_rules[jit_p] = jit_lowering


class jit(UserFunction):
    """A function that is written down once, and runs as Python source.

    The function runs as Python at its first call, with tracers for arguments,
    and again when an argument has another type or tree, or a static argument
    another value.  What it does besides computing is done only then, so the
    random numbers that it draws become constants, and a warning says so.  But
    `with np.errstate(...)` around a part of it is kept, in so far as it is
    another error state than that of NumPy around the first call.

    In a method, the arrays in the attributes of `self` are traced, as
    arguments are, so the method sees new values.  The other attributes are
    static: the method is traced again when one of them has another value.
    A method that changes `self` is refused.  A method of another function,
    as in `jit(grad(self.loss))`, and one whose first parameter is not called
    self, see the attributes as they were when they were traced.

    A function with a rule of its own, such as a custom_jvp, keeps in the
    program the rule that it had when the program was written down.  An
    operation of `ad.Primitive` is always what its rules say now.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        static_argnums: the positions of arguments that are not traced, and
            may be anything that has a hash.
        static_argnames: the names of such arguments.

    Raises:
        ValueError: a static argument has no hash.
        TypeError: an argument, or what `f` returns, is no array, or Python
            asks for the value of one; or a method changes `self`, or has
            arrays inside of an object in an attribute.

    Source: `jax.jit`.

    Examples:
        >>> import numpy as np
        >>> f = jit(lambda x: np.sin(x) * 2)
        >>> f(np.zeros(2))
        array([0., 0.])
        >>> print(f.source)
        const_1 = np.array(2.0)
        <BLANKLINE>
        <BLANKLINE>
        def program(a):
            b = np.sin(a)                   # line 1
            c = b * const_1
            return [c]
    """

    @public
    def __init__(self, f, static_argnums=(), static_argnames=()):
        named_after(f)(self)
        self.tag = TraceTag('jit', f)
        self.static = argument_positions(f, static_argnums, static_argnames)
        self.held = {*self.static, *names_of(f, self.static)}
        self.f, self.bound, self.method = seams.method_of(f)
        if self.bound:
            self.held = {x + 1 if isinstance(x, int) else x
                         for x in self.held}
        self.staged = {}    # by types, trees, and static arguments
        self.last = None    # the program of the last call
        self.guard = None   # for calls like the last one

    def __reduce__(self):
        return place_of(self) or (jit, (self.__wrapped__, self.static))

    def __call__(self, *args, **kwargs):
        try:
            guard = self.guard
            if guard and not kwargs:
                out = guard(args)
                if out is not MISS:
                    return out
            return self.run(args, kwargs)
        except Exception as error:      # as `public` does, without a call
            tell_user(error)
            raise

    @public
    def run(self, args, kwargs):
        """Returns the result for arguments of which nothing is known."""
        f, args = self.f, (*self.bound, *args)
        if self.method and args and is_object(args[0]) and (
                0 not in self.held):
            f, args = self.method, (seams.open_self(args[0]), *args[1:])
        args, kwargs, f, static = hold_arguments(f, args, kwargs, self.held)
        xs, in_tree = tree_flatten((args, kwargs))
        names = partial(argument_names, in_tree, self.tag)
        avals = map_leaves(typeof_argument, names, xs)
        key = in_tree, *avals, *static_part(self.f, static)
        program = self.staged.get(key)
        if program is None:
            jaxpr, out_tree = stage_tree(f, args, kwargs, self.tag)
            program = *close(jaxpr), out_tree
            if not program[1]:  # a tracer will be gone at the next call
                remember(self.staged, key, program)
        jaxpr, traced, out_tree = program
        self.last, self.guard = jaxpr, None
        outs = jit_p.bind(*traced, *xs, jaxpr=jaxpr, name=fun_name(self.f))
        self.last = jaxpr
        if current_trace() is Trace.base and not (
                traced or self.static or self.bound or kwargs):
            self.guard = compiled(jaxpr).guard(xs, in_tree, out_tree)
        return out_tree.unflatten(outs)

    @property
    def source(self) -> str:
        """The Python source of the program of the last call."""
        if self.last is None:
            raise AttributeError(f'{fun_name(self.f)} has not been called '
                                 'yet, so there is no program of it: call it '
                                 'with an argument of each type first')
        return compiled(self.last).source


def typeof_argument(x):
    """Returns the type of an argument."""
    if isinstance(x, str):
        raise TypeError('a value of type str cannot be traced: make it a '
                        'static argument, with static_argnums, or a field '
                        "of a dataclass static, with metadata={'static': "
                        'True}')
    return typeof(x)


def static_part(f, static):
    """Returns static arguments as a part of a key."""
    for name, x in static.items():
        check_hash(x, 'Non-hashable static arguments are used in a jit '
                   f'function: argument {name} of {fun_name(f)}')
    return [(name, frozen(x)) for name, x in static.items()]
