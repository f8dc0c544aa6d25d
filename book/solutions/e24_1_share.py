"""One walk is enough: when an equation comes by, all that it reads has its
final name. So an equality is passed on to the next, however long the chain.

In `simplify` these dictionaries are `seen` and `env`. There the calls have
been inlined: before that, two calls of one function are two equations with
functions of their own, and no two functions are equal.

It is not free. What is shared must be kept, from its first use to its last,
and memory is what chapter 19 is about. There the same operations are written
into a program twice on purpose, and a pass like this one would undo it.
"""

from autodiff_mini.jaxprs import Equation, Jaxpr, Literal


def share(jaxpr):
    """Returns the program, in which nothing is computed twice."""
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
