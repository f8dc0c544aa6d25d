"""Error states: `with np.errstate(...)` around a part of a program.

Equations in an error state that differs from the program's become a program
of their own, one equation that is not inlined.
"""

from functools import partial

import numpy as np

from autodiff_mini.calls.jit import jit_p
from autodiff_mini.calls.programs import (
    defpartial, defprogram, program_for_outputs, program_partial_eval)
from autodiff_mini.core import seams
from autodiff_mini.core.jaxprs import (
    Equation, Jaxpr, Var, dead_rules, lasting)
from autodiff_mini.core.trace import Primitive
from autodiff_mini.interpreters import lowering
from autodiff_mini.interpreters.jaxpr import JaxprTrace


@seams.stage.take
class StateTrace(JaxprTrace):
    """Record a program, and group equations by NumPy's error state."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.outside = self.state = error_state()
        self.since = 0      # the first equation in this state

    def process_primitive(self, primitive, args, params):
        # A state that calls a function has one more entry than np.geterr().
        if np.geterr() != self.state and error_state() != self.state:
            self.change(error_state())
        return super().process_primitive(primitive, args, params)

    def change(self, state):
        """Merge the equations of the last state into one, if it differs."""
        differs = dict(sorted(self.state.items() - self.outside.items()))
        eqns = self.eqns[self.since:]
        if differs and eqns:
            self.eqns[self.since:] = [in_state(differs, eqns)]
        self.state, self.since = state, len(self.eqns)

    def jaxpr(self, inputs, outs):
        if self.state is not self.outside:
            self.change(self.outside)
        return super().jaxpr(inputs, outs)


def error_state() -> dict:
    """Return the error state of NumPy, as arguments of `np.errstate`."""
    state: dict = {**np.geterr()}
    if not {'call', 'log'}.isdisjoint(state.values()):
        state['call'] = np.geterrcall()
    return state


def in_state(state, eqns):
    """Merge equations into one that has an error state as parameters."""
    made = dict.fromkeys(v for eqn in eqns for v in eqn.outvars)
    used = dict.fromkeys(v for eqn in eqns for v in eqn.invars
                         if type(v) is Var and v not in made)
    params = {'jaxpr': Jaxpr([], [*used], eqns, [*made], []),
              'name': 'errstate', **state}
    return Equation(errstate_p, [*used], params, [*made], eqns[0].line)


def run_in_state(*xs, jaxpr, name, **state):
    with np.errstate(**state):
        return jit_p.bind(*xs, jaxpr=jaxpr, name=name)


errstate_p = Primitive('errstate', run_in_state, multiple_results=True)
defprogram(errstate_p)


def is_loud(params):
    """Return whether an error state asks for errors, warnings, or calls."""
    return params['name'] == 'errstate' and any(
        params.get(kind, 'ignore') != 'ignore'
        for kind in ('divide', 'over', 'under', 'invalid'))


lasting[errstate_p] = is_loud


def state_for_outputs(eqn, used):
    return eqn if is_loud(eqn.params) else program_for_outputs(eqn, used)


dead_rules[errstate_p] = state_for_outputs


# If a dead program is cut in two, only the known part is kept.
defpartial(errstate_p, partial(
    program_partial_eval, errstate_p,
    late_params={'name': 'errstate of tangents'}))


def state_lowering(emitter, *operands, jaxpr, name, **state):
    part = emitter.nested('part', jaxpr)
    states = ', '.join(f'{kind}={emitter.value(what)}'
                       for kind, what in state.items())
    return f'np.errstate({states})({part})({", ".join(operands)})'


lowering.rules[errstate_p] = state_lowering
