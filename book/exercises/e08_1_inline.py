"""Extend: open every box.

Write `inline`, which takes a jaxpr and returns one that computes the same,
without any call in it: the equations of the function stand where the call
stood. A `call` may hold a call, and one function may be called twice.

What is gained is that all equations stand in one list, where one can look for
those that are of no use, as in exercise e07_4, or put a cosine into each, as
in e08_3. What is lost? There is a test for it.
"""

from dataclasses import replace

from autodiff_mini.jaxprs import Jaxpr, Var

HINTS = (
    'The program inside is `eqn.params[\'fun\'].jaxpr`. It has no constants, '
    'and as many `invars` as the call has operands.',
    'Keep a dictionary, as `eval_jaxpr` does. But where that one puts a '
    'value for each variable, put a variable: the one that stands for it in '
    'the new program. A `Literal` stands for itself.',
    'Each variable may be defined once only. If a function is called twice, '
    'its equations come twice, so its results need new variables, `Var('
    'v.aval)`. And `replace(eqn, invars=…, outvars=…)` is a new equation '
    'like the old.',
    'A function `spill(jaxpr, names, eqns)`, which appends the equations of '
    'a program to a list, and returns what stands for its results, can call '
    'itself for the program inside.',
)


def inline(jaxpr):
    """Returns the program without calls."""
    raise NotImplementedError('exercise e08_1: open the calls here')
