"""`cost`: count a program's operations and memory, without running it.

The equations of a jaxpr say which arrays it makes and how long each is
needed, so its peak memory follows from the types alone.  See the page *What a
program costs*.
"""

import math
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from autodiff_mini.api.derivatives import vjp
from autodiff_mini.api.staging import as_type, make_jaxpr
from autodiff_mini.calls.cond import cond_p
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import Var, drop_dead, programs_of
from autodiff_mini.core.public import public
from autodiff_mini.core.trees import tree_leaves, tree_map
from autodiff_mini.core.types import typeof
from autodiff_mini.interpreters.lowering import inline, inline_rules
from autodiff_mini.primitives.elementwise import real_p, stop_gradient_p
from autodiff_mini.primitives.indexing import index_p
from autodiff_mini.primitives.parts import imag_p
from autodiff_mini.primitives.shapes import (
    broadcast_to_p, reshape_p, transpose_p)


class Step(NamedTuple):
    """An equation that runs, and the variables that are freed afterwards.

    The other attributes are for the steps that a compiler plans.
    """

    eqns: list
    gone: list = ()
    into: dict = {}
    pieces: int = 1
    scratch: int = 0
    outs: list | None = None
    ordered: bool = True


class ProgramCost(NamedTuple):
    """The cost of a program.

    Args:
        calls: the number of calls of NumPy functions.  Each equation is one,
            in each iteration of a loop.
        operations: the number of operations on numbers.
        bytes_moved: the size of the arrays that the calls read and write.
        peak_bytes: the largest total size, at any one time, of arrays that
            the program has made.
    """

    calls: int
    operations: int
    bytes_moved: int
    peak_bytes: int


class CostTable(NamedTuple):
    """The costs of a function, of its reverse pass, and of jit of grad."""

    forward: ProgramCost
    backward: ProgramCost
    compiled: ProgramCost

    def __repr__(self):
        heads = [name.replace('_', ' ') for name in ProgramCost._fields]
        rows = [['', *heads]]
        rows += [[name, *(f'{n:,}' for n in row)]
                 for name, row in zip(self._fields, self, strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return '\n'.join(
            '  '.join([row[0].ljust(widths[0]),
                       *map(str.rjust, row[1:], widths[1:])])
            for row in rows)


@public(takes_function=True)
def cost(f, *args) -> CostTable:
    """Return what `f` and its derivative cost, without running them.

    An element-wise function has one operation for each output element, and a
    sum has one for each input element.  A product of m by k and k by n
    matrices has 2mkn, a Fourier transform of n numbers has 5 n log n, and
    decompositions have their textbook counts.  Copying elements has none.

    A view moves no bytes and makes no array.  Arguments, arrays that `f`
    closes over, and memory inside NumPy functions do not count as made.  A
    `cond` costs the maximum over its branches, and a `while_loop` counts as
    one iteration.

    Args:
        f: a function of arrays, or trees of arrays, that computes with NumPy.
        args: its arguments.  Anything with a shape and a dtype, such as a
            ShapedArray, can replace an array.

    Returns:
        Three costs, which print as a table.  `forward` is `f`, where an array
        is freed after its last use.  `backward` is the rest of `vjp`, for
        given cotangents; its peak covers both passes.  `compiled` is the
        gradient, as `jit` compiles it, without the value of `f`.  If `f` has
        no float inputs, or no float outputs, there is no reverse pass, and
        `compiled` is `f`.

    Raises:
        TypeError: as for `make_jaxpr`, or as for `vjp` if there is no
            reverse pass.

    Source: G. Golub and C. Van Loan, *Matrix Computations*, for the
    operations; A. Griewank and A. Walther, *Evaluating Derivatives*,
    chapter 20, for what to count.

    Examples:
        >>> import numpy as np
        >>> cost(lambda x: np.sum(np.sin(x)), np.ones(1000))
                  calls  operations  bytes moved  peak bytes
        forward       2       2,000       24,008       8,008
        backward      2       2,000       32,008      16,008
        compiled      1       1,000       16,000       8,000
    """
    args = tree_map(as_type, args)
    program, types = make_jaxpr(f, return_shape=True)(*args)
    forward, backward = cost_as_written(program), ProgramCost(0, 0, 0, 0)
    types = list(filter(can_move, tree_leaves(types)))

    def floats(*args):
        return list(filter(can_move, tree_leaves(f(*args))))

    def both_passes(cts, args):
        ys, pullback = vjp(floats, *args)
        cts = [ct if y.shape else np.ones((), y.dtype)   # as in grad
               for ct, y in zip(cts, types, strict=True)]
        return ys, list(filter(can_move, tree_leaves(pullback(cts))))

    if types and any(map(can_move, tree_leaves(args))):
        whole = make_jaxpr(both_passes)(types, args)
        both = cost_as_written(whole)
        calls, operations, moved = map(int.__sub__, both[:3], forward[:3])
        backward = ProgramCost(calls, operations, moved, both.peak_bytes)
        program = replace(whole, outvars=whole.outvars[len(types):],
                          cache={})
    compiled = cost_of(program, work_of(seams.lower(program)))
    return CostTable(forward, backward, compiled)


def can_move(x):
    """Return whether `x` can have a derivative: whether it is a float."""
    return np.dtype(getattr(x, 'dtype', type(x))).kind in 'fc'


def work_of(compiled):
    """Return a function from a program to the steps of its source.

    Without a plan, an array stays until the source returns.
    """
    return getattr(compiled, 'work', lambda jaxpr, ordered=True: [
        Step([eqn]) for eqn in drop_dead(inline(jaxpr, inline_rules)).eqns])


def cost_as_written(jaxpr) -> ProgramCost:
    """Return the cost of a program as it is written."""
    return cost_of(jaxpr, until_last_use)


def until_last_use(jaxpr, ordered=True) -> list:
    """Return the steps of a program; free arrays after their last use."""
    jaxpr = inline(jaxpr, inline_rules)
    last = {v: i for i, eqn in enumerate(jaxpr.eqns)
            for v in [*eqn.outvars, *eqn.invars]}
    gone = [[] for _ in jaxpr.eqns]
    for v in last.keys() - {*jaxpr.outvars}:
        gone[last[v]].append(v)
    return [Step([eqn], end)
            for eqn, end in zip(jaxpr.eqns, gone, strict=True)]


VIEWS_OF_NUMPY = {broadcast_to_p, imag_p, index_p, real_p, reshape_p,
                  stop_gradient_p, transpose_p}


class HeldArrays:
    """The arrays that a program has made and still holds."""

    def __init__(self, jaxpr):
        self.extent = {v: laid_out(x) for v, x in zip(
            jaxpr.constvars, jaxpr.consts, strict=True)}
        self.owner = {}     # by variable: the one whose array it views
        self.users = {}     # by owner: the variables that view it
        self.turned = set()     # variables not in row-major order
        self.held = 0

    def make(self, v):
        """Note a new array."""
        self.owner[v], self.users[v] = v, {v}
        self.held += bytes_of(v)

    def share(self, v, other):
        """Note that `v` is a view of the array of another variable."""
        owner = self.owner[v] = self.owner.get(other, other)
        if owner in self.users:     # it is not an argument
            self.users[owner].add(v)

    def let_go(self, variables):
        """Note that these variables are not used again."""
        for v in variables:
            owner = self.owner.get(v)
            if owner in self.users:
                self.users[owner].discard(v)
                if not self.users[owner]:
                    del self.users[owner]
                    self.held -= bytes_of(owner)

    def read(self, v):
        """Return how many bytes there are to read; a view can repeat some."""
        return self.extent.get(v, bytes_of(v))

    def looks(self, eqn):
        """Note a result that is a view, and return whether it is one."""
        x, *others = eqn.invars or [None]
        copied = eqn.primitive is reshape_p and x in self.turned
        if eqn.primitive not in VIEWS_OF_NUMPY or others or copied:
            return False
        [y] = eqn.outvars
        self.share(y, x)
        self.extent[y] = min(bytes_of(y), self.read(x))
        repeats = bytes_of(x) < bytes_of(y)
        if x in self.turned or repeats or eqn.primitive is transpose_p:
            self.turned.add(y)
        return True


def cost_of(jaxpr, work) -> ProgramCost:
    """Return the cost of a program.

    Args:
        jaxpr: the program.
        work: a function of a program, which returns its steps.
    """
    sums, peak, memory = [0, 0, 0], 0, HeldArrays(jaxpr)
    for step in work(jaxpr):
        before = memory.held
        *here, most = (cost_of_programs(step, work, memory)
                       or cost_of_step(step, memory))
        sums = [a + b for a, b in zip(sums, here)]
        peak = max(peak, before + most)
        memory.let_go(step.gone)
    return ProgramCost._make([*sums, peak])


def cost_of_programs(step, work, memory):
    """Return the cost of a call, a branch, or a loop; or None."""
    eqn = step.eqns[0]
    inner = [cost_of(program, partial(work, ordered=step.ordered))
             for program in programs_of(eqn)]
    if not inner:
        return None
    for v in eqn.outvars:
        memory.make(v)
    columns = list(zip(*inner))
    if eqn.primitive is cond_p:
        return ProgramCost(*map(max, columns))
    *sums, peaks = columns
    turns = eqn.params.get('length', 1)
    calls, operations, moved = [turns * sum(column) for column in sums]
    kept = sum(map(bytes_of, eqn.outvars)) if 'counts' in eqn.params else 0
    if 'length' in eqn.params:      # each row is copied into its place
        rows = eqn.outvars[eqn.params['counts'][1]:]
        moved += 2 * sum(map(bytes_of, rows))
    return ProgramCost(calls, operations, moved, max(peaks) + kept)


def cost_of_step(step, memory) -> ProgramCost:
    """Return the cost of a step, and note the arrays that it makes."""
    before, read, moved = memory.held, set(), 0
    made = {v for eqn in step.eqns for v in eqn.outvars}
    outs = made if step.outs is None else {*step.outs}
    for eqn in step.eqns:
        if memory.looks(eqn):
            continue
        read.update(v for v in eqn.invars if type(v) is Var)
        for v in outs.intersection(eqn.outvars):
            moved += bytes_of(v)
            if v in step.into:
                memory.share(v, step.into[v])
                memory.let_go([step.into[v]])
            else:
                memory.make(v)
    if len(step.eqns) > 1:
        read -= made    # a piece that has just been made is in the cache
    moved += sum(map(memory.read, read))
    return ProgramCost(len(step.eqns) * step.pieces,
                sum(map(operations_of, step.eqns)), moved,
                memory.held - before + step.scratch)


def laid_out(x) -> int:
    """Return the bytes of an array, each counted once."""
    aval = typeof(x)
    strides = getattr(x, 'strides', None) or [1] * aval.ndim
    return aval.dtype.itemsize * math.prod(
        n for n, stride in zip(aval.shape, strides, strict=True) if stride)


def bytes_of(v) -> int:
    """Return the bytes of an array of the type of `v`."""
    return math.prod(v.aval.shape) * v.aval.dtype.itemsize


def operations_of(eqn) -> int:
    """Return the number of operations on numbers in an equation."""
    rule = operation_counts.get(eqn.primitive.name, each_result)
    shapes = [v.aval.shape for v in [*eqn.invars, *eqn.outvars]]
    return round(rule(*shapes, **eqn.params))


def each_result(*shapes, **params):
    return math.prod(shapes[-1])


def each_operand(x, *shapes, **params):
    return math.prod(x)


def none_at_all(*shapes, **params):
    return 0


def each_matrix(count):
    """Return a rule that adds up `count` over m by n matrices, m >= n."""
    def rule(a, *shapes, **params):
        *batch, m, n = a
        return math.prod(batch) * count(max(m, n), min(m, n), shapes[0])
    return rule


def along_axis(factor):
    """Return a rule for `factor * n * log2(n)` operations along an axis."""
    def rule(x, out, axis, **params):
        shape = max(x, out)
        return factor * math.prod(shape) * math.log2(max(shape[axis], 2))
    return rule


operation_counts = {    # by name: of the operands' and the results' shapes
    **dict.fromkeys(
        ['reduce_sum', 'reduce_prod', 'reduce_max', 'reduce_min', 'argmax',
         'argmin', 'cumsum', 'cumprod'], each_operand),
    **dict.fromkeys(
        ['astype', 'broadcast_to', 'concatenate', 'imag', 'index', 'real',
         'reshape', 'scatter', 'stack', 'stop_gradient', 'transpose'],
        none_at_all),
    'add_up': lambda start, x, *rest, **params: (
        2 * math.prod(x) * rest[0][-1] if len(rest) > 1 else math.prod(x)),
    'add_at': lambda x, part, *shapes, **params: math.prod(part),
    'matmul': lambda x, y, out: 2 * math.prod(out) * x[-1],
    'solve': each_matrix(lambda m, n, b: 2 / 3 * n**3 + 2 * n * n * b[-1]),
    'cholesky': each_matrix(lambda m, n, _: 1 / 3 * n**3),
    'det': each_matrix(lambda m, n, _: 2 / 3 * n**3),
    'slogdet': each_matrix(lambda m, n, _: 2 / 3 * n**3),
    'qr': each_matrix(lambda m, n, _: 4 * n * n * (m - n / 3)),
    **dict.fromkeys(
        ['pinv', 'singular_slope', 'svd'],
        each_matrix(lambda m, n, _: 14 * m * n * n + 8 * n**3)),
    **dict.fromkeys(
        ['singular_norm', 'svdvals'],
        each_matrix(lambda m, n, _: 4 * m * n * n - 4 / 3 * n**3)),
    'eigh': each_matrix(lambda m, n, _: 9 * n**3),
    'eigvalsh': each_matrix(lambda m, n, _: 4 / 3 * n**3),
    'eig': each_matrix(lambda m, n, _: 25 * n**3),
    'eigvals': each_matrix(lambda m, n, _: 10 * n**3),
    'argsort': along_axis(1),
    'fft': along_axis(5), 'ifft': along_axis(5),
    'rfft': along_axis(2.5), 'irfft': along_axis(2.5)}
