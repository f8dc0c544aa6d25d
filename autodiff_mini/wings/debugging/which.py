"""Say which interpreters, passes, and compilers run in a call."""

from threading import get_ident

from autodiff_mini.core import seams
from autodiff_mini.core.names import fun_name
from autodiff_mini.core.public import public
from autodiff_mini.core.signature import is_miscall


@public(takes_function=True)
def which(f, *args) -> list[str]:
    """Return what runs in a call: interpreters, passes, and compilers.

    Args:
        f: a function, such as `ad.grad(loss)`.
        args: the arguments to call it with.

    Returns:
        Their names, by module of autodiff_mini, in the order in which each
        of them first runs.  `fast.tape.TapeTrace` records operations for the
        reverse pass, and `fast.tape.Tape.pull` is that pass.

    Examples:
        >>> import numpy as np, autodiff_mini as ad
        >>> which(ad.grad(np.sin), 1.0)[1:]
        ['fast.tape.TapeTrace', 'fast.tape.Tape.pull']
        >>> with ad.plain():
        ...     which(ad.grad(np.sin), 1.0)[1:]
        ['interpreters.jvp.JVPTrace', 'interpreters.transpose.backward_pass']
    """
    ran, thread = {}, get_ident()

    def note(what):
        if get_ident() == thread:
            place = what.__module__.partition('.')[2].removeprefix('wings.')
            ran[what] = f'{place}.{what.__qualname__}'
    with seams.note.taken_by(note):
        try:
            f(*args)
        except TypeError as error:
            if args or not (is_miscall(error) or 'passed by' in str(error)):
                raise
            raise TypeError(f'which calls {fun_name(f)} with the arguments '
                            'that follow it, but got none. Write '
                            'ad.which(f, x).') from None
    return list(ran.values())
