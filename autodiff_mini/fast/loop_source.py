"""The source of a loop: a `for` of Python's.

Its one idea: what is left of a scan when all else is taken out of it is
written as one would write it by hand.  Chapter 33.
"""

import math
from functools import partial

from autodiff_mini.core import Primitive
from autodiff_mini.fast.emitter import fast_rules
from autodiff_mini.fast.plan import keeps_order
from autodiff_mini.fast.scalars import (
    carefully, checked, float_text, indented, is_bool, put_back, scalar_body,
    taken_out)
from autodiff_mini.fast.simplify import opened, simplify
from autodiff_mini.fast.vectors import as_numbers
from autodiff_mini.higher_order.loops import (
    scan_for_outputs, scan_types, split, while_lowering, while_p)
from autodiff_mini.interpreters import abstract
from autodiff_mini.jaxprs import dead_rules

loop_p = Primitive('loop', multiple_results=True)
abstract.rules[loop_p] = scan_types
dead_rules[loop_p] = scan_for_outputs


def loop_lowering(emitter, *names, jaxpr, length, reverse, counts):
    """Appends a function in which Python loops; returns a call of it."""
    loop = {'length': length, 'reverse': reverse, 'counts': counts}
    ordered = emitter.ordered and keeps_order(jaxpr)
    name = f'loop_{next(emitter.numbers)}'
    arguments, body = array_loop(emitter, jaxpr, ordered, **loop)
    numbers = as_numbers(jaxpr, ordered) if emitter.fast else None
    if numbers:
        careful = f'careful_{name}'
        emitter.define(f'{careful}({arguments})', body)
        arguments, body = scalar_loop(emitter, jaxpr, numbers, careful,
                                      **loop)
    emitter.define(f'{name}({arguments})', body)
    return f'{name}({", ".join(names)})'


fast_rules[loop_p] = loop_lowering


def array_loop(emitter, jaxpr, ordered, length, reverse, counts):
    """Returns the arguments and the lines of a function that loops."""
    names = emitter.names(jaxpr)
    consts, carry, xs = split(jaxpr.invars, counts)
    ends, ys = jaxpr.outvars[:counts[1]], jaxpr.outvars[counts[1]:]
    arguments = [*(names[v] for v in consts + carry),
                 *(names[v, 'all'] for v in xs)]
    rows = [names['row', i] for i in range(len(ys))]
    empty = [f'np.empty({(length, *v.aval.shape)}{emitter.dtype_of(v)})'
             if emitter.fast else f'[None] * {length}' for v in ys]
    step = [(f'{names[v]} = {names[v, "all"]}[step]', None) for v in xs]
    step += emitter.body(jaxpr, names, ordered)
    step += [(f'{row}[step] = {emitter.result(y, names)}', None)
             for row, y in zip(rows, ys)]
    step += assigned([names[v] for v in carry],
                     [emitter.result(v, names) for v in ends])
    outs = [*(names[v] for v in carry),
            *(row if emitter.fast else f'np.stack({row})' for row in rows)]
    return ', '.join(arguments), [
        *[(f'{row} = {text}', None) for row, text in zip(rows, empty)],
        (f'for step in {steps_text(length, reverse)}:', None),
        *indented(step), (f'return [{", ".join(outs)}]', None)]


def flat_rows(name, v, length):
    """Returns the text of an array that has the numbers of `v` in rows."""
    if len(v.aval.shape) < 2:
        return name
    return f'{name}.reshape({length}, {math.prod(v.aval.shape)})'


def row_text(texts, v):
    """Returns the text of a number, or of a list of numbers."""
    texts = ', '.join(texts)
    return f'[{texts}]' if v.aval.shape else texts


def rows_as_array(row, v, length):
    """Returns the text that makes an array of a list of rows."""
    if len(v.aval.shape) < 2:
        return f'np.array({row})'
    return f'np.array({row}).reshape({(length, *v.aval.shape)})'


def scalar_loop(emitter, jaxpr, numbers, careful, length, reverse, counts):
    """The same, for a body of single numbers: Python's floats."""
    names = emitter.names(numbers.jaxpr)
    given = [names['given', i] for i in range(len(jaxpr.invars))]
    arguments = ', '.join(given)
    fixed, moving = sum(counts[:2]), jaxpr.invars[sum(counts[:2]):]
    carry = numbers.ins[counts[0]:fixed]
    lists = [names['list', i] for i in range(len(moving))]
    rows = [names['row', i] for i in range(len(numbers.outs[counts[1]:]))]
    start = taken_out(jaxpr.invars[:fixed], numbers.ins, given, names)
    start += [(f'{x} = {flat_rows(y, v, length)}.tolist()', None)
              for x, y, v in zip(lists, given[fixed:], moving)]
    start += [(f'{row} = [None] * {length}', None) for row in rows]
    step = [(f'{row_text([names[x] for x in parts], v)} = {x}[step]', None)
            for x, v, parts in zip(lists, moving, numbers.ins[fixed:])]
    lines, watched, asks_numpy = scalar_body(emitter, numbers.jaxpr, names)
    text = lambda v: float_text(emitter, v, names)
    step += lines + checked(emitter, watched)
    step += [(f'{row}[step] = {row_text(map(text, parts), v)}', None)
             for row, v, parts in zip(rows, jaxpr.outvars[counts[1]:],
                                      numbers.outs[counts[1]:])]
    step += assigned([names[v] for vs in carry for v in vs],
                     [text(v) for vs in numbers.outs[:counts[1]] for v in vs])
    lines = [(f'for step in {steps_text(length, reverse)}:', None),
             *indented(step)]
    if asks_numpy:
        lines = [("with np.errstate(all='raise'):", None), *indented(lines)]
    ys = jaxpr.outvars[counts[1]:]
    sums = [names[v] for vs in carry for v in vs] + [
        f'sum(map(sum, {row}))' if v.aval.shape else f'sum({row})'
        for row, v in zip(rows, ys)]
    end = [(f'{row} = {rows_as_array(row, v, length)}', None)
           for row, v in zip(rows, ys)]
    outs = [put_back(emitter, v, parts, names)
            for v, parts in zip(jaxpr.invars[counts[0]:], carry)] + rows
    return arguments, carefully(
        [*start, *lines, *checked(emitter, sums), *end,
         (f'return [{", ".join(outs)}]', None)],
        f'{careful}({arguments})')


def steps_text(length, reverse):
    return f'reversed(range({length}))' if reverse else f'range({length})'


def assigned(names, values):
    """Returns the line that gives variables new values, if any is new."""
    pairs = [pair for pair in zip(names, values) if pair[0] != pair[1]]
    if not pairs:
        return []
    return [(' = '.join(', '.join(side) for side in zip(*pairs)), None)]


def fast_while(emitter, *names, test, body, counts):
    """Returns a call of `loop_while`, or of a function written for floats."""
    emitter.ordered = emitter.ordered and keeps_order(body)
    call = partial(while_lowering, emitter, test=test, body=body,
                   counts=counts)
    carefully_called = call(*names)
    test, body = simplify(opened(test)), simplify(opened(body))
    if emitter.fast:
        tests = as_numbers(test, emitter.ordered, is_bool)
        steps = as_numbers(body, emitter.ordered)
    if not (emitter.fast and tests and steps):
        return carefully_called
    name = f'while_{next(emitter.numbers)}'
    arguments, lines = scalar_while(emitter, body, tests, steps, counts,
                                    call)
    emitter.define(f'{name}({", ".join(arguments)})', lines)
    return f'{name}({", ".join(names)})'


fast_rules[while_p] = fast_while


def scalar_while(emitter, body, tests, steps, counts, call):
    """Returns the arguments and lines of a function that loops with floats.

    If it has to give up, it does what `call` says, carefully.
    """
    names = emitter.names(steps.jaxpr)
    given = [names['given', i] for i in range(len(body.invars))]
    start = taken_out(body.invars, steps.ins, given, names)
    carry = steps.ins[counts[0]:]
    names.update((v, names[x]) for vs, xs in zip(tests.ins, steps.ins)
                 for v, x in zip(vs, xs))
    lines, watched, test_asks = scalar_body(emitter, tests.jaxpr, names)
    [[goes_on]] = tests.outs
    step = [*lines, *checked(emitter, watched),
            (f'if not {emitter.result(goes_on, names)}:', None),
            ('    break', None)]
    lines, watched, body_asks = scalar_body(emitter, steps.jaxpr, names)
    step += [*lines, *checked(emitter, watched), *assigned(
        [names[v] for vs in carry for v in vs],
        [float_text(emitter, v, names) for vs in steps.outs for v in vs])]
    lines = [('while True:', None), *indented(step)]
    if test_asks or body_asks:
        lines = [("with np.errstate(all='raise'):", None), *indented(lines)]
    outs = [put_back(emitter, v, parts, names)
            for v, parts in zip(body.invars[counts[0]:], carry)]
    return given, carefully(
        [*start, *lines,
         *checked(emitter, [names[v] for vs in carry for v in vs]),
         (f'return [{", ".join(outs)}]', None)], call(*given))
