"""Rules on the tape: calls of custom functions, without the general steps.

A custom function is usually called with numbers and arrays by position, and
its rules return numbers and arrays.  Then the operations of `jvp`, or the
pullback `bwd`, go straight onto the tape.  On a surprise the general road is
taken: it gets the rule's answer or error, and says why.  Chapter 32.
"""

from functools import partial

import numpy as np

from autodiff_mini.calls.custom_jvp import (
    FlatCall, FlatRule, custom_jvp_call_p, flat_arguments, rules_of)
from autodiff_mini.calls.custom_vjp import (
    FlatBackward, FlatForward, custom_lin_p, custom_vjp_call_p)
from autodiff_mini.core import seams
from autodiff_mini.core.errors import UnexpectedTracerError
from autodiff_mini.core.jaxprs import Var
from autodiff_mini.core.lines import user_line
from autodiff_mini.core.memory import Loan, own_memory, to_read
from autodiff_mini.core.trace import (
    Trace, Tracer, current_trace, set_current_trace)
from autodiff_mini.core.trees import LEAF, PyTreeDef, containers, tree_flatten
from autodiff_mini.core.types import NUMBERS, ORDINARY, typeof
from autodiff_mini.core.zeros import Zero, fit_tangent, instantiate_zeros
from autodiff_mini.interpreters.jaxpr import JaxprTracer
from autodiff_mini.interpreters.partial_eval import PartialEvalTrace
from autodiff_mini.wings.fast.tape import TapeTrace
from autodiff_mini.wings.fast.tape_tracer import TapeTracer, float_type

base = Trace.base
ERRORS = TypeError, ValueError      # the general road says more about these


class Surprise(Exception):
    """Raised if an argument, or what a rule has returned, is not usual."""


def is_usual(function, rules, args, kwargs):
    """Return whether a call of a custom function can take the short road."""
    return not (kwargs or len(args) != function.count or function.is_method
                or rules.vmap or rules.symbolic_zeros
                or rules.symbolic_zeros_back or rules.optimize_remat)


@seams.short_call.take
def short_call(function, args, kwargs):
    """Return the result of a custom function, or NotImplemented.

    Args:
        function: the custom function.
        args, kwargs: its arguments.
    """
    trace, rules = current_trace(), rules_of(function)
    if not is_usual(function, rules, args, kwargs) or seams.ask.taken:
        return NotImplemented
    if type(trace) is TapeTrace and trace.batch is None:
        try:
            every, names = arguments(trace, function, args)
        except Surprise:
            return NotImplemented
        return apply_rule(trace, function, rules, args, every, names)
    is_known = trace is base or (
        type(trace) is PartialEvalTrace and trace.parent is base)
    if is_known and all(map(is_plain, args)):
        return apply_function(trace, function.fun, args)
    return NotImplemented


def is_plain(x):
    """Return whether `x` is a number, or a NumPy array of numbers."""
    return type(x) in NUMBERS or (
        type(x) is np.ndarray and x.dtype.kind in 'biufc')


def apply_function(trace, f, args):
    """Return what a function of plain arrays returns, outside of a trace.

    In a transformation, it can only read them.
    """
    lent = args
    if trace is not base and np.ndarray in map(type, args):
        loan = Loan(f)
        f, lent = loan.call, map(loan.lend, args)
    set_current_trace(base)
    try:
        out = f(*lent)
    except UnexpectedTracerError:
        if trace is base:
            raise
        return NotImplemented   # it closes over a tangent
    finally:
        set_current_trace(trace)
    if type(out) in NUMBERS:
        return out
    ys, tree = tree_flatten(out)
    return tree.unflatten(own_memory(ys, args))


def apply_rule(trace, function, rules, args, every, names):
    """Apply a rule on the tape, and return the result of the call.

    Args:
        trace: the TapeTrace.
        function: the custom function.
        rules: its rules.
        args: its arguments.
        every, names: the arguments as a rule gets them, and the names of
            their tangents.
    """
    below, line = trace.parent, trace.line or user_line(3)
    set_current_trace(below)
    below.line = None
    out = error = None
    try:
        if rules.fwd:
            given = every
            out = rules.fwd(*given)
            y, saved, aval = parts_of(out)
            name = record_pullback(trace, function, rules, every, names, aval,
                                   saved, line)
        else:
            given = for_jvp(function, args, every, names)
            out = rules.jvp(*given)
            y, y_dot, aval = parts_of(out)
            name = name_of(below, aval, y_dot, len(names))
        return TapeTracer(trace, y, name, aval, line)
    except Surprise:
        pass
    except ERRORS as raised:
        error = raised
    finally:
        set_current_trace(trace)
    try:
        return take_general_road(function, rules, args, given, out, error)
    finally:
        error = None    # its traceback holds this frame


def arguments(trace, function, args):
    """Return the arguments as a rule gets them, and the tangents' names.

    A nondiff argument has no name, and the name of a zero is None.

    Raises:
        Surprise: an argument is not usual, or nothing is perturbed.
    """
    every, names = [], []
    for i, x in enumerate(args):
        name = None
        if type(x) is TapeTracer and x._trace is trace:
            name, x = x.name, x.primal
        kind = type(x)
        if i in function.nondiff:
            if name or containers[kind] or isinstance(x, Tracer):
                raise Surprise
        else:
            if not is_plain(x):
                raise Surprise
            names.append(name)
        every.append(to_read(x) if kind is np.ndarray else x)
    if not any(names):
        raise Surprise
    return every, names


def held_of(function, every):
    """Return the nondiff arguments, which a rule takes first."""
    return [every[i] for i in function.nondiff]


def without(function, every):
    """Return the arguments without the nondiff ones."""
    if not function.nondiff:
        return every
    return [x for i, x in enumerate(every) if i not in function.nondiff]


def for_jvp(function, args, every, names):
    """Return the arguments of the rule `jvp`."""
    primals, tangents = without(function, every), []
    for x, primal, name in zip(without(function, args), primals, names):
        if name is None:
            tangents.append(instantiate_zeros(Zero(primal)))
        else:
            tangents.append(to_read(x.tangent) if x.shape else x.tangent)
    return *held_of(function, every), tuple(primals), tuple(tangents)


def parts_of(out):
    """Return both parts of what a rule has returned, and the first's type."""
    aval = (float_type(out[0]) if type(out) is tuple and len(out) == 2
            else None)
    if aval is None:
        raise Surprise
    return *out, aval


def name_of(below, aval, y_dot, count):
    """Return the variable of the tangent that a rule has returned.

    If a rule forgets to unpack its tuples, NumPy stacks them.
    """
    if type(y_dot) is not JaxprTracer or y_dot._trace is not below or (
            type(y_dot.name) is not Var or aval.shape[:1] == (count,)):
        raise Surprise
    if y_dot.aval != aval:
        try:
            y_dot = fit_tangent(aval, y_dot)
        except ERRORS:
            raise Surprise from None
    return y_dot.name


def record_pullback(trace, function, rules, every, names, aval, saved, line):
    """Record a pullback on the tape, and return the name of the tangent."""
    below = trace.parent
    residuals, tree = [saved], LEAF
    if type(saved) is tuple:
        residuals = list(saved)
        tree = PyTreeDef(tuple, None, (LEAF,) * len(saved), len(saved))
    if not ORDINARY.issuperset(map(type, residuals)):
        raise Surprise
    for i, x in enumerate(residuals):
        if type(x) is np.ndarray:
            if x.dtype.kind not in 'biufc':
                raise Surprise
            residuals[i] = below.snapshot(x)
    name = Var(aval)
    below.eqns.append((PulledBack(function, rules, every, names, tree),
                       residuals, names, [name], line))
    return name


class PulledBack:
    """The rule `bwd` of one call, as the tape holds a prepared operation.

    Args:
        custom: the custom function.
        rules: its rules at the time of the call.
        every: the arguments of the call.
        names: the names of the tangents.
        tree: the structure of the residuals: a leaf or a tuple.
    """

    function = custom_lin_p     # for errors

    def __init__(self, custom, rules, every, names, tree):
        self.custom, self.rules, self.tree = custom, rules, tree
        # Only the nondiff arguments are needed.
        self.args = [x if i in custom.nondiff else 0.0
                     for i, x in enumerate(every)]
        self.avals = list(map(typeof, without(custom, every)))
        self.sources = [i for i, name in enumerate(names) if name]

    def back(self, *arrays):
        """Return the cotangents of the perturbed arguments."""
        *residuals, ct = map(to_read, arrays)
        given = (*held_of(self.custom, self.args),
                 self.tree.unflatten(residuals), ct)
        out = error = None
        is_new = self.rules is not rules_of(self.custom)
        try:
            if is_new:
                raise Surprise
            out = self.rules.bwd(*given)
            if type(out) is not tuple or len(out) != len(self.avals):
                raise Surprise
            cts = list(map(fitted, self.avals, out))
            return [cts[i] for i in self.sources]
        except Surprise:
            pass
        except ERRORS as raised:
            error = raised
        places, _ = flat_arguments(self.custom, tuple(self.args), {})
        call = FlatCall(self.custom, places, self.rules)
        call.out_tree = LEAF
        bwd = FlatBackward(call, self.avals, self.tree,
                           [True] * len(residuals), [])
        if not is_new:
            answered(bwd, given, out, error)
        try:
            cts = bwd(residuals, [ct])
        finally:
            error = None
        return [cts[i] for i in self.sources]

    def back_from_some(self, residuals, cts, is_plain):
        return self.back(*residuals, *cts)


def fitted(aval, ct):
    """Return a cotangent from `bwd`, which is not weak, or None for zero."""
    kind = type(ct)
    if kind is float:
        kind, ct = np.float64, np.float64(ct)
    if ct is not None and (
            typeof(ct) is not aval if kind is np.ndarray else aval.shape
            or kind not in NUMBERS or NUMBERS[kind].dtype != aval.dtype):
        raise Surprise
    return ct


def take_general_road(function, rules, args, given, out, error):
    """Go on with what a rule has returned or raised.

    Args:
        function: the custom function.
        rules: its rules at the time of the call.
        args: its arguments.
        given: the arguments of the rule.
        out: what the rule has returned.
        error: what it has raised, or None.
    """
    places, xs = flat_arguments(function, args, {})
    call = FlatCall(function, places, rules, lends=True)
    answer = partial(answered, given=given, out=out, error=error)
    if rules.fwd:
        ys = custom_vjp_call_p.bind(
            *xs, fun=call, fwd=answer(FlatForward(call)),
            jvp=rules.jvp and FlatRule(call))
    else:
        ys = custom_jvp_call_p.bind(*xs, fun=call, jvp=answer(FlatRule(call)))
    return call.out_tree.unflatten(own_memory(ys, xs))


def answered(rule, given, out, error):
    """Let a rule return or raise what the user's function has."""
    def answer(*_):
        if error:
            raise error
        return out

    def ask(*_):
        del rule.ask    # it refers to the rule
        return seams.ask_rule(rule, answer, given)
    rule.ask = ask
    return rule
