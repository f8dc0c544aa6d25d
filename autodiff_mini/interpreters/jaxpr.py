"""Jaxprs: programs as data.

Its one idea: an interpreter that computes nothing, and writes down what it is
asked about.  What it wrote can be read, checked, and run again, under any
other interpreter.  Chapter 7.
"""

import gc
from dataclasses import dataclass, field
from functools import wraps
from itertools import count, product
from string import ascii_lowercase
from threading import Lock

import numpy as np

from autodiff_mini.core import (
    PYTHON_NUMBERS, Primitive, ShapedArray, Trace, TraceTag, Tracer,
    current_trace, typeof)
from autodiff_mini.errors import (
    UnexpectedTracerError, fun_name, line_text, user_line)
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jvp import Zero
from autodiff_mini.interpreters.vmap import apply, argument_names
from autodiff_mini.pytree import leaf_names, tree_flatten
from autodiff_mini.signature import FlatFunction, map_leaves


class Var:
    """A name for a value that is not known yet."""

    __slots__ = ('aval',)

    def __init__(self, aval):
        self.aval = aval

    @property
    def shape(self):
        return self.aval.shape

    def refuse(self, *_, **__):
        raise TypeError('the program is not linear: an operation needs the '
                        'value of an operand that has none, since it depends '
                        "on the program's inputs")

    __mul__ = __rmul__ = __array_ufunc__ = __array_function__ = refuse


class Literal:
    """A number that stands in a program as it is; or a symbolic zero."""

    __slots__ = ('val',)

    def __init__(self, val):
        self.val = val

    @property
    def aval(self):
        val = self.val
        return val.aval if isinstance(val, Zero) else typeof(val)


@dataclass(slots=True, eq=False)
class Equation:
    """A line of a program: the names of the results, and how to get them.

    Args:
        primitive: the operation.
        invars: its operands.
        params: its parameters.
        outvars: its results.
        line: where the user's program asked for it; see `user_line`.
    """

    primitive: Primitive
    invars: list[Var | Literal]
    params: dict
    outvars: list[Var]
    line: tuple | None = None


@dataclass(slots=True, eq=False, repr=False)
class Jaxpr:
    """A program: equations, in the order in which they are computed.

    Args:
        constvars: the names of the arrays that it has closed over.
        invars: the names of its arguments.
        eqns: the equations.
        outvars: what it returns.
        consts: the arrays that it has closed over.
        cache: what has been made of it, by whoever made it.

    Source: `Jaxpr` and `ClosedJaxpr` in JAX's `jax/_src/core.py`.
    """

    constvars: list[Var]
    invars: list[Var]
    eqns: list[Equation]
    outvars: list[Var | Literal]
    consts: list
    cache: dict = field(default_factory=dict)

    jaxpr = property(lambda self: self)     # as a parameter, it shows itself

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.outvars]

    def __repr__(self):
        return '\n'.join(jaxpr_lines(self))


class JaxprTracer(Tracer):
    """A value of which the type is known, and a name, and nothing else."""

    __slots__ = ('aval', 'name')

    def __init__(self, trace, name, line=None):
        self.trace = trace
        self.name = name
        self.aval = name.aval
        self.line = line


class JaxprTrace(Trace):
    """Computes nothing, and writes down what it is asked about."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.eqns = []
        self.known = {}     # by id: a value, and its name
        self.snapshot = Snapshot()

    def process_primitive(self, primitive, args, params):
        rule = staging_rules.get(primitive)
        if rule:
            return rule(self, args, **params)
        return self.record(primitive, args, params)

    def record(self, primitive, args, params):
        """Appends an equation; returns tracers for its results."""
        invars = [x.name if type(x) is JaxprTracer and x.trace is self
                  else self.var(x) for x in args]
        out = abstract_rules[primitive](*[v.aval for v in invars], **params)
        line = self.line or user_line(3)
        if primitive.multiple_results:
            outs = [JaxprTracer(self, Var(aval), line) for aval in out]
            outvars = [x.name for x in outs]
        else:
            outs = JaxprTracer(self, Var(out), line)
            outvars = [outs.name]
        self.eqns.append(Equation(primitive, invars, params, outvars, line))
        return outs

    def var(self, x):
        """Returns what stands for `x` in an equation."""
        if type(x) is JaxprTracer and x.trace is self:
            return x.name
        if type(x) in PYTHON_NUMBERS or isinstance(x, np.generic):
            return Literal(x)
        return self.constant(self.snapshot(x))

    def constant(self, x):
        """Returns the name of a value that the program closes over."""
        if id(x) in self.known:
            return self.known[id(x)][1]
        if isinstance(x, Tracer):
            self.check_outside(x)
        var = Var(typeof(x))
        self.known[id(x)] = x, var
        return var

    def check_outside(self, tracer):
        """Raises if a tracer belongs to no trace that this one runs in."""
        trace = self.parent
        while trace and trace.tag is not tracer.trace.tag:
            trace = trace.parent
        if trace is None:
            raise UnexpectedTracerError(tracer)

    def input(self, aval):
        """Returns a tracer for a new argument of this type."""
        return JaxprTracer(self, Var(aval))

    def jaxpr(self, inputs, outs):
        """Returns the program from these tracers to those values."""
        outvars = list(map(self.var, outs))
        constvars = [var for _, var in self.known.values()]
        consts = [x for x, _ in self.known.values()]
        return Jaxpr(constvars, [x.name for x in inputs], self.eqns, outvars,
                     consts)

    def lift(self, x):
        return JaxprTracer(self, self.var(x))

    def keep(self, x):
        return self.snapshot(x)


staging_rules = {}


class Snapshot:
    """Copies arrays of NumPy's, which their owner may change later.

    As long as an array has not changed, its copies are one.
    """

    def __init__(self):
        self.copies = {}    # by id: the array, so that it lives; its copy

    def __call__(self, x):
        if not isinstance(x, np.ndarray):
            return x
        _, copy = self.copies.get(id(x), (x, None))
        # What is broadcast is compared and copied once, and stays broadcast.
        once = tuple(slice(None) if stride else slice(1)
                     for stride in x.strides)
        if copy is None or not np.array_equal(
                copy[once], x[once], equal_nan=x.dtype.kind in 'fc'):
            copy = np.broadcast_to(x[once].copy('K'), x.shape)
            self.copies[id(x)] = x, copy
        return copy


class Uncollected:
    """Lets Python's garbage collector wait, in all threads.

    It goes through all objects again and again, and a program that is being
    written down is many objects, of which none is garbage.
    """

    lock, depth, was_enabled = Lock(), 0, False

    def __enter__(self):
        with self.lock:
            if Uncollected.depth == 0:
                Uncollected.was_enabled = gc.isenabled()
                gc.disable()
            Uncollected.depth += 1

    def __exit__(self, *error):
        with self.lock:
            Uncollected.depth -= 1
            if Uncollected.depth == 0 and self.was_enabled:
                gc.enable()


def stage_flat(f, avals, tag):
    """Returns the function `f`, of arrays of these types, as a jaxpr.

    Args:
        f: takes arrays, returns a list of them.
        avals: the types of its arguments.
        tag: which application of which transformation this is.
    """
    with Uncollected(), JaxprTrace(current_trace(), tag) as trace:
        inputs = list(map(trace.input, avals))
        return trace.jaxpr(inputs, f(*inputs))


def make_jaxpr(f):
    """Returns a function that returns `f` as a program, a jaxpr.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.

    Returns:
        A function of the same arguments.  Of these only the types matter, so
        a ShapedArray may stand for an array.  It returns a Jaxpr, with
        `consts`, `eqns`, `in_avals` and `out_avals`.

    Raises:
        TypeError: something that goes into `f` or comes out of it is no
            array, or Python asks for a value, as `if x > 0` does.

    Source: `jax.make_jaxpr`.

    Examples:
        >>> make_jaxpr(lambda x: np.sin(x) * 2)(np.ones(3))
        { lambda ; a:float64[3] . let
            b:float64[3] = sin a
            c:float64[3] = mul b 2
          in (c,) }
    """
    @wraps(f, updated=())
    def jaxpr_of_f(*args, **kwargs):
        return stage_tree(f, args, kwargs, TraceTag('make_jaxpr', f))[0]
    return jaxpr_of_f


def stage_tree(f, args, kwargs, tag):
    """Returns `f` as a jaxpr, and the structure of what it returns."""
    xs, in_tree = tree_flatten((args, kwargs))
    avals = map_leaves(typeof, lambda: argument_names(in_tree, tag), xs)
    flat_f = FlatFunction(apply(f), in_tree)

    def checked(*xs):
        outs = flat_f(*xs)
        map_leaves(typeof, lambda: leaf_names(
            flat_f.out_tree, f'{tag}: output'), outs)
        return outs
    return stage_flat(checked, avals, tag), flat_f.out_tree


def eval_shape(f, *args, **kwargs):
    """Returns the types of what `f` returns, without computing it.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        args: its arguments; a ShapedArray may stand for an array.
        kwargs: those given by keyword.

    Returns:
        A tree of ShapedArrays.

    Raises:
        TypeError: as make_jaxpr.

    Source: `jax.eval_shape`.

    Examples:
        >>> print(eval_shape(np.matmul, np.ones((2, 3)), np.ones(3)))
        float64[2]
    """
    tag = TraceTag('eval_shape', f)
    jaxpr, out_tree = stage_tree(f, args, kwargs, tag)
    return out_tree.unflatten(jaxpr.out_avals)


def eval_jaxpr(jaxpr, consts, *args) -> list:
    """Returns the list of what a program returns for these arguments.

    Args:
        jaxpr: the program.
        consts: the arrays for its `constvars`; usually `jaxpr.consts`.
        args: an array for each of its `invars`.

    Raises:
        TypeError: there are too many arguments, or too few.

    Source: `eval_jaxpr` in JAX's `jax/_src/core.py`.

    Examples:
        >>> jaxpr = make_jaxpr(lambda x: x * 2)(1.0)
        >>> eval_jaxpr(jaxpr, jaxpr.consts, 3.0)
        [6.0]
    """
    env = bind_names(jaxpr, consts, args)

    def read(v):
        return v.val if type(v) is Literal else env[v]

    eqn, trace = None, current_trace()
    try:
        for eqn in jaxpr.eqns:
            trace.line = None if eqn.primitive.is_call else eqn.line
            out = eqn.primitive.bind(*map(read, eqn.invars), **eqn.params)
            outs = out if eqn.primitive.multiple_results else [out]
            env.update(zip(eqn.outvars, outs, strict=True))
    except Exception as error:
        quote_line(error, eqn)
        raise
    finally:
        trace.line = None
    return list(map(read, jaxpr.outvars))


def bind_names(jaxpr, consts, args) -> dict:
    """Returns the values of the names with which a program starts."""
    for what, names, values in (('constants', jaxpr.constvars, consts),
                                ('arguments', jaxpr.invars, args)):
        if len(names) != len(values):
            raise TypeError(f'this jaxpr has {len(names)} {what}, but '
                            f'{len(values)} were given:\n{jaxpr}')
    return dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args]))


def quote_line(error, eqn):
    """Adds to an error where the program asked for the operation."""
    if eqn and eqn.line:
        error.add_note(f"in the operation '{eqn.primitive}', asked for at "
                       f'{line_text(eqn.line)}')


class Names(dict):
    """The letters by which variables are printed: a to z, then aa to zz."""

    def __init__(self):
        self.letters = (''.join(letters) for length in count(1)
                        for letters in product(ascii_lowercase,
                                               repeat=length))

    def __missing__(self, v):
        if type(v) is Literal:
            return str(v.val)
        self[v] = next(self.letters)
        return self[v]

    def typed(self, variables) -> str:
        """Returns the variables with their types."""
        return ' '.join(f'{self[v]}:{type_text(v.aval)}' for v in variables)


def type_text(aval) -> str:
    """Returns how a program prints a type: that of a Python number short."""
    if not aval.weak_type:
        return str(aval)
    return aval.dtype.name.rstrip('0123456789')


def jaxpr_lines(jaxpr) -> list[str]:
    """Returns the lines by which a program is printed."""
    names = Names()
    consts, inputs = names.typed(jaxpr.constvars), names.typed(jaxpr.invars)
    left = [names.typed(eqn.outvars) for eqn in jaxpr.eqns]
    width = max(map(len, left), default=0)
    lines = [' '.join(f'{{ lambda {consts} ; {inputs} . let'.split())]
    for text, eqn in zip(left, jaxpr.eqns, strict=True):
        first, *rest = right_lines(eqn, names)
        lines.append(f'    {text:{width}} = {first}')
        lines += [f'    {line}' for line in rest]
    outs = ', '.join(names[v] for v in jaxpr.outvars)
    comma = ',' if len(jaxpr.outvars) == 1 else ''
    return lines + [f'  in ({outs}{comma}) }}']


def right_lines(eqn, names) -> list[str]:
    """Returns the lines of the right side of an equation."""
    short, nested = [], []
    for key, value in eqn.params.items():
        programs = programs_in(value)
        for i, program in enumerate(programs):
            name = key if value is not programs else f'{key}[{i}]'
            first, *rest = jaxpr_lines(program)
            nested += [f'    {name}={first}', *[f'    {x}' for x in rest]]
        if not programs and value is not None:
            short.append(f'{key}={param_text(value)}')
    params = f'[{" ".join(short)}]' if short else ''
    operands = ' '.join(names[v] for v in eqn.invars)
    return [f'{eqn.primitive}{params} {operands}'.rstrip(), *nested]


def programs_in(value) -> tuple:
    """Returns the programs that a parameter holds."""
    if isinstance(value, tuple) and value and type(value[0]) is Jaxpr:
        return value
    return (value.jaxpr,) if hasattr(value, 'jaxpr') else ()


def param_text(value) -> str:
    """Returns how a program prints a parameter: a slice as Python does."""
    if isinstance(value, tuple):
        comma = ',' if len(value) == 1 else ''
        return f'({", ".join(map(param_text, value))}{comma})'
    if isinstance(value, slice):
        ends = [value.start, value.stop]
        ends += [value.step] if value.step is not None else []
        return ':'.join('' if i is None else str(i) for i in ends)
    return fun_name(value) if callable(value) else str(value)


def check_jaxpr(jaxpr):
    """Raises a TypeError if a program makes no sense.

    Each name must be defined once, before it is used; each result must have
    the type that abstract evaluation finds.
    """
    defined = set()
    define(defined, [*jaxpr.constvars, *jaxpr.invars], None)
    for eqn in jaxpr.eqns:
        look_up(defined, eqn.invars, eqn)
        out = abstract_rules[eqn.primitive](
            *[v.aval for v in eqn.invars], **eqn.params)
        types = out if eqn.primitive.multiple_results else [out]
        have = [v.aval for v in eqn.outvars]
        if have != types:
            fail(f"the result of '{eqn.primitive}' is declared as "
                 f'{" ".join(map(str, have))}, but is '
                 f'{" ".join(map(str, types))}', eqn)
        define(defined, eqn.outvars, eqn)
        for value in eqn.params.values():
            for program in programs_in(value):
                check_jaxpr(program)
    look_up(defined, jaxpr.outvars, None)


def define(defined, variables, eqn):
    """Adds names to a set; raises if one is there already."""
    for v in variables:
        if v in defined:
            fail(f'a variable of type {v.aval} is defined twice', eqn)
        defined.add(v)


def look_up(defined, variables, eqn):
    """Raises if a name is not in a set."""
    for v in variables:
        if type(v) is Var and v not in defined:
            fail(f'a variable of type {v.aval} is used before it is defined',
                 eqn)


def fail(what, eqn):
    """Raises the error for a program that makes no sense."""
    error = TypeError(f'this is no jaxpr: {what}')
    quote_line(error, eqn)
    raise error
