"""`jit`: record a function once, and run it as Python source.

A primitive carries a program.  Each interpreter transforms it into another
program, and only evaluation compiles it.  Chapter 14.
"""

from functools import partial

from autodiff_mini.calls.programs import (
    close, defprogram, remember, remembered, stage_tree)
from autodiff_mini.core import seams
from autodiff_mini.core.copying import place_of
from autodiff_mini.core.memory import gc_paused, own_memory
from autodiff_mini.core.names import TraceTag, fun_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import (
    UserFunction, argument_names, argument_positions, hold_arguments,
    named_after, names_of)
from autodiff_mini.core.trace import Primitive, Trace, current_trace
from autodiff_mini.core.trees import (
    check_hash, frozen, map_leaves, tree_flatten)
from autodiff_mini.core.types import typeof
from autodiff_mini.interpreters import lowering
from autodiff_mini.interpreters.lowering import MISS


@remembered
@gc_paused
def compiled_by(jaxpr, backend, wing):
    """Compile a program to a function, with a wing's compiler or ours."""
    return (seams.backends[backend] if wing else seams.lower)(jaxpr)


def compiled(jaxpr, backend=None):
    return compiled_by(jaxpr, backend or seams.chosen.get(),
                       seams.lower.is_taken())


def run_compiled(*xs, jaxpr, backend=None, **params):
    program = compiled(jaxpr, backend)
    if seams.note.taken:
        seams.note(type(program))
    return own_memory(program(*xs), [*xs, *program.constants])


jit_p = Primitive('jit', run_compiled, multiple_results=True)
defprogram(jit_p)
lowering.inline_rules[jit_p] = lambda *avals, jaxpr, **params: jaxpr


def recorded(f, args, kwargs, tag, backend=None):
    """Return a function as a program, the tracers it closes over, and a tree.

    The program is compiled unless a transformation is running.
    """
    try:
        seams.report(tag, 'recording')
        jaxpr, out_tree = stage_tree(f, args, kwargs, tag)
        jaxpr, traced = close(jaxpr)
        if current_trace() is Trace.base:
            seams.report(tag, f'compiling {len(jaxpr.eqns):,} operations')
            compiled(jaxpr, backend)
        return jaxpr, traced, out_tree
    finally:
        seams.report(tag, None)


class jit(UserFunction):
    """A function that is recorded once and runs as compiled Python.

    The function runs in Python at its first call, with tracers as arguments,
    and again when an argument has a new type or structure, or a static
    argument has a new value.  Side effects happen only then, so random
    numbers that it draws become constants, and a warning says so.  An error
    state from `with np.errstate(...)` in the function is kept if it differs
    from NumPy's error state at the first call.  If that call takes longer
    than about five seconds, a terminal or a notebook shows its progress.

    In a method, the arrays in the attributes of `self` are traced like
    arguments, so the method sees new values.  The other attributes are
    static, so the method is traced again when one of them changes.  A method
    must not change `self`.  A method inside another function, as in
    `jit(grad(self.loss))`, or one whose first parameter is not named self,
    sees the attributes as they were when it was traced.

    To find the arrays, each call looks at every attribute in `vars(self)`,
    used or not, and at every item of the lists, tuples, dicts, dataclasses,
    and registered containers there.  Each item takes a few microseconds, so
    keep a large table in an array, which is one item.  Other objects are
    compared with `==` and not opened.

    A function with its own rule, such as a `custom_jvp` function, keeps the
    rule that it had when the program was recorded.  An `ad.Primitive` always
    uses its current rules.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        static_argnums: the positions of arguments that are not traced and
            can be anything hashable.
        static_argnames: the names of such arguments.
        backend: what compiles the program, `'numpy'` or `'fused'`, which
            needs numba; see `ad.backend`.  Derivatives and batches of the
            function have the same backend.  In another jit function, the
            outer one's backend is used.

    Raises:
        ValueError: a static argument is not hashable, or there is no such
            backend.
        TypeError: an argument or output of `f` is not an array, Python asks
            for the value of one, a method changes `self`, or an attribute
            of `self` is an object with arrays that is not a pytree.

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

    @public(takes_function=True)
    def __init__(self, f, static_argnums=(), static_argnames=(),
                 backend=None):
        named_after(f)(self)
        self.tag = TraceTag('jit', f)
        self.static = argument_positions(f, static_argnums, static_argnames)
        held = self.static and {*self.static, *names_of(f, self.static)}
        self.f, self.bound, self.held, self.opened = seams.method_of(f, held)
        self.staged = {}    # by types, trees, and static arguments
        self.last = None    # the program of the last call
        self.guard = None   # for calls like the last one
        self.backend = backend and seams.check_backend(backend)

    def __reduce__(self):
        return place_of(self) or (
            jit, (self.__wrapped__, self.static, (), self.backend))

    def __call__(self, *args, **kwargs):
        try:
            guard = self.guard
            if guard:
                out = guard(args, kwargs)
                if out is not MISS:
                    return out
            return self.run(args, kwargs)
        except Exception as error:      # as `public` does, without a call
            seams.tell(error)
            raise

    @public
    def run(self, args, kwargs):
        """Return the result for arguments that the guard does not know."""
        f, args = self.opened((*self.bound, *args))
        args, kwargs, f, static = hold_arguments(f, args, kwargs, self.held)
        xs, in_tree = tree_flatten((args, kwargs))
        names = partial(argument_names, in_tree, self.tag)
        avals = map_leaves(typeof, names, xs)
        key = in_tree, *avals, *static_part(self.f, static)
        program = self.staged.get(key)
        if program is None:
            program = recorded(f, args, kwargs, self.tag, self.backend)
            if not program[1]:  # a tracer will be gone at the next call
                remember(self.staged, key, program)
        jaxpr, traced, out_tree = program
        self.last, self.guard = jaxpr, None
        outs = jit_p.bind(*traced, *xs, jaxpr=jaxpr, name=self.__qualname__,
                          backend=self.backend)
        self.last = jaxpr
        if current_trace() is Trace.base and not (
                traced or self.static or self.bound or kwargs):
            program = compiled(jaxpr, self.backend)
            self.guard = program.guard(xs, in_tree, out_tree)
        return out_tree.unflatten(outs)

    @property
    def source(self) -> str:
        """The Python source of the program that the last call ran."""
        if self.last is None:
            raise AttributeError(f'{fun_name(self.f)} has not been called '
                                 'yet, so it has no compiled program. Call '
                                 'it first.')
        return compiled(self.last, self.backend).source


def static_part(f, static):
    """Return static arguments as a part of a key."""
    for name, x in static.items():
        check_hash(x, 'Non-hashable static arguments are used in a jit '
                   'function: argument', name, f)
    return [(name, frozen(x)) for name, x in static.items()]
