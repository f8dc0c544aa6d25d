"""Lowering: compile a jaxpr to Python source code.

The compiled program needs no interpreter.  Calls are inlined, dead code is
left out, and each equation becomes a line of NumPy.  Chapter 13.
"""

import builtins
import keyword
from functools import partial
from unicodedata import normalize

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.generated import functions_in, lines_within
from autodiff_mini.core.jaxprs import Equation, Jaxpr, Names, Var, drop_dead
from autodiff_mini.core.lines import quote_line
from autodiff_mini.core.types import as_number
from autodiff_mini.core.zeros import instantiate_zeros


def inline(jaxpr, rules):
    """Return the program with its calls inlined.

    This is the only place where custom rules are dropped.
    """
    whole = Jaxpr([], jaxpr.invars, [], [], [])
    whole.outvars = put_in_line(whole, jaxpr, jaxpr.invars, rules, False)
    constants = dict(zip(whole.constvars, whole.consts, strict=True))
    whole.constvars, whole.consts = [*constants], [*constants.values()]
    return whole


def put_in_line(whole, jaxpr, operands, rules, fresh=True):
    """Append a program's equations to `whole`, and return its outputs there.

    Args:
        whole: the program that is extended.
        jaxpr: the program that is inlined.
        operands: its arguments, as variables or literals of `whole`.
        rules: as for `inline`.
        fresh: whether its variables get new names.
    """
    env = dict(zip(jaxpr.invars, operands, strict=True))
    whole.constvars += jaxpr.constvars
    whole.consts += jaxpr.consts
    for eqn in jaxpr.eqns:
        operands = list(map(env.get, eqn.invars, eqn.invars))
        outs = eqn.outvars
        inner = eqn.primitive in rules and rules[eqn.primitive](
            *[v.aval for v in operands], **eqn.params)
        if inner:
            inside = put_in_line(whole, inner, operands, rules)
            env.update(zip(outs, inside, strict=True))
            continue
        if fresh:   # the same program can be inlined twice
            outs = [Var(v.aval) for v in outs]
            env.update(zip(eqn.outvars, outs))
        if fresh or operands != eqn.invars:
            eqn = Equation(eqn.primitive, operands, eqn.params, outs,
                           eqn.line)
        whole.eqns.append(eqn)
    return [env.get(v, v) for v in jaxpr.outvars]


inline_rules = {}   # by primitive: the program that replaces an equation


class Emitter:
    """Write source code, and keep the values that it cannot contain."""

    reserved = frozenset(
        ['np', 'inf', 'nan', *keyword.kwlist, *dir(builtins)])

    def __init__(self):
        self.lines = []         # pairs: a line, and its equation or None
        self.scope = {'np': np, 'inf': np.inf, 'nan': np.nan}
        self.known = {}         # by id: the name of a value or a program

    def emit(self, name, jaxpr):
        """Append a function that returns the outputs as a list."""
        jaxpr = drop_dead(inline(jaxpr, inline_rules))
        read = partial(self.read, self.names(jaxpr))
        text = lambda variables: ', '.join(map(read, variables))
        lines = [(f'def {name}({text(jaxpr.invars)}):', None)]
        for eqn in jaxpr.eqns:
            rule = rules.get(eqn.primitive, partial(call_of, eqn.primitive))
            right = rule(self, *map(read, eqn.invars), **eqn.params)
            left = text(eqn.outvars)
            left = f'[{left}]' if eqn.primitive.multiple_results else left
            lines.append((f'    {left} = {right}', eqn))
        lines.append((f'    return [{text(jaxpr.outvars)}]', None))
        self.lines += [*lines, ('', None)]

    def names(self, jaxpr):
        """Return new names, with the constants named already."""
        names = Names(self.reserved)
        for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            names[v] = self.constant('const', x)
        return names

    def read(self, names, v) -> str:
        """Return the source code for a variable or a literal."""
        return names[v] if type(v) is Var else self.value(v.val)

    def value(self, x) -> str:
        """Return the source code for a value, or its name."""
        x = instantiate_zeros(x)
        if {*map(type, x if type(x) is tuple else [x])} <= PLAIN:
            return f'({x!r})' if repr(x).startswith('-') else repr(x)
        return self.constant('const', x)

    def constant(self, name, x) -> str:
        """Return the name of a value in the scope of the functions."""
        name = self.known.setdefault(id(x), f'{name}_{len(self.known) + 1}')
        self.scope[name] = x
        return name

    def nested(self, stem, jaxpr) -> str:
        """Return the name of the function for a nested program."""
        if id(jaxpr) not in self.known:
            self.emit(self.constant(stem, jaxpr), jaxpr)
        return self.known[id(jaxpr)]


PLAIN = {bool, int, float, str, type(None)}     # their repr is source code


def call_of(primitive, emitter, /, *operands, **params):
    """Return the source code of a call to a primitive's implementation."""
    impl, name = primitive.impl, getattr(primitive.impl, '__name__', '')
    for prefix, module in (('np', np), ('np.linalg', np.linalg)):
        if getattr(module, name, None) is impl:
            keywords = [f'{k}={emitter.value(x)}' for k, x in params.items()]
            return f'{prefix}.{name}({", ".join([*operands, *keywords])})'
    name = emitter.constant(name_of_implementation(primitive),
                            partial(impl, **params) if params else impl)
    return f'{name}({", ".join(operands)})'


def name_of_implementation(primitive) -> str:
    """Return its name in source code, normalized as Python does it."""
    name = normalize('NFKC', str(primitive))
    return f'{name}_impl' if name.isidentifier() else 'impl'


rules = RuleTable(
    'Lowering rule', 'define lowering.rules[primitive]')


def defwritten(primitive, template):
    """Define the Python operator that a primitive is written as."""
    rules[primitive] = lambda emitter, *operands: (
        template.format(*operands))


class Lowered:
    """A program compiled to Python source; call it with its arguments.

    Args:
        jaxpr: the program.
    """

    def __init__(self, jaxpr):
        emitter = Emitter()
        emitter.emit('program', jaxpr)
        texts, self.equations = zip(*emitter.lines)
        self.source, self.scope = '\n'.join(texts[:-1]), emitter.scope
        self.constants = [x for x in self.scope.values()
                          if isinstance(x, np.ndarray)]
        self.functions = functions_in(self.source, self.scope)

    def __call__(self, *xs):
        functions, xs = self.functions, list(map(as_number, xs))
        library = seams.library_of([*xs, *self.scope.values()])
        if library:
            functions = functions_in(self.source, {
                name: library.constant(x) for name, x in self.scope.items()})
            xs = list(map(library.argument, xs))
        try:
            outs = functions['program'](*xs)
            return library.owned(outs, xs) if library else outs
        except Exception as error:
            for line in lines_within(functions, error):
                quote_line(error, self.equations[line - 1])
            raise

    def guard(self, xs, in_tree, out_tree):
        """Return None, because later calls like this one have no shortcut.

        A shortcut would be a function of a tuple and a dict of arguments that
        returns the result, or MISS if the call is not like this one.

        Args:
            xs: the leaves of the arguments of a call, all positional.
            in_tree: the structure of the arguments, `(args, {})`.
            out_tree: the structure of the result.
        """
        return None


MISS = object()     # a guard returns it for a call of another kind
seams.lower.define(Lowered)
