"""Functions with a reverse rule: a promise that only transposition keeps."""

from .calls import as_pair, custom_jvp
from .core import Primitive
from .jaxpr import abstract_rules, types
from .jvp import instantiate, jvp_rules
from .transpose import transpose_rules
from .trees import check_shapes, tree_leaves, tree_like, tree_map
from .vmap import rows_type, vmap_rules, vmap_with


# 11a. A promise: an equation that can be transposed, and nothing else.
def refuse(*operands, **params):
    raise TypeError('a custom_vjp function has only a reverse rule: use grad '
                    'or vjp')


def custom_lin_vmap(axis, *operands, bwd, n, out_avals):
    rows = [rows_type(aval, axis.size) for aval in out_avals]
    return custom_lin_p.bind(*operands, bwd=vmap_with(axis, bwd), n=n,
                             out_avals=rows)


def custom_lin_transpose(cts, *operands, bwd, n, out_avals):
    residuals = operands[:n]
    return [None] * n + bwd(residuals, cts)


custom_lin_p = Primitive('custom_lin', refuse)
jvp_rules[custom_lin_p] = refuse
vmap_rules[custom_lin_p] = custom_lin_vmap
abstract_rules[custom_lin_p] = lambda *avals, bwd, n, out_avals: out_avals
transpose_rules[custom_lin_p] = custom_lin_transpose


# 11b. A custom_vjp function is a custom_jvp function whose rule returns a
# promise in place of a tangent.
class custom_vjp(custom_jvp):
    """A function whose pullback is given by a rule of its own."""

    def defvjp(self, fwd, bwd):
        """Set the rules: `fwd` returns (y, res); `bwd(res, ct)`, a tuple."""
        def rule(primals, tangents):
            y, res = as_pair('fwd must return (output, residuals)',
                             fwd(*primals))
            residuals = tree_leaves(res)

            def bwd_of_leaves(residuals, cts):
                return keep_promise(bwd, primals, tree_like(res, residuals),
                                    tree_like(y, cts))
            y_dots = custom_lin_p.bind(
                *residuals, *tree_leaves(tangents), bwd=bwd_of_leaves,
                n=len(residuals), out_avals=types(tree_leaves(y)))
            return y, tree_like(y, y_dots)
        self.defjvp(rule)


# 11c. The cotangents of all arguments.
def keep_promise(bwd, primals, res, ct):
    """Return what `bwd` returns as a list; zeros where it says None."""
    cts = bwd(res, ct)
    if isinstance(cts, tuple) and len(cts) == len(primals):
        cts = tree_map(instantiate, primals, cts)
    check_shapes('the cotangents that a bwd rule returns, a tuple with one '
                 'for each argument', primals, cts)
    return tree_leaves(cts)
