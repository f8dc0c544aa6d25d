"""The source of a loop: a Python `for`.

After fission, the rest of a scan is written as you would write it by hand.
See the page *A second compiler*.
"""

import math
from collections import ChainMap
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from struct import pack_into

from autodiff_mini.calls.loops import (
    hoist, scan_for_outputs, scan_lowering, scan_types, split, while_lowering,
    while_p)
from autodiff_mini.calls.programs import remembered
from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Var, dead_rules, drop_dead)
from autodiff_mini.core.trace import Primitive
from autodiff_mini.interpreters import abstract, lowering
from autodiff_mini.primitives.elementwise import sign_p
from autodiff_mini.wings.fast.emitter import fast_rules
from autodiff_mini.wings.fast.plan import HUGE, UFUNCS, c_ordered
from autodiff_mini.wings.fast.scalars import (
    as_numbers, carefully, checked, float_text, indented, is_bool, is_float,
    loop_lines, loop_rules, put_back, reshaped, scalar_body, scalar_lines,
    taken_out)
from autodiff_mini.wings.fast.simplify import opened, simplify

loop_p = Primitive('scan', multiple_results=True)    # its name in errors
abstract.rules[loop_p] = scan_types
dead_rules[loop_p] = scan_for_outputs
lowering.rules[loop_p] = scan_lowering


def loop_lowering(emitter, *names, jaxpr, counts, **steps):
    """Append a function with a Python loop, and return a call to it."""
    name, ordered = f'loop_{next(emitter.numbers)}', emitter.ordered
    numbers = emitter.fast and as_numbers(jaxpr, ordered, is_number)
    if numbers:
        arguments, body = scalar_loop(
            emitter, jaxpr, numbers, counts, by_itself(emitter), **steps)
    else:
        arguments, body = array_loop(emitter, jaxpr, ordered, counts, **steps)
    emitter.define(f'{name}({", ".join(arguments)})', body)
    return f'{name}({", ".join(names)})'


fast_rules[loop_p] = loop_lowering


def is_number(v):
    return is_float(v) or is_bool(v)


def by_itself(emitter):
    """Return the current equation as a program of its own."""
    eqn = emitter.eqn
    ins = [Var(v.aval) for v in eqn.invars]
    return Jaxpr([], ins, [replace(eqn, invars=ins)], eqn.outvars, [])


def array_loop(emitter, jaxpr, ordered, counts, length, reverse):
    """Return the arguments and the lines of a function that loops."""
    names = emitter.names(jaxpr)
    consts, carry, xs = split(jaxpr.invars, counts)
    ends, ys = jaxpr.outvars[:counts[1]], jaxpr.outvars[counts[1]:]
    arguments = [*(names[v] for v in consts + carry),
                 *(names[v, 'all'] for v in xs)]
    rows = [names['row', i] for i in range(len(ys))]
    # A step can compute another dtype than the type says: 2 ** -1 or 2 ** 99.
    listed = {v for v in ys if v.aval.weak_type or v.aval.dtype.kind == 'i'}
    empty = [(f'{row} = [0] * {length}' if v in listed else
              f'{row} = np.empty({(length, *v.aval.shape)}'
              f'{emitter.dtype_of(v)})', None) for row, v in zip(rows, ys)]
    made = {v: eqn.primitive for eqn in jaxpr.eqns for v in eqn.outvars}
    in_order = c_ordered(jaxpr)[0] - listed if ordered else ()
    filled = {y: row for row, y in zip(rows, ys)    # written into its row
              if y in in_order and made.get(y) in UFUNCS - {sign_p}
              and y.aval.shape and math.prod(y.aval.shape) < HUGE}
    emitter.in_order = emitter.in_order or bool(filled)
    step = [(f'{names[v]} = {all_rows}[step]', None) for v, all_rows in
            [*((v, names[v, 'all']) for v in xs), *filled.items()]]
    step += emitter.body(jaxpr, names, ordered)
    step += [(f'{row}[step] = {emitter.read(names, y)}', None)
             for row, y in zip(rows, ys) if filled.get(y) is not row]
    step += assigned([names[v] for v in carry],
                     [emitter.read(names, v) for v in ends])
    outs = [*(names[v] for v in carry), *[
        f'np.array({row})' if v in listed else row
        for row, v in zip(rows, ys)]]
    head = f'for step in range({length}){"[::-1]" * reverse}:'
    return arguments, [*empty, *looped(head, step),
                       (f'return [{", ".join(outs)}]', None)]


def looped(head, step):
    """Return the lines of a loop, or none if its steps change nothing.

    An identity that has a rule leaves no line in the body.
    """
    return [(head, None), *indented(step)] if step else []


def scalar_loop(emitter, jaxpr, numbers, counts, program, length, reverse):
    """Return the arguments and lines of a function that loops with floats.

    Args:
        emitter: the FastEmitter.
        jaxpr: the body.
        numbers: the Numbers of the body.
        counts, length, reverse: the parameters of the scan.
        program: a program of only this loop, for the fallback.
    """
    names, fixed = emitter.names(numbers.jaxpr), sum(counts[:2])
    given = [names['given', i] for i in range(len(jaxpr.invars))]
    arguments = [*zip(jaxpr.invars, numbers.ins, given)]
    start = taken_out(arguments[:fixed], names)
    carry = [*chain(*numbers.ins[counts[0]:fixed])]
    ends = [*chain(*numbers.outs[:counts[1]])]
    text, back = partial(float_text, emitter, names=names), '[::-1]' * reverse
    lists, head = over_rows(emitter, arguments[fixed:], names, length, back)
    start += lists
    step, errors = scalar_body(emitter, numbers.jaxpr, names)
    outs = [put_back(emitter, v, parts, names)
            for v, parts, _ in arguments[counts[0]:fixed]]
    watched, end = [names[v] for v in carry], []
    live = drop_dead(Jaxpr([], [], numbers.jaxpr.eqns, ends, [])).eqns
    reaching = {v for eqn in live for v in eqn.invars}  # the carry
    for v, parts in zip(jaxpr.outvars[counts[1]:], numbers.outs[counts[1]:]):
        made, array = names['made', len(outs)], names['array', len(outs)]
        start.append((f'{made} = []', None))
        step += [(f'{made}.append({text(x)})', None)
                 for x in (parts[::-1] if reverse else parts)]
        end += packed(emitter, v, array, length, made + back)
        if not reaching.issuperset([*carry, *parts]):
            watched.append(f'sum({made})')
        outs.append(array)
    step += assigned([names[v] for v in carry], map(text, ends))
    lines = [*start, *looped(head, step), *checked(emitter, watched), *end]
    return given, carefully(emitter, given, lines, errors, outs,
                            emitter.later(program, 'careful_loop'))


def over_rows(emitter, rows, names, length, back):
    """Return the lines that make lists of the rows, and the loop's head.

    Args:
        emitter: the FastEmitter.
        rows: for each argument with rows, its variable, its numbers, and its
            name.
        names: the names of the numbers.
        length: how many rows there are.
        back: the text that reverses a list, or ''.
    """
    lines, lists = [], {}
    for v, parts, x in rows:
        made, row = names['rows', v], ', '.join(names[x] for x in parts)
        shape = reshaped(v, length, math.prod(v.aval.shape))
        lines.append((f'{made} = {x}{shape}{back}.tolist()', None))
        lists[made] = f'[{row}]' if v.aval.shape else row
    again = emitter.constant('repeat', repeat)
    lists = lists or {f'{again}(None, {length})': '_'}
    text = f'zip({", ".join(lists)})' if len(lists) > 1 else next(iter(lists))
    return lines, f'for {", ".join(lists.values())} in {text}:'


def packed(emitter, v, array, length, numbers):
    """Return the lines that make an array of rows from a list of numbers."""
    shape, dtype = (length, *v.aval.shape), emitter.dtype_of(v)
    size = math.prod(shape)
    if size < HUGE:
        pack = emitter.constant('pack_into', pack_into)
        code = '?' if dtype else 'd'
        fill = f"{pack}('{size}{code}', {array}, 0, *{numbers})"
    else:       # packing would fill the cache twice
        fill = (f'{array}.ravel()[:] = np.fromiter({numbers}, '
                f'{emitter.dtype(v.aval.dtype)})')
    return [(f'{array} = np.empty({shape}{dtype})', None), (fill, None)]


def assigned(names, values):
    """Return the line that assigns new values to variables, if any change."""
    pairs = [pair for pair in zip(names, values) if pair[0] != pair[1]]
    text = ' = '.join(', '.join(side) for side in zip(*pairs))
    return [(text, None)] if pairs else []


floats_p = Primitive('while', multiple_results=True)     # of numbers


def split_while(eqn, ordered, ins, outs):
    """Return a while loop of numbers, or None if arrays suit it better.

    Args:
        eqn: the loop.
        ordered: whether its operands are in row order.
        ins, outs: lists of the numbers of each operand and result.
    """
    test, body, counts = map(eqn.params.get, ('test', 'body', 'counts'))
    tests, steps = numbers_of(body, test, ordered)
    fixed = [*chain(*ins[:counts[0]])]
    return steps and Equation(
        floats_p, [*chain(*ins)], {'tests': tests, 'steps': steps,
                                   'count': len(fixed)},
        [*chain(*outs)], eqn.line)


@remembered
def numbers_of(body, test, ordered):
    """Return the Numbers of a loop's test and of its body, or None."""
    tests = as_numbers(simplify(opened(test)), ordered, is_bool)
    return tests, tests and as_numbers(simplify(opened(body)), ordered)


def while_lines(emitter, eqn, names):
    """Return the lines of a while loop of numbers, and its errors."""
    tests, steps, count = map(eqn.params.get, ('tests', 'steps', 'count'))
    names, given = ChainMap({}, names), steps.jaxpr.invars
    text = partial(float_text, emitter, names=names)
    start = [*map(text, eqn.invars)]
    names.update(zip(given[:count], start))
    names.update(zip(chain(*tests.ins), map(text, given)))
    first, body = hoist(steps.jaxpr, count)
    before, errors = scalar_body(emitter, first, names)
    test, more = scalar_body(emitter, tests.jaxpr, names)
    test.append((f'if not {text(tests.outs[0][0])}: break', None))
    step, others = scalar_body(emitter, body, names)
    carry, ends = [*map(text, given[count:])], map(text, chain(*steps.outs))
    step += assigned(carry, ends)
    return [*assigned(carry, start[count:]), *before,
            *looped('while True:', test + step),
            *assigned(map(text, eqn.outvars), carry)], errors | more | others


def fast_while(emitter, *names, **params):
    """Return a call to `loop_while`, or to a function written for floats."""
    jaxpr = by_itself(emitter)
    numbers = emitter.fast and as_numbers(jaxpr, emitter.ordered)
    if not numbers:
        return while_lowering(emitter, *names, **params)
    name, given = f'while_{next(emitter.numbers)}', emitter.names(jaxpr)
    body = scalar_lines(emitter, numbers, jaxpr, given,
                        emitter.later(jaxpr, 'careful_while'))
    arguments = ', '.join(given[v] for v in jaxpr.invars)
    emitter.define(f'{name}({arguments})', body)
    return f'{name}({", ".join(names)})'


fast_rules[while_p] = fast_while
loop_rules[while_p], loop_lines[floats_p] = split_while, while_lines
