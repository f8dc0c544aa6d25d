"""Prepared operations: forward and back, for arguments of some types.

On arguments of the same types an operation has the same derivative, cut in
two at the same place.  So both halves are worked out once, by the rules that
all interpreters use, and compiled.  Chapter 35.
"""

from itertools import compress
from typing import NamedTuple

import numpy as np

from autodiff_mini import seams
from autodiff_mini.core import (
    NUMBERS, PYTHON_NUMBERS, Primitive, TraceTag, Tracer, array_type,
    current_trace, function_table, typeof)
from autodiff_mini.errors import RuleTable
from autodiff_mini.fast.emitter import FastEmitter
from autodiff_mini.fast.simplify import opened
from autodiff_mini.higher_order.programs import (
    for_outputs, jvp_jaxpr, nothing, partial_eval_jaxpr, stage_program,
    transpose_jaxpr, vmap_jaxpr)
from autodiff_mini.interpreters.vmap import BatchTracer, joint_dim
from autodiff_mini.jaxprs import Equation, Jaxpr, Var, programs_in
from autodiff_mini.primitives.elementwise import float_power_p, pow_p
from autodiff_mini.pytree import tree_flatten

BY_VALUE = {pow_p, float_power_p}   # whose rules look at a Python number
OFTEN = 32          # how often an operation is met before it is prepared
MOST_KEYS = 10_000  # how many operations are known; then all are forgotten


class LongWay(Exception):
    """An operation is not prepared, or not yet."""


class Findings(NamedTuple):
    """What was found among the arguments of an operation.

    Args:
        operands: the values of its arrays.
        names: what their tangents are called; None where one is zero.
        avals: types, which have to live as long as a key with their ids.
    """

    operands: list
    names: list
    avals: list


class Preparations(dict):
    """What is prepared, by operation and types; or how often it was met."""

    version = None

    def refresh(self):
        """Forget everything if a rule has changed."""
        if self.version != RuleTable.version:
            self.version = RuleTable.version
            self.clear()

    def meet(self, key, found, function, args, kwargs):
        """Return what is prepared for an operation, if it is met often.

        Raises:
            LongWay: it is not.
        """
        if any(map(programs_in, kwargs.values())):
            raise LongWay
        times, avals = self.get(key) or (0, found.avals)
        if len(self) > MOST_KEYS:
            self.clear()
        self[key] = times + 1, avals
        if times + 1 != OFTEN:
            raise LongWay
        examples = BatchTracer in map(type, found.operands)
        self[key] = (Mapped if examples else Prepared)(
            found, function, args, kwargs)
        return self[key]


preparations = Preparations()


class Prepared:
    """An operation on arguments of some types, forward and back.

    Args:
        found: its arrays.
        function: a primitive, or a NumPy function.
        args, kwargs: its arguments.
    """

    def __init__(self, found, function, args, kwargs):
        self.function = function
        self.avals = found.avals
        self.backs = {}     # by which of the results have a cotangent
        is_primitive = isinstance(function, Primitive)

        def run(*xs):
            out = called_with(function, iter(xs), args, kwargs)
            ys, self.tree = tree_flatten(out)
            if not is_primitive and any(map(is_seen, ys)):
                raise LongWay
            return ys

        moving = tuple(name is not None for name in found.names)
        jaxpr = stage_program(run, list(map(typeof, found.operands)),
                              TraceTag('grad', function))
        both, moves = jvp_jaxpr(jaxpr, moving, nothing(jaxpr))
        unknown = (False,) * len(moving) + (True,) * sum(moving)
        known, later, is_later = partial_eval_jaxpr(both, unknown,
                                                    nothing(both))
        if sum(is_later) != sum(moves):
            raise LongWay   # a tangent that depends on no tangent
        self.place_results(jaxpr, moves, moving, later)
        self.forward = self.step(known if self.sources else jaxpr)
        if self.sources:    # the reverse pass from all results
            self.back = self.back_from((True,) * len(self.later.outvars))

    def place_results(self, jaxpr, moves, moving, later):
        """Say of each result where its tangent comes from.

        It may be one of the tangents that came in, or made of them, or there
        is none.
        """
        moving = list(compress(range(len(moving)), moving))
        self.count = len(later.invars) - len(moving)     # of residuals
        sources = dict(zip(later.invars[self.count:], moving))
        dots = iter(later.outvars)
        dots = [next(dots) if here else None for here in moves]
        self.passed = [sources.get(v) for v in dots]
        self.made = [v and v not in sources and as_made(y.aval)
                     for v, y in zip(dots, jaxpr.outvars)]
        outvars = list(compress(dots, self.made))
        self.later, self.sources = used_once(Jaxpr(
            later.constvars, later.invars, later.eqns, outvars, later.consts),
            self.count, sources)

    def back_from_some(self, residuals, cts):
        """Return the cotangents of its sources, without those of results."""
        given = tuple([ct is not None for ct in cts])
        back = self.backs.get(given)
        if back is None:
            back = self.backs[given] = self.back_from(given)
        return back(*residuals, *compress(cts, given))

    def back_from(self, given):
        """Return the reverse pass from some of the results, as a function."""
        jaxpr = self.later
        if not all(given):
            jaxpr, _ = for_outputs(jaxpr, given)
        linear = (False,) * self.count + (True,) * len(self.sources)
        given = (True,) * sum(given)
        return self.step(transpose_jaxpr(jaxpr, linear, given))

    def step(self, jaxpr):
        """Return a program of this operation as a function."""
        return compiled_step(jaxpr)


class Mapped(Prepared):
    """The same for all the examples of a vmap, of which some are mapped."""

    def step(self, jaxpr):
        """Return a program of an example, as a function of all of them."""
        steps, nowhere = {}, nothing(jaxpr)

        def step(*xs):
            traces = [x._trace for x in xs if type(x) is BatchTracer]
            mapped = tuple([type(x) is BatchTracer and x.dim == 0
                            for x in xs])
            if mapped not in steps:
                size = traces[0].axis.size if traces else 0
                every, _, is_mapped = vmap_jaxpr(jaxpr, mapped, nowhere,
                                                 size)
                steps[mapped] = compiled_step(every), is_mapped
            run, is_mapped = steps[mapped]
            ys = run(*[x.val if type(x) is BatchTracer else x for x in xs])
            dim = joint_dim([x.dim for x in xs if type(x) is BatchTracer])
            outs = [traces[0].join(y, dim) if here else y
                    for y, here in zip(ys, is_mapped)]
            for y in outs:
                if type(y) is BatchTracer:
                    y.made_in = current_trace()
            return outs
        return step


def is_seen(y):
    """Return whether other code can see the memory of a result.

    It may be a view of an argument; a view of what is gone is as good as new.
    """
    return seams.is_seen.run(y)


def called_with(function, values, args, kwargs):
    """Return what a function returns, with values for its arrays."""
    is_primitive = isinstance(function, Primitive)
    is_dynamic = is_primitive and function not in BY_VALUE
    args = [with_values(x, values, is_dynamic) for x in args]
    if is_primitive:
        return function.bind(*args, **kwargs)
    kwargs = {name: with_values(x, values, False)
              for name, x in kwargs.items()}
    return function_table[function](*args, **kwargs)


def with_values(x, values, is_dynamic):
    """Return an argument, with values for the arrays in it.

    Args:
        x: the argument.
        values: an iterator.
        is_dynamic: whether Python's numbers are values, too.
    """
    if isinstance(x, Tracer | np.ndarray) or (
            is_dynamic and type(x) in NUMBERS):
        return next(values)
    if type(x) in (list, tuple):
        return type(x)([with_values(y, values, is_dynamic) for y in x])
    return x


def as_made(aval):
    """Return a type, as the object that `typeof` returns."""
    if aval.weak_type:
        return PYTHON_NUMBERS[type(aval.dtype.type(0).item())]
    return array_type(aval.shape, aval.dtype)


def used_once(jaxpr, count, sources):
    """Return a linear program with an input for each use of an input.

    So cotangents come back one by one, and are added in the order in which
    they would be without this module.

    Args:
        jaxpr: the program.
        count: how many residuals stand before the inputs.
        sources: a number for each input.

    Returns:
        The program, and for each of its inputs the number.
    """
    inputs, numbers, eqns = [], [], []

    def another(v):
        if v not in sources:
            return v
        inputs.append(Var(v.aval))
        numbers.append(sources[v])
        return inputs[-1]
    for eqn in reversed(jaxpr.eqns):
        eqns.append(Equation(eqn.primitive, list(map(another, eqn.invars)),
                             eqn.params, eqn.outvars, eqn.line))
    return Jaxpr(jaxpr.constvars, [*jaxpr.invars[:count], *inputs],
                 eqns[::-1], jaxpr.outvars, jaxpr.consts), numbers


def compiled_step(jaxpr):
    """Return a program as a function, which returns a list.

    Its arrays are NumPy's, and may lie in memory in any order.
    """
    emitter = FastEmitter(False)
    emitter.emit('step', emitter.simplified(opened(jaxpr), False), False)
    source, _ = emitter.text()
    exec(compile(source, '<autodiff_mini step>', 'exec'), emitter.scope)
    return emitter.scope['step']
