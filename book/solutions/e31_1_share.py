"""One walk is enough. When you get to an equation, everything that it reads
has its final name, so an equality is passed on along a chain of any length.

In `simplify`, these dicts are `seen` and `env`. There, the calls have been
inlined first. Before that, two calls of one function are two equations with
functions of their own, and no two functions are equal.

Sharing isn't free. A shared result has to be kept from its first use to its
last, and chapter 17 is about the memory that this takes. A checkpoint writes
the same operations into a program twice on purpose, and a pass like this one
would undo that.
"""

from autodiff_mini.core.jaxprs import Equation, Jaxpr, Literal


def share(jaxpr):
    """Return a program that computes nothing twice."""
    computed, replaced, eqns = {}, {}, []

    def read(v):
        return v if type(v) is Literal else replaced.get(v, v)

    def exact(x):
        numbers = int | float | complex
        return (type(x), repr(x)) if isinstance(x, numbers) else x

    for eqn in jaxpr.eqns:
        operands = [read(v) for v in eqn.invars]
        key = (eqn.primitive,
               *[exact(v.val) if type(v) is Literal else v for v in operands],
               *[(name, exact(x)) for name, x in eqn.params.items()])
        try:
            first = computed.setdefault(key, eqn.outvars)
        except TypeError:   # a parameter has no hash
            first = eqn.outvars
        if first is eqn.outvars:
            eqns.append(Equation(eqn.primitive, operands, eqn.params,
                                 eqn.outvars, eqn.line))
        else:
            replaced.update(zip(eqn.outvars, first, strict=True))
    return Jaxpr(jaxpr.constvars, jaxpr.invars, eqns,
                 [read(v) for v in jaxpr.outvars], jaxpr.consts)
