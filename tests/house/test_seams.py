"""Guard seams.py: what wings replace, and that nothing else is replaced."""

import ast
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core import seams
from tests.support.wings import needs

PACKAGE = Path(ad.__file__).parent
WINGS = sorted({path.name for path in (PACKAGE / 'wings').iterdir()
                if path.is_dir()} - {'__pycache__'})
X = np.arange(3.0)


def loss(x):
    return np.sum(np.sin(x) * x)


def test_the_interpreters_of_the_book_run_inside_plain():
    with ad.plain():
        ran = ad.which(ad.grad(loss), X)
    assert ran == ['interpreters.partial_eval.PartialEvalTrace',
                   'interpreters.jvp.JVPTrace',
                   'interpreters.transpose.backward_pass']


@needs('fast')
def test_the_tape_runs_outside_of_plain():
    assert ad.which(ad.grad(loss), X) == [
        'interpreters.partial_eval.PartialEvalTrace', 'fast.tape.TapeTrace',
        'fast.tape.Tape.pull']


@needs('fast')
def test_a_program_runs_with_the_current_compiler():
    f = ad.jit(loss)
    assert ad.which(f, X)[-1] == 'fast.compiler.FastLowered'
    assert ad.which(f, X) == ['fast.compiler.FastLowered']
    with ad.plain():
        assert ad.which(f, X) == ['interpreters.lowering.Lowered']
        plainly = f(X)
    assert f(X) == plainly and f.guard


def test_observers_see_vmap():
    assert 'interpreters.vmap.BatchTrace' in ad.which(
        ad.jit(ad.vmap(loss)), np.ones((2, 3)))


@needs('fast')
def test_plain_holds_in_its_own_context_until_an_error():
    with ad.plain(), ThreadPoolExecutor(1) as pool:
        [elsewhere] = pool.map(lambda x: ad.which(ad.grad(loss), x), [X])
    assert 'fast.tape.TapeTrace' in elsewhere
    with pytest.raises(ZeroDivisionError), ad.plain():
        1 / 0
    assert 'fast.tape.TapeTrace' in ad.which(ad.grad(loss), X)


def test_plain_takes_names_of_wings_and_nests():
    assert {*WINGS} <= {*seams.WINGS}
    with ad.plain('messages'), ad.plain():
        assert seams.off.get() == ('messages', 'fast')


def test_plain_refuses_a_wing_that_does_not_exist():
    with pytest.raises(ValueError, match="Unknown wing 'more': write one of "
                       "'fast', 'fused', 'more_numpy', "), ad.plain('more'):
        pass
    assert seams.off.get() == ()


def test_at_most_one_wing_takes_a_seam():
    for seam in vars(seams).values():
        if isinstance(seam, seams.Seam):
            assert seam.wing in {None, *WINGS}
            assert callable(seam.plain) or seam.plain is None
            if isinstance(seam, seams.MemorySeam):
                assert seam.run is (seam.taken or seam.plain)


def uses_of_seams():
    """Yield the name of a seam and how it is used, for each use."""
    for path in PACKAGE.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Attribute(ast.Attribute(ast.Name('seams'), name),
                                   'run' | 'taken' as way):
                    yield name, way
                case ast.Call(ast.Attribute(ast.Name('seams'), name)):
                    yield name, 'call'


def test_a_seam_is_called_in_one_way():
    ways = {}
    for name, way in uses_of_seams():
        if isinstance(getattr(seams, name), seams.Seam):
            ways.setdefault(name, set()).add(way)
    assert len(ways) > 30
    for name, found in ways.items():
        of_memory = isinstance(getattr(seams, name), seams.MemorySeam)
        assert found <= ({'run'} if of_memory else {'call', 'taken'}), name
    assert {name for name, found in ways.items() if 'taken' in found} == {
        'ask', 'note', 'transpose', 'enter_outermost', 'leave_outermost'}


def test_a_wing_does_not_patch_the_core():
    """A wing replaces code only at a seam; it also adds rules to tables."""
    of_core = {*vars(ad.core.trace), *(
        parts[-1] for parts in (name.split('.') for name in sys.modules)
        if parts[0] == 'autodiff_mini' and parts[1:2] != ['wings'])}
    for wing in WINGS:
        for path in (PACKAGE / 'wings' / wing).rglob('*.py'):
            text = path.read_text()
            imported = {alias.asname or alias.name
                        for node in ast.walk(ast.parse(text))
                        if isinstance(node, ast.Import | ast.ImportFrom)
                        for alias in node.names}
            for name in re.findall(r'^ *(\w+)\.\w+ [-+|&]?= ', text, re.M):
                assert name not in of_core & imported, path


def held():
    """Return the contents of the core's modules and classes, by name."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.split('.')[0] == 'autodiff_mini' and (
                {'draft', 'wings'}.isdisjoint(name.split('.'))):
            for key, value in [*vars(module).items()]:
                inside = vars(value) if isinstance(value, type) else (
                    value if isinstance(value, dict) else {})
                found[name, key] = value
                found |= {(name, key, x): y for x, y in inside.items()}
    return found


@needs('notebook')
def test_the_player_replaces_no_method_and_no_rule():
    """It replaces the seams `ask` and `transpose`, and restores them."""
    ad.watch(ad.grad(loss), X)      # import everything on demand first
    before, inside = held(), {}

    def f(x):
        inside.update(held())
        return loss(x)

    ad.watch(ad.grad(f), X)
    assert [name for name, value in before.items()
            if inside[name] is not value] == []
    assert not seams.ask.taken and not seams.transpose.taken
