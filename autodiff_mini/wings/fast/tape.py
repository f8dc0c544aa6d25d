"""The tape: the record that a gradient of plain arrays needs.

One interpreter does the work of forward mode and partial evaluation.  It
computes, and keeps the residuals and names of each operation.  Operations
that are not prepared take the long way, through those two.  Chapter 32.
"""

from _thread import get_ident
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import RuleTable
from autodiff_mini.core.jaxprs import Equation, Literal, Var, programs_in
from autodiff_mini.core.lines import quote_line, user_line
from autodiff_mini.core.memory import (
    ARGUMENT, innermost_array, own_memory, owner_of, to_read)
from autodiff_mini.core.trace import (
    Primitive, Trace, current_trace, set_current_trace)
from autodiff_mini.core.trees import LEAF, frozen
from autodiff_mini.core.types import (
    NUMBERS, ORDINARY, PYTHON_NUMBERS, tangent_type, typeof)
from autodiff_mini.core.zeros import Zero
from autodiff_mini.interpreters import transpose
from autodiff_mini.interpreters.jvp import JVPTrace
from autodiff_mini.interpreters.partial_eval import (
    PartialEvalTrace, linearize_flat)
from autodiff_mini.interpreters.vmap import BatchTrace, BatchTracer
from autodiff_mini.numpy_functions.table import compositions
from autodiff_mini.primitives.indexing import index_p
from autodiff_mini.wings.fast.long_way import BY_VALUE, REFUSED, LongWay
from autodiff_mini.wings.fast.tape_tracer import TapeTracer

# These NumPy functions are composed of several operations, too.
compositions.update({
    np.sum, np.prod, np.max, np.min, np.mean, np.var, np.std, np.clip,
    np.where, np.einsum, np.dot, np.vdot, np.inner, np.outer, np.tensordot,
    np.kron, np.cross, np.trace, np.cumsum, np.cumprod, np.diff,
    np.convolve, np.correlate, np.roll, np.stack, np.concatenate, np.hstack,
    np.vstack, np.column_stack, np.append, np.tile, np.pad, np.tril, np.triu,
    np.sort, np.median, np.trapezoid, np.linalg.norm, np.linalg.solve,
    np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.cholesky,
    np.linalg.pinv, np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd,
    np.linalg.qr, np.linalg.matrix_power})
STATIC = {int, bool, str, type(None), type,
          *map(type, map(np.dtype, '?bhilqBHILQefdgFDG'))}
OFTEN = 32          # the call at which an operation is prepared
MOST_KEYS = 10_000  # more known operations than this clear the table
SMALL = 4096        # bytes: smaller arrays are always copied
preparations = {}   # by operation and types: a Prepared; and call counts


class TapeTrace(JVPTrace):
    """Compute, and keep on the tape what the reverse pass needs.

    Its parent is the PartialEvalTrace whose list of equations is the tape.
    """

    batch = None    # the number of examples, if a vmap outside maps over them

    def at_once(self, primitive, args):
        """Return the result of a prepared operation, or None.

        An operator asks for it, and this may not be the current trace.
        """
        if current_trace() is not self or seams.ask.taken:
            return None
        key, operands, names = [
            RuleTable.version, self.batch, primitive], [], []
        try:
            self.look_at(args, key, operands, names, by_type=True)
            prepared = preparations.get(tuple(key))
            if prepared and prepared.is_simple:
                return self.run_simple(prepared, operands, names)
        except REFUSED:     # the long way says why, in the user's terms
            pass
        return None

    def process_primitive(self, primitive, args, params):
        if not params:
            y = self.at_once(primitive, args)
            if y is not None:
                return y
        try:
            if primitive is index_p and len(args) == 1:
                return self.process_index(*args, params)
            if not primitive.is_call and type(primitive) is Primitive:
                key, operands, names = [primitive], [], []
                by_type = primitive not in BY_VALUE
                self.look_at(args, key, operands, names, by_type)
                if by_type or not PYTHON_NUMBERS.keys() & map(type, operands):
                    if params:
                        key += [frozen(x) for name, x in params.items()
                                if name != 'jaxpr']
                    return self.process_prepared(
                        key, operands, names, primitive, args, params)
        except REFUSED:
            pass
        return super().process_primitive(primitive, args, params)

    def process_function(self, function, args, kwargs):
        try:
            if function in compositions:
                key, operands, names = [function], [], []
                self.look_at(args, key, operands, names)
                for named in kwargs.items():
                    self.look_at(named, key, operands, names)
                return self.process_prepared(
                    key, operands, names, function, args, kwargs)
        except REFUSED:
            pass
        return super().process_function(function, args, kwargs)

    def look_at(self, args, key, operands, names, by_type=False):
        """Append arguments to a key, and the arrays in them to lists.

        Args:
            args: the arguments.
            key: the list of what decides about both passes.
            operands: the list of the values of arrays.
            names: the list of their tangents' names; None for a zero.
            by_type: whether numbers are operands, too.
        """
        for x in args:
            kind, name = type(x), None
            if kind is TapeTracer and x._trace is self:
                name = x.name
                key.append((x.aval,) if name is None else x.aval)
                x = x.primal
            elif kind is np.ndarray:
                self.parent.snapshot.mark(x)
                key.append((x.shape, x.dtype))
            elif kind is BatchTracer and x._trace is self.parent.parent:
                key.append((x.aval, True))
            elif by_type and kind in NUMBERS:
                key.append(kind)
            elif kind is tuple or kind is list:
                key += kind, len(x)
                self.look_at(x, key, operands, names)
                continue
            elif kind in STATIC or kind in NUMBERS:
                key += kind, x if kind in STATIC else repr(x)
                continue
            else:
                raise LongWay
            if type(x) not in ORDINARY and type(
                    getattr(x, 'val', None)) is not np.ndarray:
                raise LongWay   # an array of another library
            operands.append(x)
            names.append(name)

    def process_prepared(self, key, operands, names, function, args, kwargs):
        """Run the prepared operation, or raise LongWay if there is none.

        An operation that holds a program is prepared for that program, and
        its results are new arrays.
        """
        key = RuleTable.version, self.batch, *key
        program = kwargs.get('jaxpr')
        table = program.cache if program else preparations
        prepared = table.get(key) or prepare_if_often(
            table, key, operands, names, function, args, kwargs,
            self.batch is not None)
        if prepared.is_simple:
            return self.run_simple(prepared, operands, names)
        line = self.line or user_line(4)
        outs, made = prepared.forward(*operands), []
        for y in [] if self.batch is None else outs:
            if type(y) is BatchTracer:
                y.line = line
        if program:
            n = prepared.width
            # A result that is not traced can be changed by the caller.
            others = outs[n:] if len(prepared.made) < n else []
            outs[:n] = own_memory(outs[:n], operands + others)
        for i, aval in prepared.made:
            name = Var(aval)
            outs[i] = TapeTracer(self, outs[i], name, aval, line)
            made.append(name)
        for i, place in prepared.passed:
            outs[i] = TapeTracer(self, outs[i], names[place],
                                 typeof(outs[i]), line)
        if made:
            self.parent.eqns.append((
                prepared, self.kept(outs[prepared.width:]), names, made,
                line))
        if prepared.tree is LEAF:
            return outs[0]
        return prepared.tree.unflatten(outs[:prepared.width])

    def run_simple(self, prepared, operands, names):
        """Run an operation that has one result."""
        line = self.line or user_line(3)
        outs = prepared.forward(*operands)
        y = outs.pop(0)
        if type(y) is BatchTracer:
            y.line = line
        aval, below = prepared.aval, self.parent
        if prepared.passed:
            [(_, place)] = prepared.passed
            return TapeTracer(self, y, names[place], aval, line)
        if not prepared.made:
            return y
        name = Var(aval)
        if below.snapshot.foreign:
            self.kept(outs)
        below.eqns.append((prepared, outs, names, (name,), line))
        return TapeTracer(self, y, name, aval, line)

    def kept(self, residuals):
        """Return the residuals, with copies of arrays held by other code."""
        foreign = self.parent.snapshot.foreign
        for i, x in enumerate(residuals):
            if type(x) is np.ndarray and (
                    id(x if x.base is None else owner_of(x)) in foreign):
                residuals[i] = (x.copy('K') if x.nbytes <= SMALL
                                else self.parent.snapshot(x))
        return residuals

    def process_index(self, x, params):
        """Index directly, because indexing is linear and indices vary."""
        if type(x) is not TapeTracer or x._trace is not self or not x.name:
            raise LongWay
        line = self.line or user_line(4)
        y, indices = x.primal, params['indices']
        if type(y) is BatchTracer:
            behind = (slice(None), *indices) if y.dim is not None else indices
            y = BatchTracer(y._trace, y.val[behind], y.dim, line)
            y.made_in = self
        else:
            y = y[indices]
        name = Var(typeof(y))
        self.parent.eqns.append(
            (Indexed(x.name, params), [], [x.name], [name], line))
        return TapeTracer(self, y, name, name.aval, line)

    def pack(self, primal, tangent):
        tangent = self.parent.opened(tangent)
        if type(tangent) is Zero:
            return primal
        return TapeTracer(self, primal, self.parent.var(tangent),
                          typeof(primal), None)

    def box(self, x):
        x = super().box(x)
        name = None if type(x.tangent) is Zero else self.parent.var(x.tangent)
        return TapeTracer(self, x.primal, name, x.aval, x.line)


class Indexed:
    """An operation `x[indices]`, as the tape holds a prepared operation.

    Args:
        x: the name of the tangent.
        params: the parameters of the operation.
    """

    function, sources = index_p, [0]

    def __init__(self, x, params):
        self.x, self.params = x, params

    def back(self, ct):
        """Return the cotangent of `x`, in a list."""
        return transpose.rules[index_p](ct, self.x, **self.params)

    def back_from_some(self, residuals, cts, is_plain):
        return self.back(*cts)


def prepare_if_often(table, key, operands, names, function, args, kwargs,
                     is_mapped):
    """Count a call, and prepare the operation at the call OFTEN.

    Args:
        table: the dictionary for the count and for the Prepared.
        key: what decides about both passes.
        operands, names, function, args, kwargs, is_mapped: as for Prepared.

    Raises:
        LongWay: it is another call, or the operation cannot be prepared.
    """
    if table is preparations and any(map(programs_in, kwargs.values())):
        raise LongWay
    if len(table) > MOST_KEYS:
        table.clear()
    calls = 'calls', *key
    times = table[calls] = table.get(calls, 0) + 1
    if times != OFTEN:
        raise LongWay
    prepared = import_module('autodiff_mini.wings.fast.prepared')
    table[key] = prepared.Prepared(
        operands, names, function, args, kwargs, is_mapped)
    return table[key]


@dataclass(slots=True, eq=False, repr=False)
class Tape:
    """A linear program that can be run backwards once.

    Args:
        constvars, invars, outvars, consts: as in a Jaxpr.
        eqns: equations, and prepared operations: tuples of a Prepared, the
            residuals, the names of its operands and of its results, and a
            line.
    """

    constvars: list[Var]
    invars: list[Var]
    eqns: list[Equation | tuple]
    outvars: list[Var | Literal]
    consts: list

    def pull(self, consts, cts):
        """Return the cotangents of the inputs, and empty the tape."""
        gathered = {}
        held = {type(innermost_array(x)) for x in [*consts, *cts]}
        transpose.accumulate(gathered, self.outvars, cts)
        return self.pull_gathered(consts, gathered, held <= ORDINARY)

    def pull_gathered(self, consts, gathered, is_plain=True):
        """Return what `pull` does, for the cotangents of given variables.

        Args:
            consts: the arrays for its `constvars`.
            gathered: the cotangents; updated.
            is_plain: whether all arrays are NumPy's.
        """
        if seams.note.taken:
            seams.note(Tape.pull)
        known, eqns = dict(zip(self.constvars, consts)), self.eqns
        while eqns:
            if type(eqns[-1]) is not tuple:
                transpose.transpose_equations(
                    not_prepared(eqns), known, gathered)
                continue
            prepared, residuals, names, made, line = eqns.pop()
            try:
                if is_plain and len(made) == 1 and made[0] in gathered:
                    cts = prepared.back(*residuals, gathered.pop(made[0]))
                elif gathered.keys().isdisjoint(made):
                    continue    # nothing depends on it
                else:
                    cts = [gathered.pop(v, None) for v in made]
                    cts = prepared.back_from_some(residuals, cts, is_plain)
            except Exception as error:
                quote_line(error, Equation(
                    prepared.function, [], {}, [], line))
                raise
            for i, ct in zip(prepared.sources, cts):
                v = names[i]
                if ct is not None:
                    gathered[v] = gathered[v] + ct if v in gathered else ct
        return [gathered[v] if v in gathered else Zero(v.aval)
                for v in self.invars]


def not_prepared(eqns):
    """Remove and yield the last equations, down to a prepared operation."""
    while eqns and type(eqns[-1]) is not tuple:
        yield eqns.pop()


def record_flat(f, primals, tag):
    """Return the outputs of `f`, and its derivative there as a tape.

    Args:
        f: a function of arrays that returns a list of arrays.
        primals: the arrays at which to evaluate it.
        tag: which application of which transformation this is.
    """
    if not is_outermost(current_trace()) or (
            not ORDINARY.issuperset(map(type, map(opened, primals)))):
        return linearize_flat(f, primals, tag)
    return finished(*on_tape(f, primals, tag))


def is_outermost(trace) -> bool:
    """Return whether no trace is outside of this one, which can be a vmap."""
    base = trace.parent if type(trace) is BatchTrace else trace
    return base is Trace.base and not trace.watcher


def opened(x):
    """Return the batch that `x` is an element of, or `x` itself."""
    return x.val if type(x) is BatchTracer else x


def on_tape(f, primals, tag):
    """Return a trace, its tape, and what `f` returns for traced arguments.

    Args:
        f, primals, tag: as for `record_flat`.
    """
    base = current_trace()
    below = PartialEvalTrace(base, tag)
    trace = TapeTrace(below, tag)
    if base is not Trace.base:
        trace.batch = base.axis.size
    names, inputs = [], []
    for x in primals:
        aval = typeof(x)
        name = Var(tangent_type(aval))
        if type(x) is np.ndarray:
            below.snapshot.mark(x)
        if name.aval is aval:
            x = TapeTracer(trace, x, name, aval, None)
            x.memory = ARGUMENT
        elif type(x) is np.ndarray:
            x = to_read(x)
        names.append(name)
        inputs.append(x)
    tape = Tape(below.constvars, names, below.eqns, [], below.consts)
    # Enter and leave both traces in one step.
    below.thread = trace.thread = get_ident()
    if seams.note.taken:
        seams.note(PartialEvalTrace)
        seams.note(TapeTrace)
    set_current_trace(trace)
    try:
        if base is Trace.base and seams.enter_outermost.taken:
            seams.enter_outermost(below)
        return trace, tape, f(*inputs)
    finally:
        trace.thread = None
        below.__exit__()


def finished(trace, tape, outs):
    """Return the outputs of a function that has run, and its whole tape."""
    ys, y_dots = trace.unpack(outs)
    tape.outvars[:] = map(trace.parent.var, y_dots)
    return ys, tape
