"""Explain calls with the wrong arguments.

A transformation can be passed something that is not a function, and a user's
function can get the wrong arguments.  See the page *Errors explained*.
"""

import ast
from traceback import walk_tb

from autodiff_mini.core import seams
from autodiff_mini.core.lines import is_library, users_part
from autodiff_mini.core.names import LambdaName, fun_name
from autodiff_mini.core.signature import is_miscall, names_of, parameters_of
from autodiff_mini.core.trees import FlatFunction
from autodiff_mini.wings.messages.syntax import nodes_around


@seams.refuse_call.take
def refuse_call(transform, place, args, kwargs):
    """Raise the error for a call whose first argument is not a function."""
    name = type(args[0]).__name__ if place else transform.__name__
    if len(args) == place:
        options = ', '.join(f'{key}={x!r}' for key, x in kwargs.items())
        raise TypeError(f'{name} takes a function first. As a decorator with '
                        f'options, write functools.partial(ad.{name}, '
                        f'{options or "..."}).')
    functions = [fun_name(x) for x in args if callable(x)]
    raise TypeError(
        f'{name} takes a function first, but got something of type '
        f'{type(args[place]).__name__}. ' + (
            f'Put {functions[place]} first.'
            if len(functions) > place else
            f'Pass the function itself, as in ad.{name}(f), not its result.'))


def how_called(error) -> list:
    """Return how transformations called functions with wrong arguments."""
    if not isinstance(error, TypeError) or not is_miscall(error) or (
            'unexpected keyword' in str(error)):
        return []
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    if [frame.f_code.co_name for frame in frames] == ['public_f']:
        return usage(frames[0].f_locals['f'])
    calls = [frame.f_locals for frame in frames
             if frame.f_code is FlatFunction.__call__.__code__]
    if not calls:       # the tape calls the function itself
        return [how(frame.f_locals['tag'], frame.f_locals['args'])
                for frame in frames if frame.f_code.co_name == 'derivative'
                and is_library[frame.f_code.co_filename]
                and 'tag' in frame.f_locals]
    return [how(call['self'].tag, call['args'][0]) for call in calls[::-1]
            if call['self'].tag and 'args' in call and 'out' not in call]


def usage(f) -> list:
    """Return how to call one of our functions; methods have no advice."""
    name = f.__qualname__
    if '.' in name:
        return []
    required = ', '.join(x.name for x in parameters_of(f).values()
                         if x.default is x.empty and 'VAR' not in x.kind.name)
    return [f'{USAGE.get(name, f"Write ad.{name}({required})")}.']


USAGE = {
    'root': 'Write ad.root(f, a, x_guess), which solves f(a, x) == 0 for x',
    'fixed_point': 'Write ad.fixed_point(f, a, x_guess), which solves '
                   'f(a, x) == x for x',
    'checkpoint': 'Write ad.checkpoint(f)(x)'}


def how(tag, args):
    """Return how a transformation called a function."""
    if not args and tag.transform in ('cond', 'switch'):
        return (f'{tag} calls it without arguments. Pass the operands after '
                'the functions.')
    if tag.transform == 'while_loop' and isinstance(args[0], tuple):
        names = ', '.join(names_of(tag.function))
        return (f'{tag} calls it with 1 argument, the tuple of the state. '
                f'Unpack it inside: {names} = state.')
    count = '1 argument' if len(args) == 1 else f'{len(args)} arguments'
    return f'{tag} calls it with {count}.'


def explain_rule(error, rule, args):
    """Say how a user's rule is called, if that can be the error's cause.

    Args:
        error: a TypeError that the rule raised.
        rule: the rule, a UserRule.
        args: what it was called with.

    Raises:
        TypeError: the rule takes other arguments.
    """
    if is_miscall(error):
        takes = ', '.join(parameters_of_rule(rule))
        raise TypeError(
            f'{rule} does not accept the arguments that it is called with: '
            f'{error}. Write {head_of(rule.__name__, takes)}') from None
    names = rule.name == 'jvp' and tuples_at_work(error, args[-2:])
    if names:
        error.add_note(how_to_unpack(rule, *names))


def how_to_unpack(rule, *names):
    """Return how to unpack tuples that are taken for arrays."""
    return (f'{rule} is called with two tuples. Unpack them: '
            f'(x,), (x_dot,) = {", ".join(names)}.')


def head_of(name, takes):
    """Return how the definition of a rule begins."""
    return (f'lambda {takes}: ...' if type(name) is LambdaName else
            f'def {name}({takes}).')


def parameters_of_rule(rule) -> list:
    """Return the names of the arguments that a user's rule gets."""
    fun, held = rule.call.function.fun, rule.call.arguments.held
    return {
        'jvp': [*names_of(fun, held), 'primals', 'tangents'],
        'fwd': names_of(fun),
        'bwd': [*names_of(fun, held), 'residuals', 'cotangent'],
        'vmap': ['axis_size', 'in_batched', *names_of(fun)]}[rule.name]


def tuples_at_work(error, tuples) -> list:
    """Return the names of tuples that an expression takes for arrays.

    Args:
        error: what the expression raised.
        tuples: what the user's function has been given.
    """
    traceback = users_part(error.__traceback__)
    while traceback and traceback.tb_next:
        traceback = traceback.tb_next
    return traceback and whole_names(traceback.tb_frame, traceback.tb_lasti,
                                     tuples)


def whole_names(frame, instruction, values) -> list:
    """Return the names of values if an expression uses one unindexed."""
    for node in nodes_around(frame, instruction)[:1]:
        apart = {id(part.value) for part in ast.walk(node)
                 if isinstance(part, ast.Subscript | ast.Starred)}
        used = [frame.f_locals.get(part.id) for part in ast.walk(node)
                if isinstance(part, ast.Name) and id(part) not in apart]
        if any(x is value for x in used for value in values):
            return [name for value in values for name, x in
                    frame.f_locals.items() if x is value]
    return []
