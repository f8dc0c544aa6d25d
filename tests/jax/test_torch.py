"""The puzzle in PyTorch, whose compiler loses a rule, as three pages say.

`make test-torch` installs PyTorch into a folder of its own and runs the
program of chapter 0. Without PyTorch, only the pages are compared.
"""

import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec

import pytest

from book.tools.places import ROOT
from tests.lie_test import harness
from tests.lie_test.__main__ import load
from tests.support import amount, last_page
from tests.support.versions import latest, numbers

FRONT, README, CHAPTER = PAGES = (
    'book/index.md', 'README.md', 'book/chapters/00_the_map.md')
QUAD = 'book/chapters/30_who_answers.md'
THREAD = 'https://github.com/pytorch/pytorch/pull/186303'

# The versions that chapter 0 says we ran. The three pages name the first one
# and the last one.
RAN = '2.13.0', '2.14.1', '2.15.0'

# What the compiled program leaves in `xs.grad`, from this version on.
COMPILED = {'2.13.0': [2.0, 2.0, 2.0, 2.0]}

CONJUGATE = '''
import torch
z = torch.tensor(1 + 2j, dtype=torch.complex128, requires_grad=True)
print(torch.autograd.grad(1j * z, z, torch.ones_like(z))[0].item())
print(torch.autograd.grad((z * z.conj()).real, z)[0].item())
torch.tensor([1, 2, 3], requires_grad=True)
'''

COMPILERS = [shutil.which(name) for name in ('g++', 'clang++', 'cl')]


@pytest.mark.parametrize('page', PAGES)
def test_the_page_says_which_pytorch_loses_a_rule(page):
    text = (ROOT / page).read_text()
    assert {f'PyTorch {RAN[0]} to {RAN[-1]}'} == {*re.findall(
        r'PyTorch \d+\.\d+\.\d+(?: to [\d.]*\d)?', text)}
    assert f']({THREAD})' in text


def test_chapter_0_and_make_name_versions_that_we_ran():
    assert f'{", ".join(RAN[:-1])}, and {RAN[-1]}' in (
        ROOT / CHAPTER).read_text()
    installed, = re.findall(r'(?m)^TORCH \?= (.*)$',
                            (ROOT / 'Makefile').read_text())
    assert installed in RAN


@pytest.mark.parametrize('backend', [
    pytest.param('inductor', marks=pytest.mark.skipif(
        not any(COMPILERS), reason="PyTorch's compiler needs one for C++")),
    'aot_eager'])
def test_compiled_pytorch_loses_the_rule_of_a_batched_function(
        backend, tmp_path):
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    if not find_spec('torch'):
        pytest.skip('PyTorch is not installed: `make test-torch` installs it')
    here = version('torch')
    if numbers(here) < numbers(RAN[0]):
        pytest.skip(f'the pages say nothing about PyTorch {here}')

    eager, compiled = slopes(backend, tmp_path)
    assert eager == [3.0, 3.0, 3.0, 3.0]
    assert compiled == latest(COMPILED, here), (
        f'PyTorch {here} {"fixed it" if compiled == eager else compiled}: '
        f'change the sentence on the front page ({FRONT}), in the README, '
        f'and in chapter 0 ({CHAPTER})')


def test_quad_gets_a_float_of_a_tensor_and_one_warning(tmp_path):
    """Chapter 30: a number without a gradient, from SciPy's integrator."""
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    if not find_spec('torch') or not find_spec('scipy'):
        pytest.skip('PyTorch or SciPy is not installed')
    program, = re.findall(r'(?ms)^```py\n(import torch\n.*?)^```$',
                          (ROOT / QUAD).read_text())
    (tmp_path / 'average.py').write_text(program)
    done = subprocess.run([sys.executable, '-W', 'always', 'average.py'],
                          cwd=tmp_path, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ['float', '0.6321']
    assert done.stderr.count('requires_grad=True to a scalar') == 1
    assert 'detach()' in done.stderr


def test_pytorch_multiplies_a_cotangent_by_the_conjugate(tmp_path):
    """Chapter 21: so its gradient points uphill. Integers have none."""
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    if not find_spec('torch'):
        pytest.skip('PyTorch is not installed: `make test-torch` installs it')
    (tmp_path / 'complex.py').write_text(CONJUGATE)
    done = subprocess.run([sys.executable, 'complex.py'], cwd=tmp_path,
                          text=True, capture_output=True)
    assert done.stdout.split() == ['-1j', '(2+4j)'], done.stderr
    assert 'Only Tensors of floating point and complex dtype' in done.stderr


def slopes(backend, folder):
    """Run the program of chapter 0; return what its two lines print."""
    program, = re.findall(r'(?ms)^```py\n(import torch\n.*?)^```$',
                          (ROOT / CHAPTER).read_text())
    assert program.count('torch.compile(total)') == 1
    (folder / 'puzzle.py').write_text(program.replace(
        'torch.compile(total)', f'torch.compile(total, backend={backend!r})'))
    done = subprocess.run([sys.executable, 'puzzle.py'], cwd=folder,
                          text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return [list(map(float, re.findall(r'\d\.', line)))
            for line in done.stdout.splitlines()]


@pytest.mark.parametrize('name', ['torch', 'torch_compiled'])
def test_last_page_counts_the_orders_of_pytorch(name):
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    if not (system := load(name)):
        pytest.skip('PyTorch is not installed: `make test-torch` installs it')
    title = system.version.replace('+cpu', '')
    if f'| {title} |' not in last_page.PAGE.read_text():
        pytest.skip(f'the page says nothing about {title}')
    found = harness.counted(harness.lie_test(system, 'backward and jvp', 3))
    assert last_page.counts(title) == [sum(found.values()), *found.values()]


def test_last_page_prints_the_puzzle_of_pytorch():
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    if not (system := load('torch_compiled')):
        pytest.skip('PyTorch is not installed: `make test-torch` installs it')
    title = system.version.replace('+cpu', '').removesuffix(', compiled')
    if f'| {title},' not in last_page.PAGE.read_text():
        pytest.skip(f'the page says nothing about {title}')
    orders = 'tape(f)', 'vmap(grad(f))', 'tape(vmap(f))', 'tape(compile(vmap(f)))'
    assert last_page.puzzle(f'{title},') == [
        harness.result(system, 'backward and jvp', harness.read(order)
                       ).found.value for order in orders]


def test_pytorch_takes_integers_for_the_cotangent_of_floats():
    """The rule of chapter 21, which stores 0.5 among integers."""
    if not amount.WHOLE:
        pytest.skip('`make test-torch` runs it')
    torch = pytest.importorskip(
        'torch', reason='`make test-torch` installs it')
    counts = torch.tensor([5, 7, 9])

    class Busiest(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x[2].clone()

        @staticmethod
        def backward(ctx, ct):
            x_bar = torch.zeros_like(counts)
            x_bar[counts.argmax()] = ct
            return x_bar

    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (0.5 * Busiest.apply(x)).backward()
    assert x.grad.tolist() == [0, 0, 0]
