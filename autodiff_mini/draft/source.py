"""Print a program as Python.  `jit` compiles the same text."""

import numpy as np

from .jaxpr import Jaxpr, Var
from .trees import tree_leaves


# 6g. Every value in a program has a text,
def text_of(x, names, scope, before):
    """Return the text of a value: a letter, a number, or a name in scope."""
    if type(x) is Var:
        letter = chr(97 + len(names) % 26)
        return names.setdefault(x, f'{letter}{len(names) // 26 or ""}')
    if isinstance(x, (int, float, tuple, np.generic)):
        return repr(x)
    name = f'{type(x).__name__.lower()}_{len(scope)}'
    scope[name] = x
    if type(x) is Jaxpr:
        before += ['    ' + line for line in lines_of(x, name, scope)]
    return name


# 6h. and an equation is a line.
def lines_of(jaxpr, name, scope):
    """Return the lines of a program as a Python function."""
    names, lines = {}, []

    def texts(xs):
        return [text_of(x, names, scope, lines) for x in xs]

    arguments = ', '.join(texts(jaxpr.invars))
    for eqn in jaxpr.eqns:
        scope[eqn.primitive.name] = eqn.primitive.impl
        params = map('{}={}'.format, eqn.params, texts(eqn.params.values()))
        right = ', '.join([*texts(eqn.invars), *params])
        left = ', '.join(texts(tree_leaves(eqn.outvars)))
        left = f'[{left}]' if type(eqn.outvars) is list else left
        lines.append(f'    {left} = {eqn.primitive}({right})')
    return [f'def {name}({arguments}):', *lines,
            f'    return [{", ".join(texts(jaxpr.outvars))}]']


Jaxpr.__repr__ = lambda jaxpr: '\n'.join(lines_of(jaxpr, 'program', {}))
