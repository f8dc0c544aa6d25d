"""Arrays that a traced program fills: `y = np.zeros(n)`, then `y[0] = x`.

Such an array is an ordinary one until a traced value is written into it.
Then tracers answer for it and for its views, and the floats in their memory
are overwritten with NaN.  See the page *Arrays made inside*.
"""

from warnings import warn
from weakref import WeakValueDictionary, ref

import numpy as np

from autodiff_mini.core.errors import TracerError
from autodiff_mini.core.trace import Trace, Tracer, current_trace, unwrap_as
from autodiff_mini.core.types import typeof
from autodiff_mini.numpy_functions.table import operand
from autodiff_mini.primitives.elementwise import real_p
from autodiff_mini.primitives.indexing import OPERAND, index_p
from autodiff_mini.primitives.parts import imag_p
from autodiff_mini.wings.writing.boxes import Step, view_of, writable


class Fillable(np.ndarray):
    """A NumPy array that a traced program made and can fill.

    Attributes:
        root: the array that owns its memory, or None if it owns it itself.
        views: for a root, the views of its memory, by id.
        made_in: for a root, a weak reference to the trace that made it.
        plain: a weak reference to the plain array that the library sees.
        tracer: the tracer that answers for it after the first traced write.
    """

    __slots__ = ('root', 'views', 'made_in', 'plain', 'tracer')

    def __array_finalize__(self, parent):
        self.plain = None
        self.root = root = owner_to_fill(self.base)
        if root is None:
            self.views, self.made_in = None, ref(current_trace())
            return
        if root.views is None:
            root.views = WeakValueDictionary()
        root.views[id(self)] = self

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else to_fill(array)

    def __array_function__(self, function, types, args, kwargs):
        if not holds_traced((args, *kwargs.values())):
            return views_to_fill(super().__array_function__(
                function, types, args, kwargs))
        if function in OF_SEVERAL:   # they return one result per argument
            args = [to_write(x) if belongs_here(x) else x for x in args]
        return views_to_fill(
            Tracer.__array_function__(None, function, (), args, kwargs))

    def __setitem__(self, key, value):
        if not holds_traced((key, value)):
            return np.ndarray.__setitem__(self, key, value)
        if self.dtype.kind in 'biu' and (
                typeof(operand(value)).dtype.kind == 'f'):
            warn(f'a traced float is written into an array of {self.dtype}, '
                 'which drops its fraction and its derivative. Use an array '
                 'of floats.', stacklevel=2)
        to_write(self)[key] = value

    def fill(self, value):
        if not holds_traced((value,)):
            return np.ndarray.fill(self, value)
        to_write(self).fill(value)

    def put(self, indices, values, mode='raise'):
        if not holds_traced((indices, values)):
            return np.ndarray.put(self, indices, values, mode)
        to_write(self).put(indices, values, mode)

    def __reduce_ex__(self, protocol):
        return plain_of(self).__reduce_ex__(protocol)


def accept_traced(name):
    """Let a program write a traced value into an array's part, `y.real`."""
    part = vars(np.ndarray)[name]

    def put(self, value):
        if not holds_traced((value,)):
            return part.__set__(self, value)
        setattr(to_write(self), name, value)
    setattr(Fillable, name, property(part.__get__, put))


accept_traced('real')
accept_traced('imag')

OF_SEVERAL = {np.atleast_1d, np.atleast_2d, np.atleast_3d,
              np.broadcast_arrays}


Fillable.__name__ = 'array'     # the name that repr shows


class Filled(Fillable):
    """A Fillable that holds a traced value, and whose tracer answers."""

    __slots__ = ()

    def __array_finalize__(self, parent):
        raise TracerError(
            'an array that holds traced values was read by code that cannot '
            'see them, such as a y.flat that was made before the write.')

    def __getattribute__(self, name):
        return Filled if name == '__class__' else getattr(
            tracer_of(self), name)

    def __setattr__(self, name, value):
        setattr(tracer_of(self), name, value)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return getattr(ufunc, method)(*shown(inputs), **shown(kwargs))

    def __array_function__(self, function, types, args, kwargs):
        return function(*shown(args), **shown(kwargs))


tracer_of = Fillable.tracer.__get__


def answer_by_tracer(name):
    """Let the tracer of a Filled answer a special method."""
    def method(self, *args):
        tracer = tracer_of(self)
        y = getattr(tracer, name)(*args)
        return self if y is tracer else y   # y += 1 returns y itself
    setattr(Filled, name, method)


for special in {'__str__', '__format__'}.union(
        *map(vars, Tracer.__mro__[:-1])):
    if special not in vars(Filled) and callable(getattr(Tracer, special)):
        answer_by_tracer(special)

homes = WeakValueDictionary()   # by id of a plain array: its Fillable


def to_fill(y):
    """Return a new NumPy array as one that the program can fill."""
    if type(y) is list or type(y) is tuple:
        return type(y)(map(to_fill, y))
    if type(y) is not np.ndarray or y.dtype.kind not in 'biufc' or (
            current_trace() is Trace.base):
        return y
    homes[id(y)] = own = y.view(Fillable)
    return own


def views_to_fill(y):
    """Return NumPy's results, with views of a Fillable made fillable."""
    if type(y) is list or type(y) is tuple:
        return type(y)(map(views_to_fill, y))
    if type(y) is np.ndarray and owner_to_fill(y) is not None:
        return y.view(Fillable)
    return y


def owner_to_fill(x):
    """Return the Fillable that owns the memory of an array, or None."""
    while x is not None and type(x) is not Fillable:
        x = homes.get(id(x), getattr(x, 'base', None))
    return x if x is None or x.root is None else x.root


def plain_of(x):
    """Return the plain view of a Fillable, the same object each time."""
    plain = x.plain and x.plain()
    if plain is None or plain.shape != x.shape:     # after x.shape = 2, 3
        plain = x.view(np.ndarray)
        x.plain = ref(plain)
    return plain


def shown(x):
    """Return arguments, with each Filled array replaced by its tracer."""
    if type(x) is dict:
        return {key: shown(value) for key, value in x.items()}
    if type(x) is list or type(x) is tuple:
        return type(x)(map(shown, x))
    return tracer_of(x) if type(x) is Filled else x


def holds_traced(x) -> bool:
    """Return whether a list or tuple contains a traced value."""
    for kind in {*map(type, x)}:
        if issubclass(kind, (Tracer, Filled)):
            return True
        if issubclass(kind, (list, tuple)) and any(
                holds_traced(y) for y in x if type(y) is kind):
            return True
    return False


def to_write(x):
    """Return the tracer that replaces a Fillable for a write.

    From then on, tracers answer for all arrays that share its memory.
    """
    root = x if x.root is None else x.root
    views = list((root.views or {}).values())
    check_fillable(x, root, views)
    whole = writable(np.array(plain_of(root)))
    parts = []
    for y in views:
        part = whole
        for step in steps_to(root, y):
            part = view_of(part, step.read(part), step)
        parts.append(part)
    if root.dtype.kind in 'fc':
        plain_of(root).fill(np.nan)     # for views that we do not know
    for y, tracer in zip([root, *views], [whole, *parts], strict=True):
        hide_content(plain_of(y))
        hide_content(y)
        y.tracer, y.__class__ = tracer, Filled
    return tracer_of(x)


def belongs_here(x) -> bool:
    """Return whether `x` is a Fillable made in the current trace."""
    return type(x) is Fillable and (
        x if x.root is None else x.root).made_in() is current_trace()


def check_fillable(x, root, views):
    """Raise an error if a traced value cannot be written into `x`."""
    if not belongs_here(x):
        raise TracerError(
            f'a value traced by {current_trace().tag} would be written into '
            'an array that was created outside. Create the array inside, or '
            'return the value and write it outside.')
    if not x.flags.writeable:
        raise ValueError('assignment destination is read-only')
    if any(y.ndim > root.ndim == 0 or part_of(root, y) is None
           for y in views):
        raise TracerError(
            'a traced value would be written into an array that has a view '
            'with another dtype or more axes. Write first, then take the '
            'view.')


def hide_content(x):
    """Hide the numbers in an array from C code that bypasses tracers."""
    set_dtype(x, np.dtype(f'V{x.itemsize}'))
    np.ndarray.setflags(x, write=False)


# From NumPy 2.5 on, x.dtype = ... is deprecated.
set_dtype = getattr(np.ndarray, '_set_dtype', np.ndarray.dtype.__set__)


def part_of(root, view):
    """Return the part of a root that has the elements of its view.

    It is the root itself, or a complex root's real or imaginary part, or
    None if the view has other elements.
    """
    whole = root.view(np.ndarray)
    if view.dtype == root.dtype:
        return whole
    for part in (whole.real, whole.imag) if root.dtype.kind == 'c' else ():
        if part.dtype == view.dtype and np.isin(
                addresses(view), addresses(part)).all():
            return part
    return None


def steps_to(root, view):
    """Return the steps from an array to its view, for `Shared`."""
    part = part_of(root, view)
    known, wanted = addresses(part).ravel(), addresses(view)
    order = np.argsort(known)
    places = order[np.searchsorted(known, wanted, sorter=order)]
    arrays = np.unravel_index(places, root.shape) if root.ndim else ()
    index = Step(index_p, tuple(arrays), {'indices': (OPERAND,) * root.ndim})
    if view.dtype == root.dtype:
        return [index]
    is_real = part.__array_interface__['data'] == (
        root.__array_interface__['data'])
    return [Step(real_p if is_real else imag_p, (), {}), index]


def addresses(x):
    """Return the memory address of each element of an array."""
    steps = map(np.multiply, np.indices(x.shape, sparse=True), x.strides)
    return sum(steps, np.full(x.shape, x.__array_interface__['data'][0]))


unwrap_as[Filled] = lambda x, to_be_written: tracer_of(x)
unwrap_as[Fillable] = lambda x, to_be_written: (
    to_write(x) if to_be_written else plain_of(x))
