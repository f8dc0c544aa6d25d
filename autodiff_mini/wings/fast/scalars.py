"""Programs of single numbers: Python floats, if they give the same bits.

An array is a heavy suitcase for one number.  A Python float has the same bits
and computes ten times faster.  If it would behave differently from NumPy, the
careful version runs instead.  The exception is underflow, which is ignored
here even under `np.errstate`.  A program of short vectors is rewritten for
their elements.  An index or a stack, which only rearranges elements, then
needs no code.  See the page *A second compiler*.
"""

import math
import operator
from collections import ChainMap, Counter
from contextvars import Context
from dataclasses import dataclass
from functools import cache, reduce
from itertools import chain
from threading import local

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Equation, Jaxpr, Literal, Var
from autodiff_mini.core.types import ShapedArray, astype_p
from autodiff_mini.core.zeros import Zero
from autodiff_mini.primitives.elementwise import (
    abs_p, add_p, and_p, cos_p, div_p, eq_p, exp_p, ge_p, gt_p, invert_p,
    isfinite_p, le_p, log1p_p, log_p, lt_p, max_p, min_p, mul_p, ne_p, neg_p,
    or_p, pow_p, sin_p, sqrt_p, sub_p, tanh_p, where_p, xor_p)
from autodiff_mini.primitives.indexing import index_p, scatter_p
from autodiff_mini.primitives.reductions import (
    reduce_max_p, reduce_min_p, reduce_sum_p)
from autodiff_mini.primitives.shapes import (
    broadcast_to_p, concatenate_p, reshape_p, stack_p, transpose_p)
from autodiff_mini.wings.fast.plan import (
    c_ordered, keeps_order, stays_ordered)
from autodiff_mini.wings.fast.simplify import ELEMENTWISE, PIECEWISE, simplify

# Python source for primitives.  OPEN has those whose result is not finite if
# an operand is not.  But 1 / inf is 0, so a quotient's operands are checked.
PYTHON = {
    add_p: '{} + {}', sub_p: '{} - {}', mul_p: '{} * {}', div_p: '{} / {}',
    neg_p: '-{}', abs_p: 'abs({})', pow_p: '{} ** {}', lt_p: '{} < {}',
    le_p: '{} <= {}', gt_p: '{} > {}', ge_p: '{} >= {}', eq_p: '{} == {}',
    ne_p: '{} != {}', and_p: '{} & {}', or_p: '{} | {}', xor_p: '{} ^ {}',
    invert_p: 'not {}', where_p: '{1} if {0} else {2}', astype_p: 'float({})',
    isfinite_p: 'True',     # otherwise the program gives up
    max_p: ('{0} if {0} > {1} else {1} if {1} > {0} '
            'else float(np.maximum({0}, {1}))'),    # 0.0 and -0.0
    min_p: ('{0} if {0} < {1} else {1} if {1} < {0} '
            'else float(np.minimum({0}, {1}))')}
MATH = {sqrt_p: math.sqrt, sin_p: math.sin, cos_p: math.cos,
        pow_p: math.pow}
# The operands for which NumPy's function raises no error but underflow.
CALM = {exp_p: '{} < 709.0', log_p: '{} > 0.0', log1p_p: '{} > -1.0',
        tanh_p: ''}
TESTS = {lt_p, le_p, gt_p, ge_p, eq_p, ne_p, isfinite_p}
OPEN = {add_p, sub_p, mul_p, neg_p, abs_p, astype_p, sqrt_p, sin_p, cos_p}
CHOICES = {where_p, max_p, min_p}
FEW_CALLS = 12  # of NumPy: more tests take longer than catching its errors
MANY = 100      # equations: a longer program reuses the names of numbers
WIDE = 30       # letters: a longer expression has a line of its own


def is_float(v):
    aval = v.aval
    return (aval.shape == () and aval.dtype == float
            and not (type(v) is Literal and isinstance(v.val, Zero)))


def is_scalar(jaxpr, is_result=is_float):
    """Return whether all values of a program are single float64 numbers.

    Intermediate values can also be booleans.
    """
    return (bool(jaxpr.eqns) and not jaxpr.constvars
            and all(map(is_float, jaxpr.invars))
            and all(map(is_result, jaxpr.outvars))
            and all(map(is_scalar_equation, jaxpr.eqns)))


def is_bool(v):
    return v.aval.shape == () and v.aval.dtype == bool


def is_small(v):
    """Return whether an operand is an integer that a float can hold."""
    return (type(v) is Literal and type(v.val) is int
            and abs(v.val) <= 2**53)


def is_scalar_equation(eqn):
    """Return whether Python floats can compute an equation."""
    if eqn.primitive in loop_lines:
        return all(map(is_float, eqn.invars + eqn.outvars))
    primitive, out = eqn.primitive, eqn.outvars[0]
    if primitive is pow_p and not is_power(eqn) and out.aval.weak_type:
        return False
    if primitive in (and_p, or_p, xor_p, invert_p):
        return all(map(is_bool, eqn.invars))
    if primitive in CHOICES:
        *tests, x, y = eqn.invars
        return all(map(is_bool, tests)) and is_float(out) and not any(
            map(is_bool, (x, y)))
    known = (primitive in PYTHON or primitive in ELEMENTWISE
             and isinstance(primitive.impl, np.ufunc))
    return (known and (is_bool(out) if primitive in TESTS else is_float(out))
            and all(is_float(v) or is_bool(v) or is_small(v)
                    for v in eqn.invars))


def is_power(eqn):
    """Return whether the exponent is a Python integer."""
    exponent = eqn.invars[1]
    return type(exponent) is Literal and type(exponent.val) is int


def with_boxes(jaxpr):
    """Return a program whose powers mark which operands are boxes.

    A box is an array of shape (), as `np.where` returns it.  NumPy's power
    of a box can differ in its last bits from its power of a number.  A
    conversion from float to float changes nothing, so it is dropped.
    """
    boxes, env, eqns = set(), {}, []
    for eqn in jaxpr.eqns:
        invars = list(map(env.get, eqn.invars, eqn.invars))
        if eqn.primitive is astype_p and is_float(invars[0]) and is_float(
                eqn.outvars[0]):
            env[eqn.outvars[0]] = invars[0]
            continue
        if eqn.primitive is where_p:
            boxes.update(eqn.outvars)
        params = {'boxes': tuple(v in boxes for v in invars)} if (
            eqn.primitive is pow_p) else eqn.params
        eqns.append(Equation(eqn.primitive, invars, params, eqn.outvars,
                             eqn.line))
    outvars = list(map(env.get, jaxpr.outvars, jaxpr.outvars))
    return Jaxpr(jaxpr.constvars, jaxpr.invars, eqns, outvars, jaxpr.consts)


def has_boxes(numbers):
    """Return whether it matters if an argument is a box.

    It does if the program returns the argument or raises it to a power.
    """
    powers = [v for eqn in numbers.jaxpr.eqns if eqn.primitive is pow_p
              for v in eqn.invars]
    return not {*numbers.jaxpr.invars}.isdisjoint(
        [*powers, *numbers.jaxpr.outvars])


@cache
def as_numpy(primitive):
    """Return whether single numbers have the same bits as NumPy's arrays.

    NumPy's function can call the C library, as Python's does, or have its own
    code, so test a thousand numbers.  For an array, NumPy can use vector
    instructions, depending on its length and on whether it is read backwards.
    """
    ufunc = primitive.impl
    x = np.linspace(0.0 if primitive is sqrt_p else -5.0, 50.0, 1000)
    if primitive is pow_p:      # of single numbers
        return all(y ** z == math.pow(y, z) for y in x[100::9]
                   for z in (-0.2, 0.5, 1 / 3, 2.0, y, -y))
    with np.errstate(all='ignore'):
        found = [ufunc(x), ufunc(x[::-1])[::-1], list(map(ufunc, x))]
        for n in range(2, FEW + 1):
            parts = [ufunc(x[i:i + n]) for i in range(0, 1000, n)]
            found.append(np.concatenate(parts))
        mine = list(map(MATH.get(primitive, ufunc), x.tolist()))
    return all(np.array_equal(mine, ys, equal_nan=True) for ys in found)


def scalar_lines(emitter, numbers, jaxpr, names, fallback='careful'):
    """Return the lines of a function for a program of single numbers.

    Args:
        emitter: the FastEmitter.
        numbers: the Numbers of the program.
        jaxpr: the original program.
        names: the names of its variables.
        fallback: the name of the function to call if they give up.
    """
    floats, given = ChainMap({}, names), [names[v] for v in jaxpr.invars]
    start = taken_out(zip(jaxpr.invars, numbers.ins, given), floats)
    calls = sum(eqn.primitive in CALM for eqn in numbers.jaxpr.eqns)
    lines, errors = scalar_body(
        emitter, numbers.jaxpr, floats, numbers.jaxpr.outvars,
        CALM if calls <= FEW_CALLS else ())
    outs = [put_back(emitter, v, parts, floats)
            for v, parts in zip(jaxpr.outvars, numbers.outs)]
    if fallback == 'careful' and 'RuntimeError' not in errors:
        emitter.short = given, [*start, *lines], errors, outs
    return carefully(emitter, given, [*start, *lines], errors, outs, fallback)


def taken_out(arguments, names):
    """Return the lines that convert arguments to Python floats.

    Args:
        arguments: for each, its variable, its numbers, and its name.
        names: receives the names of the numbers.
    """
    lines = []
    for v, parts, x in arguments:
        if v.aval.shape:
            flat = '.ravel()' * (len(v.aval.shape) > 1)
            parts = ', '.join(names[part] for part in parts)
            lines.append((f'[{parts}] = {x}{flat}.tolist()', None))
        elif not v.aval.weak_type or names.get(v) != x:
            names[v] = names[v, 'float']
            lines.append((f'{names[v]} = float({x})', None))
    return lines


def put_back(emitter, v, parts, names):
    """Return the text of a result: a number, or an array of numbers."""
    texts = [float_text(emitter, part, names) for part in parts]
    if v.aval.shape:
        return f'np.array([{", ".join(texts)}]){reshaped(v, *v.aval.shape)}'
    weak, strong = v.aval.weak_type, parts[0] in emitter.strong
    if weak is not strong:
        return texts[0]
    return f'{"float" if weak else "np.float64"}({texts[0]})'


def reshaped(v, *shape):
    """Return the text that reshapes elements of `v`, or '' for one axis."""
    return f'.reshape({shape})' if len(v.aval.shape) > 1 else ''


def scalar_body(emitter, jaxpr, names, results=(), calm=()):
    """Return the lines of a program, and the errors that make them give up.

    The lines raise an error if a checked number is not finite.  A short
    expression that is needed once is written where it is needed.

    Args:
        emitter: the FastEmitter.
        jaxpr: a program of single numbers.
        names: the names of its variables; new ones are added.
        results: variables that must also be finite.
        calm: by primitive: the test that spares catching NumPy's errors.
    """
    watched = to_check(jaxpr, results)
    uses = Counter(v for eqn in jaxpr.eqns for v in eqn.invars)
    lone = {*results}.difference(uses)
    loops = [eqn for eqn in jaxpr.eqns if eqn.primitive in loop_lines]
    # These keep their names, so they count as needed more than once.
    uses.update([*jaxpr.invars, *jaxpr.outvars, *watched,
                 *(v for eqn in loops for v in eqn.invars)] * 2)
    lines, errors, free, inner = [], {'ArithmeticError'}, [], {}
    for eqn in jaxpr.eqns:
        if eqn.primitive in loop_lines:
            loop, more = loop_lines[eqn.primitive](emitter, eqn, names)
            lines += loop
            errors |= more
            continue
        primitive, [out] = eqn.primitive, eqn.outvars
        is_pow = primitive is pow_p
        boxes = is_pow and any(eqn.params['boxes'])
        operands = [float_text(emitter, v, names, not is_pow)
                    for v in eqn.invars]
        if primitive in PYTHON:     # `before` binds more strongly
            before = {'*', '/'} if primitive in (add_p, sub_p) else set()
            operands = [f'({x})' if {*x.split()[1::2]} - before else x
                        for x in operands]
        if primitive in PYTHON and not boxes and (
                not is_pow or is_power(eqn)):
            text = PYTHON[primitive].format(*operands)
        elif primitive in MATH and not boxes and as_numpy(primitive):
            errors.add('ValueError')
            name = emitter.constant(primitive.name, MATH[primitive])
            text = f'{name}({", ".join(operands)})'
        elif is_pow:
            errors.add('RuntimeError')
            operands[0] = f'np.float64({operands[0]})'
            base, exponent = [f'np.array({x})' if is_box else x for x, is_box
                              in zip(operands, eqn.params['boxes'])]
            text = f'float({base} ** {exponent})'
        else:
            if primitive not in calm:
                errors.add('RuntimeError')
            elif calm[primitive]:
                lines += unless(calm[primitive].format(*operands))
            text = f'{emitter.ufunc(primitive.impl)}({", ".join(operands)})'
            if out in lone:
                emitter.strong.add(out)
            else:
                text = f'float({text})'
        used = [x for v in eqn.invars if type(v) is Var
                for x in inner.pop(v, [v])]
        if uses[out] == 1 and len(text) < WIDE:
            names[out], inner[out] = text, used
            continue
        uses.subtract(used)
        free += [names[v] for v in dict.fromkeys(used) if not uses[v]]
        if free and len(jaxpr.eqns) > MANY:
            names[out] = free.pop()     # its memory is in the cache
        lines.append((f'{names[out]} = {text}', eqn))
    return lines + checked(
        emitter, dict.fromkeys(names[v] for v in watched
                               if v not in emitter.strong),
        [names[v] for v in watched if v in emitter.strong]), errors


def to_check(jaxpr, results):
    """Return the variables to check, in order.

    A number that is not finite must not get lost in a comparison, a choice,
    or a quotient.  But if a sum of it is checked, it need not be.

    Args:
        jaxpr: a program of single numbers.
        results: other variables that must be finite.
    """
    found = dict.fromkeys([*(v for eqn in jaxpr.eqns if eqn.primitive
                             not in OPEN for v in eqn.invars), *results])
    shown = set()   # if not finite, neither is a number that is checked
    for eqn in reversed(jaxpr.eqns):
        [out, *_] = eqn.outvars
        if eqn.primitive in OPEN and (out in found or out in shown):
            shown.update(eqn.invars)
        if eqn.primitive in CHOICES and all(map(is_finite, eqn.invars)):
            shown.add(out)  # its operands are checked
    return [v for v in found if type(v) is Var and v not in shown
            and not is_bool(v)]


def is_finite(v):
    """Return whether an operand is a variable or a finite number."""
    return type(v) is Var or math.isfinite(v.val)


def checked(emitter, names, strong=()):
    """Return the lines that give up unless these numbers are finite.

    NumPy's numbers are not added, because NumPy would warn of an overflow.
    """
    isfinite, names = emitter.constant('isfinite', math.isfinite), [*names]
    sums = [' + '.join(names[i:i + 10]) for i in range(0, len(names), 10)]
    sums += strong
    return [line for x in sums for line in unless(f'{isfinite}({x})')]


def unless(test):
    """Return the lines that give up if a test fails."""
    return [(f'if not {test}:', None), ('    raise ArithmeticError', None)]


def carefully(emitter, given, lines, errors, outs, fallback):
    """Return lines that call a fallback if Python floats give up.

    It is called behind the `except` clause, or an error in it would show why
    they gave up.

    Args:
        emitter: the FastEmitter.
        given: the names of the arguments.
        lines: the lines that compute the results.
        errors: the errors that make them give up.  A function of `math` can
            raise ValueError, and NumPy RuntimeError; see Raising.
        outs: the texts of the results.
        fallback: the name of the function to call then.
    """
    lines = [*lines, (f'return [{", ".join(outs)}]', None)]
    if 'RuntimeError' in errors:
        name = f'numbers_{next(emitter.numbers)}'
        emitter.define(f'{name}({", ".join(given)})', lines)
        run = emitter.constant('raising', raising) + '.run'
        lines = [(f'return {run}({", ".join([name, *given])})', None)]
    return [('try:', None), *indented(lines),
            (f'except ({", ".join(sorted(errors))}):', None),
            ('    pass', None),
            (f'return {fallback}({", ".join(given)})', None)]


class Raising(local):
    """Run a function in a context where NumPy raises its errors.

    Entering `np.errstate` takes as long as four operations.  Each thread has
    its own context, because entering one twice is a RuntimeError.
    """

    def __init__(self):
        self.run = Context().run
        self.run(np.seterr, all='raise')


raising = Raising()


def indented(lines):
    return [('    ' + text, eqn) for text, eqn in lines]


def float_text(emitter, v, names, as_float=True):
    """Return the text of an operand for Python arithmetic."""
    if type(v) is Var:
        return names[v]
    is_exact = not as_float or v.aval.dtype == bool
    return emitter.value(v.val if is_exact else float(v.val))


FEW = 8     # elements: a longer vector is faster as an array
CALL = 12   # Python operations in the time that NumPy needs for one
MOVING = {index_p, scatter_p, concatenate_p, stack_p, broadcast_to_p,
          reshape_p, transpose_p}


@dataclass(eq=False)
class Numbers:
    """A program of single numbers that replaces one of small arrays.

    Args:
        jaxpr: the program of single numbers.
        ins: the numbers of each argument of the original program.
        outs: the numbers of each result.
    """

    jaxpr: Jaxpr
    ins: list
    outs: list


def as_numbers(jaxpr, ordered, is_result=is_float, arrays=0):
    """Return Numbers for a program, or None if arrays suit it better.

    Args:
        jaxpr: a program without calls.
        ordered: whether its arguments are C-contiguous NumPy arrays.
        is_result: a function that says whether a variable can be a result.
        arrays: the number of arrays to convert at each run.
    """
    if is_scalar(jaxpr, is_result):     # right if all numbers stay finite
        program = with_boxes(jaxpr)
        return Numbers(program, [[v] for v in jaxpr.invars],
                       [[v] for v in program.outvars])
    numbers = (has_few_numbers(jaxpr, ordered) and keeps_order(jaxpr)
               and split_up(with_boxes(jaxpr), ordered))
    if (numbers and is_scalar(numbers.jaxpr, is_result)
            and 2 * price(numbers.jaxpr) < CALL * (len(jaxpr.eqns) - arrays)):
        return numbers
    return None


def has_few_numbers(jaxpr, ordered):
    """Return whether all arrays have few elements, floats or booleans.

    If they are not in row order, each must be a single number.
    """
    found = chain(jaxpr.constvars, jaxpr.invars,
                  *[eqn.outvars for eqn in jaxpr.eqns])
    return seams.library_of(jaxpr.consts) is None and all(
        v.aval.dtype in (float, bool) and (ordered or not v.aval.shape)
        and v.aval.ndim <= 32   # the most that NumPy iterates over
        and 0 < math.prod(v.aval.shape) <= FEW for v in found)


def price(jaxpr):
    """Return about how long a program takes, in Python operations.

    A loop has a price of its own.
    """
    return sum(1 if eqn.primitive in PYTHON or eqn.primitive in MATH
               and as_numpy(eqn.primitive) else CALL for eqn in jaxpr.eqns
               if eqn.primitive not in loop_lines)


loop_rules = {}     # by primitive: splits up a loop, as `split_up` does
loop_lines = {}     # by primitive: writes a loop of numbers


def split_up(jaxpr, ordered):
    """Return Numbers for a program, or None if an equation forbids it."""
    parts = {v: array_of(map(Literal, x.flat if v.aval.shape else [x]),
                         v.aval.shape)
             for v, x in zip(jaxpr.constvars, jaxpr.consts, strict=True)}
    parts |= {v: new_numbers(v) for v in jaxpr.invars}
    read = lambda v: parts[v] if type(v) is Var else array_of([v], ())
    eqns = []
    for eqn in jaxpr.eqns:
        if eqn.primitive in loop_rules:
            parts |= {v: new_numbers(v) for v in eqn.outvars}
            loop = loop_rules[eqn.primitive](
                eqn, ordered and stays_ordered(eqn, c_ordered(jaxpr)[0]),
                *[[read(v).ravel().tolist() for v in vs]
                  for vs in (eqn.invars, eqn.outvars)])
            if not loop:
                return None
            eqns.append(loop)
            continue
        if not can_split(eqn):
            return None
        [out], xs = eqn.outvars, [read(v) for v in eqn.invars]
        if eqn.primitive in MOVING:
            parts[out] = rearranged(eqn, xs)
        elif eqn.primitive in FOLDS:
            primitive, fold = FOLDS[eqn.primitive]

            def apply(x, y):
                z = Var(ShapedArray((), out.aval.dtype))
                eqns.append(Equation(primitive, [x, y], {}, [z], eqn.line))
                return z
            rows = np.moveaxis(xs[0], eqn.params['axis'][0], -1)
            rows = rows.reshape(-1, rows.shape[-1]).tolist()
            parts[out] = array_of([fold(apply, row) for row in rows],
                                  out.aval.shape)
        else:
            parts[out] = ys = new_numbers(out)
            eqns += [Equation(eqn.primitive, operands, eqn.params, [y],
                              eqn.line)
                     for *operands, y in np.broadcast(*xs, ys)]
    ins = [parts[v].ravel().tolist() for v in jaxpr.invars]
    outs = [read(v).ravel().tolist() for v in jaxpr.outvars]
    program = simplify(Jaxpr([], sum(ins, []), eqns, sum(outs, []), []))
    rest = iter(program.outvars)
    return Numbers(program, ins, [[next(rest) for _ in ys] for ys in outs])


def array_of(numbers, shape):
    """Return an array of variables and literals."""
    return np.fromiter(numbers, object).reshape(shape)


def new_numbers(v):
    """Return an array of variables for the elements of an array."""
    if v.aval.shape == ():
        return array_of([v], ())
    aval = ShapedArray((), v.aval.dtype)
    count = math.prod(v.aval.shape)
    return array_of([Var(aval) for _ in range(count)], v.aval.shape)


def can_split(eqn):
    """Return whether element by element gives the same bits."""
    primitive, avals = eqn.primitive, [v.aval for v in eqn.invars]
    if primitive in MOVING:
        [out] = eqn.outvars
        if (primitive is index_p and len(avals) > 1
                or primitive is scatter_p and len(avals) > 2):
            return False    # an index is an operand
        is_box = out.aval.shape == () and (
            primitive is not index_p or avals[0].shape == ()
            or Ellipsis in eqn.params['indices'])
        return not is_box and all(
            type(v) is Literal or v.aval.dtype == out.aval.dtype
            for v in eqn.invars)
    if primitive in FOLDS:
        return (len(eqn.params['axis']) == 1 and avals[0].dtype == float
                and (adds_in_turn() if primitive is reduce_sum_p
                     else ties_alike(FOLDS[primitive][0])))
    return primitive in PIECEWISE and (
        not any(aval.shape for aval in avals)
        or primitive in (max_p, min_p) and ties_alike(primitive)
        or primitive in PYTHON and primitive not in (pow_p, max_p, min_p)
        or getattr(primitive.impl, 'nin', 0) == 1 and as_numpy(primitive))


@cache
def ties_alike(primitive):
    """Return whether 0.0 and -0.0 tie in vectors as in single numbers."""
    ufunc, steps = primitive.impl, np.arange(16.0)
    x, y = np.copysign(0.0, np.sin(steps)), np.copysign(0.0, np.cos(steps))
    pairs = [(x, y), (x[::-1], y[::-1]), (x, 0.0), (x, -0.0), (0.0, x),
             (-0.0, x)]
    parts = [[z[i:i + n] if np.ndim(z) else z for z in pair]
             for pair in pairs for n in range(1, FEW + 1)
             for i in range(0, 16, n)]
    alike = lambda x, y: np.array_equal(np.signbit(x), np.signbit(y))
    return all(alike(ufunc(*part), [ufunc(*xs) for xs in np.broadcast(*part)])
               for part in parts) and all(
        alike(ufunc.reduce(x[:n]), reduce(ufunc, x[:n]))
        for x, _ in pairs[:2] for n in range(1, FEW + 1))


def rearranged(eqn, xs):
    """Return the numbers of a result that only rearranges its operands."""
    dtype = eqn.outvars[0].aval.dtype
    if eqn.primitive is scatter_p:
        found = xs[0].copy()
        found[eqn.params['indices']] = xs[1][()]
    else:
        found = np.asarray(eqn.primitive.impl(*xs, **eqn.params), object)
    return array_of((x if type(x) is Var else Literal(
        dtype.type(x.val if type(x) is Literal else x))
        for x in found.ravel().tolist()), found.shape)


def in_turn(add, xs, zero=Literal(np.float64(0))):
    """Return the sum of up to eight numbers, added as NumPy adds them."""
    if len(xs) == FEW:
        while len(xs) > 1:
            xs = [add(x, y) for x, y in zip(xs[::2], xs[1::2])]
    return reduce(add, xs, zero)


# By reduction: what combines two numbers, and in which order.
FOLDS = {reduce_sum_p: (add_p, in_turn), reduce_max_p: (max_p, reduce),
         reduce_min_p: (min_p, reduce)}


@cache
def adds_in_turn():
    """Return whether NumPy adds few numbers in the order of `in_turn`."""
    numbers = np.sin(np.arange(8000.0)) * 10.0 ** (np.arange(8000) % 7)
    for n in range(1, FEW + 1):
        for k in range(1, FEW // n + 1):
            rows = numbers[:100 * n * k].reshape(100, k, n)
            mine = [[in_turn(operator.add, x, 0.0) for x in row]
                    for row in rows.tolist()]
            across = np.swapaxes(rows, 1, 2)
            if not (mine == [np.sum(row, 1).tolist() for row in rows]
                    == [np.sum(row, 0).tolist() for row in across.copy()]
                    == [np.sum(row, 0).tolist() for row in across]):
                return False
    return not math.copysign(1, np.sum(-np.zeros(2))) < 0
