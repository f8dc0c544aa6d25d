"""The edge of the library: how errors leave a public function.

Chapter 20.
"""

from functools import partial, wraps

from autodiff_mini.core import seams
from autodiff_mini.core.errors import last_refusal
from autodiff_mini.core.trace import current_trace, set_current_trace


def public(f=None, *, takes_function=False):
    """Wrap `f` so that its errors show only the user's part of the program.

    Args:
        f: the function; without it, return a decorator.
        takes_function: whether the first argument, after `self`, must be a
            function.
    """
    if f is None:
        return partial(public, takes_function=takes_function)
    names = f.__code__.co_varnames
    first = [int(names[0] == 'self')] if takes_function else []

    @wraps(f)
    def public_f(*args, **kwargs):
        trace, before = current_trace(), last_refusal.get()
        try:
            for i in first:
                if not callable(args[i] if len(args) > i
                                else kwargs.get(names[i])):
                    seams.refuse_call(f, i, args, kwargs)
            out = f(*args, **kwargs)
        except BaseException as error:
            set_current_trace(trace)    # Ctrl-C can cut `__exit__` short
            hidden = isinstance(error, Exception) and seams.tell(error)
            if hidden:
                traceback = hidden.__traceback__
                try:
                    raise hidden from None
                finally:
                    hidden.__traceback__ = traceback    # without this frame
            raise   # bare, because `raise error` would add this frame again
        if last_refusal.get() is not before:
            seams.warn_of_lost_refusal()
        return out
    public_f.__wrapped__ = getattr(f, '__wrapped__', f)
    return public_f
