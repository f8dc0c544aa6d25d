"""Choose a backend for a block, and check that it can be used."""

from contextlib import contextmanager
from importlib.util import find_spec

from autodiff_mini.core import seams


@contextmanager
def backend(name):
    """Choose the backend of `jit` and of loops inside a `with` block.

    The backend `numpy` is the default.  It compiles a program to Python
    source, which calls NumPy.

    The backend `fused` also calls NumPy for functions such as `exp` and for
    matrix products.  But it compiles the element-wise arithmetic between
    them to machine code, which needs no memory for intermediate results,
    and loops of single numbers.  It needs numba.  The results are bitwise
    the same, except for which NaN is the result of two, and so are the
    warnings and errors.  Only their number can differ for large arrays, and
    which of several comes first.

    The first call compiles, which takes some tenths of a second for each
    piece of machine code, and a terminal or a notebook shows the progress of
    a long one.  Equal pieces are compiled once in a process.  The `source` of
    a jit function begins with what is fused, and with why the rest is not.
    Arrays that are not in row order take the usual program.

    A function from `jit` with a backend of its own keeps it.

    Args:
        name: `'numpy'` or `'fused'`.

    Raises:
        ValueError: there is no such backend.
        ModuleNotFoundError: numba is missing.

    Source: the parameter `backend` of `jax.jit`.

    Examples:
        >>> import autodiff_mini as ad
        >>> f = ad.jit(lambda x: 1 / (1 + x * x))
        >>> with backend('fused'):      # doctest: +SKIP
        ...     y = f(np.linspace(-1.0, 1.0, 10_000))
        >>> print(f.source)             # doctest: +SKIP
        # 3 of 3 operations are fused.
        # Compiling took 0.15 seconds.
        ...
    """
    chosen = seams.chosen.set(check_backend(name))
    # A guard of jit is used only where the same is off.
    off = seams.off.set((*seams.off.get(), 'numpy'))
    try:
        yield
    finally:
        seams.off.reset(off)
        seams.chosen.reset(chosen)


@seams.check_backend.take
def check_backend(name):
    """Return the name of a backend, or raise an error if numba is missing."""
    if name == 'fused' and not find_spec('numba'):
        raise ModuleNotFoundError(
            "The backend 'fused' needs numba, which is not installed. "
            'Install it with `pip install numba`.', name='numba')
    return seams.known(name)
