"""The source of a loop: a `for` of Python's.

Its one idea: what is left of a scan when all else is taken out of it is
written as one would write it by hand.  Appendix *The rest of control flow*.
"""

from autodiff_mini.core import Primitive
from autodiff_mini.higher_order.loops import split
from autodiff_mini.higher_order.programs import others, without
from autodiff_mini.higher_order.scan import scan_types
from autodiff_mini.interpreters.abstract import abstract_rules
from autodiff_mini.interpreters.jaxpr import Equation
from autodiff_mini.interpreters.lowering import lowering_rules
from autodiff_mini.interpreters.plan import keeps_order
from autodiff_mini.interpreters.scalars import (
    carefully, checked, float_text, indented, is_scalar, scalar_body)
from autodiff_mini.interpreters.simplify import trim_rules

loop_p = Primitive('loop', multiple_results=True)
abstract_rules[loop_p] = scan_types


def trim_loop(eqn, needed):
    """Returns a loop that keeps no rows of results nobody needs."""
    jaxpr, n = eqn.params['jaxpr'], eqn.params['counts'][1]
    unused = tuple(i >= n and v not in needed
                   for i, v in enumerate(eqn.outvars))
    jaxpr = without(jaxpr, (False,) * len(jaxpr.invars), unused)
    return Equation(loop_p, eqn.invars, {**eqn.params, 'jaxpr': jaxpr},
                    others(eqn.outvars, unused), eqn.line)


trim_rules[loop_p] = trim_loop


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


lowering_rules[loop_p] = loop_lowering


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
