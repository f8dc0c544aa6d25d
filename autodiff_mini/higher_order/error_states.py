"""Error states: `with np.errstate(...)` around a part of a program.

Its one idea: what is asked for in another error state than the program is a
program of its own, a `jit` that is not inlined.  Chapter 12.
"""

import numpy as np

from autodiff_mini import seams
from autodiff_mini.higher_order.jit import jit_p
from autodiff_mini.interpreters.jaxpr import JaxprTrace
from autodiff_mini.jaxprs import Equation, Jaxpr, Var


class StateTrace(JaxprTrace):
    """Notices when NumPy's error state is not as it was at the start."""

    def __init__(self, parent, tag):
        super().__init__(parent, tag)
        self.outside = self.state = error_state()
        self.since = 0      # the equation at which this state began

    def process_primitive(self, primitive, args, params):
        state = error_state()
        if state != self.state:
            self.change(state)
        return super().process_primitive(primitive, args, params)

    def change(self, state):
        """Makes one equation of those in the last state, if it differs."""
        differs = dict(sorted(self.state.items() - self.outside.items()))
        eqns = self.eqns[self.since:]
        if differs and eqns:
            self.eqns[self.since:] = [in_state(differs, eqns)]
        self.state, self.since = state, len(self.eqns)

    def jaxpr(self, inputs, outs):
        self.change(self.outside)
        return super().jaxpr(inputs, outs)


seams.stage.define(StateTrace)


def error_state() -> dict:
    """Return the error state of NumPy, as arguments of `np.errstate`."""
    state: dict = {**np.geterr()}
    if not {'call', 'log'}.isdisjoint(state.values()):
        state['call'] = np.geterrcall()
    return state


def in_state(state, eqns):
    """Returns equations as one, whose parameters say an error state."""
    made = dict.fromkeys(v for eqn in eqns for v in eqn.outvars)
    used = dict.fromkeys(v for eqn in eqns for v in eqn.invars
                         if type(v) is Var and v not in made)
    params = {'jaxpr': Jaxpr([], [*used], eqns, [*made], []),
              'name': 'errstate', **state}
    return Equation(jit_p, [*used], params, [*made], eqns[0].line)
