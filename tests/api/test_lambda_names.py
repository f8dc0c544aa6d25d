"""Guard the names of functions in errors: a lambda is named by its line."""

import functools
import linecache
import pickle
import re
import sys
import traceback
from types import SimpleNamespace

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.names import own_name


def said(call):
    """Return what the error of a call says, with its notes."""
    with pytest.raises(Exception) as e:
        call()
    return ''.join(traceback.format_exception_only(e.value))


def named(program, file='/home/me/train.py'):
    """Return the name in the error of a program that returns lambdas."""
    program = program.replace('TWO', 'np.ones(2) * x')
    linecache.cache[file] = (
        len(program), None, program.splitlines(True), file)
    scope = {'np': np, 'ad': ad}
    exec(compile(program, file, 'exec'), scope)
    return re.match('(.*?): Gradient', said(lambda: ad.grad(
        scope['f'])(1.0)).partition('grad of ')[2])[1]


LAMBDAS = {
    'f = lambda x: TWO': 'the lambda in line 1 of train.py',
    '\n\nf = lambda x: TWO': 'the lambda in line 3 of train.py',
    'def g():\n    return lambda x: TWO\nf = g()':
        'the lambda in line 2 of train.py',
    'f, g = lambda x: TWO, lambda x: x': 'the first lambda in line 1 of tr',
    'g, f = lambda x: x, lambda x: TWO': 'the second lambda in line 1 of tr',
    'f = (lambda x: lambda x: TWO)(1)': 'the second lambda in line 1 of tr',
    'f = lambda \\\n  x: TWO': 'the lambda in line 1 of train.py',
    'f = ad.jit(lambda x: TWO)': 'the lambda in line 1 of train.py',
    'f = ad.checkpoint(ad.vmap(ad.jit(lambda x: TWO), None, None, 2))':
        'the lambda in line 1 of train.py',
    'from functools import partial\n'
    'f = partial(partial(lambda a, x: TWO, 1))': 'the lambda in line 2 of t',
    'def f(x):\n    return TWO': 'f',
    'class A:\n    def g(self, x):\n        return TWO\nf = A().g': 'A.g',
    'class A:\n    def __call__(self, x):\n        return TWO\nf = A()': 'A',
}


def test_a_lambda_is_named_by_its_line():
    for program, name in LAMBDAS.items():
        found = named(program)
        assert found.startswith(name) and '<lambda>' not in found, program
    line = 'f = lambda x: TWO'
    for file, place in {'<cell 12>': ' of cell 12', '<string>': '',
                        '<ipython-input-3-abc>': ' of cell 3'}.items():
        assert named(line, file) == f'the lambda in line 1{place}'


def test_a_lambda_in_a_notebook_is_named_by_its_cell(monkeypatch):
    shell = SimpleNamespace(compile=SimpleNamespace(format_code_name={
        '/tmp/7.py': ('Cell', 'In[7]')}.get))
    monkeypatch.setitem(
        sys.modules, 'IPython', SimpleNamespace(get_ipython=lambda: shell))
    line = 'f = lambda x: TWO'
    assert named(line, '/tmp/7.py') == 'the lambda in line 1 of cell 7'
    assert named(line, '/tmp/8.py') == 'the lambda in line 1 of 8.py'


def test_programs_and_suggestions_do_not_name_the_line_of_a_lambda():
    f = lambda x: np.sin(x)
    assert str(ad.make_jaxpr(ad.jit(f))(1.0)).count('<lambda>') == 1
    assert ad.jit(f).__qualname__ == own_name(f) == f.__qualname__
    assert pickle.loads(pickle.dumps(own_name(f))) == f.__qualname__
    assert type(pickle.loads(pickle.dumps(own_name(f)))) is str
    for call, words in {
            lambda: ad.jvp(lambda x: x, 1.0, 1.0):
                'ad.jvp(f, (x,), (x_dot,))',
            lambda: ad.jit(lambda n: range(n))(3):
                "ad.jit(f, static_argnames='n')",
            lambda: ad.fori_loop(lambda i, x: x, 0, 3, 1.0):
                'ad.fori_loop(lower, upper, f, init_val)'}.items():
        assert words in said(call)


def test_a_bwd_rule_that_is_a_lambda_is_corrected_as_one():
    f = functools.partial(ad.custom_vjp, nondiff_argnums=(0,))(
        lambda n, x: x ** n)
    f.defvjp(lambda n, x: (x ** n, x), lambda x, ct: (ct,))
    assert said(lambda: ad.grad(f, 1)(3, 2.0)).splitlines()[0].endswith(
        'Write lambda n, residuals, cotangent: ...')
