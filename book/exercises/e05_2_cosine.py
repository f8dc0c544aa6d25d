"""Add a column: every function becomes the cosine.

Chapter 4 mentioned this transformation, a joke with a point. Under
`cosine(f)`, every primitive of one number, such as `exp` or `log`, computes
the cosine. Sums and products are left alone. What should it do with a
function that has its own rule? There are three answers. It can leave the call
shut. It can transform both functions in the call, as `vmap` does. Or it can
open the call and throw the rule away.

The functions that `f` calls inside have to become cosines, too, and the
derivative of `cosine(f)` has to be the derivative of what `cosine(f)`
computes. Which answers does that leave? Write the missing method. It's asked
about each primitive that calls a function.
"""

from autodiff_mini.draft.core import Trace, Tracer, current_trace, typeof
from autodiff_mini.draft.primitives import cos_p, exp_p, log_p, sin_p, tanh_p

HINTS = (
    'Let `f` be `np.exp` with the rule `f(x) * x_dot`. What does `cosine(f)` '
    'compute, and what is the derivative of that? What would the rule say if '
    'it were transformed, too?',
    'A rule is a promise about `f`. `vmap(f)` calls `f`, so the promise '
    'holds there. `cosine(f)` calls something else.',
    'The function is `params[\'fun\']`. If you call it while this trace is '
    'current, this trace is asked about every operation in it.',
)

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
        raise NotImplementedError('exercise e05_2: transform the call here')

    def value_of(self, x):
        return x.value if self.owns(x) else x


def cosine(f):
    """Return `f`, a function of one array, with cosines in it."""
    def cosine_of_f(x):
        with CosineTrace(current_trace(), object()) as trace:
            return trace.value_of(f(Tracer(trace, typeof(x), value=x)))
    return cosine_of_f
