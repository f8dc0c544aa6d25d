"""Lowering: a jaxpr becomes Python source, and the source a function.

Its one idea: a program that is written down needs no interpreter any more.
Calls are inlined, what nobody needs is left out, and each equation is a line
of NumPy.  Chapter 13.
"""

import builtins
import keyword
import math
import operator
from collections.abc import Callable
from itertools import count
from traceback import walk_tb
from typing import NamedTuple

import numpy as np

from autodiff_mini.interpreters.jaxpr import (
    Equation, Jaxpr, Literal, Names, Var, quote_line)
from autodiff_mini.interpreters.jvp import Zero, instantiate_zeros
from autodiff_mini.primitives import (
    OPERAND, concatenate_p, index_p, stack_p)


def inline(jaxpr):
    """Returns the program without calls: what they do stands in line.

    Here, and only here, a custom rule is forgotten.
    """
    constants, eqns = {}, []

    def walk(jaxpr, operands, fresh):
        env = dict(zip(jaxpr.invars, operands, strict=True))
        for var, x in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            constants[var] = x
        read = lambda v: v if type(v) is Literal else env.get(v, v)
        for eqn in jaxpr.eqns:
            operands = list(map(read, eqn.invars))
            if eqn.primitive in inline_rules:
                inner = inline_rules[eqn.primitive](
                    *[v.aval for v in operands], **eqn.params)
                outs = walk(inner, operands, True)
                env.update(zip(eqn.outvars, outs, strict=True))
                continue
            if fresh:   # the same program may be inlined twice
                env.update((v, Var(v.aval)) for v in eqn.outvars)
            eqns.append(Equation(eqn.primitive, operands, eqn.params,
                                 list(map(read, eqn.outvars)), eqn.line))
        return list(map(read, jaxpr.outvars))

    outvars = walk(jaxpr, jaxpr.invars, False)
    return Jaxpr(list(constants), jaxpr.invars, eqns, outvars,
                 list(constants.values()))


inline_rules = {}


def drop_dead(jaxpr):
    """Returns the program without equations whose results nobody needs."""
    needed, eqns = set(jaxpr.outvars), []
    for eqn in reversed(jaxpr.eqns):
        if not needed.isdisjoint(eqn.outvars):
            eqns.append(eqn)
            needed.update(eqn.invars)
    kept = {v: x for v, x in zip(jaxpr.constvars, jaxpr.consts)
            if v in needed}
    return Jaxpr(list(kept), jaxpr.invars, eqns[::-1], jaxpr.outvars,
                 list(kept.values()))


class Lowered(NamedTuple):
    """A program as Python; a function of its arguments.

    Args:
        source: the text of a function called `program`.
        function: the function.
        constants: the arrays that the text names.
        equations: by line of the text, what it computes.
    """

    source: str
    function: Callable
    constants: list
    equations: dict

    def __call__(self, *xs):
        try:
            return self.function(*xs)
        except Exception as error:
            for frame, line in walk_tb(error.__traceback__):
                if frame.f_globals is self.function.__globals__:
                    quote_line(error, self.equations.get(line))
            raise


def lower(jaxpr) -> Lowered:
    """Returns the program as a Python function, with its source.

    Args:
        jaxpr: the program.  Its constants go into the function.
    """
    emitter = Emitter()
    emitter.emit('program', drop_dead(inline(jaxpr)))
    source = '\n'.join(emitter.lines).strip()
    exec(compile(source, '<autodiff_mini program>', 'exec'), emitter.scope)
    constants = [x for x in emitter.scope.values()
                 if isinstance(x, np.ndarray)]
    return Lowered(source, emitter.scope['program'], constants,
                   emitter.equations)


class PythonNames(Names):
    """The letters that name variables, and are no words of Python."""

    def __missing__(self, v):
        name = super().__missing__(v)
        while keyword.iskeyword(name) or name in RESERVED:
            name = self[v] = next(self.letters)
        return name


RESERVED = {'np', *dir(builtins)}


class Emitter:
    """Writes functions, and keeps the values that their text cannot hold."""

    def __init__(self):
        self.lines = []
        self.equations = {}     # by line number
        self.scope = {'np': np}
        self.known = {}     # by id: what names a value, or a program
        self.numbers = count(1)

    def emit(self, name, jaxpr):
        """Appends a function, which returns a list."""
        names = PythonNames()
        for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            names[v] = self.constant('const', x)
        lines = [f'def {name}({", ".join(names[v] for v in jaxpr.invars)}):']
        equations = {}
        for eqn, dying in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
            operands = [self.operand(v, names) for v in eqn.invars]
            rule = lowering_rules.get(eqn.primitive)
            text = (rule(self, *operands, **eqn.params) if rule
                    else self.call(eqn.primitive, operands, eqn.params))
            left = ', '.join(names[v] for v in eqn.outvars)
            if eqn.primitive.multiple_results:
                left = f'[{left}]'
            lines.append(f'    {left} = {text}')
            equations[len(lines)] = eqn
            if dying:
                lines.append(f'    del {", ".join(names[v] for v in dying)}')
        outs = ', '.join(self.operand(v, names) for v in jaxpr.outvars)
        self.equations |= {len(self.lines) + number: eqn
                           for number, eqn in equations.items()}
        self.lines += [*lines, f'    return [{outs}]', '', '']

    def nested(self, stem, jaxpr) -> str:
        """Appends a function for a program inside; returns its name."""
        if id(jaxpr) not in self.known:
            name = self.known[id(jaxpr)] = f'{stem}_{next(self.numbers)}'
            self.emit(name, drop_dead(inline(jaxpr)))
        return self.known[id(jaxpr)]

    def operand(self, v, names) -> str:
        """Returns the text for an operand of an equation."""
        return self.value(v.val) if type(v) is Literal else names[v]

    def value(self, x) -> str:
        """Returns the text for a value that a program contains."""
        if isinstance(x, Zero):
            x = instantiate_zeros(x)
        if type(x) in (bool, int, float):
            text = repr(x)
            if not math.isfinite(x):
                text = text.replace('inf', 'np.inf').replace('nan', 'np.nan')
            return f'({text})' if text.startswith('-') else text
        if x is None or type(x) is str:
            return repr(x)
        if type(x) is tuple:
            comma = ',' if len(x) == 1 else ''
            return f'({", ".join(map(self.value, x))}{comma})'
        if isinstance(x, np.dtype):
            return self.constant(f'{x.name}_dtype', x)
        return self.constant('const', x)

    def constant(self, name, x) -> str:
        """Returns the name of a value in the scope of the functions."""
        if id(x) not in self.known:
            if name in self.scope or name == 'const':
                name = f'{name}_{next(self.numbers)}'
            self.scope[name] = x
            self.known[id(x)] = name
        return self.known[id(x)]

    def call(self, primitive, operands, params) -> str:
        """Returns the text of a call of a primitive's implementation."""
        impl = primitive.impl
        if impl in OPERATORS:
            return OPERATORS[impl].format(*operands)
        name = getattr(impl, '__name__', '')
        if getattr(np, name, None) is impl:
            function = f'np.{name}'
        elif getattr(np.linalg, name, None) is impl:
            function = f'np.linalg.{name}'
        else:
            stem = f'{primitive}_' if str(primitive).isidentifier() else ''
            function = self.constant(f'{stem}impl', impl)
        keywords = [self.keyword(key, x) for key, x in params.items()]
        return f'{function}({", ".join([*operands, *keywords])})'

    def keyword(self, key, x) -> str:
        """Returns the text for a parameter."""
        if key.isidentifier() and not keyword.iskeyword(key):
            return f'{key}={self.value(x)}'
        return f'**{{{key!r}: {self.value(x)}}}'


def last_uses(jaxpr) -> list:
    """Returns, for each equation, the large arrays that nobody uses then."""
    alive = {*jaxpr.outvars, *jaxpr.constvars, *jaxpr.invars}
    dying = []
    for eqn in reversed(jaxpr.eqns):
        variables = dict.fromkeys([*eqn.invars, *eqn.outvars])
        dying.append([v for v in variables if v not in alive
                      and math.prod(v.aval.shape) >= LARGE])
        alive.update(variables)
    return dying[::-1]


LARGE = 1024    # elements; it does not matter when smaller ones go


OPERATORS = {
    operator.neg: '-{}', operator.invert: '~{}', operator.abs: 'abs({})',
    operator.add: '{} + {}', operator.sub: '{} - {}',
    operator.mul: '{} * {}', operator.truediv: '{} / {}',
    operator.floordiv: '{} // {}', operator.mod: '{} % {}',
    operator.pow: '{} ** {}', operator.matmul: '{} @ {}',
    operator.lt: '{} < {}', operator.le: '{} <= {}', operator.gt: '{} > {}',
    operator.ge: '{} >= {}', operator.eq: '{} == {}',
    operator.ne: '{} != {}', operator.and_: '{} & {}',
    operator.or_: '{} | {}', operator.xor: '{} ^ {}',
    operator.lshift: '{} << {}', operator.rshift: '{} >> {}'}


lowering_rules = {}


def index_lowering(emitter, x, *arrays, indices):
    arrays = iter(arrays)
    places = [next(arrays) if i is OPERAND else index_text(emitter, i)
              for i in indices]
    return f'{x}[{", ".join(places) or "()"}]'


def index_text(emitter, i):
    """Returns how Python writes a place of an index."""
    if i is Ellipsis:
        return '...'
    if type(i) is not slice:
        return str(i) if type(i) is int else emitter.value(i)
    ends = [i.start, i.stop] if i.step is None else [i.start, i.stop, i.step]
    return ':'.join('' if end is None else str(end) for end in ends)


lowering_rules[index_p] = index_lowering
lowering_rules[stack_p] = lambda emitter, *xs, axis: (
    f'np.stack([{", ".join(xs)}], {axis})')
lowering_rules[concatenate_p] = lambda emitter, *xs, axis: (
    f'np.concatenate([{", ".join(xs)}], {axis})')
