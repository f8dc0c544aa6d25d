"""Open the call. The rule is a promise about `f`, and `cosine(f)` doesn't
compute `f`. If the call stayed shut, the functions inside wouldn't become
cosines at all. If both functions were transformed, `exp` would become the
cosine, and so would its slope, but the slope of the cosine is minus the sine.

So a rule doesn't have to survive every transformation. It has to survive
those that are defined by calls to `f`. And if the derivative is taken first,
inside `cosine`, the rule has already done its work.
"""

from autodiff_mini.draft.core import Trace, Tracer, current_trace, typeof
from autodiff_mini.draft.primitives import cos_p, exp_p, log_p, sin_p, tanh_p

UNARY = (sin_p, cos_p, tanh_p, exp_p, log_p)


class CosineTrace(Trace):
    def process_primitive(self, primitive, args, params):
        if primitive.is_call:
            return self.process_call(primitive, args, params)
        if primitive in UNARY:
            primitive = cos_p
        with self.parent:
            y = primitive.bind(*map(self.value_of, args), **params)
        return Tracer(self, typeof(y), value=y)

    def process_call(self, primitive, args, params):
        """Return the result of a call, such as `custom_jvp_call_p`."""
        return params['fun'](*args)     # this trace stays current

    def value_of(self, x):
        return x.value if self.owns(x) else x


def cosine(f):
    """Return `f`, a function of one array, with cosines in it."""
    def cosine_of_f(x):
        with CosineTrace(current_trace(), object()) as trace:
            return trace.value_of(f(Tracer(trace, typeof(x), value=x)))
    return cosine_of_f
