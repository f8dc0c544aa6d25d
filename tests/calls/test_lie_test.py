"""The lie test: the library and the draft lose no rule, and chapter 4 does.

The first half tests the test, with a system whose verdicts are known.
"""

import inspect
import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

from book.tools.places import ROOT
from tests.lie_test import harness
from tests.lie_test.__main__ import load, main
from tests.support import last_page
from tests.support.amount import rest

FOLDER = ROOT / 'tests/lie_test'

# A function c exp(2x) whose derivative has the factor k, as its rule says.
KNOWN = '''
import math
from dataclasses import dataclass, replace

version, number = 'a system', 0.0

@dataclass
class Function:
    c: float
    k: float
    __call__ = lambda self, x: self.c * math.exp(2 * x)

plain, rules = Function(1, 2), {'its rule': Function(1, 3)}
derivatives = {'slope': lambda f: replace(f, c=f.c * f.k)}
wrappers = {'same': lambda f: f,
            'opened': lambda f: replace(f, k=2),
            'zero': lambda f: replace(f, c=f.c * (f.k == 2)),
            'refused': lambda f: {2: f}[f.k],
            'broken': lambda f: 1 / 0,
            'two': lambda f: replace(f, c=2 * f.c)}
'''


@pytest.fixture
def known():
    names = {}
    exec(KNOWN, names)
    return SimpleNamespace(**names)


@pytest.mark.parametrize('order, answer, verdict', [
    ('slope(f)', 3, 'kept'),
    ('slope(same(slope(f)))', 9, 'kept'),
    ('slope(opened(f))', 2, 'lost'),
    ('slope(opened(slope(f)))', 6, 'lost'),
    ('slope(zero(f))', 0, 'wrong'),
    ('slope(refused(f))', None, 'refused'),
    ('slope(broken(f))', None, 'fails anyway'),
    ('slope(two(f))', 6, 'fails anyway')])
@pytest.mark.parametrize('forks', [False, pytest.param(
    True, marks=pytest.mark.skipif(not hasattr(os, 'fork'),
                                   reason='this system has no fork'))])
def test_lie_test_knows_its_verdicts(known, forks, order, answer, verdict):
    known.forks = forks
    found = harness.result(known, 'its rule', harness.read(order))
    assert (found.found.value, found.verdict) == (answer, verdict)
    assert (found.found.error is None) == (answer is not None)


def test_lie_test_runs_every_order_that_has_a_derivative(known):
    every = list(harness.orders(known, 3))
    assert len(every) == len({*every}) == 1 + (7**2 - 6**2) + (7**3 - 6**3)
    assert all('slope' in order for order in every)
    known.must_have = {'opened'}
    assert [*harness.orders(known, 3)] == [
        order for order in every if 'opened' in order]


def test_copied_lie_test_runs_a_file_with_a_new_system(tmp_path):
    """It needs nothing else from the project, not even a library."""
    shutil.copytree(FOLDER, tmp_path / 'lie_test')
    (tmp_path / 'mine.py').write_text(KNOWN)
    text = subprocess.run(
        [sys.executable, '-m', 'lie_test', 'mine.py', '--depth', '2'],
        cwd=tmp_path, check=True, text=True, capture_output=True).stdout
    assert words_of('a system', text) == [
        'its', 'rule', '14', '5', '1', '2', '2', '4']
    assert re.search(r'slope\(opened\(f\)\) +lost: 2, should be 3\n', text)


def words_of(system, table):
    """Return the words of a row, without the name and the seconds."""
    row, = [line for line in table.splitlines() if line.startswith(system)
            and not line.endswith(':')]
    return row.removeprefix(system).split()[:-1]


# The library, the draft, and the bad control.

@pytest.mark.parametrize('system, rule, depth, counts', [
    ('autodiff_mini', 'custom_jvp', 2, [47, 0, 0, 0, 1]),
    ('autodiff_mini', 'custom_vjp', 2, [13, 0, 0, 34, 1]),
    ('draft', 'custom_jvp', 2, [47, 0, 0, 0, 1]),
    ('draft', 'custom_vjp', 2, [13, 0, 0, 34, 1]),
    ('chapter_4', 'custom_transforms', 2, [44, 3, 0, 0, 1]),
    rest('autodiff_mini', 'custom_jvp', 3, [535, 0, 0, 0, 26]),
    rest('autodiff_mini', 'custom_vjp', 3, [121, 0, 0, 414, 26]),
    rest('draft', 'custom_jvp', 3, [528, 0, 0, 0, 33]),
    rest('draft', 'custom_vjp', 3, [120, 0, 0, 408, 33]),
    rest('chapter_4', 'custom_transforms', 3, [463, 65, 0, 0, 33])])
def test_lie_test_counts_orders_that_lose_a_rule(system, rule, depth, counts):
    results = list(harness.lie_test(load(system), rule, depth))
    found = harness.counted(results)
    assert found == dict(zip(harness.VERDICTS, counts, strict=True))
    for result in results:      # each error is one that the book explains
        if result.verdict == 'refused':
            assert 'custom_vjp' in result.found.error, result
            assert {'jvp', 'linearize'} & {*result.order}, result
        if result.verdict == 'fails anyway':
            assert 'while' in result.order, result


def test_bad_control_has_the_decorator_of_chapter_4():
    text, = ROOT.glob('book/chapters/04_*.md')
    assert inspect.getsource(load('chapter_4').custom_transforms) in (
        text.read_text())


# The last page of the book.

PUZZLE = ['grad(f)', 'vmap(grad(f))', 'grad(vmap(f))', 'grad(jit(vmap(f)))']


def test_last_page_prints_the_puzzle_of_the_library():
    ours = load('autodiff_mini')
    assert last_page.puzzle('autodiff_mini') == [
        harness.result(ours, 'custom_jvp', harness.read(order)).found.value
        for order in PUZZLE]


def test_last_page_counts_the_orders_of_autograd():
    pytest.importorskip('autograd', reason='`make bench` installs it')
    system = load('autograd')
    name = system.version
    if last_page.PAGE.read_text().count(name) != 2:
        pytest.skip(f'the page says nothing about {name}')
    slopes = [harness.result(system, 'primitive', (order,)).found.value
              for order in ('grad', 'elementwise_grad')]
    assert last_page.puzzle(name) == [*slopes, None, None]
    found = harness.counted(harness.lie_test(system, 'primitive', 3))
    assert last_page.counts(name) == [sum(found.values()), *found.values()]


# What the command prints.

def test_lie_test_shows_one_order(capsys):
    main(['chapter_4', 'autodiff_mini', '--rule', 'custom_jvp',
          '--order', 'grad(jit(vmap(f)))'])
    main(['chapter_4', '--order', 'grad(jit(vmap(f)))'])
    main(['chapter_4', '--order', 'compile(f)'])
    lines = [line.partition(': ')[2]
             for line in capsys.readouterr().out.splitlines()]
    assert lines == ['', 'kept: 3, should be 3',
                     '', 'lost: 2, should be 3', '', 'no compile']


def test_lie_test_refuses_a_system_that_it_does_not_know(capsys):
    with pytest.raises(SystemExit):
        main(['numpyro'])
    assert 'no file numpyro; choose from autodiff_mini, ' in (
        capsys.readouterr().err)
