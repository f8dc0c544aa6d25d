"""What is said when something goes wrong.

Errors have the names they have in JAX, since readers search for them, and
the words that say what to do.  Where NumPy raises an error, ours is of its
class.  Where NumPy would compute, ours is a TypeError, most often a
TracerError, or a NotImplementedError: a program that catches a ValueError or
an IndexError by habit must not go another way because it is traced.
The page *Errors explained*.
"""

import os
import sys
import warnings
from contextvars import ContextVar
from functools import lru_cache, partial, wraps
from importlib import import_module
from inspect import isfunction
from threading import get_ident
from types import GeneratorType, TracebackType
from typing import NamedTuple

from autodiff_mini.advice import (
    advice_on, instead_of_array, instead_of_integer, instead_of_number,
    instead_of_truth, whole_names)


class TracerError(TypeError):
    """A tracer was asked for what NumPy would compute, and must refuse."""


class ConcretizationTypeError(TracerError):
    """A plain Python number was asked of a tracer.

    It would not be differentiated, so `float(x)`, `math.sin(x)`, `a[0] = x`
    and `np.float64(x)` raise instead of forgetting.
    """

    def __init__(self, tracer, function):
        super().__init__(
            'Abstract tracer value encountered where concrete value is '
            f'expected: {tracer.describe()}. The problem arose with the '
            f'`{function}` function: a plain number would forget what is '
            f'traced. {cure(instead_of_number, tracer, function)}')


class TracerBoolConversionError(ConcretizationTypeError):
    """A truth value was asked of a tracer whose value is not known."""

    def __init__(self, tracer):
        TracerError.__init__(
            self, 'Attempted boolean conversion of traced array '
            f'{tracer.describe()}. Its value is not known while it is '
            'traced, so Python cannot branch on it. '
            f'{cure(instead_of_truth, tracer)}')


class TracerIntegerConversionError(TracerError):
    """An index, a size or a loop bound was asked of a tracer."""

    def __init__(self, tracer):
        super().__init__(
            'The __index__() method was called on traced array '
            f'{tracer.describe()}, but only a plain Python integer will do. '
            f'{cure(instead_of_integer, tracer)}')


class TracerArrayConversionError(TracerError):
    """A plain NumPy array was asked of a tracer."""

    def __init__(self, tracer):
        super().__init__(
            'The numpy.ndarray conversion method __array__() was called on '
            f'traced array {tracer.describe()}, but a plain array would '
            f'forget what is traced. {cure(instead_of_array, tracer)}')


class Refusal(NamedTuple):
    """Where a tracer refused, and what was said.

    Args:
        line: the place in the user's program, as `user_line` gives it.
        is_direct: whether it asked itself, and not a library.
        message: what was said.
    """

    line: tuple
    is_direct: bool
    message: str


last_refusal = ContextVar('last_refusal', default=None)


def program_frame():
    """Return the frame of the user's program, and whether it asked itself."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == in_a_library.__code__.co_filename:
        frame = frame.f_back
    asks = frame
    while frame.f_back and in_a_library(frame):
        frame = frame.f_back
    return frame, frame is asks


def in_a_library(frame) -> bool:
    """Return whether a frame is of this library, or of one that we name."""
    return is_library[frame.f_code.co_filename] or (
        frame.f_globals.get('__name__') or '').startswith(OTHERS)


def cure(advise, tracer, *details):
    """Return what to write in place of what asks the tracer."""
    other = function_of_scipy()
    if other:
        return what_to_write(other)
    return advise(program_frame()[0], tracer, *details)


OTHERS = 'scipy.', 'pandas.', 'sklearn.', 'matplotlib.'


def function_of_scipy():
    """Returns the full name of another library's function at work, or None.

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
        if function == 'wrapper' and (f := next(decorated, None)):
            module, function = f.__module__, f.__name__
        if module.startswith(OTHERS):
            library = '.'.join(module.split('.')[:2])
            name = name if function[0] == '_' else f'{library}.{function}'
        elif code.co_qualname == 'vectorize.__call__':
            library = 'numpy.vectorize'
        frame = frame.f_back
    return name or library


advisers_on_scipy = []      # who says what to write in place of SciPy's


def what_to_write(name):
    """Returns what an error says of a function of SciPy's."""
    advice = filter(None, [advise(name) for advise in advisers_on_scipy])
    instead = next(advice, f'it with NumPy functions, {WAY_OUT}')
    return f'{name} works with plain numbers. Write {instead}.'


WAY_OUT = ('or make it an operation of your own, which says its derivative: '
           'see ad.Primitive, ad.custom_jvp and ad.custom_vjp')


def what_to_register(kind):
    """Returns what to do with a value of a class that is no array's."""
    if issubclass(kind, str):
        return ('close over it, or, if it is in a dataclass, declare its '
                "field with metadata={'static': True}")
    if hasattr(kind, 'to_numpy'):
        return 'pass its .to_numpy()'
    if kind.__name__ == 'MaskedArray':
        return 'pass np.ma.filled(x, value)'
    if hasattr(kind, '__array__') or kind is range:
        return 'pass np.asarray of it'
    if kind is GeneratorType:
        return 'return arrays, and do not `yield`'
    if kind.__module__ == 'builtins' or kind.__module__.startswith('numpy'):
        return 'pass an array (no matrix, no masked array) or a number'
    if is_users(kind):
        return f'make {kind.__name__} a dataclass, whose fields are traced'
    return (f'say what is in it, with ad.register_pytree_node('
            f'{kind.__name__}, flatten, unflatten)')


def is_users(kind) -> bool:
    """Return whether a class is defined in the user's own program."""
    package = kind.__module__.partition('.')[0]
    file = getattr(sys.modules.get(package), '__file__', None) or ''
    return package not in sys.stdlib_module_names and (
        'site-packages' not in file)


class UnexpectedTracerError(TracerError):
    """A tracer is used where its transformation is not running."""

    def __init__(self, tracer):
        trace = tracer._trace
        if trace.thread is None:
            cause = (f'{trace.tag} has returned. The tracer escaped through '
                     'a global, an attribute or a generator: let '
                     f'{fun_name(trace.tag.function)} return it instead'
                     f'{AS_AUX.get(trace.tag.transform, "")}.')
        elif trace.thread != get_ident():
            cause = (f'{trace.tag} runs in another thread, and a new thread '
                     'does not know of it: start the thread with a copy of '
                     'the context, contextvars.copy_context().run.')
        else:
            cause = (f'{trace.tag} is not at work here: a tracer may be used '
                     'only inside its transformation, in its context.')
        self.tracer = tracer
        super().__init__('Encountered an unexpected tracer: '
                         f'{tracer.describe()} is used, but {cause}')


AS_AUX = dict.fromkeys(
    ['grad', 'jvp', 'vjp', 'linearize', 'jacfwd', 'jacrev'],
    ', as (result, value) with has_aux=True')


def is_alive(tracer, trace) -> bool:
    """Return whether a tracer's transformation is around this trace."""
    while trace and trace.tag is not tracer._trace.tag:
        trace = trace.parent
    return trace is not None


def refusal(kind, tracer, *details):
    """Return the error for what a tracer refuses, or that it has escaped."""
    trace = trace_at_work.get(None)
    if tracer._trace.thread is None and not is_alive(tracer, trace):
        return UnexpectedTracerError(tracer)
    error, (frame, is_direct) = kind(tracer, *details), program_frame()
    if trace and trace.tag:
        last_refusal.set(Refusal((frame.f_code, frame.f_lasti), is_direct,
                                 str(error)))
    return error


class ReadOnlyError(TracerError):
    """A program writes into an array that is not its own.

    An argument belongs to its caller.  An array that might be a view of
    another one still in use is not written to, either.  The error is a
    ValueError as well only where NumPy raises one: see NumPyReadOnlyError.
    """

    def __init__(self, tracer, why):
        super().__init__(
            f'assignment destination is read-only: {tracer.describe()} '
            f'{why}. Write into a copy, `x = np.copy(x)`.')


class NumPyReadOnlyError(ReadOnlyError, ValueError):
    """A program writes into an array that is read-only in NumPy, too.

    The result of np.diagonal is one, and so are the arguments of a rule.
    """


class Refusals:
    """What a tracer refuses, since it would forget what is traced."""

    __slots__ = ()
    __hash__ = None     # since == is element-wise

    def __array__(self, dtype=None, copy=None):
        raise refusal(TracerArrayConversionError, self)

    def __bool__(self):
        raise refusal(TracerBoolConversionError, self)

    def __index__(self):
        raise refusal(TracerIntegerConversionError, self)

    def __float__(self):
        raise refusal(ConcretizationTypeError, self, 'float')

    def __int__(self):
        raise refusal(ConcretizationTypeError, self, 'int')

    def __complex__(self):
        raise refusal(ConcretizationTypeError, self, 'complex')

    def item(self):
        raise refusal(ConcretizationTypeError, self, 'item')

    def tolist(self):
        raise refusal(ConcretizationTypeError, self, 'tolist')

    def __format__(self, spec):
        if spec:
            raise refusal(ConcretizationTypeError, self, 'format')
        return str(self)

    def describe(self) -> str:
        """Returns what it is and where it was made."""
        origin = f'made at {line_text(self.line)} ' if self.line else ''
        return (f'{type(self).__name__}<{self.aval}>, {origin}in '
                f'{self._trace.tag}')


sources_of_functions = []   # who is asked to define what a NumPyTable lacks


class NumPyTable(dict):
    """What stands for each NumPy function that may meet a tracer.

    For a ufunc's method there is a pair, `(np.add, 'reduce')`; for a call of
    it with keywords as well, `(np.add, '__call__')`; for a function that is
    told where to write, `(np.sum, 'out')`.
    """

    def __missing__(self, function):
        for bring in sources_of_functions:
            bring(function)
        if function in self:
            return self[function]
        if isinstance(function, tuple):
            refuse_method(*function)
        refuse(function)


class RuleTable(dict):
    """An interpreter's rules, by primitive.

    Args:
        what: what errors call a rule of this table.
        advice: what they say to do where one is missing.
    """

    version = 0     # another one whenever a rule takes another's place

    def __init__(self, what, advice):
        self.what = what
        self.advice = advice

    def __setitem__(self, primitive, rule):
        RuleTable.version += primitive in self
        super().__setitem__(primitive, rule)

    def __missing__(self, primitive):
        missing = getattr(primitive, 'missing', {}).get(self.what)
        rule = self.get(primitive, missing)
        if rule is None:
            raise NotImplementedError(f"{self.what} for '{primitive}' not "
                                      f'implemented: {self.advice}')
        return rule

    def get(self, primitive, default=None):
        if primitive in self:
            return self[primitive]
        return getattr(primitive, 'rules', {}).get(self.what, default)

    def leave(self, primitive, rule):
        """Leaves a rule with its primitive, with which it will be gone."""
        RuleTable.version += self.what in primitive.rules
        primitive.rules[self.what] = rule


def refuse(function, **keywords):
    """Raises the error for what is not supported on traced values.

    Args:
        function: a function of NumPy's.
        keywords: arguments that are not supported, where they are not None;
            without any, the function itself is not.
    """
    name = full_name(function)
    given = [f'{key}=' for key in keywords if keywords[key] is not None]
    if 'out=' in given:
        raise TypeError(f'{name} takes an array to write into by its name, '
                        'out=a, where values are traced')
    if given or not keywords:
        raise NotImplementedError(
            f'{" with ".join([name, *given])} is not supported on traced '
            'values. Write it with functions that are (np.where for where=, '
            f'astype for dtype=), {WAY_OUT}.')


def full_name(function):
    """Returns the name of a function or ufunc, with that of its module."""
    special = sys.modules.get('scipy.special')
    name = function.__name__
    if getattr(special, name, None) is function:
        return f'scipy.special.{name}'
    return f'{getattr(function, "__module__", "numpy")}.{name}'


def refuse_method(function, method):
    """Raise the error for a use of a ufunc or function that is refused."""
    use = {'__call__': ' with keywords', 'out': ' with out='}.get(
        method, f'.{method}')
    raise NotImplementedError(
        f'{full_name(function)}{use} is not supported on traced values: call '
        'a plain function, such as np.sum for np.add.reduce.')


# Where no program of the user's is.  NumPy's own Python may run on tracers,
# and what the library has written is called <autodiff_mini ...>.
LIBRARY = ('<autodiff_mini ', *(import_module(name).__path__[0] + os.sep
                                for name in ('autodiff_mini', 'numpy')))


REVERSE = 'reverse'     # the third part of a line, in the reverse pass


def user_line(depth):
    """Returns where the program called into the library.

    A frame would keep its variables alive; its code and position do not.
    """
    frame = sys._getframe(depth)
    while is_library[frame.f_code.co_filename] and frame.f_back:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


class IsLibrary(dict):
    """Whether a file is a part of the library, or of NumPy."""

    def __missing__(self, file):
        self[file] = file.startswith(LIBRARY)
        return self[file]


is_library = IsLibrary()


trace_at_work = ContextVar('current_trace')


def public(f):
    """Returns `f`, whose errors show where the user's program has been.

    If it takes a function, by a name of FUNCTION_FIRST, that must be one.
    """
    names = f.__code__.co_varnames[:f.__code__.co_argcount]
    [place] = [i for i, name in enumerate(names[:2])
               if name in FUNCTION_FIRST] or [None]

    @wraps(f)
    def public_f(*args, **kwargs):
        trace, before = trace_at_work.get(None), last_refusal.get()
        try:
            if place is not None:
                check_function(f, place, args, kwargs)
            out = f(*args, **kwargs)
        except BaseException as error:
            trace_at_work.set(trace)    # Ctrl-C can cut `__exit__` short
            if isinstance(error, Exception):
                tell_user(error)
            if not trace or not trace.tag:
                last_refusal.set(None)
            raise   # as it is: `raise error` would add this frame again
        refused = last_refusal.get()
        if refused and refused is not before:
            warn_of_lost_refusal(refused)
        return out
    public_f.__wrapped__ = getattr(f, '__wrapped__', f)
    return public_f


FUNCTION_FIRST = 'f', 'fun', 'func', 'cond_fun'


def check_function(transform, place, args, kwargs):
    """Raise a TypeError if what has to be a function is none."""
    if callable(args[place] if len(args) > place else kwargs.get(
            transform.__code__.co_varnames[place])):
        return
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
            f'Pass the function itself, as in ad.{name}(f), and not what it '
            'returns.'))


def warn_of_lost_refusal(refused):
    """Warn that the program caught an error, and has forgotten a tracer."""
    if sys.exc_info()[1] is None:   # it is not being handled any more
        last_refusal.set(None)
        if refused.is_direct:
            warnings.warn_explicit(
                'a tracer refused, and an `except` caught the error, so the '
                'result does not depend on it, and its derivative is lost. '
                f'It had said: {refused.message}', UserWarning,
                *lasting_line(refused.line))


def tell_user(error):
    """Leaves in an error what tells a user something, the cause last.

    Frames of the library, and of NumPy, go from its traceback, and from
    those of the errors before it.  If the environment variable
    AUTODIFF_MINI_TRACEBACK is "full", they stay.
    """
    cause = error.__cause__
    if isinstance(cause, TracerError) and not users_part(cause.__traceback__):
        # It was raised where NumPy asked, and NumPy tells a symptom.
        error.add_note(str(cause))
        error.__cause__, error.__context__ = None, cause
    elif (said := advice_on(error, in_a_library, last_refusal.get())) and (
            said not in getattr(error, '__notes__', ())):
        error.add_note(said)
    if os.environ.get('AUTODIFF_MINI_TRACEBACK') == 'full':
        return
    told = []
    while error and error not in told:
        error.__traceback__ = users_part(error.__traceback__)
        told.append(error)
        error = error.__cause__ or error.__context__


def is_miscall(error) -> bool:
    """Return whether a function was called with the wrong arguments."""
    return 'argument' in str(error) and not users_part(error.__traceback__)


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


def users_part(traceback):
    """Returns a traceback without entries of the library, None if empty."""
    entries = []
    while traceback:
        entries.append(traceback)
        traceback = traceback.tb_next
    for entry in reversed(entries):
        if not is_library[entry.tb_frame.f_code.co_filename]:
            traceback = TracebackType(traceback, entry.tb_frame,
                                      entry.tb_lasti, entry.tb_lineno)
    return traceback


def line_text(line) -> str:
    """Returns where `user_line` was, as `file:line`."""
    return '{}:{}'.format(*lasting_line(line))


def line_number(line) -> int:
    """Returns the number of the line where `user_line` was."""
    return lasting_line(line)[1]


def lasting_line(line):
    """Returns a file and a number, which last longer than code does."""
    code, instruction, *_ = line
    if isinstance(code, str):
        return code, instruction    # it is so already
    return code.co_filename, code_lines(code)[instruction // 2]


@lru_cache(maxsize=16)
def code_lines(code) -> list:
    """Returns the number of the line of each instruction."""
    return [position[0] for position in code.co_positions()]


def fun_name(f) -> str:
    """Returns what error messages call the function `f`."""
    if isinstance(f, partial):
        f = f.func
    name = getattr(f, '__qualname__', None) or getattr(f, '__name__', None)
    return name or type(f).__qualname__


def closed_over(fun, primitive, is_mapped=False):
    """Return the error for a call whose rules know nothing of some value.

    Args:
        fun: the function that is called, which closes over the value.
        primitive: that of the call, or the kind of the function.
        is_mapped: whether the value is mapped, and not differentiated.
    """
    what, way, cure = (
        ('batching', 'mapped', 'adapt the rule') if is_mapped else
        ('differentiation', 'differentiated',
         'let the rule return its derivative'))
    return TypeError(
        f'Detected {what} of a {str(primitive).removesuffix("_call")} '
        f'function with respect to a closed-over value: {fun_name(fun)}, or '
        f'its rule, uses a value that is being {way} and is none of its '
        f'arguments. Pass the value as an argument, and {cure}.')
