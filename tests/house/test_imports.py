"""Guard imports: a module imported early or late changes nothing but time.

Modules of wings are imported when a program asks for them.  Each program here
is a generator: it makes and stages functions, yields, and then
differentiates, batches, prints and counts.  What it returns is the same, to
the bit, wherever the modules are imported.
"""

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from multiprocessing import get_context
from pkgutil import iter_modules, walk_packages

import numpy as np

import autodiff_mini as ad
from autodiff_mini.core.errors import full_name
from autodiff_mini.core.trace import function_table, ufunc_table
from tests.support.wings import needs

pytestmark = [needs(wing) for wing in (
    'more_numpy', 'more_calls', 'writing', 'notebook', 'applications')]
X = np.linspace(0.5, 1.5, 4)
if find_spec('autodiff_mini.wings.more_numpy'):
    from autodiff_mini.wings.more_numpy.on_demand import HOMES, home_of


def derivatives(f):
    """Return the transformations of `f`, from arrays to arrays."""
    total = lambda x: np.sum(f(x))
    return [f(X), ad.grad(total)(X), ad.jvp(f, (X,), (X,)),
            ad.linearize(f, X)[1](X), ad.vmap(f)(np.stack([X, 2 * X])),
            ad.jit(ad.grad(total))(X),
            ad.grad(lambda x: np.sum(ad.grad(total)(x) ** 2))(X),
            str(ad.make_jaxpr(f)(X)), str(ad.make_jaxpr(ad.grad(total))(X))]


def staged(f):
    """Return `f` compiled, after a plain call and a mapped one."""
    f = ad.jit(f)
    f(X), ad.vmap(f)(np.stack([X, X]))
    return f


def rules():
    f = ad.custom_jvp(lambda x: np.sin(x))
    f.defjvp(lambda p, t: (f(*p), 3 * np.cos(p[0]) * t[0]))
    g = ad.custom_vjp(lambda x: np.sin(x))
    g.defvjp(lambda x: (g(x), x), lambda x, ct: (3 * np.cos(x) * ct,))
    g.defjvp(lambda p, t: (g(*p), 3 * np.cos(p[0]) * t[0]))
    h = ad.custom_vmap(lambda x: np.sin(x))
    h.def_vmap(lambda size, mapped, x: (3 * np.sin(x), True))
    compiled = [staged(lambda x, f=f: f(x) * x) for f in (
        f, g, h, lambda x: ad.cond(x[0] > 0, np.sin, np.cos, x),
        lambda x: ad.scan(lambda c, a: (np.sin(c) * a, c * c), x[0], x)[1])]
    loop = staged(lambda x: ad.fori_loop(
        0, 3, lambda i, x: np.sin(x) + i, x))
    yield
    return [(derivatives(f), f.source) for f in compiled], loop.source


def calls_in_a_checkpoint():
    counts = []
    p = ad.Primitive('counted')
    p.def_impl(lambda x: counts.append('value') or np.sin(x))
    p.def_abstract_eval(lambda x: x)
    p.def_vmap(lambda args, dims: (p.bind(*args), 0))
    f = ad.custom_vjp(lambda x: p.bind(x))
    f.defvjp(lambda x: (p.bind(x), x), lambda x, ct: (3 * ct * x,),
             optimize_remat=True)
    f = staged(lambda x, f=f: f(x) * 1.0)
    yield
    for wrap in (lambda f: f, ad.checkpoint, ad.jit):
        y, pullback = ad.vjp(wrap(f), X)
        counts += ['back', y, pullback(X)]
    return counts


def functions_of_numpy():
    compiled = [ad.jit(f) for f in (
        np.median, np.gradient, lambda x: np.abs(np.fft.fft(x)),
        np.multiply.reduce,
        lambda x: np.sort(np.sin(5 * x)), lambda x: x * np.fix(3 * x),
        lambda x: x * np.gcd(4, ad.asarray([6, 9, 8, 5])),
        lambda x: np.einsum('i,j->ij', x, x))]
    for f in compiled[::2]:
        f(X)
    yield
    return [(derivatives(f), f.source) for f in compiled]


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


def ran(before, between):
    """Return what the programs return if modules are imported this way."""
    list(map(import_module, before))
    halves = [make() for make in (
        rules, calls_in_a_checkpoint, functions_of_numpy, refusals)]
    list(map(next, halves))
    list(map(import_module, between))
    return {half.__name__: exactly(end(half)) for half in halves}


def end(half):
    try:
        next(half)
    except StopIteration as stop:
        return stop.value


def exactly(x):
    """Return the text of what a program returned, arrays to the bit."""
    if isinstance(x, list | tuple):
        return f'{type(x).__name__}({", ".join(map(exactly, x))})'
    if isinstance(x, np.ndarray | np.generic):
        return f'{x.dtype}{x.shape}:{np.asarray(x).tobytes().hex()}'
    return repr(x)


def definitions(module):
    """Return the names of the NumPy functions that a module brings."""
    before = {*function_table, *ufunc_table}
    import_module(f'autodiff_mini.wings.{module}')
    return [full_name(key).removeprefix('numpy.')
            for key in {*function_table, *ufunc_table} - before
            if not isinstance(key, tuple)]


def print_definitions():
    """Print what each module of two wings defines, imported alone."""
    modules = [f'{wing}.{module.name}' for wing in ('more_numpy', 'writing')
               for module in iter_modules([f'{ad.wings.__path__[0]}/{wing}'])
               if module.name not in ('on_demand', 'scipy_special', 'patch')]
    with get_context('fork').Pool(1, maxtasksperchild=1) as pool:
        print(json.dumps(dict(zip(
            modules, pool.map(definitions, modules, 1), strict=True))))


def test_the_index_names_the_module_that_defines_a_function():
    found = json.loads(subprocess.check_output([
        sys.executable, '-c', 'from tests.house.test_imports import '
        'print_definitions; print_definitions()']))
    index = {home: names.split() for home, names in HOMES.items()}
    for home, names in index.items():
        assert {*names} <= {*found[home]}, home
    assert sorted(sum(index.values(), [])) == sorted(
        {*sum(found.values(), [])})


@needs('fast')
@needs('writing.patch')
def test_other_wings_list_only_functions_that_tracers_support():
    """The tape prepares some of them, and the patch makes arrays in others.

    The patch treats three makers of arrays like np.asarray.
    """
    tape = import_module('autodiff_mini.wings.fast.tape')
    patch = import_module('autodiff_mini.wings.writing.patch.traced_numpy')
    import_module('autodiff_mini.wings.writing.patch.makers')
    listed = {*tape.compositions, *(
        vars(module)[name] for module, kind in patch.CLASSES.items()
        for name in vars(kind) if name[0] != '_')} - {np.r_, np.c_}
    assert np.median in listed and {
        function for function in listed if function not in function_table
        and full_name(function) not in home_of} == {
            np.asanyarray, np.ascontiguousarray, np.asfortranarray}


def test_only_the_module_that_defines_a_function_is_imported():
    left = subprocess.check_output([sys.executable, '-c', """
import re, sys
import numpy as np
import autodiff_mini as ad
ad.grad
before = {*sys.modules}
ad.grad(np.median)(np.ones(3))
print(*sorted(name for name in {*sys.modules} - before
              if re.match('autodiff_mini.wings.(more_numpy|writing)[.]', name)
              and 'patch' not in name))"""], text=True)
    assert left.split() == [
        f'autodiff_mini.wings.more_numpy.{name}' for name in (
            'along_axis', 'averages', 'selection', 'sorting',
            'statistics')]


def main():
    """Print the modules left, and what the programs return in each order."""
    left = [module.name for module in walk_packages(
        ad.__path__, 'autodiff_mini.') if module.name not in sys.modules]
    with get_context('fork').Pool(1, maxtasksperchild=1) as pool:
        print(json.dumps([left, pool.starmap(
            ran, [([], []), (left, []), ([], left[::-1])], 1)]))


def test_modules_of_wings_are_imported_when_a_program_asks_for_them():
    """They change nothing when they are imported first, or after staging."""
    left, (asked, first, after) = json.loads(subprocess.check_output([
        sys.executable, '-c',
        'from tests.house.test_imports import main; main()']))
    assert {'autodiff_mini.wings.more_numpy.scipy_special', 'autodiff_mini.draft',
            'autodiff_mini.wings.messages.advice'} <= {*left}
    for name in asked:
        assert first[name] == asked[name], name
        assert after[name] == asked[name], name
