"""The wings come off: without them, everything else works as before.

A wing is a folder of the package.  Nothing imports it but the package, which
looks whether it is there.
"""

import ast
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import autodiff_mini
from tests.wings import needs

PACKAGE = Path(autodiff_mini.__file__).parent
TESTS = Path(__file__).parent


def folder(name):
    """Return the folder of a wing, from that of the package."""
    return name.replace('.', '/')


class Wing(NamedTuple):
    """What goes with a wing, and what has to work without it.

    Args:
        tests: the tests of its own.
        names: the public names that it brings.
        selection: tests that touch the seam, as arguments of pytest.
    """

    tests: list[str]
    names: list[str]
    selection: list[str]


WINGS = {
    'fast': Wing(
        ['fast'], [],
        ['test_lowering.py', 'test_user_primitive.py', '-k',
         'small or in_a_parameter or it_computes or error_tells or '
         'compiler or lowering or compiled_program']),
    'elsewhere': Wing(
        ['test_dask.py', 'test_cupy.py'], [],
        ['test_public_api.py', 'test_lowering.py', 'test_scan.py', '-k',
         'not random']),
    'applications': Wing(
        ['test_implicit.py', 'test_ode.py', 'test_special.py'],
        ['logit', 'expit', 'log1pexp', 'logsumexp', 'fixed_point',
         'custom_root', 'root', 'odeint', 'custom_gradient',
         'closure_convert', 'jacfwd', 'jacrev', 'hessian'],
        ['test_public_api.py', 'test_evaluate.py', 'test_core.py']),
    'more': Wing(
        ['more', 'gallery', 'test_jax_gallery.py', 'test_patch.py',
         'test_checkpoint.py',
         'test_textbook.py', 'test_custom_vmap.py',
         'test_user_primitive.py'],
        ['patch_numpy', 'custom_vmap', 'sequential_vmap',
         'checkpoint', 'remat', 'checkpoint_policies', 'fori_loop',
         'switch', 'Primitive', 'is_undefined_primal'],
        ['test_public_api.py', 'test_numpy_api.py', 'test_programs.py']),
    'more.patch': Wing(
        ['test_patch.py', 'test_textbook.py'], ['patch_numpy'],
        ['test_public_api.py', 'test_numpy_api.py', '-k', 'not programs']),
    'tools': Wing(
        ['test_errors.py', 'test_slips.py', 'test_seams.py', 'test_debugging.py',
         'test_costs.py', 'test_checking.py', 'test_methods.py', 'tools',
         'exercises'],
        ['check_grads', 'cost', 'debug_nans', 'which', 'NaNError'],
        ['test_public_api.py', 'test_jit.py', 'test_signature.py']),
    'notebook': Wing(
        ['test_live.py', 'test_drawing.py', 'test_player.py'], ['watch'],
        ['test_public_api.py', 'test_jaxpr.py', 'test_copying.py']),
}
each_wing = pytest.mark.parametrize('name', [
    pytest.param(name, marks=needs(name)) for name in WINGS])


def without(name, tmp_path):
    """Copies package and tests, but for a wing and its tests."""
    leave = shutil.ignore_patterns('__pycache__')
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=leave)
    shutil.copytree(TESTS, tmp_path / 'tests', ignore=leave)
    for file in 'pyproject.toml', 'conftest.py':
        shutil.copy(TESTS.parent / file, tmp_path)
    shutil.rmtree(tmp_path / PACKAGE.name / folder(name))
    for path in WINGS[name].tests:
        path = tmp_path / 'tests' / path
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def python(directory, *arguments):
    """Run Python in a directory, with the package that is there."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=directory, text=True,
        capture_output=True, env={'PYTHONPATH': str(directory), 'PATH': ''})


@pytest.mark.parametrize('name', [
    pytest.param(name, marks=[needs(name), pytest.mark.rest])
    for name in WINGS])
def test_without_a_wing_other_tests_pass(name, tmp_path):
    without(name, tmp_path)
    files = [f'tests/{x}' if x.endswith('.py') else x
             for x in WINGS[name].selection]
    ran = python(tmp_path, '-m', 'pytest', '-q', '-x', '--no-header', '-p',
                 'no:cacheprovider', '-p', 'no:xdist', *files)
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


@each_wing
def test_without_a_wing_only_its_names_are_missing(name, tmp_path):
    without(name, tmp_path)
    ran = python(tmp_path, '-c', 'import sys, autodiff_mini as ad\n'
                 'assert ad.jit(lambda x: x * 2)(1.5) == 3.0\n'
                 'print(*ad.__all__)\n'
                 'print(*(name for name in sys.modules))')
    assert ran.returncode == 0, ran.stderr
    names, modules = map(str.split, ran.stdout.splitlines())
    assert {*names} == {*autodiff_mini.__all__} - {*WINGS[name].names}
    assert f'autodiff_mini.{name}' not in modules


@needs('more')
def test_without_more_its_functions_and_out_are_refused_by_name(tmp_path):
    without('more', tmp_path)
    ran = python(tmp_path, '-c', 'import numpy as np, autodiff_mini as ad\n'
                 'x = np.ones(3)\n'
                 'for f in (lambda x: np.sort(x), lambda x: np.sum(x, out=x),'
                 ' lambda x: np.sin(x, out=x), lambda x: x.flat[0]):\n'
                 '    try:\n'
                 '        ad.jvp(f, (x,), (x,))\n'
                 '    except NotImplementedError as error:\n'
                 '        print(str(error).partition(" is not")[0])\n')
    assert ran.stdout.splitlines() == [
        'numpy.sort', 'numpy.sum with out=', 'numpy.sin with keywords',
        'numpy.flatiter'], ran.stderr


@needs('more')
@pytest.mark.parametrize('write', ['y[0] = 2', 'y += 2', 'y.fill(2)'])
def test_without_more_a_traced_array_refuses_to_be_written_into(
        write, tmp_path):
    without('more', tmp_path)
    ran = python(tmp_path, '-c', f"""if True:
        import numpy as np, autodiff_mini as ad
        def f(x):
            y = x * 1
            {write}
            return y
        ad.jvp(f, (np.ones(3),), (np.ones(3),))""")
    assert 'is read-only: JVPTracer<float64[3]>' in ran.stderr
    assert 'cannot change without the wing' in ran.stderr


@needs('elsewhere')
def test_without_elsewhere_only_arrays_of_numpy_can_be_traced(tmp_path):
    without('elsewhere', tmp_path)
    ran = python(tmp_path, '-c', """if True:
        import dask.array as da, autodiff_mini as ad
        for f in ad.grad, ad.jit, ad.vmap:
            try:
                f(lambda x: x)(da.ones(3))
            except TypeError as error:
                assert 'type Array cannot be traced: convert' in str(
                    error), error
            else:
                assert False, f""")
    assert ran.returncode == 0, ran.stderr


PROGRAMS = {    # by program: words of its error without the wing `tools`
    'ad.jit(lambda x: x if x > 0 else -x)(1.0)':
        'Attempted boolean conversion of traced array .* in jit of <lambda>.*'
        'np.where',
    'ad.vmap(lambda n: [0, 1, 2][n])(np.arange(3))':
        r'The __index__\(\) method was called .* in vmap of <lambda>.*static',
    'ad.grad(math.sin)(1.0)':
        'Abstract tracer value encountered .*NumPy functions',
    'ad.jvp(lambda x: np.matrix(x), (X,), (X,))':
        r'The numpy.ndarray conversion method __array__\(\) .*ad.Primitive',
    'ad.grad(float)(1.0)': 'NumPy functions',
    'ad.grad(np.sin(1.0))': 'grad takes a function first: pass the function',
    'ad.jit(np.sin)("text")': 'str cannot be traced',
    'ad.jit(lambda x: x)({1})': 'type set cannot be traced: pass an array',
    '[ad.grad(lambda x: x * kept[0])(kept[0]) for kept in [[]]'
    ' if ad.grad(lambda x: kept.append(x) or x)(1.0)]':
        'Encountered an unexpected tracer: .* .* was used while grad of .*lambda> was not',
    'ad.check_grads': "has no attribute 'check_grads'$",
}


@needs('tools')
def test_without_the_wing_of_words_errors_say_a_cure_in_general(tmp_path):
    without('tools', tmp_path)
    ran = python(tmp_path, '-c', f"""if True:
        import math, re, numpy as np, autodiff_mini as ad
        X = np.ones(2)
        for program, words in {PROGRAMS}.items():
            try:
                eval(program)
            except Exception as error:
                assert re.search(words, str(error)), (program, error)
            else:
                assert False, program""")
    assert ran.returncode == 0, ran.stderr


@each_wing
def test_an_error_inside_a_wing_is_not_hidden(name, tmp_path):
    without(name, tmp_path)
    wing = tmp_path / PACKAGE.name / folder(name)
    wing.mkdir()
    (wing / '__init__.py').write_text('import no_such_module')
    ran = python(tmp_path, '-c', 'import autodiff_mini')
    assert "No module named 'no_such_module'" in ran.stderr


@each_wing
def test_nothing_imports_a_wing_but_itself_and_the_package(name):
    wing = f'{PACKAGE.name}.{name}'
    for path in PACKAGE.rglob('*.py'):
        home = PACKAGE / folder(name)
        if home in path.parents or path in (
                PACKAGE / '__init__.py', home.parent / '__init__.py'):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                modules = [getattr(node, 'module', None) or '',
                           *(alias.name for alias in node.names)]
                assert not any(f'{module}.'.startswith(f'{wing}.')
                               for module in modules), path
