"""Functions as parameters: calls, and functions with a JVP rule."""

from functools import partial

from .core import Primitive
from .jvp import instantiate, jvp, jvp_rules
from .trees import check_shapes, shape_text, tree_leaves, tree_like, tree_map
from .vmap import vmap_rules, vmap_with


# 5a. A call holds functions: vmap(call(f)) == call(vmap(f)).
def call_fun(*xs, fun, **rules):
    """Call the function, and forget the rules."""
    return fun(*xs)


def defcall(name, impl=call_fun):
    """Return a primitive whose parameters are functions."""
    primitive = Primitive(name, impl, is_call=True)
    vmap_rules[primitive] = partial(call_vmap, primitive)
    return primitive


def call_vmap(primitive, axis, *xs, **functions):
    """Vectorize every function in the call, its rules included."""
    mapped = {name: vmap_with(axis, f) for name, f in functions.items()}
    return primitive.bind(*xs, **mapped)


# 5b. A call of two: jvp(custom_jvp_call(f, rule)) == rule.
custom_jvp_call_p = defcall('custom_jvp_call')
jvp_rules[custom_jvp_call_p] = (
    lambda tag, xs, x_dots, fun, rule: rule(xs, x_dots))


# 5d. For users.
class custom_jvp:
    """A function whose derivative is given by a rule of its own."""

    def __init__(self, fun):
        self.fun = fun
        self.rule = None

    def defjvp(self, rule):
        """Set the rule: from primals and tangents to output and tangent."""
        self.rule = rule
        return rule

    def __call__(self, *args):
        rule = self.rule
        if rule is None:
            name = getattr(self.fun, '__name__', self.fun)
            raise TypeError(f'{name} has no rule yet: give it one with '
                            'defjvp or defvjp')
        return custom_jvp_call_p.bind(
            *tree_leaves(args),
            fun=lambda *xs: self.fun(*tree_like(args, xs)),
            rule=lambda xs, x_dots: apply_rule(rule, args, xs, x_dots))


# 5e. The call holds lists, and the user's rule takes trees.
def apply_rule(rule, args, xs, x_dots):
    """Apply a rule to leaves of `args`; check what it returns."""
    primals = tree_like(args, xs)
    tangents = tree_like(args, map(instantiate, xs, x_dots))
    pair = rule(primals, tangents)
    out, out_dot = as_pair('a JVP rule must return (output, tangent)', pair)
    check_shapes('the tangent that a JVP rule returns', out, out_dot)
    return out, out_dot


def as_pair(what, pair):
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f'{what}, got {tree_map(shape_text, pair)}')
    return pair


# 6a. A call of one function: jvp(call(f)) == call(jvp(f)).
call_p = defcall('call')


# 6b. Forward mode re-enters, too.
def call_jvp(tag, xs, x_dots, fun):
    """Call the derivative: one more trace, with the tag of this one."""
    def fun_jvp(*args):
        primals, tangents = halves(args)
        return jvp(fun, primals, tangents, tag)
    x_dots = map(instantiate, xs, x_dots)
    return call_p.bind(*xs, *x_dots, fun=fun_jvp)


def halves(xs):
    return xs[:len(xs) // 2], xs[len(xs) // 2:]


jvp_rules[call_p] = call_jvp
