"""Seams: the only steps of the library that can be replaced at run time.

A wing is a folder of `wings/` that can be deleted.  Each seam is a step of
the library that a wing can take over.  The module that owns the step defines
its plain version, and the wing replaces it when the wing is imported.

Call a seam like the function that it represents, with two exceptions.  For a
MemorySeam, call its `run`, because a wing has to answer for the values that
it has marked even where `plain` turns it off.  And if a seam does nothing
without a wing and is called often, test `if seam.taken:` first.
"""

from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module

# The wings that are off here, and 'numpy' where another backend is chosen.
off = ContextVar('off', default=())
chosen = ContextVar('chosen', default='numpy')  # the backend here


class Seam:
    """A step of the library; call it like the function that it represents.

    Args:
        plain: the function that takes the step without a wing.  The module
            that owns the step can define it later.  Without one, the step is
            left out.
    """

    def __init__(self, plain=None):
        self.plain = plain
        self.wing = self.taken = None

    def __call__(self, *args):
        is_off = self.taken is None or self.wing in off.get()
        way = self.plain if is_off else self.taken
        return way and way(*args)

    def is_taken(self) -> bool:
        """Return whether a wing takes this step here and now."""
        return self.taken is not None and self.wing not in off.get()

    def define(self, function):
        """Define the plain version; use it as a decorator."""
        self.plain = function
        return function

    def take(self, function):
        """Take the step over for the wing that defines the function."""
        place = function.__module__.rpartition('wings.')[2]
        self.taken, self.wing = function, place.partition('.')[0]
        return function

    def take_from(self, module):
        """Take over the step for a module, which the first call imports."""
        def first(*args):
            import_module(first.__module__)     # takes this seam itself
            return self.taken(*args)
        first.__module__ = f'autodiff_mini.wings.{module}'
        self.take(first)

    @contextmanager
    def taken_by(self, function):
        """Let a wing's function take the step inside a `with` block."""
        before = {**vars(self)}
        self.take(function)
        try:
            yield
        finally:
            vars(self).update(before)


class MemorySeam(Seam):
    """A step on the memory of traced arrays; call its `run`.

    That is the wing's version even if `plain` turns the wing off, because
    only the wing knows the marks that it has left on values.
    """

    def __init__(self, plain=None):
        super().__init__(plain)
        self.run = plain

    def define(self, function):
        self.run = self.taken or function
        return super().define(function)

    def take(self, function):
        self.run = function
        return super().take(function)


# Computation.
jvp = Seam()            # (f, primals, tangents, has_aux): what jvp returns
vmap = Seam()           # (f, *options, args, kwargs): what vmap(f) returns
# (tag, f, point, has_aux, is_usual): the gradient, or how to go on
short_gradient = Seam()
short_call = Seam(      # (function, args, kwargs): what a custom function
    lambda function, args, kwargs: NotImplemented)      # returns
lower = Seam()          # (jaxpr): the program as a compiled function
recall = Seam(lambda jaxpr: jaxpr)      # an equal program to reuse
call_with_batching = Seam()     # (call): a call with its rule for vmap
call_if_unused = Seam()     # (call, fwd): fwd, for optimize_remat
# (trace, primitive, args, params): record a call that closes over a tangent
leave_closure = Seam()
bind_both_ways = Seam()     # (pull, *operands): with rules for both modes

# The beginning and the end of a trace.
stage = Seam()          # (parent, tag): the trace that records a program
enter_outermost = Seam()    # (trace): an outermost trace is entered
leave_outermost = Seam()    # (trace): an outermost trace is left
# NumPy functions, methods, and objects.
bring = Seam()          # (function): define a function that a table lacks
method_of = Seam(       # (f, held): what jit calls if f is a method
    lambda f, held: (f, (), held, lambda args: (f, args)))
open_self = Seam()      # (x): an object as a tree of its attributes
check_attributes = Seam()   # (x, names): raise if x has others

# Events that a wing can observe.
ask = Seam(             # (trace, primitive, args, params): its result
    lambda trace, *asked: trace.process_primitive(*asked))
note = Seam()           # (what): an interpreter or a compiler that runs
transpose = Seam(       # (primitive, rule): the rule that is applied
    lambda primitive, rule: rule)

# The memory of traced arrays, which a wing lets a program write into.
view_of = MemorySeam(   # (x, y, step, why): y as a view of x
    lambda x, y, step=None, why=None: y)
part_of = MemorySeam(   # (x, y, indices, arrays): y, which is x[indices]
    lambda x, y, indices, arrays: y)
own_tracer = MemorySeam(    # (x): a duplicate with its own memory
    lambda x: x)
lend = MemorySeam(      # (x, why): x as read-only
    lambda x, why: x)
content_of = MemorySeam(    # (x, copies): what x holds now
    lambda x, copies: x)
writable = MemorySeam(  # (y): y as an array that can be filled
    lambda y: y)
is_a_number = MemorySeam(   # (x): whether a tracer never changes
    lambda x: x.ndim == 0)
is_seen = MemorySeam(   # (x): whether its memory is shared
    lambda x: False)
check_writable = MemorySeam()   # (x): raise an error
set_item = MemorySeam()     # (x, indices, value): x[indices] = value

replace_masks = Seam(   # (x, indices): both, with integers for masks
    lambda x, indices: (x, indices))

# Arrays of other libraries.
library_of = Seam()     # (xs): the first library other than NumPy

# Messages.
advise = Seam(          # (topic, general, *details): what to write instead
    lambda topic, general, *details: general)
# (error): shorten an error and add advice, or return the one to raise instead
tell = Seam()
note_refusal = Seam()   # (error): a tracer or a call with a rule raises it
warn_of_lost_refusal = Seam()   # (): the program has caught such an error
check = Seam()          # (topic, tag, *details): raise for a mistake
refuse_call = Seam()    # (transform, place, args, kwargs): raise an error
ask_rule = Seam()       # (rule, function, args): what it returns, checked
with_warnings = Seam(   # (f, args, tag, stage): the program, with warnings
    lambda f, args, tag, stage: stage())
LONG_LOOP = 10_000      # operations of one line: only a loop records so many
count_lines = Seam()    # (trace): called after that many; warn of a loop
report = Seam()         # (tag, text): the progress of jit, or None at the end


WINGS = (   # the folders of `wings/`, in the order in which they are imported
    'fast', 'fused', 'more_numpy', 'more_calls', 'writing', 'array_libraries',
    'notebook', 'applications', 'messages', 'debugging')


@contextmanager
def plain(*wings):
    """Turn wings off inside a `with` block.

    By default the wing `fast` is off, so that the book's interpreters compute
    gradients and the book's compiler compiles programs.  The values are the
    same, except for the last digits in some loops.

    Args:
        wings: the names of the wings to turn off, from WINGS.

    Raises:
        ValueError: there is no such wing.

    Examples:
        >>> import autodiff_mini as ad
        >>> with plain():
        ...     print(ad.grad(lambda x: x * x)(3.0))
        6.0
    """
    for wing in wings:
        if wing not in WINGS:
            raise ValueError(f'Unknown wing {wing!r}: write one of '
                             f'{", ".join(map(repr, WINGS))}.')
    token = off.set((*off.get(), *(wings or ('fast',))))
    try:
        yield
    finally:
        off.reset(token)


backends = {'numpy': lower}     # by name: the seams that compile a program


def known(name):
    """Return the name of a backend, or raise an error."""
    if name not in backends:
        names = ' or '.join(map(repr, backends))
        raise ValueError(f'Unknown backend {name!r}: write {names}.')
    return name


check_backend = Seam(known)     # (name): raise an error if it lacks a package
