"""Extend: every function becomes the cosine.

Here is the transformation that chapter 5 called a joke with a point. Under
`cosine(f)` every primitive of one number, be it `exp` or `log`, computes the
cosine; sums and products are left alone. What should it do with a function
that carries its own derivative? There are three answers: leave the box shut;
transform both functions in the box, as `vmap` does; open it, and throw the
rule away.

What f does inside the box has to become the cosine, too; and the derivative
of `cosine(f)` has to be the derivative of what `cosine(f)` computes. Which
answers are left? Write the missing method, which is asked about every call
that carries a function.
"""

from autodiff_mini.core import (
    Trace, TraceTag, Tracer, current_trace, set_current_trace, typeof)
from autodiff_mini.primitives.elementwise import (
    cos_p, exp_p, log_p, sin_p, tanh_p)

HINTS = (
    'Let f be `np.exp` with the rule `f(x) * x_dot`. What does `cosine(f)` '
    'compute, and what is the derivative of that? What would its rule say, '
    'if it were transformed too?',
    'A rule is a promise about f. `vmap(f)` calls f, so the promise holds '
    'there. `cosine(f)` calls something else.',
    'The function is in `params[\'fun\']`. It takes arrays, and returns a '
    'list. If it runs while this trace is current, all that it does comes '
    'here.',
)

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
        raise NotImplementedError('exercise e06_2: transform the call here')

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
