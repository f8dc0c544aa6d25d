"""Errors: the operations that a tracer refuses, and the messages.

Errors have the same names as in JAX, because readers search for them.  Where
NumPy raises an error, ours has the same class.  Where NumPy would return
a result, our error is a NotImplementedError or a TypeError, in most cases a
TracerError.  So a program that catches ValueError or IndexError takes the
same branch when it is traced.  See the page *Errors explained*.
"""

import sys
from contextvars import ContextVar

import numpy as np

from autodiff_mini.core import seams
from autodiff_mini.core.lines import line_text


class TypeOrValueError(TypeError, ValueError):
    """An argument does not fit, and JAX raises one of the two classes."""


class TracerError(TypeError):
    """A tracer cannot do what NumPy would do with an array."""


class TracerConversionError(TracerError):
    """A tracer cannot be converted to a value that is not traced.

    A subclass has a `text`, in which {} is the tracer, and general `advice`.
    """

    def __init__(self, tracer, *details):
        text = self.text.format(tracer.describe(), *details)
        advice = seams.advise(
            type(self).__name__, self.advice, tracer, *details)
        super().__init__(f'{text} {advice}')


class ConcretizationTypeError(TracerConversionError):
    """A tracer was used where a plain Python number is needed.

    A number would not be differentiated, so `float(x)`, `math.sin(x)`,
    `a[0] = x`, and `np.float64(x)` raise this error.
    """

    text = ('Abstract tracer value encountered where concrete value is '
            'expected: {}. The problem arose with the `{}` function: its '
            'result would be a plain number, which is no longer traced.')
    advice = 'Use the traced value directly, with NumPy functions.'


class TracerBoolConversionError(ConcretizationTypeError):
    """A tracer was used as a condition, but its value is not known."""

    text = ('Attempted boolean conversion of traced array {}. Python cannot '
            'branch on a value that is not known yet.')
    advice = 'Choose between two results with np.where(condition, a, b).'


class TracerIntegerConversionError(TracerConversionError):
    """A tracer was used as an index, a size, or a loop bound."""

    text = ('The __index__() method was called on traced array {}, but '
            'Python needs a plain integer here.')
    advice = ('A size, an axis, or a bound must be a plain Python integer, '
              'so make it a static argument of jit.')


class TracerArrayConversionError(TracerConversionError):
    """A tracer was used where a plain NumPy array is needed."""

    text = ('The numpy.ndarray conversion method __array__() was called on '
            'traced array {}, but its result would be a plain array, which '
            'is no longer traced.')
    advice = ('Use NumPy functions, which support traced values, or define '
              'your own operation and its derivative with ad.Primitive.')


class UnexpectedTracerError(TracerError):
    """A tracer was used where its transformation is not running."""

    def __init__(self, tracer):
        trace = tracer._trace
        self.tracer = tracer
        super().__init__(
            f'Encountered an unexpected tracer: {tracer.describe()} was '
            'used ' + seams.advise(
                'escape', f'while {trace.tag} was not running. The tracer '
                'escaped: return it from the function instead', trace)
            + '.')


class ReadOnlyError(TracerError):
    """A program tried to write into an array that it does not own.

    An argument belongs to its caller, and an array that might be a view of
    another array in use is read-only, too.  The error is also a ValueError
    only where NumPy raises one: see NumPyReadOnlyError.
    """

    def __init__(self, tracer, why):
        super().__init__(
            f'assignment destination is read-only: {tracer.describe()} '
            f'{why}. Write into a copy, `x = np.copy(x)`.')


class NumPyReadOnlyError(ReadOnlyError, ValueError):
    """A program writes into an array that is read-only in NumPy, too.

    Examples are the result of np.diagonal and the arguments of a rule.
    """


class LentArrayError(NumPyReadOnlyError):
    """NumPy's error for a write into an array that was lent to a function."""

    def __init__(self, text):
        Exception.__init__(self, text)


def explain_write(error, name):
    """Raise a ReadOnlyError if a NumPy error is about a lent array.

    Args:
        error: the error that the function `name` raised.
        name: the function, which was passed read-only arrays.
    """
    if 'read-only' not in str(error) or isinstance(error, ReadOnlyError):
        return
    lent = LentArrayError(str(error))
    for note in [*getattr(error, '__notes__', ()), (
            f'{name} can only read an array that it is passed, because the '
            'array belongs to the caller. Write into a copy, `x = '
            'np.copy(x)`, or write `a = a * b` instead of `a *= b`.')]:
        lent.add_note(note)
    raise lent.with_traceback(error.__traceback__) from None


def refuses(kind, *details):
    """Return a method of a tracer that raises an error."""
    def method(tracer, *_, **__):
        raise refusal(kind, tracer, *details)
    return method


def refusal(kind, tracer, *details):
    """Return the error for a refused operation or for an escaped tracer."""
    if tracer._trace.thread is None and not is_alive(
            tracer, trace_at_work.get(None)):
        return UnexpectedTracerError(tracer)
    error = kind(tracer, *details)
    seams.note_refusal(error)
    return error


def is_alive(tracer, trace) -> bool:
    """Return whether `trace` runs inside the tracer's transformation."""
    while trace and trace.tag is not tracer._trace.tag:
        trace = trace.parent
    return trace is not None


class Refusals:
    """Conversions that a tracer refuses: their results are not traced."""

    __slots__ = ()
    __hash__ = None     # because == is element-wise
    __array__ = refuses(TracerArrayConversionError)
    __bool__ = refuses(TracerBoolConversionError)
    __index__ = refuses(TracerIntegerConversionError)
    __float__ = refuses(ConcretizationTypeError, 'float')
    __int__ = refuses(ConcretizationTypeError, 'int')
    __complex__ = refuses(ConcretizationTypeError, 'complex')
    item = refuses(ConcretizationTypeError, 'item')
    tolist = refuses(ConcretizationTypeError, 'tolist')

    def __format__(self, spec):
        if spec:
            raise refusal(ConcretizationTypeError, self, 'format')
        return str(self)

    def describe(self) -> str:
        """Return the tracer's type and where it was made."""
        origin = f'made at {line_text(self.line)} ' if self.line else ''
        return (f'{type(self).__name__}<{self.aval}> {origin}in '
                f'{self._trace.tag}')


class NumPyTable(dict):
    """The function that a tracer calls instead of each NumPy function.

    The key is a pair for a ufunc's method, `(np.add, 'reduce')`, for a call
    with keywords, `(np.add, '__call__')`, and for a function that is passed
    an output array, `(np.sum, 'out')`.
    """

    def __missing__(self, function):
        seams.bring(function)
        if function in self:
            return self[function]
        refuse(function)


class RuleTable(dict):
    """An interpreter's rules, by primitive.

    A user's primitive keeps its own rules in `rules`, so that Python can
    collect both together.

    Args:
        what: the name of a rule of this table in error messages.
        advice: what to do if a rule is missing.
    """

    version = 0     # incremented when a rule is replaced

    def __init__(self, what, advice):
        self.what = what
        self.advice = advice

    def __setitem__(self, primitive, rule):
        RuleTable.version += self.get(primitive) is not None
        if hasattr(primitive, 'rules'):
            primitive.rules[self.what] = rule
        else:
            super().__setitem__(primitive, rule)

    def __missing__(self, primitive):
        if rule := self.get(primitive):
            return rule
        advice = getattr(primitive, 'advice', {}).get(self.what, self.advice)
        raise NotImplementedError(f"{self.what} for '{primitive}' not "
                                  f'implemented: {advice}')

    def get(self, primitive, default=None):
        if primitive in self:
            return self[primitive]
        return getattr(primitive, 'rules', {}).get(self.what, default)


def refuse(function, **keywords):
    """Raise the error for a call that does not support traced values.

    Args:
        function: a NumPy function, or a ufunc and the name of a method.
        keywords: arguments that are refused unless they are None.  Without
            any, the function itself is refused.
    """
    name = full_name(function)
    given = [f'{key}=' for key in keywords if keywords[key] is not None]
    if 'out=' in given:
        raise TypeError(f'{name} of traced values accepts out only as a '
                        'keyword: write out=a')
    if given or not keywords:
        cures = [CURES[key] for key in [name, *given] if key in CURES]
        hint = ' (np.sum for np.add.reduce)' * isinstance(function, tuple)
        another = f'Use functions that are supported{hint}, {OWN_OPERATION}.'
        raise NotImplementedError(
            f'{" with ".join([name, *given])} is not supported on traced '
            f'values. {" ".join(cures) or another}')


OWN_OPERATION = ('or define an operation with its own derivative: see '
                 'ad.custom_jvp, ad.custom_vjp, and ad.Primitive')


OUTSIDE = ('Return the array from the function, and call {} outside. To '
           'print a traced value, write an f-string.')
NO_MEMORY = 'A traced value has no memory of its own, so leave the call out.'
CURES = {   # by the name of a function or of an argument
    'where=': 'Choose with np.where afterwards.',
    'dtype=': 'Convert with astype.',
    **{f'numpy.{name}': OUTSIDE.format(f'np.{name}') for name in (
        'array2string', 'array_repr', 'array_str', 'save', 'savez',
        'savez_compressed', 'savetxt')},
    'numpy.shares_memory': NO_MEMORY, 'numpy.may_share_memory': NO_MEMORY}


def full_name(function):
    """Return the name of a NumPy function, with its module.

    `function` can also be a pair of a function and how it is called.
    """
    if isinstance(function, tuple):
        function, method = function
        return full_name(function) + {
            '__call__': ' with keywords', 'out': ' with out='}.get(
                method, f'.{method}')
    special = sys.modules.get('scipy.special')
    name = function.__name__
    if getattr(special, name, None) is function and (
            getattr(np, name, None) is not function):   # it has np.sinc, too
        return f'scipy.special.{name}'
    return f'{getattr(function, "__module__", "numpy")}.{name}'


trace_at_work = ContextVar('current_trace')
last_refusal = ContextVar('last_refusal', default=None)


@seams.refuse_call.define
def refuse_no_function(transform, *_):
    """Raise the error for a call without a function as first argument."""
    raise TypeError(f'{transform.__qualname__} takes a function first: pass '
                    'the function itself, not its result.')
