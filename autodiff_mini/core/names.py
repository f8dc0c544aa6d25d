"""Names of functions: in errors, in printed programs, and in tags."""

from dataclasses import dataclass
from functools import partial

from autodiff_mini.core import seams


@dataclass(eq=False)
class TraceTag:
    """One application of a transformation; it identifies its tracers."""

    transform: str
    function: object

    def __str__(self):
        return f'{self.transform} of {fun_name(self.function)}'


class LambdaName(str):
    """The name of a lambda, with its code, which knows the line."""

    __slots__ = 'code',

    def __reduce__(self):
        return str, (str(self),)    # pickle cannot keep code


def own_name(f) -> str:
    """Return the name of the function `f` in printed programs."""
    name = getattr(f, '__qualname__', None) or getattr(f, '__name__', None)
    if name is None:    # a partial, a name, or an object
        return own_name(f.func) if isinstance(f, partial) else (
            f if isinstance(f, str) else type(f).__qualname__)
    if name[-8:] == '<lambda>' and type(name) is str:
        name = LambdaName(name)
        name.code = getattr(f, '__code__', None)
    return name


def fun_name(f) -> str:
    """Return the name of the function `f` for error messages."""
    return seams.advise('function', name := own_name(f), name)
