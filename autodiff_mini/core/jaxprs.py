"""Jaxprs: programs as data, and their text.

A program is a list of equations between variables.  A variable gets its
letter when it is first printed.  Chapter 7.
"""

from dataclasses import dataclass, field
from itertools import chain, count, filterfalse, product
from operator import attrgetter

from autodiff_mini.core.lines import lasting_line
from autodiff_mini.core.names import own_name
from autodiff_mini.core.trace import Primitive
from autodiff_mini.core.types import ShapedArray, typeof
from autodiff_mini.core.zeros import Zero


@dataclass(slots=True, eq=False)
class Var:
    """A name for a value that is not known yet."""

    aval: ShapedArray
    shape = property(attrgetter('aval.shape'))

    def __repr__(self):
        return f'Var({self.aval})'

    def refuse(self, *_, **__):
        raise TypeError('the program is not linear: an operation needs the '
                        'value of an operand, which is not known because it '
                        'depends on the inputs of the program. For a '
                        'nonlinear function, use ad.vjp.')

    __mul__ = __rmul__ = __array_ufunc__ = __array_function__ = refuse
    dtype = property(refuse)


class Literal:
    """A constant number in a program, or a symbolic zero."""

    __slots__ = ('val',)

    def __init__(self, val):
        self.val = val

    def __repr__(self):
        return f'Literal({self.val})'

    @property
    def aval(self):
        val = self.val
        return val.aval if isinstance(val, Zero) else typeof(val)


class Values(dict):
    """The values of a program's variables; a literal has its own."""

    def __missing__(self, literal):
        return literal.val


@dataclass(slots=True, eq=False)
class Equation:
    """A line of a program: an operation, its operands, and its results.

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

    def __reduce__(self):
        line = self.line and (*lasting_line(self.line), *self.line[2:])
        return Equation, (self.primitive, self.invars, self.params,
                          self.outvars, line)


@dataclass(slots=True, eq=False, repr=False)
class Jaxpr:
    """A program: equations in the order in which they are computed.

    Args:
        constvars: the names of the arrays that it closes over.
        invars: the names of its arguments.
        eqns: the equations.
        outvars: what it returns.
        consts: the arrays that it closes over.
        cache: what has been computed from it, such as a compiled program.

    Source: `Jaxpr` and `ClosedJaxpr` in JAX's `jax/_src/core.py`.
    """

    constvars: list[Var]
    invars: list[Var]
    eqns: list[Equation]
    outvars: list[Var | Literal]
    consts: list
    cache: dict = field(default_factory=dict)

    jaxpr = property(lambda self: self)     # so that `programs_in` finds it

    def __reduce__(self):
        return Jaxpr, (self.constvars, self.invars, self.eqns, self.outvars,
                       self.consts)

    @property
    def in_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.invars]

    @property
    def out_avals(self) -> list[ShapedArray]:
        return [v.aval for v in self.outvars]

    def __repr__(self):
        return '\n'.join(jaxpr_lines(self))


def check_counts(jaxpr, consts, args):
    """Raise a TypeError if there are too many or too few values."""
    for what, names, values in (('constants', jaxpr.constvars, consts),
                                ('arguments', jaxpr.invars, args)):
        if len(names) != len(values):
            raise TypeError(f'wrong number of {what}: expected {len(names)}, '
                            f'but got {len(values)}, for\n{jaxpr}')


LETTERS = 'abcdefghijklmnopqrstuvwxyz'


class Names(dict):
    """The letters that variables are printed as: a to z, then aa to zz.

    Args:
        reserved: a set of names that are not given.
    """

    def __init__(self, reserved=frozenset()):
        letters = chain.from_iterable(
            map(''.join, product(LETTERS, repeat=n)) for n in count(1))
        self.letters = filterfalse(reserved.__contains__, letters)

    def __missing__(self, v):
        if type(v) is Literal:
            return str(v.val)
        self[v] = next(self.letters)
        return self[v]

    def typed(self, variables) -> str:
        """Return the variables with their types."""
        return ' '.join(f'{self[v]}:{type_text(v.aval)}' for v in variables)


def type_text(aval) -> str:
    """Return a type as a program prints it, without a size if it is weak."""
    if not aval.weak_type:
        return str(aval)
    return aval.dtype.name.rstrip('0123456789')


def jaxpr_lines(jaxpr) -> list[str]:
    """Return the lines of a printed program."""
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
    """Return the lines of the right side of an equation."""
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
    """Return the programs that a parameter holds."""
    if isinstance(value, tuple) and value and type(value[0]) is Jaxpr:
        return value
    return (value.jaxpr,) if hasattr(value, 'jaxpr') else ()


def programs_of(eqn) -> list:
    """Return the programs that an equation holds."""
    return [program for value in eqn.params.values()
            for program in programs_in(value)]


def param_text(value) -> str:
    """Return a parameter as a program prints it, a slice as in Python."""
    if isinstance(value, tuple):
        comma = ',' if len(value) == 1 else ''
        return f'({", ".join(map(param_text, value))}{comma})'
    if isinstance(value, slice):
        ends = [value.start, value.stop]
        ends += [value.step] if value.step is not None else []
        return ':'.join('' if i is None else str(i) for i in ends)
    return own_name(value) if callable(value) else str(value)


def drop_dead(jaxpr):
    """Return the program without equations whose results are not needed.

    An equation also stays if it can raise an error or warn; see `lasting`.
    If all equations stay unchanged, return the program itself, because its
    cache holds what has been computed from it.
    """
    needed, eqns = set(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            eqn = for_results(eqn, needed)
        elif not speaks_up(eqn):
            continue
        eqns.append(eqn)
        needed.update(eqn.invars)
    kept = {v: x for v, x in zip(jaxpr.constvars, jaxpr.consts)
            if v in needed}
    if eqns[::-1] == jaxpr.eqns and len(kept) == len(jaxpr.consts):
        return jaxpr
    return Jaxpr(list(kept), jaxpr.invars, eqns[::-1], jaxpr.outvars,
                 list(kept.values()))


def for_results(eqn, needed):
    """Return an equation that computes only the results that are needed."""
    rule = dead_rules.get(eqn.primitive)
    return rule(eqn, tuple(v in needed for v in eqn.outvars)) if rule else eqn


def speaks_up(eqn):
    """Return whether an equation, or one inside it, can raise or warn."""
    stays = lasting.get(eqn.primitive)
    return bool(eqn.outvars) and (
        stays is not None and stays(eqn.params)
        or any(speaks_up(inner) for program in programs_of(eqn)
               for inner in program.eqns))


dead_rules = {}     # by primitive: a function for `for_results`
lasting = {}    # by primitive: whether it stays, given its parameters


def pulls_in(jaxpr, linear) -> set:
    """Return the Pull classes of the calls that depend on linear inputs.

    Args:
        jaxpr: a program.
        linear: the variables that it is linear in.
    """
    found, linear = set(), {*linear}
    for eqn in jaxpr.eqns:
        if linear.isdisjoint(eqn.invars):
            continue
        linear.update(eqn.outvars)
        if eqn.primitive in pull_rules:
            found |= pull_rules[eqn.primitive](**eqn.params)
            continue
        marks = [v in linear for v in eqn.invars]
        parts = linear_parts.get(eqn.primitive, programs_reached)
        for program, inside in parts(marks, **eqn.params):
            found |= pulls_in(program, [
                v for v, here in zip(program.invars, inside) if here])
    return found


# Calls, and operations that hold a program, return a list.
has_several_results = attrgetter('primitive.multiple_results')


def programs_reached(marks, **params):
    """Yield each program of an equation, and which inputs are linear."""
    for value in params.values():
        for program in programs_in(value):
            whole = type(value) in (Jaxpr, tuple)
            yield program, (marks[-len(program.invars):] if whole
                            else [True] * len(program.invars))


pull_rules = {}     # by primitive: the Pulls of a program that calls it
linear_parts = {}   # by primitive: a replacement for `programs_reached`
