"""Loops of single numbers: a whole loop as one kernel."""

from itertools import chain
from typing import NamedTuple

from autodiff_mini.core.jaxprs import Jaxpr, Names
from autodiff_mini.primitives.elementwise import pow_p
from autodiff_mini.wings.fast.scalars import (
    Numbers, as_numbers, as_numpy, is_bool, is_power, put_back)
from autodiff_mini.wings.fast.simplify import opened, simplify
from autodiff_mini.wings.fused.kernels import (
    FUNCTIONS, RESERVED, lines_of, operand, whole)
from autodiff_mini.wings.fused.stages import (
    TEMPLATES, is_arithmetic, unneeded)

MANY = 50           # operations: fewer take less time in Python
MOST = 1_000_000    # steps of a while loop before Python can interrupt it


class Loop(NamedTuple):
    """A loop whose values are single numbers.

    Args:
        jaxpr: the program of a step.
        body: its Numbers.
        tests: the Numbers of the test of a while loop, or None.
        counts: how many of its operands are constants and carry.
        length, reverse: the parameters of a scan.
    """

    jaxpr: Jaxpr
    body: Numbers
    tests: Numbers | None
    counts: tuple
    length: int = 0
    reverse: bool = False

    @property
    def eqns(self):
        """The equations of a step."""
        tests = self.tests.jaxpr.eqns if self.tests else []
        return [*tests, *self.body.jaxpr.eqns]


def as_loop(eqn, ordered):
    """Return the Loop of an equation, or None if Python or NumPy runs it.

    Args:
        eqn: the equation.
        ordered: whether its operands are C-contiguous.
    """
    params, tests = dict(eqn.params), None
    if 'test' in params:
        test, jaxpr = [simplify(opened(params.pop(name)))
                       for name in ('test', 'body')]
        tests = as_numbers(test, ordered, is_bool)
        if not tests:
            return None
    else:
        jaxpr = params.pop('jaxpr')
    body = as_numbers(jaxpr, ordered)
    loop = body and Loop(jaxpr, body, tests, **params)
    return loop if loop and all(map(is_step, loop.eqns)) and (
        tests or loop.length * len(loop.eqns) > MANY) else None


def is_step(eqn):
    """Return whether a kernel can compute an equation of single numbers."""
    if eqn.primitive is pow_p and any(eqn.params['boxes']):
        return False
    if eqn.primitive in FUNCTIONS:
        return (eqn.primitive is pow_p and is_power(eqn)
                or as_numpy(eqn.primitive))
    return eqn.primitive in TEMPLATES and is_arithmetic(eqn)


def loop_lines(emitter, loop, names, given, usual):
    """Return the lines of a function that runs a loop.

    If a flag is raised, the usual version runs, as Python has errors of its
    own.  But it ignores underflow in any case.

    Args:
        emitter: the FusedEmitter.
        loop: the Loop.
        names: the names of variables.
        given: the names of the arguments.
        usual: the text that runs the usual version.
    """
    start, count = loop.counts
    fixed, invars = start + count, loop.jaxpr.invars
    numbers = [f'*{x}.ravel().tolist()' if v.aval.shape else f'float({x})'
               for v, x in zip(invars[:fixed], given)]
    rows = [f'np.ascontiguousarray({x}).reshape(-1)' for x in given[fixed:]]
    ys = [names['made', i] for i in range(len(loop.jaxpr.outvars) - count)]
    made = loop.jaxpr.outvars[count:]
    flat = [f'{y}.reshape(-1)' if v.aval.shape else y
            for v, y in zip(made, ys)]
    kernel = emitter.kernel(loop_kernel(loop))
    state = ', '.join([str(loop.length or 1), *numbers])
    texts = [f'state = np.array([{state}], float)', *[
        f'{y} = np.empty({(loop.length, *v.aval.shape)}'
        f'{emitter.dtype_of(v)})' for v, y in zip(made, ys)]]
    run = [f'if {kernel}({", ".join([*rows, "state", *flat])}):',
           f'    return {usual}']
    if loop.tests:
        run = ['while state[0]:', *['    ' + text for text in run]]
    carry = ', '.join(names[v] for v in chain(*loop.body.ins[start:fixed]))
    if carry:
        skipped = 1 + sum(map(len, loop.body.ins[:start]))
        run.append(f'[{carry}] = state[{skipped}:].tolist()')
    outs = [put_back(emitter, v, parts, names) for v, parts in zip(
        invars[start:fixed], loop.body.ins[start:fixed])]
    return [(text, None) for text in [
        *texts, *run, f'return [{", ".join([*outs, *ys])}]']]


def loop_kernel(loop):
    """Return the lines of a kernel that runs a loop.

    Its arguments are the rows, the array `state`, and the arrays to fill.
    The array `state` has the number of steps, the constants, and the carry.
    In a while loop, its first number becomes 0 at the end.
    """
    body, (start, count) = loop.body, loop.counts
    names, fixed = Names(RESERVED), start + count
    numbers = [*chain(*body.ins[:fixed])]
    rows = {names['row', i]: parts
            for i, parts in enumerate(body.ins[fixed:])}
    ys = {names['made', i]: parts
          for i, parts in enumerate(body.outs[count:])}
    kept = unneeded(body.jaxpr.eqns, chain(*ys.values()))
    head = [f'{names[v]} = state[{i}]' for i, v in enumerate(numbers, 1)]
    step = [(f'{names[v]} = {place}', None) for x, parts in rows.items()
            for v, place in zip(parts, places(x, parts))]
    if loop.tests:
        step, also_kept = test_lines(loop, names)
        kept += also_kept
        head.append(f'for step in range({MOST}):')
    elif loop.reverse:
        head.append('for step in range(int(state[0]) - 1, -1, -1):')
    else:
        head.append('for step in range(int(state[0])):')
    step += lines_of(body.jaxpr.eqns, names, kept)
    step += [(f'{place} = {operand(v, names, v.aval.dtype)}', None)
             for y, parts in ys.items()
             for v, place in zip(parts, places(y, parts))]
    carry = numbers[sum(map(len, body.ins[:start])):]
    moves = [(names[v], operand(end, names)) for v, end in zip(
        carry, chain(*body.outs[:count])) if v is not end]
    if moves:
        step.append((' = '.join(map(', '.join, zip(*moves))), None))
    first = 1 + len(numbers) - len(carry)
    end = [f'state[{i}] = {names[v]}' for i, v in enumerate(carry, first)]
    made = ''.join(parts[0].aval.dtype.char for parts in ys.values())
    return whole('d' * len(rows), f'd{made}',
                 [*rows, 'state', *ys], head, step, end, kept,
                 'LOUD')


def places(array, parts):
    """Return the texts of the elements of a row, at the current step."""
    if len(parts) == 1:
        return [f'{array}[step]']
    return [f'{array}[step * {len(parts)} + {i}]' for i in range(len(parts))]


def test_lines(loop, names):
    """Return the lines that end a while loop, and the values to keep."""
    tests = loop.tests
    names.update((v, names[x]) for v, x in zip(
        chain(*tests.ins), chain(*loop.body.ins)))
    kept = unneeded(tests.jaxpr.eqns, [])
    [[out]] = tests.outs
    return [*lines_of(tests.jaxpr.eqns, names, kept),
            (f'if not {operand(out, names, out.aval.dtype)}:', None),
            ('    state[0] = 0.0', None), ('    break', None)], kept
