"""What to write instead of a NumPy call that asks a tracer for its value.

`np.arange(0, x)` would need to know x, `np.random.normal(0, s)` draws numbers
that do not depend on s, and `np.testing.assert_allclose(x, y)` compares
values.  See the page *Errors explained*.
"""

import ast
import random
import re

import numpy as np

from autodiff_mini.core.trace import Tracer
from autodiff_mini.wings.messages.syntax import value_of

# Random numbers, as functions of the parameters and of standard numbers.
SHIFTED = ('loc', 'scale', 'size'), '{loc} + {scale} * {draw}'
SCALED = ('scale', 'size'), '{scale} * {draw}'
FORMULAS = {
    'normal': SHIFTED, 'laplace': SHIFTED, 'logistic': SHIFTED,
    'gumbel': SHIFTED, 'exponential': SCALED, 'rayleigh': SCALED,
    'uniform': (('low', 'high', 'size'), '{low} + ({high} - {low}) * {draw}'),
}
USUAL = {'loc': '0', 'scale': '1', 'low': '0', 'high': '1'}
NEEDLESS = [(r'^0(\.0)? \+ ', ''), (r' - 0(\.0)?\)', ')'),
            (r'\((\w+)\) \*', r'\1 *')]
PERMUTED = 'permutation', 'shuffle', 'permuted'
DRAWN_OUTSIDE = ('Draw the numbers outside of the function, and pass them as '
                 'an argument.')
COMPARED_OUTSIDE = ('Return the values from the function, with has_aux=True '
                    'beside another result, and call {} outside.')
GENERATORS = np.random.Generator, np.random.RandomState, random.Random
WRITERS = 'json', 'pickle', '_pickle', 'csv', '_csv', 'marshal'
OF_LISTS = {    # in Python's module `statistics`
    'mean': 'np.mean({})', 'fmean': 'np.mean({})', 'median': 'np.median({})',
    'stdev': 'np.std({}, ddof=1)', 'pstdev': 'np.std({})',
    'variance': 'np.var({}, ddof=1)', 'pvariance': 'np.var({})'}
# Transformations that draw once for many runs or many examples.
MANY = {'jit', 'make_jaxpr', 'vmap', 'scan', 'while_loop', 'fori_loop'}


def instead_of_call(call, frame, tracer):
    """Return what to write instead of a call of NumPy, or None."""
    function = value_of(call.func, frame)
    texts = list(map(ast.unparse, call.args))
    if draws(function):
        return instead_of_drawing(call, frame, tracer)
    if compares(function):
        return COMPARED_OUTSIDE.format(ast.unparse(call.func))
    if function is np.arange and tracer.dtype.kind == 'f':
        start, stop = ['0', *texts][-2:] if len(texts) < 2 else texts[:2]
        values = (f'{start} + {texts[2]} * np.arange(n)' if len(texts) > 2
                  else f'np.linspace({start}, {stop}, n, endpoint=False)')
        return ('The length of the result cannot depend on a traced value. '
                f'Write {values}, with a plain integer n.')
    match call.args:
        case [ast.GeneratorExp(), *_] if function is np.fromiter:
            return f'Write np.array([{texts[0][1:-1]}]).'
        case [_, *_] if function is np.fromiter:
            return f'Write np.array(list({texts[0]})).'
        case [ast.List(arrays) | ast.Tuple(arrays), *_] if (
                function is np.nditer):
            each = ', '.join(f'np.ravel({ast.unparse(x)})' for x in arrays)
            return f'Write zip({each}) instead of {ast.unparse(call)}.'
        case [_, *_] if function is np.nditer:
            return f'Write np.ravel({texts[0]}) instead.'
        case [_] if function is np.ndenumerate:
            return (f'Write np.ndindex(np.shape({texts[0]})), which iterates '
                    'over the indices alone.')
    return None


def instead_of_python(call, frame):
    """Return what to write instead of a call of Python's library, or None."""
    function, text = value_of(call.func, frame), ast.unparse(call.func)
    module = getattr(function, '__module__', None) or ''
    name, x = text.split('.')[-1], ', '.join(map(ast.unparse, call.args[:1]))
    if module == 'statistics' and name in OF_LISTS:
        return f'Write {OF_LISTS[name].format(x)}.'
    if module.split('.')[0] in WRITERS:
        return f'Return {x} from the function, and call {text} outside.'
    return None


def draws(function) -> bool:
    """Return whether a function draws random numbers."""
    return isinstance(getattr(function, '__self__', None), GENERATORS) or (
        getattr(function, '__module__', None) == 'numpy.random')


def compares(function) -> bool:
    """Return whether a function is one of NumPy's for tests."""
    module = getattr(function, '__module__', None) or ''
    return module.startswith('numpy.testing')


def instead_of_drawing(call, frame, tracer):
    """Return how random numbers can depend on traced parameters."""
    name, drawing = ast.unparse(call.func).split('.')[-1], call.func
    if name in PERMUTED:
        x = ast.unparse(call.args[0])
        owner = ast.unparse(drawing).removesuffix(f'.{name}')
        return f'Write {x}[{owner}.permutation(len({x}))].'
    if name not in FORMULAS:
        return DRAWN_OUTSIDE
    names, formula = FORMULAS[name]
    given = dict(zip(names, call.args)) | {
        keyword.arg: keyword.value for keyword in call.keywords}
    texts = USUAL | {key: f'({ast.unparse(x)})' if isinstance(x, ast.BinOp)
                     and key not in ('loc', 'high') else ast.unparse(x)
                     for key, x in given.items()}
    size = texts.get('size') or next(
        (f'np.shape({ast.unparse(x)})' for x in given.values()
         if any(np.ndim(value_of(part, frame)) for part in ast.walk(x)
                if isinstance(part, ast.Name))), None)
    draw = f'{ast.unparse(drawing)}({f"size={size}" if size else ""})'
    noise = draw if MANY.isdisjoint(transforms(tracer._trace)) else 'noise'
    written = formula.format(draw=noise, **texts)
    for needless, short in NEEDLESS:
        written = re.sub(needless, short, written)
    return f'Write {written}.' if noise == draw else (
        f'Draw noise = {draw} outside, pass it as an argument, and write '
        f'{written}.')


def transforms(trace):
    """Yield the names of the transformations around a trace."""
    while trace.tag:
        yield trace.tag.transform
        trace = trace.parent


def refused_call(call, frame):
    """Return the message for a call that needs plain numbers, or None.

    Some of NumPy's functions fail on a tracer with an error of their own.
    """
    arguments = [*call.args, *[keyword.value for keyword in call.keywords]]
    traced = {ast.unparse(x): value for x in arguments
              if isinstance(value := value_of(x, frame), Tracer)}
    function = value_of(call.func, frame)
    if not traced or not (draws(function) or compares(function)):
        return None
    tracer = [*traced.values()][-1]
    return (f'{ast.unparse(call.func)} needs plain numbers, but '
            f'{" and ".join(traced)} is traced by {tracer._trace.tag}. '
            f'{instead_of_call(call, frame, tracer)}')
