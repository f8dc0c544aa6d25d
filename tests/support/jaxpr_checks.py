"""Check that a program is well-formed.

Each name must be defined once, before it is used, and each result must have
the type that abstract evaluation finds.
"""

from autodiff_mini.core.jaxprs import Var, programs_of
from autodiff_mini.core.lines import quote_line
from autodiff_mini.interpreters import abstract


def check_jaxpr(jaxpr):
    """Raise a TypeError if a program is not well-formed."""
    defined = set()
    define(defined, [*jaxpr.constvars, *jaxpr.invars], None)
    for eqn in jaxpr.eqns:
        look_up(defined, eqn.invars, eqn)
        out = abstract.rules[eqn.primitive](
            *[v.aval for v in eqn.invars], **eqn.params)
        types = out if eqn.primitive.multiple_results else [out]
        have = [v.aval for v in eqn.outvars]
        if have != types:
            fail(f"the result of '{eqn.primitive}' is declared as "
                 f'{" ".join(map(str, have))}, but is '
                 f'{" ".join(map(str, types))}', eqn)
        define(defined, eqn.outvars, eqn)
        for program in programs_of(eqn):
            check_jaxpr(program)
    look_up(defined, jaxpr.outvars, None)


def define(defined, variables, eqn):
    """Add names to a set, or raise if one is there already."""
    for v in variables:
        if v in defined:
            fail(f'a variable of type {v.aval} is defined twice', eqn)
        defined.add(v)


def look_up(defined, variables, eqn):
    """Raise if a name is not in a set."""
    for v in variables:
        if type(v) is Var and v not in defined:
            fail(f'a variable of type {v.aval} is used before it is defined',
                 eqn)


def fail(what, eqn):
    """Raise the error for a program that is not well-formed."""
    error = TypeError(f'this is no jaxpr: {what}')
    quote_line(error, eqn)
    raise error
