"""The fused source: NumPy, with kernels for blocks and for loops of numbers.

Each block and each loop is written twice.  The usual version runs if NumPy
would warn or raise an error in it.
"""

import math
from collections import ChainMap
from itertools import chain

from autodiff_mini.calls.loops import while_p
from autodiff_mini.core.jaxprs import Var
from autodiff_mini.wings.fast.emitter import FastEmitter, deleted
from autodiff_mini.wings.fast.loop_source import loop_p
from autodiff_mini.wings.fast.plan import BLOCK, HUGE
from autodiff_mini.wings.fast.scalars import as_numbers, indented
from autodiff_mini.wings.fused import native
from autodiff_mini.wings.fused.kernels import RESERVED, block_kernel
from autodiff_mini.wings.fused.loop_kernels import as_loop, loop_lines
from autodiff_mini.wings.fused.stages import (
    Kernel, fused_plan, is_arithmetic, is_worth_it, stages, why_not)

SHORT = 'numbers and short vectors, without a loop'


class FusedEmitter(FastEmitter):
    """Write functions for NumPy arrays, with kernels.

    Args:
        fast, version: the arguments of FastEmitter.
    """

    reserved = FastEmitter.reserved | RESERVED | {
        'found', 'own', 'start', 'state', 'watch'}
    plan = staticmethod(fused_plan)

    def __init__(self, fast, version):
        super().__init__(fast, version)
        self.scope.update(kernel=native.kernel, watch=native.watch)
        self.kernels = []       # the equations of each kernel's block or loop
        self.left = []          # the others, and whether each is ordered

    @staticmethod
    def in_numbers(jaxpr, ordered, arrays):
        """Return Numbers for a program, unless it has a loop for a kernel."""
        if any(eqn.primitive is while_p for eqn in jaxpr.eqns):
            return None
        return as_numbers(jaxpr, ordered, arrays=arrays)

    def emit(self, name, jaxpr, ordered=None):
        """Append a function that returns a list, and return its program."""
        jaxpr = super().emit(name, jaxpr, ordered)
        if self.scalar:
            self.left = [(eqn, True) for eqn in jaxpr.eqns]
        return jaxpr

    def account(self) -> list:
        """Return comments: what is fused, and why the rest is not."""
        fused, count = sum(map(len, self.kernels)), len(self.left)
        reasons = {}
        for eqn, ordered in self.left:
            reason = SHORT if self.scalar else why_not(eqn, ordered)
            reasons.setdefault(reason, {})[str(eqn.primitive)] = None
        return [f'# {fused} of {fused + count} operations are fused.',
                *[f'# Not fused: {", ".join(names)}: {reason}.'
                  for reason, names in reasons.items()]]

    def kernel(self, lines):
        """Append a kernel, and return its name; equal kernels are one."""
        key = tuple(text for text, _ in lines)
        if key not in self.known:
            self.known[key] = f'kernel_{next(self.numbers)}'
            decorator, (signature, _), *body = lines
            self.lines.append(decorator)
            self.define(self.known[key] + signature, body)
        return self.known[key]

    def step(self, step, names):
        """Return the lines for an equation outside of blocks."""
        self.left.append((*step.eqns, step.ordered))
        return super().step(step, names)

    def block(self, block, names):
        """Return the lines that compute a block with kernels, if it pays."""
        if not is_worth_it(block.eqns):
            self.left += [(eqn, True) for eqn in block.eqns]
            return super().block(block, names)
        self.in_order, shape = True, block.outs[0].aval.shape
        lines = [(f'{names[v]} = np.empty({shape}{self.dtype_of(v)})', None)
                 for v in block.outs if v not in names]
        arithmetic = list(filter(is_arithmetic, block.eqns))
        self.kernels.append(arithmetic)
        made = {v for eqn in block.eqns for v in eqn.outvars}
        used = [v for v in dict.fromkeys(chain(*[
            eqn.invars for eqn in block.eqns])) if type(v) is Var
            and v not in made]
        numbers = [v for v in used if not v.aval.shape
                   and any(v in eqn.invars for eqn in arithmetic)]
        number, steps = next(self.numbers), stages(block.eqns, block.outs)
        arguments = ', '.join(names[v] for v in [*used, *block.outs])
        fused, usual = f'fused_{number}', f'usual_{number}'
        self.define(f'{usual}({arguments})',
                    self.without_kernels(block, ChainMap({}, names)))
        if len(steps) > 1:
            self.define(f'{fused}({arguments})', self.with_kernels(
                block, steps, ChainMap({}, names), used, numbers))
            lines.append((f'watch.run({fused}, {usual}, {arguments})', None))
        else:
            inner = ChainMap({'numbers': array_text(numbers, names)}, names)
            inner.update((v, f'{names[v]}.reshape(-1)')
                         for v in used + block.outs if len(v.aval.shape) > 1)
            lines += [self.call(*steps, inner, numbers, '='),
                      ('if found and watch.matters(found):', None),
                      (f'    {usual}({arguments})', None)]
        return [*lines, *deleted(block.gone, names)]

    def without_kernels(self, block, names):
        """Return the body of a function that computes a block with NumPy."""
        self.ordered = True
        if math.prod(block.outs[0].aval.shape) >= HUGE:
            return self.pieces(block, names)
        return [self.line(eqn, names) for eqn in block.eqns]

    def with_kernels(self, block, steps, names, used, numbers):
        """Return the body of a function that computes a block piece by piece.

        The function returns the flags that its kernels have raised.

        Args:
            block: the Work.
            steps: its kernels, and the equations that NumPy computes.
            names: the names of its arguments.
            used: the variables that it reads.
            numbers: those of them that kernels read as numbers.
        """
        self.ordered = True
        size = math.prod(block.outs[0].aval.shape)
        rows = min(size, BLOCK)
        arrays = [v for v in used + block.outs if v.aval.shape]
        start = [f'{names[v]} = {names[v]}.reshape(-1)' for v in arrays
                 if len(v.aval.shape) > 1]
        if numbers:
            start.append(f'{names["numbers"]} = {array_text(numbers, names)}')
        dtypes, places = scratch_for(steps, block.outs)
        own = [names['scratch', i] for i in range(len(dtypes))]
        names.update((v, own[i]) for v, i in places.items())
        each, end = [], ['return found']
        if own:
            scratch = self.constant('scratch', native.Scratch(rows, dtypes))
            start.append(f'[{", ".join(own)}] = own = {scratch}.take()')
            end.insert(0, f'{scratch}.append(own)')
        if rows < size:
            each = [f'{names[v, "piece"]} = {names[v]}[part]' for v in arrays]
            names.update((v, names[v, 'piece']) for v in arrays)
            if size % rows and own:
                short = f'[x[:{size % rows}] for x in own]'
                each += [f'if start == {size - size % rows}:',
                         f'    [{", ".join(own)}] = {short}']
        lines = [(text, None) for text in each]
        for step in steps:
            if type(step) is Kernel:
                lines.append(self.call(step, names, numbers))
            else:
                self.left.append((step, True))
                lines.append(self.line(step, names))
        if rows < size:
            lines = [(f'for start in range(0, {size}, {rows}):', None),
                     (f'    part = slice(start, start + {rows})', None),
                     *indented(lines)]
        return [*[(text, None) for text in [*start, 'found = 0']], *lines,
                *[(text, None) for text in end]]

    def call(self, kernel, names, numbers, sign='|='):
        """Append a kernel, and return the line that calls it."""
        if not any(v in numbers for eqn in kernel.eqns for v in eqn.invars):
            numbers = []
        name = self.kernel(block_kernel(kernel, numbers))
        arguments = ', '.join(names[v] for v in [
            *kernel.ins, *['numbers'] * bool(numbers), *kernel.outs])
        return f'found {sign} {name}({arguments})', None

    def expression(self, operands) -> str:
        """Return the text for the result of the current equation.

        A loop that becomes a kernel has a function of its own.
        """
        eqn, left = self.eqn, self.left[:-1]
        loop = eqn.primitive in (loop_p, while_p) and as_loop(
            eqn, self.ordered)
        if not loop:
            return super().expression(operands)
        self.kernels.append(loop.eqns)
        names = self.names(loop.jaxpr)
        given = [names['given', i] for i in range(len(operands))]
        usual = super().expression(given)
        self.left = left    # without the equations of the usual version
        name = f'fused_{next(self.numbers)}'
        self.define(f'{name}({", ".join(given)})',
                    loop_lines(self, loop, names, given, usual))
        return f'{name}({", ".join(operands)})'


def array_text(numbers, names):
    """Return the text of an array of numbers."""
    return f'np.array([{", ".join(f"float({names[v]})" for v in numbers)}])'


def scratch_for(steps, outs):
    """Return the dtypes of scratch arrays, and the place of each value.

    A value takes an array that no later step reads.  A kernel never reads
    and fills the same array, because LLVM would then compute one element at
    a time.

    Args:
        steps: the steps of a block.
        outs: its results, which have arrays of their own.
    """
    used = [(step.ins, step.outs) if type(step) is Kernel else
            (step.invars, step.outvars) for step in steps]
    last = {v: i for i, (ins, made) in enumerate(used) for v in ins + made}
    dtypes, places, free = [], {}, []
    for i, (ins, made) in enumerate(used):
        for v in made:
            if v in outs:
                continue
            fitting = [j for j in free if dtypes[j] == v.aval.dtype]
            places[v] = fitting[-1] if fitting else len(dtypes)
            if fitting:
                free.remove(places[v])
            else:
                dtypes.append(v.aval.dtype)
        free += [places[v] for v in dict.fromkeys(ins + made)
                 if v in places and last[v] == i]
    return dtypes, places
