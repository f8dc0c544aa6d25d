"""Lowering: a jaxpr becomes Python source, and the source a function.

Its one idea: a program that is written down needs no interpreter any more.
Calls are inlined, what nobody needs is left out, and each equation is a line
of NumPy.  Chapter 13.
"""

import builtins
import keyword
import math
import operator
from collections import ChainMap
from functools import cached_property
from itertools import count
from traceback import walk_tb

import numpy as np

from autodiff_mini.core import NUMBERS
from autodiff_mini.errors import line_number
from autodiff_mini.interpreters.jaxpr import (
    Literal, Names, Uncollected, Var, quote_line)
from autodiff_mini.interpreters.jvp import Zero, instantiate_zeros
from autodiff_mini.interpreters.plan import (
    UFUNCS, Block, are_new, c_ordered, is_large, plan)
from autodiff_mini.interpreters.scalars import (
    indented, is_scalar, scalar_lines)
from autodiff_mini.interpreters.simplify import inline, simplify, uniform
from autodiff_mini.numpy_api import (
    brought, foreign_one, full, is_foreign)
from autodiff_mini.primitives import (
    OPERAND, astype_p, concatenate_p, index_p, pow_p, reduce_max_p,
    reduce_min_p, reduce_prod_p, reduce_sum_p, reshape_p, stack_p,
    to_the_power, transpose_p, where_p)


class Lowered:
    """A program as Python; a function of its arguments.

    There are two versions of it.  The fast one is for NumPy's arrays in their
    usual order, and for numbers.  The careful one is for its other arrays.
    For each other library there is a careful one with constants of its own.

    Args:
        jaxpr: the program.
    """

    def __init__(self, jaxpr):
        self.elsewhere = {}     # by home: a version
        with Uncollected():
            self.jaxpr = inline(jaxpr)
            self.fast = Version(self.jaxpr, True, self.run_carefully)

    source = property(lambda self: self.fast.source)
    constants = property(lambda self: self.fast.constants)
    careful = cached_property(lambda self: Version(self.jaxpr, False))

    def run_carefully(self, *xs):
        return self.careful(*xs)

    def __call__(self, *xs):
        if self.fast.takes_all(xs):
            return self.fast(*xs)
        like = foreign_one([*xs, self.fast.foreign])
        return self.careful(*xs) if like is None else self.run_at(like, xs)

    def run_at(self, like, xs):
        """Runs the program in the library of `like`."""
        key = home(like)
        if key not in self.elsewhere:
            self.elsewhere[key] = Version(self.jaxpr, False, like=like)
        version = self.elsewhere[key]
        outs = version(*[x if type(x) in NUMBERS else brought(x, like)
                         for x in xs])
        return outs if version.owned else [own(y, xs) for y in outs]


def home(x):
    """Returns what tells where an array of another library is at home.

    It may be made of others, in chunks, and be on one of many devices.
    """
    return (type(x), type(getattr(x, '_meta', None)),
            *[str(getattr(x, name, None)) for name in ('chunks', 'device')])


def own(y, xs):
    """Returns a copy of a result of floats, unless it is an argument."""
    if is_foreign(y) and y.dtype.kind in 'fc' and not any(
            y is x for x in xs):
        return np.positive(y)   # is a copy, in any library
    return y


class Version:
    """Python source for a program, and the function that it defines.

    Args:
        jaxpr: a program without calls.
        fast: whether it is for plain arrays only; see Lowered.
        careful: what a fast version calls where it cannot go on.
        like: an array of another library, if the version is for that.
    """

    def __init__(self, jaxpr, fast, careful=None, like=None):
        emitter = Emitter(fast)
        jaxpr = emitter.simplified(jaxpr, fast)
        emitter.scope['careful'] = careful
        emitter.emit('program', jaxpr, fast)
        self.source, self.equations = emitter.text()
        self.in_order = emitter.in_order
        self.scalar = emitter.scalar
        self.owned = are_new(jaxpr)
        for name in emitter.operands & emitter.scope.keys():
            emitter.scope[name] = constant_like(emitter.scope[name], like)
        exec(compile(self.source, '<autodiff_mini program>', 'exec'),
             emitter.scope)
        self.function = emitter.scope['program']
        self.constants = [x for x in emitter.scope.values()
                          if isinstance(x, np.ndarray)]
        self.foreign = foreign_one(emitter.scope.values())  # closed over

    def takes_all(self, xs):
        """Returns whether the fast version is for arguments like these."""
        return self.foreign is None and all(map(self.takes, xs))

    def takes(self, x):
        """Returns whether it is for an argument like this one."""
        if type(x) is np.ndarray and not self.scalar:
            return not self.in_order or x.flags.c_contiguous
        return type(x) in NUMBERS

    def __call__(self, *xs):
        try:
            return self.function(*xs)
        except Exception as error:
            self.quote(error)
            raise

    def quote(self, error):
        """Tells an error which line of the user's it comes from."""
        for frame, line in walk_tb(error.__traceback__):
            if frame.f_globals is self.function.__globals__:
                quote_line(error, self.equations.get(line))


def constant_like(x, like):
    """Returns a constant, in the library of `like` if it is of floats."""
    if like is None or not (isinstance(x, (np.ndarray, np.generic))
                            and x.dtype.kind in 'fc'):
        return x
    one_number = uniform(x, lambda: True)   # weak and strong
    if one_number:
        return full(like, x.shape, one_number[1].val, x.dtype)
    return np.asarray(x, like=like)


class Relied(set):
    """A set that remembers whether anything was found in it."""

    on = False

    def __contains__(self, v):
        found = super().__contains__(v)
        self.on = self.on or found
        return found


class PythonNames(Names):
    """The letters that name variables, and are no words of Python."""

    def __missing__(self, v):
        name = super().__missing__(v)
        while keyword.iskeyword(name) or name in RESERVED:
            name = self[v] = next(self.letters)
        return name


RESERVED = {'np', 'part', 'step', 'sin', 'cos', 'sqrt', *dir(builtins)}


class Emitter:
    """Writes functions, and keeps the values that their text cannot hold.

    Args:
        fast: whether all arrays are NumPy's.
    """

    def __init__(self, fast=True):
        self.fast = fast
        self.eqn = self.ordered = None  # what is being written
        self.head = []          # lines that define numbers
        self.lines = []         # pairs: a line, and its equation or None
        self.scope = {'np': np}
        self.known = {}         # by id: what names a value, or a program
        self.operands = set()   # names of those that meet arrays
        self.numbers = count(1)
        self.in_order = self.scalar = False

    def emit(self, name, jaxpr, ordered):
        """Appends a function, which returns a list."""
        names = self.names(jaxpr)
        arguments = ', '.join(names[v] for v in jaxpr.invars)
        if self.fast and name == 'program' and is_scalar(jaxpr):
            self.scalar = True
            body = scalar_lines(self, jaxpr, names)
        else:
            body = self.body(jaxpr, names, ordered)
            outs = [self.result(v, names) for v in jaxpr.outvars]
            body.append((f'return [{", ".join(outs)}]', None))
        self.define(f'{name}({arguments})', body)

    def names(self, jaxpr):
        """Returns new names; those of constants are known already."""
        names = PythonNames()
        for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True):
            names[v] = self.constant('const', x)
            self.operands.add(names[v])
        return names

    def result(self, v, names) -> str:
        """Returns the text for what a function returns."""
        return names[v] if type(v) is Var else self.literal(v.val)

    def literal(self, x) -> str:
        """Returns the text for a literal, which stands for an array."""
        text = self.value(x)
        self.operands.add(text)
        return text

    def define(self, signature, body):
        """Appends a function with these lines."""
        self.lines += [(f'def {signature}:', None), *indented(body),
                       ('', None), ('', None)]

    def body(self, jaxpr, names, ordered):
        """Returns the lines for the equations of a program."""
        lines = []
        for step in plan(jaxpr, ordered):
            lines += (self.block(step, names) if type(step) is Block
                      else self.step(step, names, ordered))
        return lines

    def step(self, step, names, ordered):
        """Returns the lines for an equation."""
        eqn = step.eqn
        self.eqn, self.ordered = eqn, ordered and step.ordered
        operands = [self.operand(v, names) for v in eqn.invars]
        if step.into:
            self.in_order = True
            names[eqn.outvars[0]] = names[step.into]
            lines = [(self.into(names[step.into], operands), eqn)]
        else:
            text = self.expression(operands)
            left = ', '.join(names[v] for v in eqn.outvars)
            if eqn.primitive.multiple_results:
                left = f'[{left}]'
            lines = [(f'{left} = {text}', eqn)]
        return lines + deleted(step.dying, names)

    def block(self, block, names):
        """Returns the loop that does a block piece by piece."""
        self.in_order, self.ordered = True, True
        shape = block.outs[0].aval.shape
        lines, inner = [], ChainMap({}, names)
        made = {v for step in block.steps for v in step.eqn.outvars}
        used = dict.fromkeys(
            v for step in block.steps for v in step.eqn.invars
            if v not in made and len(v.aval.shape) == len(shape)
            and v.aval.shape[0] == shape[0])
        for v in used:
            inner[v] = names[v, 'piece']
            lines.append((f'{inner[v]} = {names[v]}[part]', None))
        for step in block.steps:
            self.eqn, [out] = step.eqn, step.eqn.outvars
            operands = [self.operand(v, inner) for v in step.eqn.invars]
            if out in block.outs:
                inner[out] = names[out, 'piece']
                lines.append((f'{inner[out]} = {names[out]}[part]', None))
                text = self.into(inner[out], operands)
            elif step.into:
                inner[out] = inner[step.into]
                text = self.into(inner[out], operands)
            else:
                text = f'{inner[out]} = {self.expression(operands)}'
            lines.append((text, step.eqn))
        rows = block.rows
        size = shape if len(shape) > 1 else shape[0]
        empty = [(f'{names[v]} = np.empty({size}{self.dtype_of(v)})', None)
                 for v in block.outs]
        return [*empty,
                (f'for start in range(0, {shape[0]}, {rows}):', None),
                (f'    part = slice(start, start + {rows})', None),
                *indented(lines), *deleted(block.dying, names)]

    def dtype_of(self, v):
        """Returns the text of an argument for the dtype, if it needs one."""
        dtype = v.aval.dtype
        return '' if dtype == float else f', {self.dtype(dtype)}'

    def dtype(self, dtype) -> str:
        """Returns the text of a dtype: its name, if it is one of NumPy's."""
        if dtype == np.dtype(dtype.type):
            return f'np.{dtype.type.__name__}'
        return self.value(dtype)

    def expression(self, operands) -> str:
        """Returns the text for the result of the equation at hand."""
        primitive, params = self.eqn.primitive, self.eqn.params
        rule = lowering_rules.get(primitive)
        if rule:
            return rule(self, *operands, **params)
        return self.call(primitive, operands, params)

    def into(self, name, operands) -> str:
        """Returns the line that computes the equation into an array."""
        impl = self.eqn.primitive.impl
        if self.eqn.primitive not in UFUNCS:
            return f'{name}[...] = {self.expression(operands)}'
        template, ufunc = OPERATORS.get(impl, ('', impl))
        if (impl in (operator.add, operator.mul) and name == operands[1]
                and type(self.eqn.invars[0]) is Literal):
            operands = operands[::-1]   # the same to the bit
        if name == operands[0] and template.startswith('{} '):
            return template.replace(' {}', '= {}', 1).format(*operands)
        out = f'out={name}' if ufunc in (np.maximum, np.minimum) else name
        return f'np.{ufunc.__name__}({", ".join([*operands, out])})'

    def simplified(self, jaxpr, ordered):
        """Returns a program with less to do, for arrays in order or any."""
        in_order = Relied(c_ordered(jaxpr) if ordered else ())
        jaxpr = simplify(jaxpr, in_order)
        self.in_order = self.in_order or in_order.on
        return jaxpr

    def nested(self, stem, jaxpr) -> str:
        """Appends a function for a program inside; returns its name."""
        key, state = (id(jaxpr), self.ordered), (self.eqn, self.ordered)
        if key not in self.known:
            name = self.known[key] = f'{stem}_{next(self.numbers)}'
            jaxpr = self.simplified(inline(jaxpr), self.ordered)
            self.emit(name, jaxpr, self.ordered)
            self.eqn, self.ordered = state
        return self.known[key]

    def operand(self, v, names) -> str:
        """Returns the text for an operand of an equation."""
        if type(v) is Var:
            return names[v]
        return self.number(v.val) if self.fast else self.literal(v.val)

    def number(self, x) -> str:
        """Returns the text for a number that meets an array, perhaps.

        Of a Python number NumPy makes an array at every call.  For a small
        array, that takes longer than the arithmetic.
        """
        eqn = self.eqn
        others = [v for v in eqn.invars if type(v) is Var]
        if eqn.primitive not in UFUNCS or len(others) != 1:
            return self.value(x)
        [other] = others
        if other.aval.shape == () or other.aval.dtype.kind != 'f':
            return self.value(x)
        if type(x) is other.aval.dtype.type is np.float64:
            x = x.item()
        if type(x) not in (int, float) or is_large(other):
            return self.value(x)
        dtype = self.dtype_of(other)
        key = repr(x), dtype
        if key not in self.known:
            name = self.known[key] = f'const_{next(self.numbers)}'
            self.scope[name] = None     # taken
            self.head.append(f'{name} = np.array({self.value(x)}{dtype})')
        return self.known[key]

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
            mistakable = len(name) < 5 and name not in RESERVED
            if name in self.scope or name == 'const' or mistakable:
                name = f'{name}_{next(self.numbers)}'
            self.scope[name] = x
            self.known[id(x)] = name
        return self.known[id(x)]

    def call(self, primitive, operands, params) -> str:
        """Returns the text of a call of a primitive's implementation."""
        impl = primitive.impl
        if impl in OPERATORS:
            return OPERATORS[impl][0].format(*operands)
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

    def text(self):
        """Returns the source, and by number of line its equation."""
        lines = self.head + [''] * 2 * bool(self.head)
        equations, before = {}, None
        for text, eqn in self.lines:
            number = line_number(eqn.line) if eqn and eqn.line else None
            if number not in (None, before):
                text = f'{text:35} # line {number}'
            before = (number or before) if text else None
            lines.append(text)
            equations[len(lines)] = eqn
        return '\n'.join(lines).strip('\n'), equations


def deleted(variables, names):
    """Returns the line that lets go of variables, if there are any."""
    text = ', '.join(names[v] for v in variables)
    return [(f'del {text}', None)] if text else []


OPERATORS = {   # by implementation: how it is written, and the ufunc
    operator.neg: ('-{}', np.negative),
    operator.invert: ('~{}', np.invert),
    operator.abs: ('abs({})', np.absolute),
    operator.add: ('{} + {}', np.add),
    operator.sub: ('{} - {}', np.subtract),
    operator.mul: ('{} * {}', np.multiply),
    operator.truediv: ('{} / {}', np.divide),
    operator.floordiv: ('{} // {}', np.floor_divide),
    operator.mod: ('{} % {}', np.remainder),
    operator.matmul: ('{} @ {}', np.matmul),
    operator.lt: ('{} < {}', np.less),
    operator.le: ('{} <= {}', np.less_equal),
    operator.gt: ('{} > {}', np.greater),
    operator.ge: ('{} >= {}', np.greater_equal),
    operator.eq: ('{} == {}', np.equal),
    operator.ne: ('{} != {}', np.not_equal),
    operator.and_: ('{} & {}', np.bitwise_and),
    operator.or_: ('{} | {}', np.bitwise_or),
    operator.xor: ('{} ^ {}', np.bitwise_xor),
    operator.lshift: ('{} << {}', np.left_shift),
    operator.rshift: ('{} >> {}', np.right_shift)}


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


def pow_lowering(emitter, x, y):
    """An exponent that is an integer of Python's may be one of PRODUCTS."""
    exponent = emitter.eqn.invars[1]
    if type(exponent) is Literal:
        return f'{x} ** {y}'
    name = emitter.constant('to_the_power', to_the_power)
    return f'{name}({x}, {y})'


def reshape_lowering(emitter, x, shape):
    if emitter.eqn.invars[0].aval.shape == ():
        return emitter.call(reshape_p, [x], {'shape': shape})
    return f'{x}.reshape({emitter.value(shape)})'


def transpose_lowering(emitter, x, axes):
    if emitter.eqn.invars[0].aval.shape == ():
        return emitter.call(transpose_p, [x], {'axes': axes})
    if axes == tuple(range(len(axes)))[::-1] and len(axes) > 1:
        return f'{x}.T'
    return f'{x}.transpose({", ".join(map(str, axes))})'


def astype_lowering(emitter, x, dtype, weak_type):
    aval = emitter.eqn.invars[0].aval
    if weak_type and aval.dtype == dtype == float:
        return f'float({x})'
    if weak_type:
        return emitter.call(astype_p, [x], {'dtype': dtype,
                                            'weak_type': weak_type})
    name = emitter.dtype(dtype)
    if aval.weak_type and name.startswith('np.'):
        return f'{name}({x})'
    return f'{x}.astype({name})'


lowering_rules[pow_p] = pow_lowering
lowering_rules[reshape_p] = reshape_lowering
lowering_rules[transpose_p] = transpose_lowering
lowering_rules[astype_p] = astype_lowering


def defreduction(primitive, ufunc):
    """Lets a ufunc reduce arrays itself, as NumPy's function would ask it."""
    def reduction_lowering(emitter, x, axis, keepdims):
        if not emitter.fast or emitter.eqn.invars[0].aval.shape == ():
            return emitter.call(primitive, [x], {'axis': axis,
                                                 'keepdims': keepdims})
        axis = axis[0] if len(axis) == 1 else axis
        keep = ', keepdims=True' if keepdims else ''
        return f'np.{ufunc.__name__}.reduce({x}, {axis}{keep})'
    lowering_rules[primitive] = reduction_lowering


defreduction(reduce_sum_p, np.add)
defreduction(reduce_prod_p, np.multiply)
defreduction(reduce_max_p, np.maximum)
defreduction(reduce_min_p, np.minimum)


def where_lowering(emitter, mask, x, y):
    condition, *choices = emitter.eqn.invars
    [out] = emitter.eqn.outvars
    bitwise = (emitter.ordered and is_large(out)
               and out.aval.dtype in (np.float32, np.float64)
               and condition.aval.dtype == bool
               and condition.aval.shape == out.aval.shape
               and all(v.aval == out.aval or type(v) is Literal
                       for v in choices))
    if not bitwise:
        return emitter.call(where_p, [mask, x, y], {})
    emitter.in_order = True
    name = emitter.constant('choose_bits', choose_bits)
    dtype = emitter.dtype_of(out)
    return f'{name}({mask}, {x}, {y}{dtype})'


def choose_bits(mask, x, y, dtype=np.float64):
    """Returns `np.where(mask, x, y)` of floats, choosing between their bits.

    NumPy looks at each element of the mask and jumps; where masks are random
    a processor guesses half of the jumps wrong.

    Args:
        mask: an array of booleans.
        x, y: arrays of its shape, or numbers.
        dtype: that of the result, and of the arrays.
    """
    word = np.int64 if dtype == np.float64 else np.int32
    x, y = (np.asarray(v, dtype).view(word) for v in (x, y))
    bits = mask.astype(word)
    np.negative(bits, bits)     # all ones, or all zeros
    bits &= x ^ y if y.ndim or y else x
    bits ^= y
    return bits.view(dtype)


lowering_rules[where_p] = where_lowering
