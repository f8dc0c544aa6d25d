"""Rules that are themselves wrapped: in jit, in loops, in branches.

A wrapper takes a function of arrays that returns a tree of arrays, and
returns one that computes the same.  `INSIDE` goes around a rule, `OUTSIDE`
around the function that has it.  The rules lie, so that it shows who was
asked: the slope is `3 * f(x)` by each, at every order.
"""

import numpy as np

import autodiff_mini as ad

X = np.float64(0.7)


def nothing(f):
    return f


def zeros_like(f, *xs):
    """Return zeros like what `f` returns."""
    return ad.tree_map(lambda y: np.zeros(y.shape, y.dtype)[()],
                       ad.eval_shape(f, *xs))


def by_scan(f):
    """The arguments are slices, and the results are stacked."""
    def looped(*xs):
        _, ys = ad.scan(lambda c, xs: (c, f(*xs)), 0.0,
                        ad.tree_map(lambda x: np.stack([x, x]), xs))
        return ad.tree_map(lambda y: y[1], ys)
    return looped


def by_carry(f):
    """The body closes over the arguments, and the results are the carry."""
    return lambda *xs: ad.scan(lambda c, _: (f(*xs), None),
                               zeros_like(f, *xs), None, 2)[0]


def by_fori_loop(f):
    return lambda *xs: ad.fori_loop(0, 2, lambda i, c: f(*xs),
                                    zeros_like(f, *xs))


def by_while_loop(f):
    return lambda *xs: ad.while_loop(
        lambda c: c[0] < 2, lambda c: (c[0] + 1, f(*xs)),
        (0, zeros_like(f, *xs)))[1]


def otherwise(f):
    return lambda *xs: ad.tree_map(lambda y: y * 0, f(*xs))


def first_leaf(xs):
    return ad.tree_leaves(xs)[0]


def by_cond(f):
    return lambda *xs: ad.cond(np.sum(first_leaf(xs)) > -100.0, f,
                               otherwise(f), *xs)


def by_switch(f):
    return lambda *xs: ad.switch(1, [otherwise(f), f, otherwise(f)], *xs)


def by_inlined_jit(f):
    """The arguments are those of the function around it."""
    return lambda *xs: ad.jit(lambda: f(*xs))()


def by_vmap(f):
    def batched(*xs):
        ys = ad.vmap(f)(*ad.tree_map(lambda x: np.stack([x, x]), xs))
        return ad.tree_map(lambda y: y[0], ys)
    return batched


INSIDE = {
    'jit': lambda f: ad.jit(f), 'jit_of_closure': by_inlined_jit,
    'checkpoint': lambda f: ad.checkpoint(f), 'scan': by_scan,
    'carry': by_carry, 'fori_loop': by_fori_loop,
    'while_loop': by_while_loop, 'cond': by_cond, 'switch': by_switch,
}
OUTSIDE = INSIDE | {'vmap': by_vmap, 'nothing': nothing}


def ruled_jvp(wrap):
    f = ad.custom_jvp(lambda x: np.sin(x))
    rule = wrap(lambda x, t: (f(x), 3 * f(x) * t))
    f.defjvp(lambda primals, tangents: rule(*primals, *tangents))
    return f


def ruled_jvp_of_two(wrap):
    f = ad.custom_jvp(lambda x, y: (np.sin(x), y * 1.0))

    def rule(x, y, x_dot, y_dot):
        outs = f(x, y)
        return outs, (3 * outs[0] * x_dot, 7 * y_dot)
    rule = wrap(rule)
    f.defjvp(lambda primals, tangents: rule(*primals, *tangents))
    return lambda x: f(x, 0.5 * x)[0]


def ruled_fwd(wrap):
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(wrap(lambda x: (f(x), f(x))), lambda y, ct: (3 * y * ct,))
    return f


def ruled_bwd(wrap):
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), x), wrap(lambda x, ct: (3 * f(x) * ct,)))
    return f


def ruled_both(wrap):
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(wrap(lambda x: (f(x), x)), wrap(lambda x, ct: (3 * f(x) * ct,)))
    rule = wrap(lambda x, t: (f(x), 3 * f(x) * t))
    f.defjvp(lambda primals, tangents: rule(*primals, *tangents))
    return f


def ruled_remat(wrap):
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(wrap(lambda x: (f(x), f(x))), lambda y, ct: (3 * y * ct,),
             optimize_remat=True)
    return f


def ruled_vmap(wrap):
    """By the rule a batch has five times the value, and the slope."""
    g = ruled_jvp(nothing)
    f = ad.custom_vmap(lambda x: g(x))
    rule = wrap(lambda x: 5 * ad.vmap(g)(x))
    f.def_vmap(lambda size, mapped, x: (rule(x), True))
    return f


def ruled_primitive(wrap):
    p = ad.Primitive('wrapped')
    p.def_impl(np.sin)
    p.def_abstract_eval(lambda x: ad.ShapedArray(x.shape, x.dtype))
    p.def_vmap(lambda args, dims: (p.bind(*args), dims[0]))
    rule = wrap(lambda x, t: (p.bind(x), 3 * p.bind(x) * t))
    p.def_jvp(lambda primals, tangents: rule(
        *primals, *map(ad.instantiate_zeros, tangents)))
    return p.bind


RULES = {'jvp': ruled_jvp, 'jvp_of_two': ruled_jvp_of_two,
         'fwd': ruled_fwd, 'bwd': ruled_bwd, 'both': ruled_both,
         'remat': ruled_remat, 'vmap': ruled_vmap,
         'primitive': ruled_primitive}
BACKWARDS = {'fwd', 'bwd', 'remat'}     # without a rule for forward mode

pushed = lambda f: lambda x: ad.jvp(f, (x,), (np.float64(1),))[1]
pulled = lambda f: lambda x: ad.vjp(f, x)[1](np.float64(1))[0]
mapped = lambda f: lambda x: ad.vmap(f)(np.stack([x, 2 * x]))[0]
linear = lambda f: lambda x: ad.linearize(f, x)[1](np.float64(1))
turned = lambda f: lambda x: ad.linear_transpose(
    ad.linearize(f, x)[1], x)(np.float64(1))[0]
USES = {    # a transformation, and its order; below 0 where forward mode runs
    'value': (nothing, 0), 'jit': (lambda f: ad.jit(f), 0),
    'vmap': (mapped, 0), 'jit_vmap': (lambda f: ad.jit(mapped(f)), 0),
    'vmap_jit': (lambda f: mapped(ad.jit(f)), 0),
    'grad': (lambda f: ad.grad(f), 1), 'vjp': (pulled, 1),
    'jit_grad': (lambda f: ad.jit(ad.grad(f)), 1),
    'grad_jit': (lambda f: ad.grad(ad.jit(f)), 1),
    'vmap_grad': (lambda f: mapped(ad.grad(f)), 1),
    'grad_vmap': (lambda f: ad.grad(mapped(f)), 1),
    'jit_vmap_grad': (lambda f: ad.jit(mapped(ad.grad(f))), 1),
    'transpose': (turned, 1),
    'grad_grad': (lambda f: ad.grad(ad.grad(f)), 2),
    'jit_grad_grad': (lambda f: ad.jit(ad.grad(ad.grad(f))), 2),
    'grad_grad_jit': (lambda f: ad.grad(ad.grad(ad.jit(f))), 2),
    'grad_jit_grad': (lambda f: ad.grad(ad.jit(ad.grad(f))), 2),
    'vmap_grad_grad': (lambda f: mapped(ad.grad(ad.grad(f))), 2),
    'jvp': (pushed, -1), 'jit_jvp': (lambda f: ad.jit(pushed(f)), -1),
    'jvp_jit': (lambda f: pushed(ad.jit(f)), -1),
    'vmap_jvp': (lambda f: mapped(pushed(f)), -1),
    'linearize': (linear, -1), 'jvp_jvp': (lambda f: pushed(pushed(f)), -2),
    'jvp_grad': (lambda f: pushed(ad.grad(f)), -2),
    'grad_jvp': (lambda f: ad.grad(pushed(f)), -2),
    'grad_linearize': (lambda f: ad.grad(linear(f)), -2),
    'hessian': (lambda f: ad.hessian(f), -2),
}
FORWARD = {'jvp', 'jit_jvp', 'jvp_jit', 'vmap_jvp', 'linearize', 'jvp_jvp'}


def through(f, wrappers, names):
    for name in names:
        f = wrappers[name](f)
    return f


def function(rule, inside, outside):
    """Return a function whose rule is wrapped, and which is wrapped."""
    wrap = lambda f: through(f, INSIDE, inside)
    return through(RULES[rule](wrap), OUTSIDE, outside)


def is_defined(rule, use):
    """Return whether a function with such a rule can be used so."""
    return rule not in BACKWARDS or USES[use][1] >= 0


def expected(rule, outside, use):
    """Return what the unwrapped rule says."""
    transform, order = USES[use]
    value = 3.0 ** abs(order) * np.sin(X)
    if rule == 'vmap':
        axes = ('vmap' in use or use == 'hessian') + outside.count('vmap')
        value *= 5.0 if axes else 1.0
    return value
