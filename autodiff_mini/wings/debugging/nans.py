"""`debug_nans`: find the line of the program that makes the first NaN.

Inside its block, an interpreter at the bottom computes one operation at a
time and checks each result, and so do the interpreters above it.  Outside
it, results are not checked.  See chapter 26 and the page *Errors explained*.
"""

import linecache
from contextlib import contextmanager
from functools import partial

import numpy as np

from autodiff_mini.calls.cond import cond_p
from autodiff_mini.calls.jit import run_compiled
from autodiff_mini.calls.loops import loop_scan, loop_while, scan_p, while_p
from autodiff_mini.calls.programs import evaluate
from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.jaxprs import Var, programs_in
from autodiff_mini.core.lines import (
    REVERSE, lasting_line, line_text, user_line)
from autodiff_mini.core.memory import own_memory
from autodiff_mini.core.names import TraceTag, fun_name
from autodiff_mini.core.trace import (
    EvalTrace, Tracer, current_trace, elementwise)
from autodiff_mini.core.types import PYTHON_NUMBERS, is_array, typeof
from autodiff_mini.interpreters.jaxpr import stage_flat


class NaNError(FloatingPointError):
    """An operation returned a NaN inside `with debug_nans()`.

    Attributes:
        place: the file and line that the error names.
    """

    def __init__(self, text, place=None):
        super().__init__(text)
        self.place = place

    def add_note(self, note):
        # The error names its own place already.
        if not note.endswith(f' {self.place}'):
            super().add_note(note)


@contextmanager
def debug_nans():
    """Raise an error at the operation that makes the first NaN.

    Inside the `with` block, transformations check the result of each
    operation on a traced value, and each tangent and cotangent.  A compiled
    program runs one equation at a time, so it is slow.  NumPy alone computes
    untraced values, so those are not checked.

    Raises:
        NaNError: a result has a NaN in it, even if the program discards it
            later, as `np.where` does.  The error names the operation, its
            operands, and the user's line.  In the reverse pass, that is the
            line of the forward operation.
        RuntimeError: a transformation is running already.

    Source: the option `jax_debug_nans` in JAX.

    Examples:
        >>> import autodiff_mini as ad
        >>> with debug_nans():
        ...     print(ad.grad(np.sqrt)(4.0))
        0.25
    """
    outside = current_trace()
    if not isinstance(outside, EvalTrace):
        raise RuntimeError(
            f'debug_nans was entered inside {outside.tag}, which is running '
            'already. Put `with ad.debug_nans():` around the call.')
    with NaNTrace(outside, None):
        yield


class NaNTrace(EvalTrace):
    """Compute one operation at a time and check each result."""

    def __enter__(self):
        self.watch(self)
        return super().__enter__()

    def watch(self, trace):
        """Make a trace, and each trace inside it, check their results."""
        process = trace.process_primitive

        def process_primitive(primitive, args, params):
            line = trace.line or user_line(2)
            out = process(primitive, args, params)
            outs = out if primitive.multiple_results else [out]
            self.check(primitive, params, line, args, outs)
            return out
        trace.process_primitive, trace.watcher = process_primitive, self

    def process_primitive(self, primitive, args, params):
        if primitive.impl in in_steps:
            outs = in_steps[primitive.impl](*args, **params)
            consts = [x for value in params.values()
                      for program in programs_in(value)
                      for x in program.consts]
            return own_memory(outs, [*args, *consts])
        out = super().process_primitive(primitive, args, params)
        if 'fun' in params and any(map(has_nan, out)):
            self.look_inside(params['fun'], args)
        return out

    def look_inside(self, fun, args):
        """Raise the error at a line of a function, if it can be traced.

        The function ran on plain arrays, so no line was recorded.
        """
        try:
            program = stage_flat(fun, list(map(typeof, args)),
                                 TraceTag('debug_nans', fun))
        except TracerError:     # Python branches on its values
            return
        evaluate(program, *args)

    def check_transposed(self, eqn, operands, results):
        """Raise a NaNError if a cotangent of an operand has a NaN in it."""
        line = *eqn.line[:2], REVERSE
        self.check(eqn.primitive, eqn.params, line, operands, results)

    def check(self, primitive, params, line, operands, results):
        """Raise a NaNError if one of the results has a NaN in it."""
        for result in results:
            for part, array in parts(result):
                if has_nan(array):
                    raise NaNError(explain(primitive, params, line, operands,
                                           part, array), line_text(line))


def step_scan(*xs, jaxpr, **params):
    if params['length'] == 0:
        return scan_p.impl(*xs, jaxpr=jaxpr, **params)
    return loop_scan(partial(evaluate, jaxpr), *xs, **params)


in_steps = {    # by implementation: how to run its programs step by step
    run_compiled: lambda *xs, jaxpr, **params: evaluate(jaxpr, *xs),
    scan_p.impl: step_scan,
    while_p.impl: lambda *xs, test, body, counts: loop_while(
        partial(evaluate, test), partial(evaluate, body), *xs, counts=counts),
    cond_p.impl: lambda i, *xs, branches: evaluate(branches[int(i)], *xs)}

PARTS = {'primal': '', 'val': '', 'tangent': ' as its tangent'}


def parts(x, part=''):
    """Yield each numeric array in a value, and the name of its part."""
    if isinstance(x, Tracer):
        for name, inner in PARTS.items():
            if hasattr(x, name):
                yield from parts(getattr(x, name), part or inner)
    elif type(x) is not Var and (
            is_array(x) or type(x) in PYTHON_NUMBERS) and (
            typeof(x).dtype.kind in 'biufc'):
        yield part, x


def has_nan(x) -> bool:
    """Return whether a value has a NaN in it."""
    return any(np.any(np.isnan(array)) for _, array in parts(x))


def explain(primitive, params, line, operands, part, result):
    """Return the message about an operation that made a NaN.

    Args:
        primitive, params: the operation.
        line: the line that asked for it.
        operands: its operands.  In the reverse pass, the cotangent is first.
        part: the name of the part of its result that has the NaN.
        result: the array that is this part.
    """
    code, _, *direction = line
    where = ', in the reverse pass,' if REVERSE in direction else part
    inside = '' if isinstance(code, str) or code.co_name == '<lambda>' else (
        f', in {code.co_qualname}')
    name = (fun_name(params.get('name') or params['fun'])
            if primitive.is_call else primitive.name)
    xs = [x for operand in operands for inner, x in parts(operand)
          if not inner]
    values = None
    if primitive in elementwise.primitives:
        values = elements(xs, result)
    shown = map(number, values) if values else map(str, map(typeof, xs))
    text = [(f'invalid value (nan) encountered in {name}{where} at '
             f'{line_text(line)}{inside}')]
    text += [f'    {x}' for x in [expression(line)] if x]
    text.append(f'{name}({", ".join(shown)}) returned nan{part}.')
    if any(map(has_nan, operands)):
        text.append('An operand was already nan. It is an argument, a '
                    'constant, or a derivative that a rule computed.')
    elif primitive.is_call:
        text.append('The code inside it ran in plain NumPy. Under ad.jit, '
                    'the error names the line.')
    elif part:
        text.append(ZERO_TIMES_INFINITY)
    elif values:
        text.append(hint(name, values))
    return '\n'.join(text)


def elements(operands, result):
    """Return the element of each operand that made the first NaN, or None."""
    place = np.unravel_index(int(np.argmax(np.isnan(result))),
                             np.shape(result))
    try:
        return [np.broadcast_to(x, np.shape(result))[place]
                for x in operands]
    except ValueError:      # the cotangent of an operand that was broadcast
        return None


def number(x) -> str:
    """Return a number as text for an error message."""
    return f'{complex(x) if typeof(x).dtype.kind == "c" else float(x):.6g}'


def expression(line) -> str:
    """Return the user's expression, or the whole line if it is unknown."""
    code, instruction, *_ = line
    file, first = lasting_line(line)
    last = start = end = None
    if not isinstance(code, str):
        _, last, start, end = [*code.co_positions()][instruction // 2]
    if last is None or end is None:
        return linecache.getline(file, first).strip()
    lines = [linecache.getline(file, i).encode()    # columns count bytes
             for i in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    return ' '.join(b' '.join(lines).decode().split())


def hint(name, values) -> str:
    """Return advice on a NaN that an operation made of these operands."""
    zeros, infinite = [x == 0 for x in values], list(map(np.isinf, values))
    if any(zeros) and any(infinite):
        return ZERO_TIMES_INFINITY
    if any(infinite):
        return ('An operand is infinite, perhaps because an earlier '
                'operation overflowed or divided by 0. If np.exp overflowed, '
                'subtract the largest exponent first, as ad.logsumexp does.')
    if len(values) == 2 and zeros[1] and name in ('div', 'divide'):
        return ('Keep 0 out of the divisor, even where np.where discards the '
                'result: x / np.where(y == 0, 1.0, y).')
    other = {'arcsin': 0.0, 'arctanh': 0.0, 'arccosh': 2.0}.get(name, 1.0)
    call = (f'np.{name}(np.where(ok, x, {other}))'
            if len(values) == 1 and hasattr(np, name)
            else f'np.where(ok, x, {other})')
    return (f'{name} has no real value here. Keep this number out of its '
            f'operand, even where np.where discards the result: {call}.')


ZERO_TIMES_INFINITY = (
    '0 * inf is nan. The infinity is log(0), or the derivative of sqrt, a '
    'norm, or a power at 0. Keep 0 out of the operand, even where '
    'np.where discards the result: '
    'np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0).')
