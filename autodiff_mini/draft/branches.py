"""Branches: `cond` runs one of two programs; `while_loop` repeats one."""

from .calls import halves
from .core import Primitive, typeof
from .jaxpr import Jaxpr, Var, make_jaxpr, stage
from .jit import drop_dead, run
from .jvp import instantiate, jvp, jvp_rules
from .loops import scan_p
from .programs import defrecomputing
from .trees import check_shapes, tree_leaves, tree_like
from .vmap import row_type, vmap_rules


# 16a. An operation with two programs.
def run_cond(which, *xs, true, false):
    branch = true if which else false
    return run(branch, which, *xs)


cond_p = defrecomputing('cond', run_cond)


# 16b. A batch of branches is a loop: every element takes its own.  Running
# both branches and selecting with `np.where` is faster, but wrong: zero times
# the infinite slope of the branch not taken is nan.
def cond_vmap(axis, *operands, **programs):
    def one_element(*row):
        return cond_p.bind(*row, **programs)
    step, _, _ = stage(one_element, list(map(row_type, operands)))
    return scan_p.bind(*operands, fun=step, num_carry=0, length=axis.size,
                       reverse=False)


vmap_rules[cond_p] = cond_vmap


# 16c. For users.
def cond(which, true_fun, false_fun, *operands):
    """Return what one of two functions returns."""
    both, captured, (true_out, false_out) = stage(
        lambda *xs: (true_fun(*xs), false_fun(*xs)), operands)
    check_shapes('cond: the output of the second branch', true_out, false_out)
    invars = [Var(typeof(which)), *both.invars]
    true_outvars, false_outvars = halves(both.outvars)
    true = drop_dead(Jaxpr(invars, both.eqns, true_outvars))
    false = drop_dead(Jaxpr(invars, both.eqns, false_outvars))
    ys = cond_p.bind(which, *captured, *tree_leaves(operands),
                     true=true, false=false)
    return tree_like(true_out, ys)


# 16d. A loop of unknown length: forward mode only.
def run_while(*xs, step, test):
    while run(test, *xs)[0]:
        xs = run(step, *xs)
    return list(xs)


while_p = Primitive('while_loop', run_while)


def while_jvp(tag, primals, tangents, step, test):
    """Step primals and tangents together, since the test needs primals."""
    def step_both(*xs):
        return jvp(step, *halves(xs))

    def test_primals(*xs):
        return test(*halves(xs)[0])

    avals = step.invars + step.invars
    tangents = map(instantiate, primals, tangents)
    both = while_p.bind(*primals, *tangents,
                        step=make_jaxpr(step_both)(*avals),
                        test=make_jaxpr(test_primals)(*avals))
    return while_p.bind(*primals, step=step, test=test), halves(both)[1]


jvp_rules[while_p] = while_jvp


# 16e. For users.
def while_loop(test, step, init):
    """Return the first of init, step(init), ... that fails the test."""
    both, captured, (state, _) = stage(lambda x: (step(x), test(x)), (init,))
    check_shapes('while_loop: the new state', init, state)
    n = len(captured)       # captured values are a part that never changes
    new_state = both.invars[:n] + both.outvars[:-1]
    answer = both.outvars[-1:]
    step = drop_dead(Jaxpr(both.invars, both.eqns, new_state))
    test = drop_dead(Jaxpr(both.invars, both.eqns, answer))
    xs = while_p.bind(*captured, *tree_leaves(init), step=step, test=test)
    return tree_like(init, xs[n:])
