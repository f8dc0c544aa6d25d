"""The speedup of each pass of the lowering."""

import math
from contextlib import ExitStack
from functools import partial
from unittest.mock import patch

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.jaxprs import drop_dead
from autodiff_mini.wings.fast import compiler, emitter, plan
from tests.benchmarks.arrays import (
    black_scholes, gelu, hand_black_scholes, hand_gelu, options)
from tests.benchmarks.measure import Row, measured

# Replacements for passes, which do nothing.
NO_BLOCKS = plan, 'HUGE', math.inf
NO_PLACES = plan, 'LARGE', math.inf
NO_SIMPLIFY = [(module, 'simplify', lambda jaxpr, **_: drop_dead(jaxpr))
               for module in (compiler, emitter)]

STAGES = {
    'as written': [NO_BLOCKS, NO_PLACES, *NO_SIMPLIFY],
    'simplified': [NO_BLOCKS, NO_PLACES],
    'overwriting': [NO_BLOCKS],
    'blocks': []}


def compiled_without(passes, f, args):
    """Return a call of a function that is compiled without some passes."""
    compiled = ad.jit(f)
    with ExitStack() as stack:
        for place in passes:
            stack.enter_context(patch.object(*place))
        compiled(*args)
    return partial(compiled, *args)


def stages(label, program, args, hand, argnums=0):
    """Return the row of a gradient: by hand, then with one more pass each."""
    f = ad.grad(partial(program, np), argnums)
    calls = {stage: compiled_without(passes, f, args)
             for stage, passes in STAGES.items()}
    # Each pass changes the source, but small arrays have no blocks.
    assert len({call.func.source for call in calls.values()}) >= 3
    return Row(label, '', {'hand': partial(hand, *args), **calls})


def passes():
    """Return the label and {column: seconds} of each row."""
    rows = [row for n in (1_000_000, 10_000) for row in (
        stages(f'GELU, {n:,} elements', gelu, (np.linspace(-4, 4, n),),
               hand_gelu),
        stages(f'Black–Scholes, {n:,} options', black_scholes, options(n),
               hand_black_scholes, (0, 1, 2)))]
    return [{'label': row.label, 'seconds': measured(row)} for row in rows]
