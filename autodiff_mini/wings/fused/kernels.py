"""The source of a kernel: equations as lines that numba compiles."""

import numpy as np

from autodiff_mini.core.jaxprs import Literal, Names
from autodiff_mini.interpreters.lowering import Emitter
from autodiff_mini.primitives.elementwise import cos_p, pow_p, sin_p, where_p
from autodiff_mini.wings.fast.scalars import indented
from autodiff_mini.wings.fused import native
from autodiff_mini.wings.fused.stages import (
    TEMPLATES, unneeded, working_dtype)

# Loops of single numbers call the functions of the C library, as Python does.
FUNCTIONS = {sin_p: 'sin({})', cos_p: 'cos({})', pow_p: 'power({}, {})'}
FLOAT = np.dtype(float)
RESERVED = Emitter.reserved | {'i', 'kept', 'state', 'step', *native.WORDS}


def block_kernel(kernel, numbers):
    """Return the lines of a kernel that loops over the elements of arrays.

    The names of its variables depend only on its content, so that equal
    kernels have equal lines.

    Args:
        kernel: the Kernel.
        numbers: the variables whose values are the elements of the last
            array that it reads, as float64.
    """
    names, ins = Names(RESERVED), kernel.ins + ['numbers'] * bool(numbers)
    arrays = [names[v, 'array'] for v in ins + kernel.outs]
    start = [f'{names[v]} = {names["numbers", "array"]}[{i}]'
             for i, v in enumerate(numbers)]
    body = [(f'{names[v]} = {names[v, "array"]}[i]', None)
            for v in kernel.ins]
    kept = unneeded(kernel.eqns, kernel.outs)
    body += lines_of(kernel.eqns, names, kept, numbers)
    body += [(f'{names[v, "array"]}[i] = {names[v]}', None)
             for v in kernel.outs]
    codes = [''.join(v.aval.dtype.char for v in variables)
             for variables in (kernel.ins, kernel.outs)]
    return whole(codes[0] + 'd' * bool(numbers), codes[1], arrays, [
        *start, f'for i in range({arrays[-1]}.size):'], body, [], kept)


def whole(ins, outs, arguments, start, body, end, kept, flags='ALL'):
    """Return the lines of a kernel: its decorator, its arguments, its body.

    Args:
        ins, outs: the characters of the dtypes of its arguments.
        arguments: their names.
        start: the texts of the lines before the loop, and of its head.
        body: the lines of the loop.
        end: the texts of the lines after it.
        kept: the values whose bits are kept.
        flags: the name of the flags to return.
    """
    start = ['clear(ALL)', *['kept = 0'] * bool(kept), *start]
    end = [*end, f'return raised({flags}, {"kept" if kept else 0})']
    return [(f"@kernel('{ins}', '{outs}')", None),
            (f'({", ".join(arguments)})', None),
            *[(text, None) for text in start], *indented(body),
            *[(text, None) for text in end]]


def lines_of(eqns, names, kept, numbers=()):
    """Return the lines of equations in a kernel.

    Args:
        eqns: the equations.
        names: the names of the variables.
        kept: the values whose bits are kept, see `unneeded`.
        numbers: the variables that are float64 here.
    """
    lines = []
    for eqn in eqns:
        [out], dtype = eqn.outvars, working_dtype(eqn)
        dtypes = [dtype] * len(eqn.invars)
        if eqn.primitive is where_p:
            dtypes[0] = np.dtype(bool)
        operands = [operand(v, names, kind, v in numbers)
                    for v, kind in zip(eqn.invars, dtypes)]
        template = (TEMPLATES | FUNCTIONS)[eqn.primitive]
        text = template.format(*operands, kind=dtype.name)
        lines.append((f'{names[out]} = {text}', eqn))
        if out in kept:
            lines.append((f'kept |= bits({names[out]})', None))
    return lines


def operand(v, names, dtype=FLOAT, is_number=False):
    """Return the text of an operand, converted to a dtype.

    Args:
        v: a variable or a literal.
        names: the names of the variables.
        dtype: the dtype of the operation.
        is_number: whether the variable is float64 here.
    """
    if type(v) is Literal:
        text = repr(float(dtype.type(v.val)))
        text = f'({text})' if text[0] == '-' else text
        return text if dtype == float else f'{dtype.name}({text})'
    has_dtype = dtype == (float if is_number else v.aval.dtype)
    return names[v] if has_dtype else f'{dtype.name}({names[v]})'
