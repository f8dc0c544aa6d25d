"""Prepared operations: both passes, for arguments of given types.

For arguments of the same types, the derivative of an operation is the same
program, cut in two at the same place.  So the usual rules derive both halves
once, and the halves are compiled.  Chapter 32.
"""

from dataclasses import replace
from functools import partial
from itertools import compress, repeat

import numpy as np

from autodiff_mini.calls.jit import compiled
from autodiff_mini.calls.programs import (
    evaluate, for_outputs, interleave, jvp_jaxpr, nothing, partial_eval_jaxpr,
    remembered, stage_program, transpose_jaxpr, vmap_jaxpr)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Var
from autodiff_mini.core.names import TraceTag
from autodiff_mini.core.trace import (
    Primitive, Tracer, current_trace, function_table)
from autodiff_mini.core.trees import LEAF, tree_flatten, tree_map
from autodiff_mini.core.types import NUMBERS, typeof
from autodiff_mini.interpreters.vmap import BatchTrace, BatchTracer, Dim
from autodiff_mini.wings.fast.compiler import Version
from autodiff_mini.wings.fast.long_way import BY_VALUE, LongWay
from autodiff_mini.wings.fast.simplify import opened, simplify


@remembered
def compiled_step(jaxpr):
    """Compile a program for NumPy arrays in any memory order."""
    return Version(simplify(opened(jaxpr)), fast=False).function


def compiled_batch(compiler, jaxpr):
    """Compile a program of one example to a function of the batch."""
    steps = {}

    def step(*xs):
        trace = now = current_trace()
        while type(trace) is not BatchTrace:
            trace = trace.parent
        vals, dims = trace.unpack(xs)
        key = tuple(dims)
        if key not in steps:
            mapped = tuple([dim is not None for dim in dims])
            every, _, is_mapped = vmap_jaxpr(
                jaxpr, mapped, nothing(jaxpr), trace.axis.size)
            places = [i for i, here in enumerate(is_mapped) if here]
            steps[key] = compiler(every), places
        program, places = steps[key]
        outs = program(*vals)
        dim = 0 if 0 in dims else Dim.SHARED
        for i in places:
            outs[i] = BatchTracer(trace, outs[i], dim)
            outs[i].made_in = now
        return outs
    return step


class Prepared:
    """The forward and reverse passes of an operation on given types.

    Args:
        operands: the values of the arrays among its arguments.
        names: their tangents' names, or None for a zero tangent.
        function: a primitive or a NumPy function.
        args, kwargs: its arguments.
        is_mapped: whether a vmap can map its operands.
    """

    def __init__(self, operands, names, function, args, kwargs, is_mapped):
        self.function = function
        compiler = compiled_step
        if 'jaxpr' in kwargs:   # whose cache holds this, so keep a copy
            compiler = compiled
            program = replace(kwargs['jaxpr'], cache={})
            kwargs = kwargs | {'jaxpr': program}
        self.compile = (partial(compiled_batch, compiler) if is_mapped
                        else compiler)
        is_primitive = isinstance(function, Primitive)

        def flat_function(*xs):
            out = called_with(function, iter(xs), args, kwargs)
            ys, self.tree = tree_flatten(out)
            if not is_primitive and any(map(seams.is_seen.run, ys)):
                raise LongWay
            return ys

        moving = tuple(name is not None for name in names)
        jaxpr = stage_program(flat_function, list(map(typeof, operands)),
                              TraceTag('grad', function))
        both, moves = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
        unknown = (False,) * len(moving) + (True,) * sum(moving)
        known, later, is_later = partial_eval_jaxpr(both, unknown,
                                                    nothing(both))
        if sum(is_later) != sum(moves):
            raise LongWay   # a tangent that depends on no tangent
        self.width = len(moves)
        self.count = len(later.invars) - sum(moving)    # residuals
        self.passed, self.made, self.later, self.sources = tangents_of(
            jaxpr, moves, moving, later, self.count)
        self.forward = self.compile(known if self.sources else jaxpr)
        self.aval = jaxpr.outvars[0].aval if jaxpr.outvars else None
        self.is_simple = self.tree is LEAF
        if self.sources:    # the reverse pass from all results
            self.back = self.back_from((True,) * len(self.made))

    def back_from_some(self, residuals, cts, is_plain):
        """Return the cotangents of its sources, if some of `cts` are None."""
        given = tuple([ct is not None for ct in cts])
        back = self.back_from(given, is_plain)
        return back(*residuals, *compress(cts, given))

    def back_from(self, given, is_plain=True):
        """Return the reverse pass from some of the results, as a function.

        It is compiled if all arrays are NumPy's.
        """
        jaxpr, _ = for_outputs(self.later, given)
        linear = (False,) * self.count + (True,) * len(self.sources)
        given = (True,) * sum(given)
        back = transpose_jaxpr(jaxpr, linear, given)
        return self.compile(back) if is_plain else partial(evaluate, back)


def called_with(function, values, args, kwargs):
    """Call a function with `values` substituted for its arrays."""
    is_dynamic = isinstance(function, Primitive) and function not in BY_VALUE

    def value(x):
        is_array = isinstance(x, Tracer | np.ndarray)
        is_number = is_dynamic and type(x) in NUMBERS
        return next(values) if is_array or is_number else x
    args = tree_map(value, args)
    if isinstance(function, Primitive):
        return function.bind(*args, **kwargs)
    kwargs = {name: tree_map(value, x) for name, x in kwargs.items()}
    return function_table[function](*args, **kwargs)


def tangents_of(jaxpr, moves, moving, later, count):
    """Return how each result gets its tangent.

    It can be an argument's tangent, computed, or zero.

    Args:
        jaxpr: the operation.
        moves: for each result, whether its tangent is not zero.
        moving: for each operand, whether its tangent is not zero.
        later: the program that computes the results' tangents.
        count: the number of residuals that it takes.

    Returns:
        `passed`, which pairs the place of a result with the place of the
        argument whose tangent it has; `made`, which pairs the place of a
        result whose tangent is computed with its type; the program for
        these; and the places of its arguments.
    """
    sources = dict(zip(later.invars[count:],
                       compress(range(len(moving)), moving)))
    dots = interleave(moves, later.outvars, repeat(None))
    passed = [(i, sources[v]) for i, v in enumerate(dots) if v in sources]
    made = [(i, jaxpr.outvars[i].aval)
            for i, v in enumerate(dots) if v and v not in sources]
    outvars = [dots[i] for i, _ in made]
    return passed, made, *used_once(
        replace(later, outvars=outvars, cache={}), count, sources)


def used_once(jaxpr, count, sources):
    """Return a linear program with an input for each use of an input.

    The reverse pass then returns a cotangent for each use, and they are
    added in the same order as without this module.

    Args:
        jaxpr: the program.
        count: the number of residuals before the inputs.
        sources: for each input, the place of its argument.

    Returns:
        The program, and the place for each of its inputs.
    """
    inputs, places, eqns = [], [], []

    def another(v):
        if v not in sources:
            return v
        inputs.append(Var(v.aval))
        places.append(sources[v])
        return inputs[-1]
    for eqn in reversed(jaxpr.eqns):
        eqns.append(replace(eqn, invars=list(map(another, eqn.invars))))
    return replace(jaxpr, invars=[*jaxpr.invars[:count], *inputs],
                   eqns=eqns[::-1], cache={}), places
