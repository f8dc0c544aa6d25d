"""Seams: all that a wing may replace, and nothing else is replaced.

A wing is a folder that can be deleted.  Each seam is a step of the library
that a wing may take over: the module that owns the step defines its plain
way, and the wing, when it is imported, its own.
"""

from contextlib import contextmanager
from contextvars import ContextVar

wings_off = ContextVar('wings_off', default=False)


class Seam:
    """A step of the library that a wing may take over.

    Call it as the function that it stands for.
    """

    def __init__(self):
        self.plain = self.wing = None

    @property
    def way(self):
        """The function that takes this step now."""
        if self.wing is None or wings_off.get():
            return self.plain
        return self.wing

    def __call__(self, *args):
        return self.way(*args)

    def define(self, function):
        """Define the plain way; use it as a decorator."""
        self.plain = function
        return function

    def take(self, function):
        """Take the step over for a wing; use it as a decorator."""
        self.wing = function
        return function


class Service(Seam):
    """A step that computes nothing, which `plain` leaves to the wing.

    Its plain way is to do nothing, unless another one is defined.
    """

    def __init__(self):
        super().__init__()
        self.plain = lambda *args: None

    @property
    def way(self):
        return self.wing or self.plain


lower = Seam()          # lower(jaxpr): the program as a compiled function
linearize = Seam()      # linearize(f, primals, tag): outputs and derivative
recall = Seam()         # recall(jaxpr): an equal program that was met before

bring = Service()       # bring(function): define a function a table lacks
method_of = Service()   # method_of(f): the function of a method, and its self
open_self = Service()   # open_self(x): an object as a tree of its attributes

advise = Service()      # advise(topic, *details): what to write instead
tell = Service()        # tell(error): add to an error that a user will see
note_refusal = Service()    # note_refusal(error): a tracer raises it
warn_of_lost_refusal = Service()    # the program has caught such an error
refuse_call = Service()     # raise: a transformation got no function
tuples_at_work = Service()  # the names of tuples taken for arrays
with_warnings = Service()   # trace a function, and warn of random numbers
count_lines = Service()     # count_lines(trace): find a long Python loop


@contextmanager
def plain():
    """Let the core alone compute, inside a `with` block.

    Gradients are then computed by the interpreters of the book, and programs
    run as the plain compiler writes them.

    Examples:
        >>> import autodiff_mini as ad
        >>> with plain():
        ...     print(ad.grad(lambda x: x * x)(3.0))
        6.0
    """
    token = wings_off.set(True)
    try:
        yield
    finally:
        wings_off.reset(token)
