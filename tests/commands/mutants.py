"""Mutants: plant wrong rules one by one, and list those that no test catches.

    python -m tests.commands.mutants             all of them, on two cores
    python -m tests.commands.mutants sin scan    those of these rows
    python -m tests.commands.mutants --every 9   every ninth

A mutant replaces one entry of a table of rules by an entry that is wrong in a
plausible way.  In its own process, the tests of the suite that use the entry
run until one fails.  A mutant that no test catches is a survivor, which is a
hole in the tests.  The exceptions change nothing that a test could see, and
EQUIVALENT lists them with reasons.
"""

import argparse
import inspect
import io
import multiprocessing
import re
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial, wraps
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.calls.call import call_jvp, call_vmap
from autodiff_mini.core.trace import (
    Primitive, Trace, Tracer, function_table, ufunc_table)
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import (
    abstract, jvp, partial_eval, transpose, vmap)
from autodiff_mini.interpreters.jaxpr import rules as staging_rules
from autodiff_mini.interpreters.lowering import call_of
from autodiff_mini.interpreters.lowering import rules as lowering_rules
from tests.support.amount import says
from tests.support.traces import rows_of_numpy

for name in ad.__all__:     # modules imported on demand have rules, too
    getattr(ad, name)

FAST_RULES, OPENED = {}, set()
if find_spec('autodiff_mini.wings.fast'):
    import autodiff_mini.wings.fast.fission  # noqa: F401  (opens loops)
    from autodiff_mini.wings.fast.emitter import fast_rules as FAST_RULES
    from autodiff_mini.wings.fast.simplify import opening_rules
    OPENED = opening_rules.keys()

# The tables. The primitives themselves hold the implementations.


class Implementations(dict):
    """The implementations of the primitives, as a table."""

    def __setitem__(self, primitive, impl):
        primitive.impl = impl
        super().__setitem__(primitive, impl)


HARD_ROWS = rows_of_numpy()
FIRST_ORDER = [p for p in vmap.rules if p in HARD_ROWS]
ROWS = [p for p in vmap.rules if type(p) is Primitive
        and getattr(p.impl, '__module__', None) not in (
            'tests.support.traces',
            'autodiff_mini.wings.applications.implicit')]


class Lowerings(dict):
    """The lowering rules that run, as if each primitive had one.

    Programs that the wing `fast` inlines are not lowered, and it has its own
    rules.
    """

    def __init__(self):
        super().__init__({p: partial(call_of, p) for p in FIRST_ORDER}
                         | lowering_rules | FAST_RULES)
        for primitive in OPENED & self.keys():
            del self[primitive]

    def __setitem__(self, primitive, rule):
        table = FAST_RULES if primitive in FAST_RULES else lowering_rules
        table[primitive] = rule
        super().__setitem__(primitive, rule)


TABLES = {
    'evaluate': Implementations((p, p.impl) for p in ROWS),
    'jvp': jvp.rules, 'vmap': vmap.rules, 'abstract': abstract.rules,
    'staging': staging_rules, 'partial_eval': partial_eval.rules,
    'transpose': transpose.rules, 'lowering': Lowerings(),
    'ufuncs': ufunc_table,
    'functions': function_table,
}


def name_of(key):
    return getattr(key, '__name__', None) or str(key)


# Mistakes in a value

def is_number(x):
    """Return whether `x` is an array, a number, or a tracer."""
    return isinstance(x, (Tracer, float, complex, np.ndarray, np.generic)
                      ) or type(x) is int


def kind(x):
    return np.result_type(x).kind


def scaled(x):
    return x if kind(x) == 'b' else x * 1.01 if kind(x) in 'fc' else x + 1


def negated(x):
    return np.logical_not(x) if kind(x) == 'b' else -x


def backwards(x):
    return np.flip(x, 0) if np.ndim(x) and np.shape(x)[0] > 1 else x


def narrowed(x):
    narrow = {'d': np.float32, 'l': np.int32, 'D': np.complex64,
              '?': np.int64, 'f': np.float64}
    dtype = narrow.get(np.result_type(x).char)
    return np.astype(x, dtype) if dtype and np.ndim(x) else x


def finite(x):
    known = not isinstance(x, Tracer) and np.all(np.isfinite(x))
    return x if kind(x) != 'f' or not np.ndim(x) or known else (
        np.nan_to_num(x))


VALUES = [scaled, negated, backwards]


def first_number(change, out):
    """Return a result with its first number changed, or NOTHING."""
    many = type(out) in (list, tuple)
    for i, x in enumerate(out if many else [out]):
        if is_number(x) and np.result_type(x) != ad.float0:
            y = change(x)
            if not is_same(x, y):
                return type(out)([*out[:i], y, *out[i + 1:]]) if many else y
    return NOTHING


def is_same(x, y):
    """Return whether plain values have the same type and bits."""
    return x is y or not (isinstance(x, Tracer) or isinstance(y, Tracer)
                          ) and np.result_type(x) == np.result_type(y) and (
        np.asarray(x).tobytes() == np.asarray(y).tobytes())


# Mistakes in a rule. If the wrong rule itself raises an error, the mistake
# would be noticed anyway, so it does not count.

OPERATORS = defaultdict(list)
NOTHING = object()
effects = Counter()     # whether a mutant has changed anything


@dataclass(frozen=True)
class Operator:
    """A way to plant a mistake.

    Args:
        name: what is wrong then.
        wrong: `wrong(key, rule, *args, **params)` does it, or returns
            NOTHING.
        needs: a parameter that the rule must have.
        operands: how many it must have.
    """

    name: str
    wrong: Callable
    needs: str = ''
    operands: int = 0

    def plant(self, key, rule):
        @wraps(rule)
        def planted(*args, **params):
            out = self.wrong(key, rule, *args, **params)
            if out is NOTHING:
                return rule(*args, **params)
            effects['changed'] += 1
            return out
        return planted


def operator(*columns, name=None, **needs):
    """Return a decorator for `wrong(key, rule, *args, **params)`."""
    def register(wrong):
        for column in columns:
            OPERATORS[column].append(Operator(
                name or wrong.__name__.replace('_', ' '), wrong, **needs))
        return wrong
    return register


def on_result(name, change, *columns):
    """Add the operator that changes the numbers that a rule returns."""
    @operator(*columns, name=f'{name} {change.__name__}')
    def wrong(key, rule, *args, **params):
        return first_number(change, rule(*args, **params))


for change in VALUES:
    on_result('result', change, 'evaluate', 'ufuncs', 'functions')
    on_result('cotangent', change, 'transpose')
on_result('result', finite, 'evaluate')
on_result('result', narrowed, 'evaluate', 'functions', 'ufuncs')
on_result('result', scaled, 'partial_eval', 'staging')


@operator('transpose')
def cotangent_finite(key, rule, *args, **params):
    """Return a finite cotangent, for rows with hard points.

    In the other rows, no cotangent is infinite.
    """
    return first_number(finite, rule(*args, **params)) if (
        key in FIRST_ORDER) else NOTHING


@operator('evaluate', 'ufuncs', 'functions', 'lowering',
          operands=2)
def operands_exchanged(key, rule, *args, **params):
    head = hasattr(args[0], 'emit') if args else 0
    xs = args[head:]
    if len(xs) < 2 or xs[0] is xs[1]:
        return NOTHING
    return rule(*args[:head], xs[1], xs[0], *xs[2:], **params)


def on_params(needs, name, change):
    """Add the operator that changes a parameter, in all columns."""
    @operator('evaluate', 'jvp', 'vmap', 'abstract', 'transpose', 'lowering',
              'partial_eval', name=name, needs=needs)
    def wrong(key, rule, *args, **params):
        if needs not in params or (
                new := change(params[needs])) == params[needs]:
            return NOTHING
        return rule(*args, **(params | {needs: new}))


def axis_before(axis):
    if type(axis) is int:
        return max(axis - 1, 0)
    return tuple(i - 1 for i in axis) if axis and min(axis) > 0 else axis


on_params('keepdims', 'keepdims forgotten', lambda keepdims: not keepdims)
on_params('reverse', 'loop the other way', lambda reverse: not reverse)
on_params('branches', 'branches exchanged', lambda both: both[::-1])
on_params('axes', 'axes reversed', lambda axes: axes[::-1])
on_params('axis', 'axis off by one', axis_before)


# Forward mode

def on_tangent(change):
    @operator('jvp', name=f'tangent {change.__name__}')
    def wrong(key, rule, *args, **params):
        y, y_dot = rule(*args, **params)
        new = first_number(change, y_dot)
        return NOTHING if new is NOTHING else (y, new)


for change in *VALUES, narrowed, finite:
    on_tangent(change)


def is_still(y_dot):
    """Return whether a result, or each result, has no tangent."""
    return all(isinstance(t, Zero) for t in (
        y_dot if type(y_dot) is list else [y_dot]))


@operator('jvp')
def tangent_dropped(key, rule, *args, **params):
    y, y_dot = rule(*args, **params)
    if is_still(y_dot):
        return NOTHING
    return y, list(map(Zero, y)) if type(y) is list else Zero(y)


@operator('jvp')
def tangent_from_nowhere(key, rule, *args, **params):
    y, y_dot = rule(*args, **params)
    if isinstance(y_dot, Zero) and kind(y) in 'fc':
        return y, 0 * y + 1
    return NOTHING


@operator('jvp')
def value_scaled(key, rule, *args, **params):
    y, y_dot = rule(*args, **params)
    new = first_number(scaled, y)
    return NOTHING if new is NOTHING else (new, y_dot)


@operator('jvp', operands=2)
def tangents_exchanged(key, rule, *args, **params):
    *tag, primals, tangents = args
    if len(tangents) < 2 or is_still(tangents[:1]) or is_still(
            tangents[1:2]) or is_still(rule(*args, **params)[1]):
        return NOTHING
    s, t, *rest = tangents
    if np.shape(s) != np.shape(t) or s is t:
        return NOTHING
    return rule(*tag, primals, [t, s, *rest], **params)


def on_operand(i):
    @operator('jvp', name=f'operand {i} ignored', operands=max(i + 1, 2))
    def ignored(key, rule, *args, **params):
        *tag, primals, tangents = args
        moving = [not isinstance(t, Zero) for t in tangents]
        if i >= len(moving) or not moving[i] or sum(moving) < 2 or is_still(
                rule(*args, **params)[1]):
            return NOTHING
        tangents = [Zero(x) if i == j else t for j, (x, t) in
                    enumerate(zip(primals, tangents))]
        return rule(*tag, primals, tangents, **params)

    @operator('vmap', name=f'rows of operand {i} reversed', operands=i + 1)
    def reversed_rows(key, rule, axis, vals, dims, **params):
        if i >= len(dims) or dims[i] != 0 or axis.size < 2:
            return NOTHING
        vals = [backwards(x) if i == j else x for j, x in enumerate(vals)]
        return rule(axis, vals, dims, **params)

    @operator('vmap', name=f'operand {i} taken for all rows',
              operands=max(i + 1, 2))
    def not_mapped(key, rule, axis, vals, dims, **params):
        if i >= len(dims) or dims[i] != 0 or dims.count(0) < 2:
            return NOTHING
        vals = [x[0] if i == j else x for j, x in enumerate(vals)]
        dims = [None if i == j else dim for j, dim in enumerate(dims)]
        return rule(axis, vals, dims, **params)

    @operator('transpose', name=f'cotangent {i} dropped', operands=i + 1)
    def dropped(key, rule, *args, **params):
        cts = list(rule(*args, **params))
        if i >= len(cts) or cts[i] is None:
            return NOTHING
        return [None if i == j else ct for j, ct in enumerate(cts)]


for i in range(3):
    on_operand(i)


@operator('transpose', operands=2)
def cotangents_exchanged(key, rule, *args, **params):
    cts = list(rule(*args, **params))
    where = [i for i, ct in enumerate(cts) if ct is not None]
    if len(where) < 2:
        return NOTHING
    i, j = where[:2]
    if np.shape(cts[i]) != np.shape(cts[j]) or cts[i] is cts[j]:
        return NOTHING
    cts[i], cts[j] = cts[j], cts[i]
    return cts


# vmap

def on_rows(name, change):
    @operator('vmap', name=name)
    def wrong(key, rule, axis, vals, dims, **params):
        out, dim = rule(axis, vals, dims, **params)
        many = type(dim) is list
        pairs = [change(y, d) if d == 0 else (y, d) for y, d in (
            zip(out, dim) if many else [(out, dim)])]
        if all(x is y for x, (y, _) in zip(out if many else [out], pairs)
               ) and name != 'dim dropped' or 0 not in (
                   dim if many else [dim]):
            return NOTHING
        return tuple(map(list, zip(*pairs))) if many else pairs[0]


for change in backwards, scaled:
    on_rows(f'rows {change.__name__}',
            lambda y, dim, change=change: (change(y), dim))
on_rows('dim dropped', lambda y, dim: (y, None))


@operator('vmap', operands=2)
def ranks_not_aligned(key, rule, axis, vals, dims, **params):
    ranks = [np.ndim(x) - (dim is not None) for x, dim in zip(vals, dims)]
    if key not in ALIGNED or not any(
            dim == 0 and rank < max(ranks) for dim, rank in zip(dims, ranks)):
        return NOTHING
    return key.bind(*vals, **params), 0


ALIGNED = {p for p in FIRST_ORDER if abstract.rules[p].__class__ is partial}


# Types

def on_type(name, change):
    @operator('abstract', name=name)
    def wrong(key, rule, *avals, **params):
        out = rule(*avals, **params)
        many = not isinstance(out, ad.ShapedArray)
        old = list(out) if many else [out]
        new = [change(aval, avals) for aval in old]
        return NOTHING if new == old else new if many else new[0]


def other_type(aval, **changes):
    fields = {name: getattr(aval, name)
              for name in ('shape', 'dtype', 'weak_type')}
    return ad.ShapedArray(**fields | {'weak_type': False} | changes)


OTHER_DTYPE = {'d': 'f', 'f': 'd', 'l': 'i', '?': 'l', 'D': 'F'}
on_type('dtype wrong', lambda aval, _: other_type(
    aval, dtype=np.dtype(OTHER_DTYPE.get(aval.dtype.char, 'd'))))
on_type('an axis more', lambda aval, _: other_type(
    aval, shape=(*aval.shape, 1)))
on_type('an axis less', lambda aval, _: other_type(
    aval, shape=aval.shape[1:], weak_type=aval.weak_type))
on_type('an element more', lambda aval, _: other_type(
    aval, shape=(*aval.shape[:-1], aval.shape[-1] + 1)
    ) if aval.shape else aval)
on_type('weak type forgotten', lambda aval, _: other_type(aval))
on_type('weak type invented', lambda aval, _: other_type(
    aval, weak_type=not aval.shape and aval.dtype.char in 'dlD?'))
on_type('the type of the first operand', lambda aval, avals: (
    avals[0] if avals else aval))


# Calls and programs, their source, and NumPy's functions

@operator('partial_eval')
def outputs_exchanged(key, rule, *args, **params):
    outs = rule(*args, **params)
    if len(outs) < 2 or outs[0] is outs[1]:
        return NOTHING
    return [outs[1], outs[0], *outs[2:]]


@operator('jvp', 'vmap', 'staging', 'partial_eval', needs='fun')
def custom_rule_forgotten(key, rule, *args, **params):
    """Call the function as a plain call would, without its rule."""
    if 'fun' not in params or len(params) < 2:
        return NOTHING
    fun = params['fun']
    if rule is RULES['jvp'][key]:
        return call_jvp(*args, fun)
    if rule is RULES['vmap'][key]:
        return call_vmap(*args, fun)
    return fun(*args[1])


RULES = {column: dict(table) for column, table in TABLES.items()}


def on_text(name, template):
    @operator('lowering', name=name)
    def wrong(key, rule, emitter, *names, **params):
        text = rule(emitter, *names, **params)
        if type(text) is not str:
            return NOTHING
        if key not in FIRST_ORDER:     # it returns a list
            return f'[{template.format("x")} for x in {text}]'
        return template.format(f'({text})')


on_text('expression negated', '-{}')
on_text('expression scaled', '{} * 1.01')


@operator('functions')
def last_argument_forgotten(key, rule, *args, **kwargs):
    return NOTHING if len(args) < 2 or kwargs or args[-1] is None else (
        rule(*args[:-1]))


@operator('functions')
def keywords_forgotten(key, rule, *args, **kwargs):
    return rule(*args) if kwargs else NOTHING


@operator('ufuncs', 'functions')
def nothing_done(key, rule, *args, **kwargs):
    return args[0] if args and is_number(args[0]) else NOTHING


# The tests of each entry

TESTS = Path(__file__).parents[1]
FILES = [TESTS / 'wings/more_numpy', *[
    path for name in """
    programs hard_points vmap abstract transpose jit jaxpr laws unrolled
    combinations scan cond while_loop checkpoint call custom_jvp custom_vjp
    custom_vmap staged_calls special lowering forward""".split()
    for path in TESTS.rglob(f'test_{name}.py')]]
OF_ALL_PROGRAMS = '''
    test_values_equal_numpys_and_tangents_the_derivative test_vmap_is_the_stack
    test_types_equal_those_of_numpys_results
    test_vjp_is_the_transpose_of_jvp test_jit_computes_what_numpy_computes
    test_jvp_of_vmap_and_vmap_of_jvp_are_the_stack_of_jvps'''.split()


class Collected:
    """A pytest plugin that keeps the collected tests."""

    def pytest_collection_finish(self, session):
        self.items = session.items


def params_of(test):
    return test.callspec.params if hasattr(test, 'callspec') else {}


def run(test):
    with warnings.catch_warnings(), np.errstate(all='ignore'), \
            redirect_stdout(io.StringIO()):
        warnings.simplefilter('ignore')
        test.function(**params_of(test))


def is_used(test):
    """Return whether a test needs no fixture, and is quick or in the sample.
    """
    return {*inspect.signature(test.function).parameters} <= {
        *params_of(test)} and (
            test.originalname in OF_ALL_PROGRAMS
            or not test.get_closest_marker('rest')
            or crc32(f'{test.path.name}::{test.name}'.encode()) % 8 == 0)


def all_checks():
    """Return the tests that can be called as functions."""
    found = Collected()
    with redirect_stdout(io.StringIO()):
        pytest.main(['--collect-only', '--assert=plain', '--all',
                     *map(str, FILES)], [found])
    assert {*OF_ALL_PROGRAMS} <= {test.originalname for test in found.items}
    return list(filter(is_used, found.items))


class watching:
    """Record which entries of the tables are used inside the block."""

    def __init__(self, columns, tell):
        self.columns, self.tell = columns, tell

    def __enter__(self):
        for column in self.columns:
            table = TABLES[column]
            for key, rule in RULES[column].items():
                table[key] = self.watched(column, key, rule)
        return self

    def watched(self, column, key, rule):
        @wraps(rule)
        def watched(*args, **params):
            self.tell(column, key, args, params)
            return rule(*args, **params)
        return watched

    def __exit__(self, *error):
        for column in self.columns:
            TABLES[column].update(RULES[column])


def spaced(items, count):
    """Return at most `count` of the items, at equal distances."""
    step = max(len(items) / count, 1)
    return [items[int(i * step)] for i in range(min(count, len(items)))]


PARAMS = defaultdict(set)       # by column and key: their names
OPERANDS = Counter()            # by column and key: how many at most


def count_operands(column, args):
    """Return how many operands there are among the arguments of a rule."""
    if column in ('jvp', 'vmap'):
        return len(args[-1])
    return len(args) - (column in ('transpose', 'lowering'))


def checks_by_entry(checks):
    """Return the checks that use each entry, and the checks that fail."""
    asked, here, failed, slow = defaultdict(dict), [None], set(), set()

    def tell(column, key, args, params):
        entry = column, key
        asked[entry][here[0]] = True
        PARAMS[entry].update(params)
        OPERANDS[entry] = max(OPERANDS[entry], count_operands(column, args))

    def process_primitive(primitive, args, params):
        tell('evaluate', primitive, args, params)
        return type(Trace.base).process_primitive(Trace.base, primitive,
                                                  args, params)

    # A primitive keeps its own implementation, because the lowering looks at
    # it.
    columns = [column for column in TABLES if column != 'evaluate']
    Trace.base.process_primitive = process_primitive
    try:
        with watching(columns, tell):
            for check in checks:
                here[0], start = check, time.process_time()
                try:
                    run(check)
                except FAILURES:
                    failed.add(check)
                if time.process_time() - start > 0.3:
                    slow.add(check)
    finally:
        del Trace.base.process_primitive
    return {entry: [check for check in found if check not in failed | slow]
            for entry, found in asked.items()}, failed


# The mutants


@dataclass(frozen=True)
class Mutant:
    column: str
    key: object
    operator: Operator

    def __str__(self):
        return f'{self.column}: {name_of(self.key)}: {self.operator.name}'

    def plant(self):
        rule = RULES[self.column][self.key]
        TABLES[self.column][self.key] = self.operator.plant(
            self.key, rule)
        for name, module in list(sys.modules.items()):
            if name.startswith('autodiff_mini'):
                for thing in list(vars(module).values()):
                    getattr(thing, 'cache_clear', int)()


# Mutants that change nothing that a test could see, by patterns of names.
SYMMETRIC = ('add mul hypot logaddexp logaddexp2 eq ne and or xor gcd lcm '
             'beta betaln hyp2f1 multiply equal not_equal bitwise_and '
             'bitwise_or bitwise_xor logical_and logical_or logical_xor '
             'polyadd polymul convolve array_equal array_equiv common_type '
             'result_type').replace(' ', '|')
EQUIVALENT = {
    rf'\w+: ({SYMMETRIC}|.*(add|multiply).*, .__call__.*): '
    'operands exchanged': 'it is symmetric',
    'jvp: (and|or|xor|invert|(left|right)_shift|gcd|lcm|bitwise_count): '
    'not reached.*': 'integers have no tangents',
    '(evaluate|jvp): (custom_lin|riemann_zeta|gammainc_a): not reached.*': 'an error',
    'transpose: (real|imag|while): not reached.*': 'it can only be an error',
    'lowering: stop_gradient: not reached.*': 'it is simplified away',
    'jvp: gammasgn: tangent.*': 'its tangent is zero',
    'jvp: add: tangents exchanged': 'a sum is symmetric',
    'jvp: (heaviside|where): operand 0.*|jvp: (copysign|nextafter): operand 1.*':
    'the result does not depend on it smoothly',
    'abstract: (scan|loop): loop.*|abstract: cond: branches.*':
    'the types are the same',
    'abstract: (argsort|cumsum|cumprod|i?fft): axis off.*': 'the type is the same',
    'functions: (full|zeros|ones|empty)(_like)?: result backwards':
    'all elements are alike',
    'functions: empty(_like)?: (result (scaled|negated)|nothing done)':
    'any values will do',
    'functions: ((copy|asarray|unstack|real_if_close): nothing|copy: last).*':
    'it is the same, or a copy of its own',
    'functions: (argwhere|(flat)?nonzero|.*_indices_from): result narrowed': 'they are indices',
    'functions: (arg)?partition: result backwards': 'only one place is said',
}


MUTANTS, CHECKS, PATIENCE = [], {}, 15
FAILURES = Exception, pytest.fail.Exception, pytest.skip.Exception


def try_out(number):
    """Return whether a mutant was caught."""
    start, mutant = time.process_time(), MUTANTS[number]
    mutant.plant()
    effects.clear()
    for i, check in enumerate(CHECKS.get((mutant.column, mutant.key), [])):
        if i > PATIENCE and not effects['changed']:
            break
        try:
            run(check)
        except FAILURES:
            if effects['changed']:
                return number, 'caught'
        if time.process_time() - start > 20:
            break
    result = 'survived' if effects['changed'] else 'void'
    if mutant.operator is NEVER_ASKED:
        result = 'survived'
    return number, result


def mutants(rows):
    """Return the mutants of these rows, or of all rows."""
    return [Mutant(column, key, operator)
            for column, rules in RULES.items() for key in rules
            for operator in operators(column, key)
            if (key in ROWS or not isinstance(key, Primitive))
            and 'patch' not in (getattr(rules[key], '__module__', '') or '')
            and (not rows or name_of(key) in rows)]


def operators(column, key):
    """Return the operators that fit an entry."""
    entry = column, key
    if entry not in CHECKS:
        return [NEVER_ASKED]
    return [o for o in OPERATORS[column] if OPERANDS[entry] >= o.operands
            and (not o.needs or o.needs in PARAMS[entry])]


NEVER_ASKED = Operator('not reached by any test', lambda *_, **__: NOTHING)


def run_all(rows=(), every=1):
    """Return the results of all mutants: pairs of a mutant and a result."""
    found, failed = checks_by_entry(all_checks())
    CHECKS.update(
        (entry, in_order(name_of(entry[1]), some, 120))
        for entry, some in found.items())
    # In a meaningless order, so that a sample has all operators.
    MUTANTS[:] = sorted(mutants(rows), key=lambda mutant: crc32(
        str(mutant).encode()))[::every]
    if failed:
        print(f'{len(failed)} tests fail while they are watched, and are skipped')
    context = multiprocessing.get_context('fork')
    with context.Pool(2, maxtasksperchild=1) as pool:
        results = [*pool.imap_unordered(try_out, range(len(MUTANTS)), 1)]
    return [(MUTANTS[i], result) for i, result in sorted(results)]


def in_order(name, checks, most):
    """Return at most `most` checks, first those that name the row."""
    kinds = defaultdict(list)
    for check in checks:
        kinds[says(name, check.name) is None, check.originalname].append(check)
    pairs = [(own, i, check) for (own, _), group in kinds.items()
             for i, check in enumerate(spaced(group, most))]
    pairs.sort(key=lambda pair: pair[:2])
    return [check for *_, check in pairs][:most]


def report(results):
    """Print the survivors and the caught share; return the share."""
    counts = Counter()
    for mutant, result in results:
        if result == 'survived' and any(
                re.fullmatch(name, str(mutant)) for name in EQUIVALENT):
            result = 'equivalent'
        elif result == 'survived':
            print('survived:', mutant)
        counts[result] += 1
    share = counts['caught'] / max(counts['caught'] + counts['survived'], 1)
    print(f'{100 * share:.1f} % caught:', dict(counts))
    return share


def main(words):
    parser = argparse.ArgumentParser(prog='python -m tests.commands.mutants')
    parser.add_argument('rows', nargs='*', help='only mutants of these rows')
    parser.add_argument('--every', type=int, default=1, metavar='N',
                        help='run one mutant in N')
    options = parser.parse_args(words)
    start = time.perf_counter()
    results = run_all(options.rows, options.every)
    share = report(results)
    print(f'{len(results)} mutants in {time.perf_counter() - start:.0f} s')
    return share < 0.95


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
