"""Planning: where results are stored, and what runs block by block."""

import sys
from functools import partial

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.jaxprs import Literal, Names
from autodiff_mini.interpreters.jaxpr import eval_jaxpr
from autodiff_mini.wings.fast.compiler import FastLowered
from autodiff_mini.wings.fast.plan import (
    FRESH, is_piece, keeps_order, makes_order, plan)
from autodiff_mini.wings.fast.simplify import VIEWS, opened
from tests.tables.custom_programs import CUSTOM_PROGRAMS
from tests.tables.programs import NOT_STAGED, PROGRAMS


def array(*shape, dtype=float):
    """Return the type of an array."""
    return ad.ShapedArray(shape, np.dtype(dtype))


S, B, R = array(33, 33), array(32, 32), array(32)
H, W = array(65_536), array(300, 300)


def planned(f, *args, ordered=True):
    """Return the plan of a program as lines."""
    jaxpr = opened(ad.make_jaxpr(f)(*args))
    names, lines = Names(), []
    for v in [*jaxpr.constvars, *jaxpr.invars]:
        names[v]
    for work in plan(jaxpr, ordered):
        if work.rows:
            lines.append(f'block {work.rows}:')
        for eqn in work.eqns:
            lines.append('  ' * bool(work.rows) + ' '.join([
                *map(names.__getitem__, eqn.outvars), '=', eqn.primitive.name,
                *map(names.__getitem__, eqn.invars),
                *(f'into {names[v]}' for out, v in work.into.items()
                  if out in eqn.outvars),
                *['unordered'] * (not work.ordered and bool(eqn.invars))]))
        if work.rows:
            lines.append('  outs ' + ' '.join(map(names.get, work.outs)))
        lines[-1] += ''.join(f', del {names[v]}' for v in work.gone)
    return lines


# What is overwritten

q = ad.Primitive('q')
q.def_impl(lambda x: x)
q.def_abstract_eval(lambda x: x)
two = ad.Primitive('two', multiple_results=True)
two.def_impl(lambda x: [x, x])
two.def_abstract_eval(lambda x: [x, x])
CONST = np.ones((32, 32))
then = lambda x, f: f(x)

PLANS = {
    'a_chain': (lambda x: np.sin(np.cos(x) * 2) - x, [B], [
        'b = cos a', 'c = mul b 2 into b', 'd = sin c into c',
        'e = sub d a into d']),
    'of_1024': (lambda x: np.sin(np.cos(x)), [array(1024)], [
        'b = cos a', 'c = sin b into b']),
    'the_first_of_two': (lambda x: np.sin(x) - np.cos(x), [B], [
        'b = sin a', 'c = cos a', 'd = sub b c into b, del c']),
    'no_argument_and_no_constant': (lambda x: (x * CONST) + CONST, [B], [
        'c = mul b a', 'd = add c a into c']),
    'views': (lambda x: then(np.sin(x), lambda y: (y[0] * 2, np.cos(y))),
              [B], ['b = sin a', 'c = index b', 'd = mul c 2',
                    'e = cos b into b']),
    'a_result_that_is_not_used': (lambda x: two.bind(x)[1], [B], [
        'b c = two a, del b']),
    'slices': (lambda x: (x[:, 1:] - x[:, :0:-1]) * 2, [S], [
        'b = index a', 'c = index a', 'd = sub b c unordered, del b, del c',
        'e = mul d 2 into d']),
    'ordered_again': (lambda x: np.cos(x.T @ x), [B], [
        'b = transpose a', 'c = matmul b a unordered, del b',
        'd = cos c into c']),
}


def test_exactly_these_arrays_are_overwritten():
    for name, (f, args, expected) in PLANS.items():
        assert planned(f, *args) == expected, name
        careful = planned(f, *args, ordered=False)
        assert not any('into' in line for line in careful)
        assert len(careful) == len(expected)


# Blocks

BLOCKS = {
    'two': (lambda x: np.sin(np.cos(x)), [H], [
        'block 16384:', '  b = cos a', '  c = sin b', '  outs c']),
    'rows': (lambda x: np.sin(np.cos(x)), [W], [
        'block 50:', '  b = cos a', '  c = sin b', '  outs c']),
    'dying': (lambda x: then(np.sum(x) + x, lambda y: np.sin(np.cumsum(y))
                             * y), [H], [
        'b = reduce_sum a', 'c = add b a', 'd = reshape c',
        'e = cumsum d, del d', 'block 16384:', '  f = sin e',
        '  g = mul f c', '  outs g, del e, del c']),
    'another_shape_ends_it': (
        lambda x, y: np.sum(np.sin(x) * 2) + (np.cos(y) * 2), [H, W], [
            'block 16384:', '  c = sin a', '  d = mul c 2', '  outs d',
            'e = reduce_sum d, del d', 'block 50:', '  f = cos b',
            '  g = mul f 2 into f', '  h = add e g', '  outs h']),
    'what_does_not_need_it_goes_first': (
        lambda x, y: np.sin(x) * np.sum(np.cos(y)), [H, R], [
            'c = cos b', 'd = reduce_sum c', 'block 16384:', '  e = sin a',
            '  f = mul e d', '  outs f']),
    'what_needs_it_ends_it': (
        lambda x: then(np.sin(x) * 2, lambda y: y * np.sum(y)), [H], [
            'block 16384:', '  b = sin a', '  c = mul b 2', '  outs c',
            'd = reduce_sum c', 'e = mul c d into c']),
    'part_of_it_unordered': (lambda x: (np.sin(x) + 1) * x.T, [W], [
        'b = transpose a', 'block 50:', '  c = sin a', '  d = add c 1',
        '  outs d', 'e = mul d b unordered, del d, del b']),
}


def test_programs_are_split_into_exactly_these_blocks():
    for name, (f, args, expected) in BLOCKS.items():
        assert planned(f, *args) == expected, name


def test_benchmarks_can_leave_out_each_pass(monkeypatch):
    for peer in 'autograd', 'torch', 'jax':     # or each would be imported
        monkeypatch.setitem(sys.modules, peer, None)
    from tests.benchmarks.passes import black_scholes, options, stages
    assert stages('', black_scholes, options(10_000), sum, (0, 1, 2)).calls


def test_a_block_of_many_arrays_is_smaller():
    """All its arrays fit into a million bytes."""
    def f(x, n):
        ys = [np.sin(x + i) for i in range(n)]
        total = sum(ys[1:], ys[0])
        return sum(y * total for y in ys)

    for n, rows in ((5, 16_384), (7, 13_108), (19, 5958)):
        [block] = plan(ad.make_jaxpr(partial(f, n=n))(H))
        assert block.rows == rows
        new = {eqn.outvars[0] for eqn in block.eqns}.difference(
            block.into, block.outs)
        assert 8 * rows * len(new) < 1_000_000
        pieces = -(-65_536 // rows)     # one piece less, and they do not fit
        assert rows == 16_384 or (
            8 * -(-65_536 // (pieces - 1)) * len(new) > 1_000_000)


def test_a_block_computes_each_result_just_before_it_is_needed():
    """So that only three pieces exist at a time, one of the result."""
    def f(x):
        ys = [np.sin(x + i) for i in range(9)]
        return sum(ys[1:], ys[0])
    [block] = plan(ad.make_jaxpr(f)(H))
    new = {eqn.outvars[0] for eqn in block.eqns}.difference(
        block.into, block.outs)
    assert len(block.eqns) == 26 and len(new) == 2


# What is C-contiguous, and new

TABLE = [program for program in PROGRAMS + CUSTOM_PROGRAMS
         if program.name not in NOT_STAGED]
LAYOUTS = [np.ascontiguousarray, np.asfortranarray,
           lambda x: np.repeat(x, 2, -1)[..., ::2]]


def run_checked(jaxpr, args, layout):
    """Run a program, and test what planning says of each equation.

    Return the primitives whose results were said to be ordered.
    """
    env, seen = dict(zip([*jaxpr.constvars, *jaxpr.invars],
                         [*jaxpr.consts, *args])), set()
    for eqn in jaxpr.eqns:
        xs = [v.val if type(v) is Literal else env[v] for v in eqn.invars]
        xs = [layout(x) if type(x) is np.ndarray and x.ndim else x
              for x in xs]
        out = eqn.primitive.bind(*xs, **eqn.params)
        outs = out if eqn.primitive.multiple_results else [out]
        env.update(zip(eqn.outvars, outs, strict=True))
        order, slices = [{*eqn.invars} if all(map(known, xs)) else set()
                         for known in (is_contiguous, is_slice)]
        if makes_order(eqn, order, slices):
            assert all(map(is_contiguous, outs)), eqn.primitive
            seen.add(eqn.primitive)
        if eqn.primitive in FRESH:
            for x in xs:
                assert not np.may_share_memory(x, out), eqn.primitive
    return seen


def is_contiguous(x):
    return np.ndim(x) == 0 or x.flags.c_contiguous


def is_slice(x):
    """Return whether an array's strides do not increase."""
    sizes = zip(getattr(x, 'strides', ()), np.shape(x))
    strides = [abs(stride) for stride, n in sizes if n > 1]
    return strides == sorted(strides)[::-1] and all(strides) >= any(strides)


def test_arrays_planned_as_ordered_and_new_are():
    """Each program has arrays in one of three layouts."""
    seen, new = set(), 0
    for i, program in enumerate(TABLE):
        jaxpr = ad.make_jaxpr(partial(program.function, np))(*program.args)
        with np.errstate(all='ignore'):
            seen |= run_checked(jaxpr, program.args, LAYOUTS[i % 3])
        new += i % 6 == 0 and is_as_new_as_said(jaxpr, program.args)
    assert len(FRESH - seen) < 5, FRESH - seen
    assert not FRESH & VIEWS
    assert new > len(TABLE) // 24


def is_as_new_as_said(jaxpr, args):
    """Test that results planned as new share no memory."""
    version = FastLowered(jaxpr).fast
    if not version.owned or not version.takes_all(args):
        return False
    with np.errstate(all='ignore'):
        ys = version.function(*args)
    for i, y in enumerate(ys):
        assert type(y) is not np.ndarray or y.ndim
        for x in [*ys[:i], *args, *version.constants]:
            assert not np.may_share_memory(x, y)
    return True


ORDERS = {     # functions, and whether their results are known to be ordered
    'operations': (lambda x: np.sin(x) * x + 1, True),
    'product_of_transposes': (lambda x: np.exp(x.T @ x.T), True),
    'products_of_transposes': (
        lambda x: np.exp(np.swapaxes(x[None] * 1, 0, 1)[:, :, None] @ x),
        False),
    'a_checkpoint': (lambda x: ad.checkpoint(lambda x: x + 1)(x), True),
    'a_loop': (lambda x: ad.scan(lambda c, r: (c * 2, r + 1), x, x), True),
    'loop_turns': (lambda x: ad.scan(lambda c, r: (c.T, r), x, x)[0], False),
    'a_primitive_of_the_user': (q.bind, False),
}


def test_exactly_these_programs_keep_order():
    x = np.arange(16.0).reshape(4, 4) + 4 * np.eye(4)
    for name, (f, expected) in ORDERS.items():
        jaxpr = ad.make_jaxpr(f)(x)
        assert keeps_order(jaxpr) is expected, name
        if expected:
            outs = eval_jaxpr(jaxpr, jaxpr.consts, x)
            assert all(map(is_contiguous, outs)), name


PIECES = [     # indices that select one piece of memory, and others
    ('[:]', '[1:]', '[:2]', '[...]', '[()]', '[None]', '[1:3]', '[::1]',
     '[1, 1:3]', '[None, 1:3, None]', '[0, None, 1]', '[1, ...]'),
    ('[::2]', '[::-1]', '[:, 0]', '[:, 1:3]', '[..., 0]', '[:2, :]',
     '[1:, 0]', '[0, ::2]', '[..., 1:]', '[[0, 1]]', '[0, [1]]', '[[0], 1]')]


def test_indices_that_select_one_piece_are_known():
    x = np.arange(64.0).reshape(4, 4, 4)
    for selects_one, indices in zip((True, False), PIECES):
        for index in indices:
            jaxpr = ad.make_jaxpr(lambda x: eval(f'x{index}', {'x': x}))(x)
            [eqn] = [eqn for eqn in jaxpr.eqns
                     if eqn.primitive.name == 'index']
            assert is_piece(eqn.params['indices']) is selects_one, index
