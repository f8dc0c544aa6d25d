"""Functions as parameters: calls, and functions with a JVP rule."""

from functools import partial

from .core import Primitive
from .jvp import instantiate, jvp, jvp_rules
from .trees import check_shapes, tree_leaves, tree_like
from .vmap import vmap_rules, vmap_with


# 5a. A call holds functions: vmap(call(f)) == call(vmap(f)).
def defcall(name, impl=lambda *xs, fun, **rules: fun(*xs)):
    """Return a primitive that calls its parameter `fun`."""
    primitive = Primitive(name, impl, is_call=True)
    vmap_rules[primitive] = partial(call_vmap, primitive)
    return primitive


def call_vmap(primitive, axis, *xs, **functions):
    """Vectorize every function in the call, its rules included."""
    return primitive.bind(*xs, **{
        name: vmap_with(axis, f) for name, f in functions.items()})


# 5b. A call of one function: jvp(call(f)) == call(jvp(f)).
call_p = defcall('call')


def call_jvp(tag, xs, x_dots, fun):
    x_dots = map(instantiate, xs, x_dots)
    return call_p.bind(*xs, *x_dots, fun=lambda *args: jvp(
        fun, *halves(args), tag))


def halves(xs):
    return xs[:len(xs) // 2], xs[len(xs) // 2:]


jvp_rules[call_p] = call_jvp


# 5c. A call of two: jvp(custom_jvp_call(f, f_jvp)) == f_jvp.
custom_jvp_call_p = defcall('custom_jvp_call')
jvp_rules[custom_jvp_call_p] = (
    lambda tag, xs, x_dots, fun, jvp: jvp(xs, x_dots))


# 5d. For users.
class custom_jvp:
    """A function whose derivative is given by a rule of its own."""

    def __init__(self, fun):
        self.fun = fun

    def defjvp(self, rule):
        """Set the rule: from primals and tangents to output and tangent."""
        self.rule = rule

    def __call__(self, *args):
        def jvp(xs, x_dots, rule=self.rule):
            x_dots = list(map(instantiate, xs, x_dots))
            out, out_dot = rule(unflatten(args, xs), unflatten(args, x_dots))
            check_shapes('the tangent that a JVP rule returns', out, out_dot)
            return out, out_dot
        return custom_jvp_call_p.bind(
            *tree_leaves(args), jvp=jvp,
            fun=lambda *xs: self.fun(*tree_like(args, xs)))


def unflatten(args, xs):
    """Return operands as a tree like the arguments, if no others came."""
    if len(xs) != len(tree_leaves(args)):
        raise TypeError('a function with a rule closes over a tracer: make '
                        'it an argument')
    return tree_like(args, xs)
