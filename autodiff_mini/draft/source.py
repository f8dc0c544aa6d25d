"""Print a program as Python.  `jit` compiles the same text."""

import numpy as np

from .jaxpr import Jaxpr, Var
from .trees import tree_leaves


# 7g. Every value in a program has a text: a letter, a number, or a name.
class Writer:
    """Writes the lines of a program; values without a text go to `scope`."""

    def __init__(self, scope):
        self.scope = scope
        self.letters = {}
        self.lines = []

    def texts(self, xs):
        return ', '.join(map(self.text, xs))

    def text(self, x):
        if type(x) is Var:
            return self.letter(x)
        if isinstance(x, (int, float, tuple, np.generic)):
            return repr(x)
        return name_in_scope(self, x)

    def letter(self, v):    # a to z, then a1 to z1, and so on
        if v not in self.letters:
            times, i = divmod(len(self.letters), 26)
            self.letters[v] = f'{chr(ord("a") + i)}{times or ""}'
        return self.letters[v]


# 7h. A value without a text gets a name.
def name_in_scope(writer, x):
    """Put a value into scope; write a program above its first use."""
    name = f'{type(x).__name__.lower()}_{len(writer.scope)}'
    writer.scope[name] = x
    if type(x) is Jaxpr:
        inner = lines_of(x, name, writer.scope)
        writer.lines += ['    ' + line for line in inner]
    return name


# 7i. An equation is a line.
def write_equation(writer, eqn):
    """Write `outputs = primitive(operands, parameter=value, ...)`."""
    writer.scope[eqn.primitive.name] = eqn.primitive.impl
    outputs = writer.texts(tree_leaves(eqn.outvars))
    if type(eqn.outvars) is list:
        outputs = f'[{outputs}]'
    params = [f'{name}={writer.text(x)}' for name, x in eqn.params.items()]
    operands = ', '.join([*map(writer.text, eqn.invars), *params])
    writer.lines.append(f'    {outputs} = {eqn.primitive}({operands})')


# 7j. A program is a function.
def lines_of(jaxpr, name, scope):
    """Return the lines of a program as a Python function."""
    writer = Writer(scope)
    arguments = writer.texts(jaxpr.invars)
    for eqn in jaxpr.eqns:
        write_equation(writer, eqn)
    return [f'def {name}({arguments}):', *writer.lines,
            f'    return [{writer.texts(jaxpr.outvars)}]']


Jaxpr.__repr__ = lambda jaxpr: '\n'.join(lines_of(jaxpr, 'program', {}))
