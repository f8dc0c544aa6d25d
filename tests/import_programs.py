"""Programs in two halves, and imports of the library before and between.

`python -m tests.import_programs BEFORE BETWEEN` makes and stages functions,
uses them, and prints what it has seen.  Each argument lists modules, with
commas.  `python -m tests.import_programs` prints the modules that nothing has
imported yet when the package has been imported.

A program is a generator: what stands before its `yield` makes functions and
stages them, and what stands behind it differentiates, batches, prints and
counts.  It returns anything with a `repr`.
"""

import sys
from importlib import import_module
from pkgutil import walk_packages

import numpy as np

import autodiff_mini as ad

X = np.linspace(0.5, 1.5, 4)
PROGRAMS = []


def program(generator):
    PROGRAMS.append(generator)
    return generator


def modules_left():
    """Return the names of the modules that nothing has imported yet."""
    return [module.name for module in walk_packages(
        ad.__path__, 'autodiff_mini.') if module.name not in sys.modules]


def derivatives(f, x):
    """Return what the transformations make of `f`, from arrays to arrays."""
    total = lambda x: np.sum(f(x))
    return [f(x), ad.grad(total)(x), ad.jvp(f, (x,), (x,)),
            ad.linearize(f, x)[1](x), ad.vmap(f)(np.stack([x, 2 * x])),
            ad.jit(ad.grad(total))(x),
            ad.grad(lambda x: np.sum(ad.grad(total)(x) ** 2))(x),
            str(ad.make_jaxpr(f)(x)), str(ad.make_jaxpr(ad.grad(total))(x))]


def staged(f, x=X):
    """Return `f` compiled, after a call, and after one that is mapped."""
    f = ad.jit(f)
    f(x), ad.vmap(f)(np.stack([x, x]))
    return f


def counting(name, f, results, counts):
    """Return a primitive that counts how often it computes."""
    p = ad.Primitive(name, multiple_results=results > 1)

    def impl(x):
        counts[name] = counts.get(name, 0) + 1
        return f(x)
    p.def_impl(impl)
    p.def_abstract_eval(lambda x: [x] * results if results > 1 else x)
    p.def_vmap(lambda args, dims: (
        p.bind(*args), [0] * results if results > 1 else 0))
    p.def_jvp(lambda primals, tangents: (p.bind(*primals), tangents[0]))
    return p


@program
def forward_rules():
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), 3 * np.cos(p[0]) * t[0]))
    g = staged(lambda x: f(x) * x)
    yield
    return derivatives(g, X), g.source


@program
def backward_rules():
    f = ad.custom_vjp(lambda x: np.sin(x))
    f.defvjp(lambda x: (f(x), x), lambda x, ct: (3 * np.cos(x) * ct,))
    f.defjvp(lambda p, t: (f(*p), 3 * np.cos(p[0]) * t[0]))
    g = staged(lambda x: f(x) * x)
    yield
    return derivatives(g, X), g.source


@program
def batching_rules():
    f = ad.custom_vmap(lambda x: np.sin(x))
    f.def_vmap(lambda size, mapped, x: (3 * np.sin(x), True))
    g = staged(lambda x: f(x) * x)
    yield
    return derivatives(g, X), g.source


def recomputed(**switch):
    """The calls of a rule and its function, in a checkpoint of a jit."""
    counts = {}
    value = counting('value', np.sin, 1, counts)
    both = counting('both', lambda x: [np.sin(x), np.cos(x)], 2, counts)
    f = ad.custom_vjp(lambda x: value.bind(x))
    f.defvjp(lambda x: tuple(both.bind(x)), lambda r, ct: (3 * ct * r,),
             **switch)
    compiled = staged(lambda x: f(x) * 1.0)
    yield
    seen = []
    for wrap in (lambda f: f, ad.checkpoint, ad.jit):
        counts.clear()
        y, pullback = ad.vjp(wrap(compiled), X)
        seen += [y, dict(counts), pullback(X), dict(counts)]
    return seen, str(ad.make_jaxpr(ad.grad(
        lambda x: np.sum(ad.checkpoint(compiled)(x))))(X))


@program
def rules_in_a_checkpoint():
    return (yield from recomputed())


@program
def rules_that_a_checkpoint_replaces():
    return (yield from recomputed(optimize_remat=True))


@program
def primitives_of_the_users():
    counts = {}
    p = counting('twice', lambda x: 2 * x, 1, counts)
    g = staged(lambda x: p.bind(x) * x)
    yield
    return derivatives(g, X), g.source, counts


@program
def loops_and_branches():
    def scanned(x):
        return ad.scan(lambda c, a: (np.sin(c) * a, c * c), x[0], x)[1]

    def repeated(x):
        return ad.fori_loop(0, 3, lambda i, x: np.sin(x) + i, x)

    def branched(x):
        return ad.cond(np.sum(x) > 0, np.sin, lambda x: 3 * x, x)
    compiled = list(map(staged, (scanned, branched)))
    loop = staged(repeated)
    yield
    return ([(derivatives(f, X), f.source) for f in compiled],
            loop(X), ad.jvp(loop, (X,), (X,)), loop.source)


OF_NUMPY = {
    'median': np.median, 'kron': lambda x: np.kron(x, x),
    'fft': lambda x: np.abs(np.fft.fft(x)), 'gradient': np.gradient,
    'svd': lambda x: np.linalg.svd(np.outer(x, x) + np.diag(x))[1],
    'fix': lambda x: x * np.fix(3 * x), 'norm': np.linalg.norm,
    'sort': lambda x: np.sort(np.sin(5 * x)), 'reduce': np.multiply.reduce,
    'gcd': lambda x: x * np.gcd(4, ad.asarray([6, 9, 8, 5])),
    'einsum': lambda x: np.einsum('i,j->ij', x, x)}


@program
def functions_of_numpy():
    compiled = {name: ad.jit(f) for name, f in OF_NUMPY.items()}
    for f in list(compiled.values())[::2]:
        f(X)
    yield
    return [(name, derivatives(f, X), f.source)
            for name, f in compiled.items()]


@program
def refusals():
    def refused(f):
        try:
            return ad.jvp(f, (X,), (X,))
        except Exception as error:
            return type(error), str(error)
    wrong = [np.unique, np.busday_count, np.add.reduceat, np.sin.at,
             lambda x: np.frexp(x, where=x > 0), np.nonzero, float]
    before = list(map(refused, wrong))
    yield
    return before, list(map(refused, wrong))


@program
def gradients_that_are_prepared():
    slope = ad.grad(lambda x: np.sum(np.mean(x * np.sin(x)) * np.cumsum(x)))
    before = [slope(X * i) for i in range(40)]
    yield
    return before, [slope(X * i) for i in range(40)]


@program
def pictures_and_costs():
    jaxpr = ad.make_jaxpr(lambda x: np.sin(x) * 2)(X)
    f = ad.jit(lambda x: np.sum(np.sin(x) @ np.outer(x, x)))
    f(X)
    yield
    return jaxpr._repr_html_(), str(ad.cost(f, X)), str(ad.cost(ad.grad(f), X))


@program
def derivatives_of_solutions():
    compiled = ad.jit(
        lambda a: ad.root(lambda a, x: x ** 3 - a, a, np.ones(4)))
    compiled(X)
    yield
    return compiled(X), ad.grad(lambda a: np.sum(compiled(a)))(X)


def main(before='', between=''):
    run = lambda modules: list(map(import_module, filter(
        None, modules.split(','))))
    run(before)
    halves = [make() for make in PROGRAMS]
    for half in halves:
        next(half)
    run(between)
    for half in halves:
        print(half.__name__, exactly(rest_of(half)))


def rest_of(half):
    """Return what a program returns after its first half."""
    try:
        next(half)
    except StopIteration as end:
        return end.value


def exactly(x):
    """Return the text of what a program returned, arrays to the bit."""
    if isinstance(x, list | tuple):
        return f'{type(x).__name__}({", ".join(map(exactly, x))})'
    if isinstance(x, np.ndarray | np.generic):
        return f'{x.dtype}{x.shape}:{np.asarray(x).tobytes().hex()}'
    return repr(x)


if __name__ == '__main__':
    if len(sys.argv) == 1:
        print(*modules_left())
    else:
        main(*sys.argv[1:])
