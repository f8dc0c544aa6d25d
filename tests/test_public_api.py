"""The names that users see."""

import ast
import inspect
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

import autodiff_mini as ad

TREE = ast.parse(Path(ad.__file__).read_text())


def test_init_holds_imports_and_all_only():
    docstring, version, *body = TREE.body
    assert isinstance(docstring.value, ast.Constant)
    assert version.targets[0].id == '__version__'
    wings = [node for node in body if isinstance(node, ast.If)]
    *imports, names = body[:-len(wings)]
    assert all(isinstance(node, (ast.Import, ast.ImportFrom))
               for node in imports)
    assert names.targets[0].id == '__all__'
    for wing in wings:
        assert wing.test.func.id == 'find_spec' and not wing.orelse
        assert isinstance(wing.body[0], (ast.Import, ast.ImportFrom))
        assert all(isinstance(node, ast.AugAssign) and
                   node.target.id == '__all__' for node in wing.body[1:])


def test_all_is_complete_and_without_repeats():
    imported = {alias.asname or alias.name for node in ast.walk(TREE)
                if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert len(set(ad.__all__)) == len(ad.__all__)
    imported = set(filter(partial(hasattr, ad), imported - {'find_spec'}))
    assert set(ad.__all__) == imported


def test_all_has_what_api_promises_so_far():
    assert set(ad.__all__) >= {
        'jvp', 'stop_gradient', 'asarray', 'Zero', 'instantiate_zeros',
        'float0', 'ShapedArray', 'Tracer', 'typeof', 'tree_map',
        'tree_flatten', 'tree_unflatten', 'tree_leaves', 'tree_structure',
        'register_pytree_node', 'register_pytree_node_class',
        'UnexpectedTracerError', 'ConcretizationTypeError',
        'TracerBoolConversionError', 'TracerIntegerConversionError',
        'TracerArrayConversionError', 'jvp', 'vmap', 'linearize', 'vjp',
        'linear_transpose', 'grad', 'value_and_grad', 'jacfwd', 'jacrev',
        'hessian', 'make_jaxpr', 'eval_jaxpr', 'eval_shape', 'check_grads',
        'custom_jvp', 'SymbolicZero', 'zero_from_primal'}


@pytest.mark.parametrize('name, parameters', [
    ('jvp', 'f primals tangents has_aux=False'),
    ('vjp', 'f *primals has_aux=False'),
    ('linearize', 'f *primals has_aux=False'),
    ('linear_transpose', 'f *primals'),
    ('grad', 'f argnums=0 has_aux=False holomorphic=False allow_int=False'),
    ('value_and_grad', 'f argnums=0 has_aux=False holomorphic=False '
                       'allow_int=False'),
    ('jacfwd', 'f argnums=0 has_aux=False holomorphic=False '
               'allow_int=False'),
    ('jacrev', 'f argnums=0 has_aux=False holomorphic=False allow_int=False'),
    ('hessian', 'f argnums=0 has_aux=False holomorphic=False allow_int=False'),
    ('make_jaxpr', 'f static_argnums=() return_shape=False'),
    ('eval_jaxpr', 'jaxpr consts *args'), ('eval_shape', 'f *args **kwargs'),
    ('vmap', 'f in_axes=0 out_axes=0 axis_size=None'),
    ('check_grads', "f args order modes=('fwd', 'rev') eps=None atol=None "
                    'rtol=None'),
])
def test_arguments_are_those_that_api_promises(name, parameters):
    signature = inspect.signature(getattr(ad, name))
    given = signature.replace(return_annotation=signature.empty)
    assert str(given) == f'({", ".join(re.split(" (?!.rev)", parameters))})'


def public_functions():
    return [name for name in ad.__all__ if callable(getattr(ad, name))]


@pytest.mark.parametrize('name', public_functions())
def test_every_public_name_has_a_docstring(name):
    assert inspect.getdoc(getattr(ad, name))


@pytest.mark.parametrize('name', [
    name for name in public_functions()
    if inspect.isfunction(getattr(ad, name))
    and 'see `' not in inspect.getdoc(getattr(ad, name))])
def test_every_argument_is_documented(name):
    """Except where the docstring points elsewhere."""
    function = getattr(ad, name)
    for parameter in inspect.signature(function).parameters:
        assert f' {parameter}: ' in inspect.getdoc(function)


def test_no_module_shares_a_level_with_a_function_of_its_name():
    for name in ad.__all__:
        assert not inspect.ismodule(getattr(ad, name))


def test_importing_needs_numpy_alone():
    code = ("import sys, numpy; before = set(sys.modules)\n"
            "import autodiff_mini\n"
            "print(*sorted({m.split('.')[0] for m in sys.modules} "
            "- {m.split('.')[0] for m in before}))")
    out = subprocess.run([sys.executable, '-c', code], text=True,
                         capture_output=True, check=True).stdout.split()
    strangers = set(out) - set(sys.stdlib_module_names) - {'autodiff_mini'}
    assert 'autodiff_mini' in out and strangers == set()


def test_no_listing_of_the_library_is_wider_than_a_page():
    root = Path(ad.__file__).parent
    wide = [f'{path.name}:{number}' for path in root.rglob('*.py')
            for number, line in enumerate(path.read_text().splitlines(), 1)
            if len(line) > 78]
    assert not wide
