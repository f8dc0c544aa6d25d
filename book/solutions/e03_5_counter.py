"""Open your own boxes, let the parent compute, and put the result into a
box. That's the form of every interpreter so far, and here it's the whole
interpreter. Since it doesn't care what an operation means, it has no table of
rules. `expit` takes four operations and its slope eight, and a batch of ten
thousand takes no more than one number.
"""

from autodiff_mini.draft.core import Trace, Tracer, current_trace, typeof


class CountTrace(Trace):
    """Compute, and count the operations."""
    total = 0

    def process_primitive(self, primitive, args, params):
        self.total += 1
        vals = [x.val if self.owns(x) else x for x in args]
        with self.parent:
            val = primitive.bind(*vals, **params)
        return self.box(val)

    def box(self, val):
        return Tracer(self, typeof(val), val=val)


def count(f, *args):
    """Return the number of operations that the trace is asked about."""
    with CountTrace(current_trace(), object()) as trace:
        f(*map(trace.box, args))
    return trace.total
