"""The source of a loop: a Python `for`.

After fission, the rest of a scan is written as a person would write it by
hand.  Chapter 33.
"""

import math
from functools import partial
from itertools import count

from autodiff_mini.core import Primitive
from autodiff_mini.fast.emitter import fast_rules
from autodiff_mini.fast.plan import HUGE, UFUNCS, c_ordered
from autodiff_mini.fast.scalars import (
    as_numbers, carefully, checked, float_text, indented, is_bool, put_back,
    reshaped, scalar_body, taken_out)
from autodiff_mini.fast.simplify import opened, simplify
from autodiff_mini.higher_order.loops import (
    scan_for_outputs, scan_lowering, scan_types, split, while_lowering,
    while_p)
from autodiff_mini.interpreters import abstract, lowering
from autodiff_mini.jaxprs import dead_rules
from autodiff_mini.primitives.elementwise import sign_p

loop_p = Primitive('loop', multiple_results=True)
abstract.rules[loop_p] = scan_types
dead_rules[loop_p] = scan_for_outputs
lowering.rules[loop_p] = scan_lowering


def loop_lowering(emitter, *names, jaxpr, counts, **steps):
    """Append a function with a Python loop, and return a call to it."""
    name, ordered = f'loop_{next(emitter.numbers)}', emitter.ordered
    arguments, body = array_loop(emitter, jaxpr, ordered, counts, **steps)
    numbers = as_numbers(jaxpr, ordered) if emitter.fast else None
    if numbers:
        careful = f'careful_{name}'
        emitter.define(f'{careful}({", ".join(arguments)})', body)
        arguments, body = scalar_loop(
            emitter, jaxpr, numbers, counts,
            lambda *given: f'{careful}({", ".join(given)})', **steps)
    emitter.define(f'{name}({", ".join(arguments)})', body)
    return f'{name}({", ".join(names)})'


fast_rules[loop_p] = loop_lowering


def array_loop(emitter, jaxpr, ordered, counts, length, reverse):
    """Return the arguments and the lines of a function that loops."""
    names = emitter.names(jaxpr)
    consts, carry, xs = split(jaxpr.invars, counts)
    ends, ys = jaxpr.outvars[:counts[1]], jaxpr.outvars[counts[1]:]
    arguments = [*(names[v] for v in consts + carry),
                 *(names[v, 'all'] for v in xs)]
    rows = [names['row', i] for i in range(len(ys))]
    empty = [(f'{row} = np.empty({(length, *v.aval.shape)}'
              + f'{emitter.dtype_of(v)})', None) for row, v in zip(rows, ys)]
    made = {v: eqn.primitive for eqn in jaxpr.eqns for v in eqn.outvars}
    in_order = c_ordered(jaxpr)[0] if ordered else ()
    filled = {y: row for row, y in zip(rows, ys)    # computed into its row
              if y in in_order and made.get(y) in UFUNCS - {sign_p}
              and y.aval.shape and math.prod(y.aval.shape) < HUGE}
    emitter.in_order = emitter.in_order or bool(filled)
    step = [(f'{names[v]} = {all_rows}[step]', None) for v, all_rows in
            [*((v, names[v, 'all']) for v in xs), *filled.items()]]
    step += emitter.body(jaxpr, names, ordered)
    step += [(f'{row}[step] = {emitter.result(y, names)}', None)
             for row, y in zip(rows, ys) if filled.get(y) is not row]
    step += assigned([names[v] for v in carry],
                     [emitter.result(v, names) for v in ends])
    outs = [*(names[v] for v in carry), *rows]
    return arguments, [
        *empty, (f'for step in {steps_text(length, reverse)}:', None),
        *indented(step), (f'return [{", ".join(outs)}]', None)]


def row_text(texts, v):
    """Return the text of a number, or of a list of numbers."""
    texts = ', '.join(texts)
    return f'[{texts}]' if v.aval.shape else texts


def scalar_loop(emitter, jaxpr, numbers, counts, instead, length=None,
                reverse=False, tests=None):
    """Return the arguments and lines of a function that loops with floats.

    Args:
        emitter: the FastEmitter.
        jaxpr: the body.
        numbers: the Numbers of the body.
        counts, length, reverse: the parameters of the scan.
        instead: takes the names of the arguments, and returns the text of a
            call to the fallback.
        tests: the Numbers of the test of a while loop.
    """
    names = emitter.names(numbers.jaxpr)
    given = [names['given', i] for i in range(len(jaxpr.invars))]
    fixed, text = sum(counts[:2]), partial(float_text, emitter, names=names)
    start = taken_out(jaxpr.invars[:fixed], numbers.ins, given, names)
    carry = [names[v] for vs in numbers.ins[counts[0]:fixed] for v in vs]
    step, watched, outs, test_asks = [], [*carry], [], False
    if tests:
        names.update((v, names[x]) for vs, xs in zip(tests.ins, numbers.ins)
                     for v, x in zip(vs, xs))
        step, test_asks = scalar_body(emitter, tests.jaxpr, names)
        [[goes_on]] = tests.outs
        step += [(f'if not {emitter.result(goes_on, names)}:', None),
                 ('    break', None)]
    for x, v, parts in zip(given[fixed:], jaxpr.invars[fixed:],
                           numbers.ins[fixed:]):
        rows, size = names['rows', v], math.prod(v.aval.shape)
        start.append((
            f'{rows} = {x}{reshaped(v, length, size)}.tolist()', None))
        row = row_text([names[x] for x in parts], v)
        step.append((f'{row} = {rows}[step]', None))
    lines, asks_numpy = scalar_body(emitter, numbers.jaxpr, names)
    step += lines
    for i, v, parts in zip(count(), jaxpr.outvars[counts[1]:],
                           numbers.outs[counts[1]:]):
        rows, shape = names['made', i], v.aval.shape
        start.append((f'{rows} = [None] * {length}', None))
        step.append((f'{rows}[step] = {row_text(map(text, parts), v)}', None))
        watched.append(f'sum(map(sum, {rows}))' if shape else f'sum({rows})')
        outs.append(f'np.array({rows}){reshaped(v, length, *shape)}' if shape
                    else f'np.fromiter({rows}, float)')   # faster than array
    step += assigned(carry, [text(v) for vs in numbers.outs[:counts[1]]
                             for v in vs])
    outs = [put_back(emitter, v, parts, names) for v, parts in zip(
        jaxpr.invars[counts[0]:], numbers.ins[counts[0]:fixed])] + outs
    head = ('while True:' if tests
            else f'for step in {steps_text(length, reverse)}:')
    lines = [*start, (head, None), *indented(step),
             *checked(emitter, watched)]
    return given, carefully(emitter, given, lines, asks_numpy or test_asks,
                            outs, instead(*given))


def steps_text(length, reverse):
    return f'reversed(range({length}))' if reverse else f'range({length})'


def assigned(names, values):
    """Return the line that assigns new values to variables, if any change."""
    pairs = [pair for pair in zip(names, values) if pair[0] != pair[1]]
    if not pairs:
        return []
    return [(' = '.join(', '.join(side) for side in zip(*pairs)), None)]


def fast_while(emitter, *names, counts, **programs):
    """Return a call to `loop_while`, or to a function written for floats."""
    call = partial(while_lowering, emitter, counts=counts, **programs)
    test, body = [simplify(opened(programs[x])) for x in ('test', 'body')]
    tests = emitter.fast and as_numbers(test, emitter.ordered, is_bool)
    steps = tests and as_numbers(body, emitter.ordered)
    if not steps:
        return call(*names)
    name = f'while_{next(emitter.numbers)}'
    arguments, lines = scalar_loop(emitter, body, steps, counts, call,
                                   tests=tests)
    emitter.define(f'{name}({", ".join(arguments)})', lines)
    return f'{name}({", ".join(names)})'


fast_rules[while_p] = fast_while
