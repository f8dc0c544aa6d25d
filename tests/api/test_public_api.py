"""The names that users see."""

import ast
import functools
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import autodiff_mini as ad
from tests.support.wings import needs


def loaded_after(*statements):
    """Return the modules that a fresh Python has after these statements."""
    code = '\n'.join([*statements, 'import sys', 'print(*sys.modules)'])
    ran = subprocess.run([sys.executable, '-c', code], text=True,
                         capture_output=True, check=True)
    return {*ran.stdout.split()}


def test_all_is_complete_and_without_repeats():
    names = [name for names in ad.PUBLIC.values() for name in names.split()]
    assert sorted(ad.__all__) == sorted([*names, *ad.wings.NAMES])
    assert all(getattr(ad, name) is not None for name in ad.__all__)


def test_editors_read_what_each_name_is():
    stub = ast.parse(Path(ad.__file__).with_suffix('.pyi').read_text())
    names = [ast.literal_eval(node.value) for node in stub.body
             if isinstance(node, ast.Assign)
             and node.targets[0].id == '__all__']
    assert {*names[0]} >= {*ad.__all__}


def test_rare_modules_are_imported_on_demand():
    modules = {f'autodiff_mini.{where.rpartition(".")[0]}'
               for where in ad.places().values()
               if where.startswith(('wings.', 'calls.'))
               and 'patch' not in where}
    before = loaded_after('import numpy')
    brought = loaded_after('import autodiff_mini', 'import numpy as np',
                           'autodiff_mini.grad(np.sin)(1.0)') - before
    assert modules and not brought & {
        *modules, 'html', 'json', 'statistics', 'pathlib', 'pkgutil',
        'string', 'threading', 'traceback',
        'autodiff_mini.wings.writing.assignment',
        'autodiff_mini.wings.fast.simplify'}
    brought = loaded_after('from autodiff_mini import *') - before
    assert modules <= brought
    strangers = {name.partition('.')[0] for name in brought}
    assert strangers - {*sys.stdlib_module_names} == {'autodiff_mini'}


@needs('fast')
def test_the_first_program_brings_the_compiler_of_the_wing():
    """The part that takes loops apart comes with the first loop."""
    compiler, fission = 'autodiff_mini.wings.fast.compiler', (
        'autodiff_mini.wings.fast.fission')
    first = 'import autodiff_mini as ad', 'ad.jit(abs)(1.0)'
    assert loaded_after(*first) & {compiler, fission} == {compiler}
    assert fission in loaded_after(
        *first, 'ad.jit(lambda x: ad.scan(lambda c, _: (c, c), x, '
        'length=2))(1.0)')


@pytest.mark.parametrize('name, parameters', [
    ('jvp', 'f primals tangents has_aux=False'),
    ('vjp', 'f *primals has_aux=False'),
    ('linearize', 'f *primals has_aux=False'),
    ('linear_transpose', 'f *primals'),
    ('grad', 'f argnums=0 has_aux=False holomorphic=False allow_int=False'),
    ('value_and_grad', 'f argnums=0 has_aux=False holomorphic=False '
                       'allow_int=False'),
    pytest.param('jacfwd', 'f argnums=0 has_aux=False holomorphic=False '
                 'allow_int=False', marks=needs('applications')),
    ('make_jaxpr', 'f static_argnums=() return_shape=False'),
    ('eval_jaxpr', 'jaxpr consts *args'), ('eval_shape', 'f *args **kwargs'),
    ('vmap', 'f in_axes=0 out_axes=0 axis_size=None'),
    pytest.param(
        'check_grads', "f args order modes=('fwd', 'rev') eps=None atol=None "
        'rtol=None', marks=needs('debugging')),
])
def test_arguments_are_those_that_api_promises(name, parameters):
    signature = inspect.signature(getattr(ad, name))
    given = signature.replace(return_annotation=signature.empty)
    assert str(given) == f'({", ".join(re.split(" (?!.rev)", parameters))})'


def test_every_public_name_has_a_docstring_with_its_arguments():
    """Unless the docstring refers to another one."""
    for name in ad.__all__:
        public = getattr(ad, name)
        text = inspect.getdoc(public) if callable(public) else 'a value'
        assert text, name
        if inspect.isfunction(public) and 'see `' not in text:
            for parameter in inspect.signature(public).parameters:
                assert f' {parameter}: ' in text, name


def double(x):
    """Twice x."""
    return 2 * x


WRAPPED = {name: getattr(ad, name)(double) for name in [
    'grad', 'value_and_grad', 'jacfwd', 'jacrev', 'hessian', 'vmap', 'jit',
    'make_jaxpr', 'checkpoint', 'custom_jvp', 'custom_vjp', 'custom_vmap',
    'custom_gradient', 'sequential_vmap'] if hasattr(ad, name)}


def test_a_transformed_function_keeps_name_and_signature():
    for f in WRAPPED.values():
        assert (f.__name__, f.__qualname__) == ('double', 'double')
        assert f.__doc__ == 'Twice x.' and str(inspect.signature(f)) == '(x)'
        kind = type(f).__name__
        assert repr(f).startswith('<function double at ' if kind == 'function'
                                  else f'<{kind} of double>')


class Doubler:
    def __call__(self, x):
        return double(x)


@pytest.mark.parametrize('f, name, doc', [
    (functools.partial(double), 'double', 'Twice x.'),
    (Doubler(), 'Doubler', None)])
def test_transformed_partials_and_objects_have_a_readable_name(f, name, doc):
    """Not grad.<locals>.grad_of_f, or the name of a class of jit."""
    for transform in {*WRAPPED} - {'custom_gradient'}:
        found = getattr(ad, transform)(f)
        assert found.__name__ == found.__qualname__ == name
        assert name in repr(found) and '<locals>' not in repr(found)
        assert found.__doc__ == doc


@pytest.mark.parametrize('made, text', [
    (lambda: ad.vjp(double, 1.0)[1], '<Pullback from vjp of double>'),
    (lambda: ad.linearize(double, 1.0)[1],
     '<Pushforward from linearize of double>'),
    (lambda: ad.linear_transpose(double, 1.0),
     '<Pullback from linear_transpose of double>'),
    (lambda: ad.tree_structure({'a': (1, 2)}), "PyTreeDef({'a': (*, *)})"),
    (lambda: ad.make_jaxpr(double)(1.0).eqns[0].invars,
     '[Literal(2), Var(float64[])]'),
    pytest.param(lambda: ad.Primitive('twice'), 'twice',
                 marks=needs('more_calls')),
    pytest.param(lambda: ad.watch(double, 1.0),
                 f"1  {'The result is 2.':50}  2",
                 marks=needs('notebook')),
])
def test_the_repr_of_a_transformed_object_names_its_function(made, text):
    assert repr(made()) == text


def test_no_listing_of_the_library_is_wider_than_a_page():
    root = Path(ad.__file__).parent
    wide = [f'{path.name}:{number}' for path in root.rglob('*.py')
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if len(line) > 78]
    assert not wide
