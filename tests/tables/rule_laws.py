"""The laws: what happens to a custom rule, for each row and interpreter.

A row is an operation that holds functions or programs. The dye is the
function f(x) = exp(2x), whose rule says 3 instead of 2. So its d-th
derivative at 0 is 3 ** d if the rule is kept, and has a factor of 2 wherever
it is lost. The inner dye is a function whose rule applies a linear function
with a rule to the tangent. Its derivatives are 1, 2, 6, 12 if that rule is
kept, and 1, 2, 4, 8 otherwise.
"""

import itertools
from functools import partial

import numpy as np

import autodiff_mini as ad
from autodiff_mini.calls.call import call
from autodiff_mini.core.seams import lower
from autodiff_mini.interpreters.jaxpr import eval_jaxpr

# The dyes

dye = ad.custom_jvp(lambda x: np.exp(2 * x))
dye.defjvp(lambda p, t: (dye(*p), 3 * dye(*p) * t[0]))
double = ad.custom_jvp(lambda x: 2 * x)
double.defjvp(lambda p, t: (double(*p), 3 * t[0]))
inner = ad.custom_jvp(lambda x: np.exp(2 * x))
inner.defjvp(lambda p, t: (inner(*p), double(np.exp(2 * p[0]) * t[0])))


# The rows, as wrappers of a function of one array

def reverse(f):
    g = ad.custom_vjp(f)
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (cotangent(f)(x, ct),))
    return g


def custom(f):
    g = ad.custom_jvp(f)
    g.defjvp(lambda p, t: (g(*p), tangent(f)(*p, *t)))
    return g


def both(f):
    g = reverse(f)
    g.defjvp(lambda p, t: (g(*p), tangent(f)(*p, *t)))
    return g


def batched(f):
    g = ad.custom_vmap(f)
    g.def_vmap(lambda size, mapped, x: (ad.vmap(f)(x), True))
    return g


def tangent(f):
    return lambda x, t: ad.jvp(f, (x,), (t,))[1]


def cotangent(f):
    return lambda x, ct: ad.vjp(f, x)[1](ct)[0]


def staged(f):
    def run(x):
        jaxpr = ad.make_jaxpr(f)(x)
        return eval_jaxpr(jaxpr, jaxpr.consts, x)[0]
    return run


def lowered(f):
    return lambda x: lower(ad.make_jaxpr(f)(0.0))(x)[0]


ROWS = {
    'call': lambda f: lambda x: call(f, x),
    'custom_jvp': custom, 'custom_vjp': reverse, 'both rules': both,
    'custom_vmap': batched,
    'jit': lambda f: ad.jit(lambda x: f(x)),
    'checkpoint': lambda f: ad.checkpoint(lambda x: f(x)),
    'scan': lambda f: lambda x: ad.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'cond': lambda f: lambda x: ad.cond(x > -1, f, lambda x: 0 * x, x),
    'while': lambda f: lambda x: ad.while_loop(
        lambda s: s[1] < 1, lambda s: (f(s[0]), s[1] + 1), (x, 0))[0]}


# The interpreters, each as a function of a function.  Partial evaluation and
# transposition are those of a derivative, at the point and along 1.

def linearized(f):
    def run(x):
        y, f_jvp = ad.linearize(f, x)
        return y, f_jvp(1.0)
    return run


def pulled(f):
    def run(x):
        y, pullback = ad.vjp(f, x)
        return y, pullback(1.0)[0]
    return run


INTERPRETERS = {
    'evaluate': lambda f: f,
    'jvp': lambda f: lambda x: ad.jvp(f, (x,), (1.0,)),
    'vmap': ad.vmap, 'stage': staged, 'partial eval': linearized,
    'transpose': pulled, 'lower': lowered}


def jvp_of(f):
    return lambda x: ad.jvp(f, (x,), (1.0,))


def now_and_later(wrap):
    """Return the dye's value and slope, both wrapped."""
    return lambda x: (wrap(dye)(x), wrap(tangent(dye))(x, 1.0))


def loop_of_jvp(x):
    return ad.scan(lambda c, _: (ad.jvp(dye, (c[0],), (c[1],)), None),
                   (x, 1.0), None, 1)[0]


def two_loops(x, reverse=False):
    """Loop over the primals, and then over the tangents."""
    y, slopes = ad.scan(lambda c, _: (dye(c), tangent(dye)(c, 1.0)), x,
                        None, 1)
    return y, ad.scan(lambda t, slope: (t * slope, None), 1.0, slopes,
                      reverse=reverse)[0]


def while_of_jvp(x):
    return ad.while_loop(
        lambda s: s[2] < 1,
        lambda s: (*ad.jvp(dye, (s[0],), (s[1],)), s[2] + 1), (x, 1.0, 0))[:2]


def cond_of_jvp(x):
    return ad.cond(x > -1, jvp_of(dye), lambda x: (0 * x, 0 * x), x)


def inner_by_hand(x):
    return inner(x), double(np.exp(2 * x))


# The laws.  Each row and interpreter has an equation, as the page of the laws
# prints it, and its right side as a function of x; or, where the row is
# refused, words of the refusal.

FORWARD, WHILE = "can't apply forward-mode", 'while_loop'
LOWERED = lowered(dye)
LAWS = {
    'call': [
        ('call(f) = f', dye),
        ('jvp(call(f)) = call(jvp(f))', lambda x: call(jvp_of(dye), x)),
        ('vmap(call(f)) = call(vmap(f))', lambda x: call(ad.vmap(dye), x)),
        ('stage(call(f)) = call(stage(f))', lambda x: call(staged(dye), x)),
        ('pe(call(f)) = pe(f)', linearized(dye)),
        ('T(pe(call(f))) = T(pe(f))', pulled(dye)),
        ('lower(call(f)) = lower(f)', LOWERED)],
    'custom_jvp': [
        ('custom_jvp(f, r) = f', lambda x: np.exp(2 * x)),
        ('jvp(custom_jvp(f, r)) = r', lambda x: dye.rules.jvp((x,), (1.0,))),
        ('vmap(custom_jvp(f, r)) = custom_jvp(vmap(f), vmap(r))',
         custom(ad.vmap(dye))),
        ('stage(custom_jvp(f, r)) = custom_jvp(stage(f), r)', dye),
        ('pe(custom_jvp(linear, r)) = custom_jvp(linear, r)', inner_by_hand),
        ('jvp(T(custom_jvp(linear, r))) = T(r)', inner_by_hand),
        ('lower(custom_jvp(f, r)) = lower(f)', LOWERED)],
    'custom_vjp': [
        ('custom_vjp(f, fwd, bwd) = f', dye),
        ("jvp(custom_vjp(f, fwd, bwd)) = fwd, and an envelope with bwd, "
         "which can't be run", FORWARD),
        ('vmap(custom_vjp(f, fwd, bwd)) = custom_vjp(vmap(f), vmap(fwd), '
         'vmap(bwd))', reverse(ad.vmap(dye))),
        ('stage(custom_vjp(f, fwd, bwd)) = custom_vjp(stage(f), fwd, bwd)',
         reverse(staged(dye))),
        ('pe(jvp(custom_vjp(f, fwd, bwd))) = fwd now, and the envelope for '
         'later', FORWARD),
        ('T(envelope) = bwd', pulled(dye)),
        ('lower(custom_vjp(f, fwd, bwd)) = lower(f)', LOWERED)],
    'both rules': [
        ('custom_vjp(f, fwd, bwd, r) = f', dye),
        ('jvp(custom_vjp(f, fwd, bwd, r)) = r', jvp_of(dye)),
        ('vmap(custom_vjp(f, fwd, bwd, r)) = custom_vjp(vmap of all four)',
         both(ad.vmap(dye))),
        ('stage(custom_vjp(f, fwd, bwd, r)) = '
         'custom_vjp(stage(f), fwd, bwd, r)', both(staged(dye))),
        ('pe(jvp(custom_vjp(f, fwd, bwd, r))) = '
         'fwd now, an envelope that runs r later', linearized(dye)),
        ('T(envelope) = bwd', pulled(dye)),
        ('lower(custom_vjp(f, fwd, bwd, r)) = lower(f)', LOWERED)],
    'custom_vmap': [
        ('custom_vmap(f, r) = f', dye),
        ('jvp(custom_vmap(f, r)) = custom_vmap(jvp(f), jvp(r))',
         batched(jvp_of(dye))),
        ('vmap(custom_vmap(f, r)) = r', ad.vmap(dye)),
        ('stage(custom_vmap(f, r)) = custom_vmap(stage(f), r)',
         batched(staged(dye))),
        ('pe(custom_vmap(linear, r)) = custom_vmap(linear, r)',
         now_and_later(lambda f: batched(f) if f is dye else f)),
        ('T(custom_vmap(linear, r)) = custom_vmap(T(linear), T(r))',
         pulled(dye)),
        ('lower(custom_vmap(f, r)) = lower(f)', LOWERED)],
    'jit': [
        ('jit(f) = lower(stage(f))', LOWERED),
        ('jvp(jit(f)) = jit(jvp(f))', ad.jit(jvp_of(dye))),
        ('vmap(jit(f)) = jit(vmap(f))', ad.jit(ad.vmap(dye))),
        ('stage(jit(f)) = jit(stage(f))', ad.jit(staged(dye))),
        ('pe(jvp(jit(f))) = jit of the known part now, and jit of the rest '
         'for later', now_and_later(ad.jit)),
        ('T(jit(linear)) = jit(T(linear))', now_and_later(ad.jit)),
        ('lower(jit(f)) = lower(f)', LOWERED)],
    'checkpoint': [
        ('checkpoint(f) = lower(stage(f))', LOWERED),
        ('jvp(checkpoint(f)) = checkpoint(jvp(f))',
         ad.checkpoint(jvp_of(dye))),
        ('vmap(checkpoint(f)) = checkpoint(vmap(f))',
         ad.checkpoint(ad.vmap(dye))),
        ('stage(checkpoint(f)) = checkpoint(stage(f))',
         ad.checkpoint(staged(dye))),
        ('pe(jvp(checkpoint(f))) = checkpoint(f) now, and checkpoint(jvp(f)) '
         'for later', now_and_later(ad.checkpoint)),
        ('T(checkpoint(linear)) = checkpoint(T(linear))',
         now_and_later(ad.checkpoint)),
        ('lower(checkpoint(f)) = lower(f)', LOWERED)],
    'scan': [
        ('scan(f) = a loop over lower(stage(f))', LOWERED),
        ('jvp(scan(f)) = scan(jvp(f))', loop_of_jvp),
        ('vmap(scan(f)) = scan(vmap(f))', ROWS['scan'](ad.vmap(dye))),
        ('stage(scan(f)) = scan(stage(f))', ROWS['scan'](staged(dye))),
        ('pe(jvp(scan(f))) = scan of the known part now, and scan of the '
         'rest for later', two_loops),
        ('T(scan(linear)) = scan(T(linear)), from the last step to the first',
         partial(two_loops, reverse=True)),
        ('lower(scan(f)) = a loop over lower(f)', LOWERED)],
    'cond': [
        ('cond(f, g) = lower(stage(f)) or lower(stage(g))', LOWERED),
        ('jvp(cond(f, g)) = cond(jvp(f), jvp(g))', cond_of_jvp),
        ('vmap(cond(f, g)) = cond(vmap(f), vmap(g)), or both if the '
         'predicate is mapped', ROWS['call'](ad.vmap(dye))),
        ('stage(cond(f, g)) = cond(stage(f), stage(g))',
         ROWS['cond'](staged(dye))),
        ('pe(jvp(cond(f, g))) = pe(jvp(f)) or pe(jvp(g))', linearized(dye)),
        ('T(cond(linear, linear)) = cond(T(linear), T(linear))',
         pulled(dye)),
        ('lower(cond(f, g)) = a branch of lower(f) or lower(g)', LOWERED)],
    'while': [
        ('while(f) = a loop over lower(stage(f))', LOWERED),
        ('jvp(while(f)) = while(jvp(f))', while_of_jvp),
        ('vmap(while(f)) = while(vmap(f)), until every element has ended',
         ad.vmap(dye)),
        ('stage(while(f)) = while(stage(f))', ROWS['while'](staged(dye))),
        ('pe(jvp(while(f))) = while of the known part now, and '
         'while(jvp(f)) for later', while_of_jvp),
        ('T(while(f)) is refused', WHILE),
        ('lower(while(f)) = a loop over lower(f)', LOWERED)],
}


# The check of a cell

def cell(row, interpreter):
    """Return the text of a law, and its two sides."""
    text, right = LAWS[row][list(INTERPRETERS).index(interpreter)]
    linear = interpreter in ('partial eval', 'transpose')
    f = dye if row != 'custom_jvp' else inner if linear else dye
    left = f if row == 'custom_jvp' else ROWS[row](f)
    return text, INTERPRETERS[interpreter](left), right


def slope(f, x, derivative):
    """Return the relative slope of the last output of `f` at zeros."""
    last = lambda x: np.sum(ad.tree_leaves(f(x))[-1])
    ones = np.ones(np.shape(x))
    y_dot = (ad.jvp(last, (x,), (ones[()],))[1] if derivative == 'jvp'
             else np.sum(ad.grad(last)(x)))
    return float(y_dot / last(x))


def said_by(row, interpreter):
    """Check a law, and return if the rule is kept, ends, or is lost."""
    text, left, right = cell(row, interpreter)
    x = np.zeros(2) if interpreter == 'vmap' else 0.0
    if isinstance(right, str):
        try:
            left(x)
        except TypeError as error:
            assert right in str(error), error
            return 'refused'
        raise AssertionError(f'{text} is not refused')
    for have, want in zip(*[ad.tree_leaves(f(x)) for f in (left, right)],
                          strict=True):
        np.testing.assert_allclose(have, want)
    if interpreter == 'evaluate':
        return 'ends'
    if interpreter == 'lower':
        source = lower(ad.make_jaxpr(ROWS[row](dye))(x)).source
        assert 'custom' not in source, source
        return 'lost'
    # A rule for one mode is used only in that mode.
    modes = {'while': ['jvp'], 'custom_vjp': ['grad']}.get(
        row, ['jvp', 'grad'])
    slopes = {slope(f, x, mode) for f in (left, right) for mode in modes}
    assert slopes == {3.0}, (text, slopes)
    return 'kept'


# The nestings: each order of wrappers and derivatives around a dye

WRAPPERS = ROWS | {
    'vmap': lambda f: lambda x: ad.vmap(f)(x * np.ones(2))[1],
    'stage': staged}
DERIVATIVES = {'jvp': lambda f: lambda x: tangent(f)(x, 1.0),
               'grad': ad.grad,
               'linearize': lambda f: lambda x: ad.linearize(f, x)[1](1.0)}
KINDS = WRAPPERS | DERIVATIVES
DYES = {    # by name: the function, its derivatives at 0
    'outer': (dye, (1, 3, 9, 27)), 'inner': (inner, (1, 2, 6, 12))}


def nestings(wrappers, derivatives):
    """Return all orders of these counts, by name, innermost first."""
    count = wrappers + derivatives
    return [names for places in
            itertools.combinations(range(count), derivatives)
            for names in itertools.product(*[
                DERIVATIVES if i in places else WRAPPERS
                for i in range(count)])]


def outcome(name, names):
    """Return the result of a dye in a nesting: right, refused, or the number.
    """
    f, slopes = DYES[name]
    for wrap in names:
        f = KINDS[wrap](f)
    # A rule or a loop for one mode works only in that mode.
    one_way = {'while', 'custom_vjp'} & {*names}
    try:
        y = f(0.0)
    except TypeError as error:
        if one_way and (FORWARD in str(error) or WHILE in str(error)):
            return 'refused'
        raise
    expected = slopes[sum(wrap in DERIVATIVES for wrap in names)]
    return 'right' if np.allclose(y, expected, 1e-9, 0) else float(y)
