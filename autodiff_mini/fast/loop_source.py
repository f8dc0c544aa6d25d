"""The source of a loop: a `for` of Python's.

Its one idea: what is left of a scan when all else is taken out of it is
written as one would write it by hand.  Appendix *The rest of control flow*.
"""

from functools import partial

from autodiff_mini.core import Primitive
from autodiff_mini.fast.emitter import fast_rules
from autodiff_mini.fast.plan import keeps_order
from autodiff_mini.fast.scalars import (
    carefully, checked, float_text, indented, is_bool, is_scalar, scalar_body)
from autodiff_mini.fast.simplify import opened, simplify
from autodiff_mini.higher_order.loops import split
from autodiff_mini.higher_order.scan import scan_for_outputs, scan_types
from autodiff_mini.higher_order.while_loop import while_lowering, while_p
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.jaxprs import dead_rules

loop_p = Primitive('loop', multiple_results=True)
abstract_rules[loop_p] = scan_types
dead_rules[loop_p] = scan_for_outputs


def loop_lowering(emitter, *names, jaxpr, length, reverse, counts):
    """Appends a function in which Python loops; returns a call of it."""
    loop = {'length': length, 'reverse': reverse, 'counts': counts}
    ordered = emitter.ordered and keeps_order(jaxpr)
    name = f'loop_{next(emitter.numbers)}'
    arguments, body = array_loop(emitter, jaxpr, ordered, **loop)
    if emitter.fast and is_scalar(jaxpr):
        careful = f'careful_{name}'
        emitter.define(f'{careful}({arguments})', body)
        arguments, body = scalar_loop(emitter, jaxpr, careful, **loop)
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


def scalar_loop(emitter, jaxpr, careful, length, reverse, counts):
    """The same, for a body of single numbers: Python's floats."""
    names = emitter.names(jaxpr)
    consts, carry, xs = split(jaxpr.invars, counts)
    ends, ys = jaxpr.outvars[:counts[1]], jaxpr.outvars[counts[1]:]
    given = [names[v, 'given'] for v in jaxpr.invars]
    arguments = ', '.join(given)
    lists = [names[v, 'list'] for v in xs]
    rows = [names['row', i] for i in range(len(ys))]
    start = [f'{names[v]} = float({names[v, "given"]})'
             for v in consts + carry]
    start += [f'{x} = {names[v, "given"]}.tolist()'
              for x, v in zip(lists, xs)]
    start += [f'{row} = [None] * {length}' for row in rows]
    step = [(f'{names[v]} = {x}[step]', None) for x, v in zip(lists, xs)]
    lines, watched, asks_numpy = scalar_body(emitter, jaxpr, names)
    step += lines + checked(emitter, watched)
    step += [(f'{row}[step] = {float_text(emitter, y, names)}', None)
             for row, y in zip(rows, ys)]
    step += assigned([names[v] for v in carry],
                     [float_text(emitter, v, names) for v in ends])
    lines = [(f'for step in {steps_text(length, reverse)}:', None),
             *indented(step)]
    if asks_numpy:
        lines = [("with np.errstate(all='raise'):", None), *indented(lines)]
    end = [f'{row} = np.array({row})' for row in rows]
    sums = [names[v] for v in carry] + [f'sum({row})' for row in rows]
    outs = [names[v] if v.aval.weak_type else f'np.float64({names[v]})'
            for v in carry] + rows
    return arguments, carefully(
        [*[(text, None) for text in start], *lines,
         *checked(emitter, sums), *[(text, None) for text in end],
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
    if not (emitter.fast and is_scalar(test, is_bool) and is_scalar(body)):
        return carefully_called
    name = f'while_{next(emitter.numbers)}'
    arguments, lines = scalar_while(emitter, test, body, counts, call)
    emitter.define(f'{name}({", ".join(arguments)})', lines)
    return f'{name}({", ".join(names)})'


fast_rules[while_p] = fast_while


def scalar_while(emitter, test, body, counts, call):
    """Returns the arguments and lines of a function that loops with floats.

    If it has to give up, it does what `call` says, carefully.
    """
    names = emitter.names(body)
    carry = body.invars[counts[1]:]
    names.update(zip(test.invars[counts[0]:], [names[v] for v in carry]))
    inputs = test.invars[:counts[0]] + body.invars
    given = [names[v, 'given'] for v in inputs]
    start = [f'{names[v]} = float({x})' for v, x in zip(inputs, given)]
    lines, watched, test_asks = scalar_body(emitter, test, names)
    step = [*lines, *checked(emitter, watched),
            (f'if not {emitter.result(test.outvars[0], names)}:', None),
            ('    break', None)]
    lines, watched, body_asks = scalar_body(emitter, body, names)
    step += [*lines, *checked(emitter, watched), *assigned(
        [names[v] for v in carry],
        [float_text(emitter, v, names) for v in body.outvars])]
    lines = [('while True:', None), *indented(step)]
    if test_asks or body_asks:
        lines = [("with np.errstate(all='raise'):", None), *indented(lines)]
    outs = [names[v] if v.aval.weak_type else f'np.float64({names[v]})'
            for v in carry]
    return given, carefully(
        [*[(text, None) for text in start], *lines,
         *checked(emitter, [names[v] for v in carry]),
         (f'return [{", ".join(outs)}]', None)], call(*given))
