"""Advise what to write instead of the line that asked a tracer.

A tracer that refuses knows who asks, but not why.  The line in the program
shows it.  `while x > 1`, `range(n)`, and `math.sin(x)` need different cures,
so we read the line and name one.  See the page *Errors explained*.
"""

import ast
import sys
from functools import partial
from inspect import isfunction, unwrap
from opcode import opmap
from threading import get_ident
from types import GeneratorType, ModuleType

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.errors import (
    OWN_OPERATION, Refusals, TracerArrayConversionError)
from autodiff_mini.core.lines import LIBRARY, OTHERS, in_a_library
from autodiff_mini.core.names import LambdaName, fun_name, own_name
from autodiff_mini.core.signature import parameters_of
from autodiff_mini.core.trace import Tracer
from autodiff_mini.core.types import typeof
from autodiff_mini.wings.messages.lambda_names import (
    describe_function, name_in_code)
from autodiff_mini.wings.messages.name_advice import instead_of_name
from autodiff_mini.wings.messages.numpy_advice import instead_of_call
from autodiff_mini.wings.messages.scipy_advice import instead
from autodiff_mini.wings.messages.syntax import (
    call_around, in_python, nodes_around, value_of)

SELDOM_NUMPY = {'erf': 'scipy.special.erf', 'erfc': 'scipy.special.erfc',
                'gamma': 'scipy.special.gamma', 'fsum': 'np.sum',
                'lgamma': 'scipy.special.gammaln', 'dist': 'np.linalg.norm'}
OF_TWO = {'max': 'np.maximum', 'min': 'np.minimum'}
OF_MANY = {'max': 'np.max', 'min': 'np.min', 'any': 'np.any',
           'all': 'np.all', 'sorted': 'np.sort'}


@seams.advise.take
def advise(topic, general, *details):
    """Return what to write instead of the line at fault.

    Args:
        topic: a key of ADVISERS.
        general: the advice that holds for every program.
        details: what the adviser needs to know.
    """
    return ADVISERS[topic](general, *details)


def program_frame():
    """Return the frame of the user's program, and whether it asked itself."""
    frame = sys._getframe(1)
    while is_word(frame):
        frame = frame.f_back
    asks = frame
    while frame.f_back and (in_a_library(frame) or in_python(frame)):
        frame = frame.f_back
    return frame, frame is asks or not in_a_library(asks)


def is_word(frame) -> bool:
    """Return whether a frame only puts an error into words."""
    file = frame.f_code.co_filename
    return file in WORDS or file.startswith(TOOLS)


TOOLS = __file__.removesuffix('advice.py')
WORDS = {f.__code__.co_filename
         for f in (in_a_library, Refusals.describe, seams.Seam.__call__)}


def instead_of(adviser, general, tracer, *details):
    """Return what to write instead of the code that asks a tracer."""
    other = function_of_scipy()
    if other:
        other_advice = (instead(other)
                        or f'it with NumPy functions, {OWN_OPERATION}')
        return (f'{other} converts its input to plain numbers. Write '
                f'{other_advice}.')
    frame, _ = program_frame()
    call = call_around(frame)
    return (call and instead_of_call(call, frame, tracer)
            or adviser(general, frame, tracer, *details))


def function_of_scipy():
    """Return the full name of another library's function at work, or None.

    A function whose name is private is called by its library.
    """
    frame, name, library = sys._getframe(1), None, None
    while frame.f_code.co_filename.startswith(LIBRARY[:2]):
        frame = frame.f_back
    while frame and in_a_library(frame):
        module = frame.f_globals.get('__name__') or ''
        code = frame.f_code
        function = code.co_name
        decorated = filter(isfunction, frame.f_locals.values())
        if function in ('wrapper', 'inner') and (f := next(decorated, None)):
            module, function = f.__module__, f.__name__
        elif function == '__init__':
            function = code.co_qualname.split('.')[-2]
        if module.startswith(OTHERS):
            library = '.'.join(module.split('.')[:2])
            name = name if function[0] == '_' else f'{library}.{function}'
        elif code.co_qualname == 'vectorize.__call__':
            library = 'numpy.vectorize'
        frame = frame.f_back
    return name or library


def instead_of_truth(general, frame, tracer):
    """Return what to write where Python asks whether a tracer is true."""
    nodes = nodes_around(frame)
    match nodes[:1]:
        case [ast.Call() as call] if numpy_call(call):
            return f'Write {numpy_call(call)}.'
        case [ast.Call(_, arguments)] if sizes := [
                x for x in arguments if is_integer(value_of(x, frame))]:
            static = static_advice(ast.Tuple(sizes), frame, tracer)
            if static:
                return static
    choosers = [node for node in nodes if hasattr(node, 'test')
                and (node is nodes[0] or node.test in nodes)]
    if choosers:
        return (static_advice(choosers[0].test, frame, tracer)
                or instead_of_test(choosers[0], frame))
    texts = [array_text(node) for node in nodes[:-1]
             if array_text(node) != ast.unparse(node)]
    return f'Write {texts[-1]}.' if texts else general


def is_integer(x) -> bool:
    """Return whether `x` is a traced integer, which can be a size."""
    return isinstance(x, Tracer) and not x.ndim and x.dtype.kind in 'iu'


def instead_of_test(chooser, frame):
    """Return what to write instead of `while`, `if`, or `assert`."""
    test = array_text(chooser.test)
    if isinstance(chooser, ast.While):
        names = ', '.join(name for name, _ in traced_names(
            chooser.test, frame)) or 'x'
        return (f'Write the loop as ad.while_loop(lambda {names}: {test}, '
                f'body, {names}).' if ',' not in names else
                'Write the loop as ad.while_loop(condition, body, '
                f'({names})).')
    if isinstance(chooser, ast.IfExp):
        return (f'Write np.where({test}, {ast.unparse(chooser.body)}, '
                f'{ast.unparse(chooser.orelse)}).')
    if isinstance(chooser, ast.If) and any(
            isinstance(step, ast.Break | ast.Continue)
            for step in chooser.body):
        return ('Write the loop as ad.while_loop(condition, body, x), with '
                f'{test} in the condition.')
    if isinstance(chooser, ast.Assert) or isinstance(
            chooser.body[0], ast.Raise):
        return f'Check {test} before the call, where the values are known.'
    if all(len(branch) < 2 and all(isinstance(
            step, ast.Return | ast.Assign | ast.AugAssign) for step in branch)
            for branch in (chooser.body, chooser.orelse)):
        return (f'Write np.where({test}, a, b), which chooses between the '
                'results a and b of the two branches.')
    return (f'Write ad.cond({test}, f, g, x), where f and g are the two '
            'branches, functions of x.')


def instead_of_integer(general, frame, tracer):
    """Return what to write where Python asks a tracer for an integer."""
    nodes = nodes_around(frame)
    asks = nodes[0] if nodes else None
    if isinstance(asks, ast.Subscript) and not isinstance(
            asks.slice, ast.Slice):
        return (f'Write ad.asarray({ast.unparse(asks.value)})'
                f'[{ast.unparse(asks.slice)}].')
    if isinstance(asks, ast.Call) and tracer.ndim and len(asks.args) > 1:
        return (f'Write {ast.unparse(asks.func)}(['
                f'{", ".join(map(ast.unparse, asks.args))}]).')
    static = static_advice(asks, frame, tracer)
    if static:
        return static
    if isinstance(asks, ast.Call) and tracer.dtype.kind in 'iu' and (
            value_of(asks.func, frame) is range):
        bounds = list(map(ast.unparse, asks.args))
        if len(bounds) < 3:
            return ('Write the loop as ad.fori_loop('
                    f'{", ".join(["0", *bounds][-2:])}, body, x).')
    return general


def instead_of_array(general, frame, tracer):
    """Return what to write where NumPy asks a tracer for a plain array."""
    match nodes_around(frame)[:1]:
        case [ast.Subscript(array, _, ast.Store())]:
            return how_to_fill(ast.unparse(array))
        case [ast.Subscript(array, index)] if tracer.dtype == bool:
            return (f'Write np.where({ast.unparse(index)}, '
                    f'{ast.unparse(array)}, 0), which has 0 where the mask '
                    'is False.')
        case [ast.Subscript(array, index)]:
            return (f'Write ad.asarray({ast.unparse(array)})'
                    f'[{ast.unparse(index)}].')
        case [ast.Call(function, [first, *rest]) as call]:
            name, x = ast.unparse(function), ast.unparse(first)
            asks = value_of(function, frame)
            others = ''.join(f', {ast.unparse(y)}' for y in rest)
            static = static_advice(call, frame, tracer)
            if static:
                return static
            if isinstance(asks, type) and issubclass(asks, np.generic):
                return f'Write {x}.astype({name}).'
            if isinstance(function, ast.Attribute) and function.attr == 'dot':
                return f'Write {ast.unparse(function.value)} @ {x}.'
            if isinstance(function, ast.Name) and asks in (
                    np.array, np.asarray, np.full):
                return f'Write np.{asks.__name__} instead of {name}.'
            if isinstance(first, ast.List | ast.ListComp | ast.Tuple):
                if asks in (np.array, np.matrix):
                    array = 'ad.asarray' if is_unpatched() else 'np.array'
                    return f'Write {array}({x}).'
                return f'Write {name}(np.array({x}){others}).'
            if rest and type(value_of(first, frame)) is np.ndarray:
                return f'Write {name}(ad.asarray({x}){others}).'
    if asks_to_write(frame):
        return how_to_fill()
    return general


def asks_to_write(frame) -> bool:
    """Return whether a frame assigns to an element, as in `a[0] = x`."""
    return frame.f_code.co_code[frame.f_lasti] == opmap['STORE_SUBSCR']


def what_to_fill(general):
    """Return how to make the array that the program writes into."""
    frame, _ = program_frame()
    match nodes_around(frame)[-1:]:
        case [ast.AugAssign(ast.Name(array))]:
            return how_to_fill(array)
        case [ast.AugAssign(ast.Subscript(array))]:
            return how_to_fill(ast.unparse(array))
    return how_to_fill()


def how_to_fill(array='x'):
    """Return how to make an array that accepts traced values."""
    if is_unpatched():
        return (f'Write into a copy, y = np.array({array}, like=x), where x '
                'is traced.')
    return f'Write into a copy made by np.copy: y = np.copy({array}).'


def is_unpatched() -> bool:
    """Return whether np.array refuses traced values."""
    return type(np) is ModuleType


def instead_of_number(general, frame, tracer, kind):
    """Return what to write where Python asks a tracer for a number.

    Args:
        general: the advice that holds for every program.
        frame: the frame that asks.
        tracer: the tracer that is asked.
        kind: `float`, `int`, `complex`, `item`, `tolist`, or `format`.
    """
    nodes, source = nodes_around(frame), tracer._trace.tag.function
    if kind == 'format':
        return 'To print it, leave out the format.'
    if getattr(source, '__module__', None) == 'math':
        return f'Write {numpy_name(source)}.'
    if nodes and isinstance(nodes[0], ast.BinOp):
        return 'To print it, write an f-string.'
    if not nodes or not isinstance(nodes[0], ast.Call):
        return (instead_of_array(TracerArrayConversionError.advice, frame,
                                 tracer)
                if nodes or asks_to_write(frame) else general)
    asks, function = nodes[0], value_of(nodes[0].func, frame)
    arguments = ', '.join(map(ast.unparse, asks.args))
    if getattr(function, '__module__', None) == 'math':
        numpys = getattr(np, function.__name__, None)
        fits = len(asks.args) == getattr(numpys, 'nin', 1)
        return (f'Write {numpy_name(function)}({arguments}).'
                if fits else general)
    if isinstance(asks.func, ast.Attribute) and asks.func.attr == kind:
        return (f'Leave out .{kind}() and write '
                f'{ast.unparse(asks.func.value)}.')
    if function is int:
        return static_advice(asks, frame, tracer) or (
            f'Write np.trunc({arguments}).')
    if function in (float, complex):
        parts = arguments.replace(', ', ' + 1j * ', 1)
        return f'Write {parts} instead of {ast.unparse(asks)}.'
    if getattr(asks.func, 'attr', None) in ('__setitem__', 'fill'):
        return how_to_fill()
    return general


def numpy_name(function):
    """Return the NumPy or SciPy equivalent of a function of `math`."""
    name = function.__name__
    return SELDOM_NUMPY.get(name, f'np.{name}')


def numpy_call(call):
    """Return a NumPy call that replaces `max`, `any`, or the like."""
    if not isinstance(call.func, ast.Name):
        return None
    if call.func.id == 'bool':
        return f'{ast.unparse(call.args[0])} != 0'
    table = OF_TWO if len(call.args) == 2 else OF_MANY
    name = table.get(call.func.id)
    if name is None or call.keywords:
        return None     # np.max has no key=, and np.sort no reverse=
    text = ', '.join(map(ast.unparse, call.args))
    if len(call.args) > 2:
        return f'{name}(np.array([{text}]))'
    if isinstance(call.args[0], ast.GeneratorExp):
        return f'{name}(np.array([{text[1:-1]}]))'
    return f'{name}({text})'


def array_text(node):
    """Return a condition as text, with `&` instead of `and`."""
    match node:
        case ast.BoolOp(operation, values):
            name = ('np.logical_and' if isinstance(operation, ast.And)
                    else 'np.logical_or')
            texts = list(map(array_text, values))
            if len(texts) == 2 and not any(
                    isinstance(value, ast.Compare) for value in values):
                return f'{name}({texts[0]}, {texts[1]})'
            sign = ' & ' if isinstance(operation, ast.And) else ' | '
            return sign.join(f'({text})' for text in texts)
        case ast.UnaryOp(ast.Not(), operand):
            return f'np.logical_not({array_text(operand)})'
        case ast.Compare(left, [ast.In()], [right]):
            return f'np.isin({ast.unparse(left)}, {ast.unparse(right)})'
        case ast.Compare(left, [_, _, *_] as signs, right):
            return ' & '.join(
                f'({ast.unparse(ast.Compare(a, [sign], [b]))})'
                for a, sign, b in zip([left, *right], signs, right))
    return ast.unparse(node)


def traced_names(node, frame):
    """Return (name, tracer) for each traced name in an expression."""
    names = dict.fromkeys(part.id for part in ast.walk(node)
                          if isinstance(part, ast.Name))
    found = [(name, frame.f_locals.get(name)) for name in names]
    return [(name, x) for name, x in found if hasattr(x, '_trace')]


def static_advice(node, frame, tracer):
    """Return advice to make arguments of jit static, or None.

    There is advice only if the expression depends on no other traced values
    and the arguments are scalar integers or booleans.
    """
    tag, asked = tracer._trace.tag, [tracer]
    if node and not argument_name(tracer, frame, tag.function):
        asked = [x for _, x in traced_names(node, frame)]
    names = [argument_name(x, frame, tag.function) for x in asked]
    if not names or None in names or any(
            x.ndim or x.dtype.kind not in 'iub' for x in asked):
        return None
    text = ', '.join(names)
    if tag.transform == 'vmap':
        return (f'{text} must be the same for all examples, so its entry in '
                'in_axes must be None.')
    if tag.transform not in ('jit', 'make_jaxpr'):
        return None
    named = repr(names[0] if len(names) == 1 else tuple(names))
    return (f'Make {text} static: ad.jit({name_in_code(tag.function)}, '
            f'static_argnames={named}).')


def argument_name(tracer, frame, function):
    """Return the name of the argument that a tracer is, or None."""
    code = getattr(unwrap(function), '__code__', None)
    while frame and frame.f_code is not code:
        frame = frame.f_back
    count = frame and code.co_argcount + code.co_kwonlyargcount
    for name in frame and code.co_varnames[:count] or ():
        if frame.f_locals.get(name) is tracer and tracer.line is None:
            return name
    return None


def instead_of_escape(general, trace):
    """Return why a tracer is used outside of its transformation."""
    tag = trace.tag
    if trace.thread is None:
        aux = (', as (result, value) with has_aux=True' if tag.transform in (
            'grad', 'jvp', 'vjp', 'linearize', 'jacfwd', 'jacrev') else '')
        return (f'after {tag} had returned. It escaped through a global '
                'variable, an attribute, or a generator. Return it from '
                f'{fun_name(tag.function)} instead{aux}')
    if trace.thread != get_ident():
        return (f'in a thread where {tag} is not running. New threads do not '
                'inherit the current transformation. Start the thread with '
                'contextvars.copy_context().run')
    return (f'in a context where {tag} is not running. Use a tracer only '
            'inside its own transformation')


def what_to_register(general, kind):
    """Return what to do with a value that is not of an array class."""
    if kind.__name__ in ('CustomVJPPrimal', 'SymbolicZero', 'Zero'):
        return ('it describes an argument, so return its .value'
                if hasattr(kind, 'value') else
                'it describes a zero tangent, so convert it to an array with '
                'ad.instantiate_zeros')
    if issubclass(kind, str):
        return ('make it a static argument (static_argnums of jit) or a '
                "static field of its dataclass (metadata={'static': True}), "
                'or close over it')
    for method in 'to_numpy', 'toarray':
        if hasattr(kind, method):
            return f'convert it with .{method}()'
    if kind.__name__ == 'MaskedArray':
        return 'pass np.ma.filled(x, value)'
    if hasattr(kind, '__array__') or kind is range:
        return 'convert it with np.asarray'
    if hasattr(kind, '__float__'):
        return 'convert it with float'
    if kind is GeneratorType:
        return 'return arrays instead of yielding them'
    if kind.__module__ == 'builtins' or kind.__module__.startswith('numpy'):
        return 'pass a number or a plain array'
    if is_users(kind):
        return f'make {kind.__name__} a dataclass, whose fields are traced'
    return ('register it with ad.register_pytree_node('
            f'{kind.__name__}, flatten, unflatten)')


def is_users(kind) -> bool:
    """Return whether a class is defined in the user's own program."""
    package = kind.__module__.partition('.')[0]
    file = getattr(sys.modules.get(package), '__file__', None) or ''
    return package not in sys.stdlib_module_names and (
        'site-packages' not in file)


def what_to_sum(general, shape, wanted):
    """Return how to sum a cotangent of this shape to the wanted shape."""
    count = len(shape) - len(wanted)
    if count > 0 and shape[count:] == wanted:
        return f'. Sum it with np.sum(ct, {(*range(count),)})'
    return general


def instead_of_argnums(general, f, i, count, kwargs):
    """Return what to do about argnums without an argument in the call.

    Args:
        general: the general advice.
        f: the function.
        i: the position that `argnums` gives.
        count: how many arguments the call passed by position.
        kwargs: the arguments that it passed by keyword.
    """
    parameters = parameters_of(f)
    names = [name for name, x in parameters.items() if x.kind in (
        x.POSITIONAL_ONLY, x.POSITIONAL_OR_KEYWORD)]
    n = len(names)
    if n < len(parameters) or not names or -n <= i < n:
        name = names[i] if -n <= i < n else ''
        return (f'Pass {name} by position, not by keyword.'
                if name in kwargs else f'Pass {name} by position.'
                if name and count else general if count else
                'Pass the arguments.')
    numbers = ' and '.join(map(str, range(n))) if n < 3 else f'0 to {n - 1}'
    name = own_name(f)
    return (f'argnums is {i}, but '
            f'{"the lambda" if type(name) is LambdaName else name} takes '
            f'{COUNTS[n] if n < len(COUNTS) else n} argument{"s" * (n > 1)} '
            f'({numbers}).')


COUNTS = 'no', 'one', 'two', 'three', 'four', 'five', 'six'


def instead_of_hash(general, x):
    """Return what to do with a static value that has no hash."""
    if isinstance(x, list):
        return 'Pass a tuple'
    if isinstance(x, dict) or hasattr(x, '__array__'):
        return 'Do not make it static'
    return general


def instead_of_kind(general, what, x, holomorphic):
    """Return how to convert a value to one that has a derivative."""
    kind = typeof(x).dtype.kind
    if kind == 'c':
        return ('. If the function has a complex derivative, pass '
                'holomorphic=True. If not, make them real, for example with '
                'np.abs.')
    if holomorphic:
        return '. Convert it with astype, or leave holomorphic out.'
    if what == 'outputs':
        return (', which has no derivative. Return floats from the function, '
                'such as np.max(x) and not np.argmax(x). Do not convert the '
                'integers, because the derivative would be zero.')
    cure = (f'Write {float(x)}' if isinstance(x, int)
            else 'Convert it with x.astype(float)')
    return f', which has no derivative. {cure}.'


def instead_of_output(general, y):
    """Return what to return instead of an output without a gradient."""
    if y is None:
        return 'Is a `return` missing?'
    if isinstance(y, tuple) and len(y) == 2:
        return ('Pass has_aux=True to differentiate only the first part of '
                'the pair.')
    if isinstance(y, Tracer) or hasattr(y, 'shape'):
        return ('Return its sum or mean, or use ad.jacrev for the derivative '
                'of each element.')
    return general


def explain_sizes(general, tag, names, axes, sizes):
    """Return what is wrong with axes that have no length in common."""
    if not axes:
        return (': vmap wrapped function must be passed at least one '
                'argument containing an array or axis_size must be specified')
    if not sizes:
        return (': vmap must have at least one non-None value in in_axes or '
                'axis_size must be specified')
    mapped = [name.removeprefix(f'{tag}: ')
              for name, axis in zip(names(), axes) if axis is not None]
    lengths = map('{} has length {}'.format, [*mapped, 'axis_size'], sizes)
    return (': vmap got inconsistent sizes for array axes to be mapped: '
            f'{", ".join(lengths)}. For an argument that is the same for all '
            'examples, set in_axes to None.')


def instead_of_forward_mode(general, name):
    """Return how to find a root of a function without forward mode."""
    frame = sys._getframe(1)
    while frame and (
            frame.f_code.co_name, frame.f_globals.get('__name__')) != (
            'root', 'autodiff_mini.wings.applications.implicit'):
        frame = frame.f_back
    return general if frame is None else (
        'The steps of ad.root need forward mode, even for the value alone. '
        f'Define a rule for it with {name_in_code(name)}.defjvp.')


ADVISERS = {    # by topic
    'ConcretizationTypeError': partial(instead_of, instead_of_number),
    'TracerBoolConversionError': partial(instead_of, instead_of_truth),
    'TracerIntegerConversionError': partial(instead_of, instead_of_integer),
    'TracerArrayConversionError': partial(instead_of, instead_of_array),
    'fill': what_to_fill, 'escape': instead_of_escape,
    'register': what_to_register, 'cotangent': what_to_sum,
    'argnums': instead_of_argnums, 'hash': instead_of_hash,
    'name': instead_of_name,
    'forward': instead_of_forward_mode, 'kind': instead_of_kind,
    'scalar': instead_of_output,
    'axis_sizes': explain_sizes, 'function': describe_function}
