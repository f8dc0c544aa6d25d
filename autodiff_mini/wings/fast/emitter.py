"""The fast source: a plan written as lines of NumPy.

The source asks less of NumPy than the equations do.  It reuses memory for
results, makes an array of each number beforehand, and calls a ufunc's own
`reduce`.  See the page *A second compiler*.
"""

from collections import ChainMap
from functools import cache, partial
from itertools import count
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from autodiff_mini.core.jaxprs import Literal, Var
from autodiff_mini.core.lines import lasting_line
from autodiff_mini.core.types import astype_p
from autodiff_mini.interpreters import lowering
from autodiff_mini.interpreters.lowering import Emitter, call_of
from autodiff_mini.primitives.elementwise import add_p, mul_p, pow_p, where_p
from autodiff_mini.primitives.linalg import matmul_p
from autodiff_mini.primitives.reductions import reducing
from autodiff_mini.primitives.shapes import (
    broadcast_to_p, reshape_p, transpose_p)
from autodiff_mini.wings.fast.masks import is_number
from autodiff_mini.wings.fast.plan import UFUNCS, is_large, plan
from autodiff_mini.wings.fast.scalars import (
    as_numbers, has_boxes, indented, scalar_lines)
from autodiff_mini.wings.fast.simplify import opened, same_value, simplify


class FastEmitter(Emitter):
    """Write functions for NumPy arrays, in fewer calls.

    Args:
        fast: whether the arguments of the program are C-contiguous.
        version: the class Version.
    """

    reserved = Emitter.reserved | {
        'part', 'step', 'sin', 'cos', 'sqrt', 'args', 'kwargs'}
    plan, in_numbers = staticmethod(plan), staticmethod(as_numbers)

    def __init__(self, fast, version):
        super().__init__()
        self.fast, self.version = fast, version
        self.eqn: Any = None    # the equation being written
        self.head = []          # lines that define numbers
        self.numbers = count(1)
        self.ordered = self.in_order = self.scalar = self.boxes = False
        self.short = None       # a program of numbers: see `carefully`
        self.strong = set()     # the results that are NumPy's numbers

    def emit(self, name, jaxpr, ordered=None):
        """Append a function that returns a list, and return its program."""
        if ordered and {*map(same_value, jaxpr.eqns)} & {*jaxpr.invars}:
            before, jaxpr = jaxpr, simplify(jaxpr, ordered=True)
            self.in_order |= len(jaxpr.eqns) < len(before.eqns)
        names = self.names(jaxpr)
        arguments = ', '.join(names[v] for v in jaxpr.invars)
        vectors = [v for v in jaxpr.invars + jaxpr.outvars if v.aval.shape]
        numbers = self.fast and name == 'program' and self.in_numbers(
            jaxpr, ordered, arrays=len(vectors))
        if numbers:
            self.scalar, self.boxes = True, has_boxes(numbers)
            self.in_order = self.in_order or bool(vectors)
            body = scalar_lines(self, numbers, jaxpr, names)
        else:
            body = self.body(jaxpr, names, ordered)
            outs = [self.read(names, v) for v in jaxpr.outvars]
            body.append((f'return [{", ".join(outs)}]', None))
        self.define(f'{name}({arguments})', body)
        return jaxpr

    def define(self, signature, body):
        """Append a function with these lines."""
        self.lines += [(f'def {signature}:', None), *indented(body),
                       ('', None), ('', None)]

    def later(self, jaxpr, name):
        """Return the name of a function that is compiled when called."""
        write = cache(partial(self.version, jaxpr, False))
        return self.constant(name, lambda *xs: write()(*xs))

    def body(self, jaxpr, names, ordered):
        """Return the lines for the equations of a program."""
        lines = []
        for step in self.plan(jaxpr, ordered):
            lines += (self.block if step.rows else self.step)(step, names)
        return lines

    def step(self, step, names):
        """Return the lines for an equation."""
        [eqn], self.ordered = step.eqns, step.ordered
        for out, v in step.into.items():
            self.in_order = True
            names.setdefault(out, names[v])     # unless it is a row of a loop
        return [self.line(eqn, names), *deleted(step.gone, names)]

    def line(self, eqn, names):
        """Return the line for an equation.

        If the result already has a name, it is the name of an array that the
        result is written into.
        """
        self.eqn = eqn
        operands = [names[v] if type(v) is Var else self.number(v.val)
                    for v in eqn.invars]
        if eqn.outvars and eqn.outvars[0] in names:
            return self.into(names[eqn.outvars[0]], operands), eqn
        text = self.expression(operands)
        left = ', '.join([names[v] for v in eqn.outvars])
        if eqn.primitive.multiple_results:
            left = f'[{left}]'
        return f'{left} = {text}', eqn

    def block(self, block, names):
        """Return the lines that compute a block piece by piece."""
        self.in_order, shape = True, block.outs[0].aval.shape
        lines = self.pieces(block, names)
        empty = [(f'{names[v]} = np.empty({shape}{self.dtype_of(v)})', None)
                 for v in block.outs]
        return [*empty, *lines, *deleted(block.gone, names)]

    def pieces(self, block, names):
        """Return the loop over the pieces of a block."""
        self.ordered = True
        shape = block.outs[0].aval.shape
        lines, inner = [], ChainMap({}, names)
        made = dict.fromkeys(v for eqn in block.eqns for v in eqn.outvars)
        used = dict.fromkeys(v for eqn in block.eqns for v in eqn.invars if (
            v not in made and len(v.aval.shape) == len(shape)
            and v.aval.shape[0] == shape[0]))

        def piece_of(v):
            inner[v] = names[v, 'piece']
            lines.append((f'{inner[v]} = {names[v]}[part]', None))
        for v in used:
            piece_of(v)
        for eqn in block.eqns:
            [out] = eqn.outvars
            if out in block.outs:
                piece_of(out)
            elif out in block.into:
                inner[out] = inner[block.into[out]]
            lines.append(self.line(eqn, inner))
        return [(f'for start in range(0, {shape[0]}, {block.rows}):', None),
                (f'    part = slice(start, start + {block.rows})', None),
                *indented(lines),
                # A piece can be a view, which keeps its whole array alive.
                *deleted({inner[v]: v for v in [*used, *made]}.values(),
                         inner)]

    def dtype_of(self, v):
        """Return the text of a dtype argument, or '' if none is needed."""
        dtype = v.aval.dtype
        return '' if dtype == float else f', {self.dtype(dtype)}'

    def dtype(self, dtype) -> str:
        """Return the text of a dtype: its name, if NumPy has one."""
        if dtype == np.dtype(dtype.type):
            return f'np.{dtype.type.__name__}'
        return self.value(dtype)

    def expression(self, operands) -> str:
        """Return the text for the result of the current equation."""
        primitive = self.eqn.primitive
        rule = fast_rules.get(primitive) or lowering.rules.get(
            primitive, partial(call_of, primitive))
        return rule(self, *operands, **self.eqn.params)

    def into(self, name, operands) -> str:
        """Return the line that writes the result into an array."""
        primitive = self.eqn.primitive
        if primitive not in UFUNCS:
            return f'{name}[...] = {self.expression(operands)}'
        if (primitive in (add_p, mul_p) and name == operands[1]
                and type(self.eqn.invars[0]) is Literal):
            operands = operands[::-1]   # bitwise identical
        left, _, rest = self.expression(operands).partition(' ')
        sign, _, right = rest.partition(' ')
        if left == name and sign in AUGMENTED:
            return f'{name} {sign}= {right}'
        ufunc = primitive.impl(*[Asked()] * len(operands))
        out = f'out={name}' if ufunc in (np.maximum, np.minimum) else name
        return f'np.{ufunc.__name__}({", ".join([*operands, out])})'

    def nested(self, stem, jaxpr) -> str:
        """Append a function for a nested program, and return its name."""
        key, state = (id(jaxpr), self.ordered), (self.eqn, self.ordered)
        if key not in self.known:
            name = self.known[key] = f'{stem}_{next(self.numbers)}'
            self.emit(name, simplify(opened(jaxpr)), self.ordered)
            self.eqn, self.ordered = state
        return self.known[key]

    def number(self, x) -> str:
        """Return the text of a number, or the name of its array.

        NumPy converts a Python number to an array at every call.  For ten
        elements that takes longer than the arithmetic, and for a block it
        takes a tenth as long.  The array has the dtype of the other operand.
        That gives NumPy's result only if the other operand is an array of
        floats, and the number is one that a float holds exactly.
        """
        others = [v for v in self.eqn.invars if type(v) is Var]
        if self.eqn.primitive not in UFUNCS or len(others) != 1:
            return self.value(x)
        aval, kind = others[0].aval, type(x)
        exact = (kind is float or kind is int and abs(x) <= 2 ** 53
                 or kind is aval.dtype.type is np.float64)
        if aval.shape == () or aval.dtype.kind != 'f' or not exact:
            return self.value(x)
        x, dtype = float(x), self.dtype_of(others[0])
        key = repr(x), dtype
        if key not in self.known:
            name = self.known[key] = f'const_{next(self.numbers)}'
            self.scope[name] = None     # taken
            self.head.append(f'{name} = np.array({self.value(x)}{dtype})')
        return self.known[key]

    def ufunc(self, ufunc) -> str:
        """Return the name of a ufunc, which is looked up beforehand."""
        name = f'np_{ufunc.__name__}'
        if name not in self.scope:
            self.scope[name] = None     # taken
            self.head.append(f'{name} = np.{ufunc.__name__}')
        return name

    def constant(self, name, x) -> str:
        """Return the name of a value in the scope of the functions."""
        if id(x) not in self.known:
            if name in self.scope or name in ('const', 'impl'):
                name = f'{name}_{next(self.numbers)}'
            self.scope[name] = x
            self.known[id(x)] = name
        return self.known[id(x)]

    def text(self):
        """Return the source, and the equation of each line by its number."""
        lines = self.head + [''] * 2 * bool(self.head)
        equations, before = {}, None
        for text, eqn in self.lines:
            number = lasting_line(eqn.line)[1] if eqn and eqn.line else None
            if number not in (None, before):
                text = f'{text:35} # line {number}'
            before = (number or before) if text else None
            lines.append(text)
            equations[len(lines)] = eqn
        return '\n'.join(lines).strip('\n'), equations


def deleted(variables, names):
    """Return the line that deletes variables, if there are any."""
    text = ', '.join([names[v] for v in variables])
    return [(f'del {text}', None)] if text else []


AUGMENTED = {*'+-*/%&|^', '//', '<<', '>>'}     # no '<': `<=` compares


class Asked(NDArrayOperatorsMixin):
    """An operand whose operation returns the ufunc that is asked for."""

    def __array_ufunc__(self, ufunc, *_):
        return ufunc


def pow_lowering(emitter, x, y):
    """Check at run time whether an unknown exponent is in PRODUCTS."""
    if type(emitter.eqn.invars[1]) is Literal:
        return f'{x} ** {y}'
    return call_of(pow_p, emitter, x, y)


def astype_lowering(emitter, x, dtype, weak_type):
    aval = emitter.eqn.invars[0].aval
    if weak_type and aval.dtype == dtype == float:
        return f'float({x})'
    if weak_type:
        return call_of(astype_p, emitter, x, dtype=dtype, weak_type=True)
    name = emitter.dtype(dtype)
    if aval.weak_type and name.startswith('np.'):
        return f'{name}({x})'
    return f'{x}.astype({name})'


def matmul_lowering(emitter, x, y):
    """Write `dot`, which calls BLAS with half the overhead of `@`.

    But for single elements, `@` turns -0.0 into 0.0, and `dot` does not.
    """
    avals = [v.aval for v in emitter.eqn.invars]
    types = {aval.dtype.char for aval in avals}
    lengths = {*avals[0].shape, *avals[1].shape}
    if not emitter.ordered or types not in ({'f'}, {'d'}) or (
            lengths == {1} or any(len(aval.shape) > 2 for aval in avals)):
        return f'{x} @ {y}'
    emitter.in_order = True     # else it can sum in another order than `@`
    return f'{x}.dot({y})'


def broadcast_lowering(emitter, x, shape):
    """Write a number's view directly, because np.broadcast_to is slow.

    The view reads the number's memory as it is, so its dtype must be known.
    """
    aval = emitter.eqn.invars[0].aval
    name = emitter.dtype(aval.dtype)
    if aval.shape or name not in ('np.float64', 'np.float32'):
        return call_of(broadcast_to_p, emitter, x, shape=shape)
    return f'np.ndarray({shape}, {name}, {name}({x}), 0, {(0,) * len(shape)})'


def where_lowering(emitter, mask, x, y):
    """Choose by operations on bits, if all arrays have one type and order."""
    condition, *choices = emitter.eqn.invars
    [out] = emitter.eqn.outvars
    bitwise = (emitter.ordered and is_large(out)
               and out.aval.dtype in (np.float32, np.float64)
               and condition.aval == out.aval._replace(dtype=np.dtype(bool))
               and all(v.aval == out.aval or type(v) is Literal
                       for v in choices))
    if not bitwise:
        return call_of(where_p, emitter, mask, x, y)
    emitter.in_order = True
    for ones, (one, zero) in (mask, choices), (f'(~{mask})', choices[::-1]):
        if is_number(one, 1) and is_number(zero, 0):
            return f'{ones}.astype({emitter.dtype(out.aval.dtype)})'
    name = emitter.constant('choose_bits', choose_bits)
    return f'{name}({mask}, {x}, {y}{emitter.dtype_of(out)})'


def choose_bits(mask, x, y, dtype=np.float64):
    """Return `np.where(mask, x, y)` of floats, by operations on their bits.

    NumPy branches on each element of the mask, and if the mask is random, the
    processor mispredicts half of the branches.

    Args:
        mask: an array of booleans.
        x, y: arrays of the same shape, or numbers.
        dtype: the dtype of the result and of the arrays.
    """
    word = np.int64 if dtype == np.float64 else np.int32
    x, y = (np.asarray(v, dtype).view(word) for v in (x, y))
    return ((x ^ y) * mask ^ y if y.ndim or y else x * mask).view(dtype)


fast_rules = {      # they take precedence over lowering.rules
    astype_p: astype_lowering, broadcast_to_p: broadcast_lowering,
    matmul_p: matmul_lowering, pow_p: pow_lowering, where_p: where_lowering}


def defmethod(primitive, write):
    """Define the source of an operation on arrays of one axis or more."""
    def rule(emitter, x, **params):
        if emitter.eqn.invars[0].aval.shape == ():
            return call_of(primitive, emitter, x, **params)
        return write(emitter, x, **params)
    fast_rules[primitive] = rule


def transposed_text(emitter, x, axes):
    if axes == tuple(range(len(axes)))[::-1] and len(axes) > 1:
        return f'{x}.T'
    return f'{x}.transpose({", ".join(map(str, axes))})'


def reduced_text(ufunc, emitter, x, axis, keepdims):
    axis = axis[0] if len(axis) == 1 else axis
    keep = ', keepdims=True' if keepdims else ''
    return f'np.{ufunc}.reduce({x}, {axis}{keep})'


defmethod(reshape_p, lambda emitter, x, shape: f'{x}.reshape({shape})')
defmethod(transpose_p, transposed_text)


UFUNC_OF = {np.sum: 'add', np.prod: 'multiply', np.max: 'maximum',
            np.min: 'minimum'}


@reducing.define
def defreduction(primitive):
    """Call the ufunc's `reduce` directly, as the NumPy function does."""
    ufunc = UFUNC_OF.get(primitive.impl)
    if ufunc:
        defmethod(primitive, partial(reduced_text, ufunc))
