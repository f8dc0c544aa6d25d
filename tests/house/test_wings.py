"""Guard the wings: without one of them, everything else still works.

A wing is a folder of the package. Only the package imports it, if it is
there.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import autodiff_mini
from tests.support.modules import MODULES, imports
from tests.support.wings import needs

PACKAGE = Path(autodiff_mini.__file__).parent
TESTS = Path(__file__).parents[1]


class Wing(NamedTuple):
    """The contents of a wing, and what has to work without it.

    Args:
        tests: its own tests.
        names: the public names that it adds.
        selection: tests that touch the seam, as arguments of pytest.
        refused: programs, and words of their errors without the wing.
    """

    tests: list[str]
    names: list[str]
    selection: list[str]
    refused: dict[str, str] = {}


WINGS = {
    'fast': Wing(
        ['fast', 'fused'], ['backend'],
        ['test_lowering.py', 'test_user_primitive.py']),
    'fused': Wing(
        ['fused'], ['backend'],
        ['test_public_api.py', 'test_jit.py', 'test_lowering.py'],
        {"ad.jit(lambda x: x, backend='fused')":
         "Unknown backend 'fused': write 'numpy'"}),
    'array_libraries': Wing(
        ['test_dask.py', 'test_cupy.py'], [],
        ['test_public_api.py', 'test_lowering.py', 'test_scan.py', '-k',
         'not random'],
        {f'ad.{transform}(lambda x: x)(import_module("dask.array").ones(3))':
         'type Array cannot be traced: convert'
         for transform in ('grad', 'jit', 'vmap')}),
    'applications': Wing(
        ['test_implicit.py', 'test_ode.py', 'test_special.py'],
        ['logit', 'expit', 'log1pexp', 'logsumexp', 'fixed_point',
         'custom_root', 'root', 'odeint', 'custom_gradient',
         'closure_convert', 'jacfwd', 'jacrev', 'hessian'],
        ['test_public_api.py', 'test_trace.py']),
    'more_numpy': Wing(
        ['more_numpy', 'gallery', 'test_jax_gallery.py', 'test_textbook.py'],
        [],
        ['test_public_api.py', 'test_numpy_api.py', 'test_programs.py', '-k',
         'not has_a_program and not error_state'],
        {f'ad.jvp(lambda x: {program}, (X,), (X,))': words
         for program, words in {
             'np.sort(x)': 'numpy.sort is not',
             'np.sum(x, out=x)': 'numpy.sum with out= is not',
         }.items()}),
    'more_calls': Wing(
        ['gallery', 'test_jax_gallery.py', 'test_checkpoint.py',
         'test_custom_vmap.py', 'test_user_primitive.py', 'test_methods.py',
         'lie_test', 'test_lie_test.py', 'test_jax_lie_test.py'],
        ['custom_vmap', 'sequential_vmap', 'checkpoint', 'remat',
         'checkpoint_policies', 'fori_loop', 'switch', 'Primitive',
         'is_undefined_primal'],
        ['test_public_api.py', 'test_numpy_api.py', 'test_jaxpr.py']),
    'writing': Wing(
        ['gallery', 'test_jax_gallery.py', 'test_patch.py',
         'test_textbook.py'],
        ['patch_numpy'],
        ['test_public_api.py', 'test_numpy_api.py', '-k', 'not programs'],
        {f'ad.jvp(lambda x: {program}, (X,), (X,))': words
         for program, words in {
             'x.flat[0]': 'numpy.flatiter is not',
             '(x * 1).__setitem__(0, 2)':
                 r'is read-only: JVPTracer<float64\[3\]>.*without the wing',
         }.items()}),
    'writing.patch': Wing(
        ['test_patch.py', 'test_textbook.py'], ['patch_numpy'],
        ['test_public_api.py', 'test_numpy_api.py', '-k', 'not programs']),
    'debugging': Wing(
        ['test_seams.py', 'test_debugging.py', 'test_costs.py',
         'test_checking.py', 'book', 'exercises'],
        ['check_grads', 'cost', 'debug_nans', 'which', 'NaNError'],
        ['test_public_api.py', 'test_jit.py', 'test_signature.py'],
        {'ad.check_grads': "has no attribute 'check_grads'"}),
    'messages': Wing(
        ['test_errors.py', 'test_tracing_warnings.py', 'test_seams.py',
         'test_debugging.py', 'test_costs.py', 'test_checking.py',
         'test_methods.py', 'test_lambda_names.py',
         'test_method_advice.py', 'book',
         'exercises'],
        [],
        ['test_public_api.py', 'test_jit.py', 'test_signature.py', '-k',
         'not without_a_hash'],
        {'ad.jit(lambda x: x if x > 0 else -x)(1.0)':
             'Attempted boolean conversion of traced array .* in jit of '
             '<lambda>.*np.where',
         'ad.vmap(lambda n: [0, 1, 2][n])(np.arange(3))':
             r'The __index__\(\) method was called .* in vmap of '
             '<lambda>.*static',
         'ad.jvp(lambda x: np.matrix(x), (X,), (X,))':
             r'The numpy.ndarray conversion method __array__\(\) .*'
             'ad.Primitive',
         'ad.jit(lambda x: x)({1})': 'type set cannot be traced: pass an arr',
         '[ad.grad(lambda x: x * kept[0])(kept[0]) for kept in [[]]'
         ' if ad.grad(lambda x: kept.append(x) or x)(1.0)]':
             'Encountered an unexpected tracer: .* was used while grad of '}),
    'notebook': Wing(
        ['test_live.py', 'test_drawing.py', 'test_player.py'], ['watch'],
        ['test_public_api.py', 'test_jaxpr.py', 'test_copying.py']),
}
EXTENSIONS = {'fast': 'fused'}      # a wing, and one that needs it
CHECK = """if True:
    import math, pathlib, re, sys, numpy as np
    from importlib import import_module
    import autodiff_mini as ad
    assert ad.jit(lambda x: x * 2)(1.5) == 3.0
    print(*ad.__all__)
    print(*sys.modules)
    X = np.ones(3)
    for program, words in {refused}.items():
        try:
            eval(program)
        except Exception as error:
            assert re.search(words, str(error)), (program, error)
        else:
            assert False, program
    # An error inside a wing is not hidden.
    wing = pathlib.Path({wing!r})
    wing.mkdir()
    (wing / '__init__.py').write_text('import no_such_module')
    for name in [*sys.modules]:
        if name.startswith('autodiff_mini'):
            del sys.modules[name]
    import autodiff_mini
    autodiff_mini.grad"""


def python(directory, *arguments):
    """Run Python in a directory, with the package in it."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=directory, text=True,
        capture_output=True, env={'PYTHONPATH': str(directory), 'PATH': ''})


def without(name, tmp_path):
    """Link to the package without a wing, and return its missing folder.

    A copy would be compiled again.
    """
    there, here = PACKAGE, tmp_path / PACKAGE.name
    for part in 'wings', *name.split('.'):
        here.mkdir()
        for path in there.iterdir():
            if path.name != part:
                (here / path.name).symlink_to(path)
        there, here = there / part, here / part
    return here


@pytest.mark.parametrize('name', [
    pytest.param(name, marks=[needs(name), pytest.mark.rest])
    for name in WINGS])
def test_without_a_wing_other_tests_pass(name, tmp_path):
    without(name, tmp_path)
    wing = WINGS[name]
    shutil.copytree(TESTS, tmp_path / 'tests',
                    ignore=shutil.ignore_patterns('__pycache__', *wing.tests))
    for file in 'pyproject.toml', 'conftest.py':
        shutil.copy(TESTS.parent / file, tmp_path)
    files = [next((tmp_path / 'tests').rglob(x)) if x.endswith('.py') else x
             for x in wing.selection]
    ran = python(tmp_path, '-m', 'pytest', '-q', '-x', '--no-header', '-p',
                 'no:cacheprovider', '-p', 'no:xdist', *files)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


@pytest.mark.parametrize('name', [
    pytest.param(name, marks=needs(name)) for name in WINGS])
def test_without_a_wing_only_its_names_are_missing(name, tmp_path):
    """Programs that need it are refused with a general cure."""
    wing = str(without(name, tmp_path))
    ran = python(tmp_path, '-c', CHECK.format(
        refused=WINGS[name].refused, wing=wing))
    assert ran.stderr.endswith("No module named 'no_such_module'\n"), ran
    names, modules = map(str.split, ran.stdout.splitlines())
    assert {*names} == {*autodiff_mini.__all__} - {*WINGS[name].names}
    assert f'autodiff_mini.wings.{name}' not in modules


@pytest.mark.parametrize('name', WINGS)
def test_nothing_imports_a_wing_but_itself_and_the_package(name):
    inside = tuple(f'wings.{wing}.'
                   for wing in (name, EXTENSIONS.get(name, name)))
    for module in MODULES:
        if not f'{module}.'.startswith(inside):
            for needed in imports(module):
                assert not f'{needed}.'.startswith(inside[0]), module
