"""Partial evaluation: compute what is known, and record the rest."""

from .calls import custom_jvp_call_p
from .core import current_trace
from .jaxpr import JaxprTrace, build
from .jvp import jvp
from .trees import tree_leaves, tree_like, tree_map


# 9a. The interpreter.
class PartialEvalTrace(JaxprTrace):
    """Compute with known operands, and record the other operations."""

    def process_primitive(self, primitive, args, params):
        if not any(map(self.owns, args)):
            with self.parent:
                return primitive.bind(*args, **params)
        if primitive.is_call and primitive is not custom_jvp_call_p:
            return params['fun'](*args)     # a call without a rule
        return super().process_primitive(primitive, args, params)


# 9b. A derivative is forward mode whose tangents are unknown.
def linearize_at(f, primals):
    """Return the output of `f`, its derivative as a linear program, and the
    residuals, which are the first arguments of that program."""
    with PartialEvalTrace(current_trace(), object()) as trace:
        tangents = tree_map(trace.new, primals)
        y, y_dot = jvp(f, primals, tangents)
        linear, residuals = build(trace, tangents, y_dot)
    return y, linear, residuals


# 9c. For users.
def linearize(f, *primals):
    """Return the output of `f`, and its derivative as a function."""
    y, linear, residuals = linearize_at(f, primals)
    return y, lambda *tangents: tree_like(
        y, linear(*residuals, *tree_leaves(tangents)))
