"""Open it. The rule is a promise about `f`, and `cosine(f)` does not compute
`f`. With the box shut, the inside would not be transformed at all. With both
transformed, `exp` would become the cosine, and its slope too: but the slope
of the cosine is minus the sine.

So a rule does not have to survive everything. It must survive what is
defined by calls to `f`. And if the derivative is taken first, inside of
`cosine`, then the rule has done its work before, as it should.
"""

from autodiff_mini.core import (
    Trace, TraceTag, Tracer, current_trace, set_current_trace, typeof)
from autodiff_mini.primitives.elementwise import (
    cos_p, exp_p, log_p, sin_p, tanh_p)

UNARY = (sin_p, cos_p, tanh_p, exp_p, log_p)


class CosineTracer(Tracer):
    def __init__(self, trace, value):
        self._trace, self.value, self.line = trace, value, None

    @property
    def aval(self):
        return typeof(self.value)


class CosineTrace(Trace):
    def process_primitive(self, primitive, args, params):
        if primitive.is_call:
            return self.process_call(primitive, args, params)
        if primitive in UNARY:
            primitive = cos_p
        set_current_trace(self.parent)
        try:
            out = primitive.bind(*map(self.value_of, args), **params)
        finally:
            set_current_trace(self)
        return CosineTracer(self, out)

    def process_call(self, primitive, args, params):
        """Returns the list of results of a call: `call`, or custom_jvp."""
        return params['fun'](*args)   # this trace stays current

    def value_of(self, x):
        mine = isinstance(x, CosineTracer) and x._trace is self
        return x.value if mine else x


def cosine(f):
    """Returns `f`, a function of one array, with cosines in it."""
    def cosine_of_f(x):
        tag = TraceTag('cosine', f)
        with CosineTrace(current_trace(), tag) as trace:
            return trace.value_of(f(CosineTracer(trace, x)))
    return cosine_of_f
