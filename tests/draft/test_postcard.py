"""What chapter 19 shows: the laws, and the answers in all orders."""

import contextlib
import itertools
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from autodiff_mini import draft
from autodiff_mini.draft import grad, linearize, scan, vmap
from autodiff_mini.draft.calls import custom_jvp_call_p
from autodiff_mini.draft.vmap import vmap_rules, vmap_with
from tests.draft.laws import LAWS, REASONS, ROWS, dye, inner, staged, tangent
from tests.support import amount

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / 'book/chapters/19_the_postcard.md'
POSTCARD = ROOT / 'book/assets/figures/postcard.svg'
APPENDIX = ROOT / 'book/appendix/the_laws.md'


# The laws on paper.

def test_the_appendix_shows_the_laws():
    [card] = re.findall(r'(?ms)^```text\n(.*?)^```$', APPENDIX.read_text())
    assert [line.strip() for line in card.splitlines() if re.search(
        '=|raises', line)] == [equation for column in LAWS.values()
                               for equation, _ in column.values()]


def postcard():
    """Return the laws of custom_jvp as the postcard writes them."""
    for column, laws in LAWS.items():
        _, right = laws['custom_jvp'][0].split(' = ')
        right = right.replace('linear', 'f')
        yield column, re.sub(r'(\w+)\((\w+)\)', r'\1 \2', right)


def test_the_postcard_has_the_laws_of_custom_jvp():
    words = [text.text for text in ET.parse(POSTCARD).iter(
        '{http://www.w3.org/2000/svg}text')]
    first = words.index('evaluate')
    assert words[first - 1] == 'custom_jvp(f, rule)'
    assert words[first:first + 21] == [
        word for column, right in postcard() for word in (column, '=', right)]


def test_the_chapter_describes_the_postcard():
    [said] = re.findall(r'!\[(.*)\]\(.*/postcard\.svg\)',
                        CHAPTER.read_text())
    assert ' '.join(f'{column}, {right}.' for column, right in postcard()
                    ) in said


# The nestings.

WRAPPERS = ROWS | {
    'outputs of a scan': lambda f: lambda x: scan(
        lambda c, x: (c, f(x)), 0.0, x * np.ones(2))[1][1],
    'vmap': lambda f: lambda x: vmap(f)(x * np.ones(2))[1], 'stage': staged}
DERIVATIVES = {'jvp': lambda f: lambda x: tangent(f)(x, 1.0), 'grad': grad,
               'linearize': lambda f: lambda x: linearize(f, x)[1](1.0)}


COUNTED = [*ROWS.keys() - {'linear'}, 'vmap', 'stage']     # by chapter 19


def orders(n, derivatives, wrapper_names, derivative_names):
    """Return all orders of `n` wrappers and some derivatives, by name."""
    length = n + derivatives
    return [names
            for places in itertools.combinations(range(length), derivatives)
            for names in itertools.product(*[
                derivative_names if i in places else wrapper_names
                for i in range(length)])]


def composed(f, names):
    for name in names:
        f = (WRAPPERS | DERIVATIVES)[name](f)
    return f


@pytest.mark.parametrize('wrappers, derivatives', [
    (1, 0), (1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize('f, slopes', [(dye, (1, 3, 9)), (inner, (1, 2, 6))],
                         ids=['outer', 'inner'])
def test_rule_is_kept_in_every_order(f, slopes, wrappers, derivatives):
    right = 0
    share = {3: 7, 4: 29}.get(wrappers + derivatives, 1)
    cases = orders(wrappers, derivatives, WRAPPERS, DERIVATIVES)[
        ::1 if amount.WHOLE else share]
    for names in cases:
        try:
            y = composed(f, names)(0.0)
        except TypeError as error:
            assert {'while', 'custom_vjp'} & {*names}, names
            assert re.search(REASONS, str(error)), names
        else:
            assert np.allclose(y, slopes[derivatives]), names
            right += 1
    assert right > 0.8 * len(cases)


# What chapter 19 counts, with the rule of chapter 5 and that of chapter 4.

def batch_what_is_inside(axis, *vals, fun, rule):
    return vmap_with(axis, fun)(*vals)


@pytest.mark.parametrize('derivatives, kept, lost', [
    (1, {3: 538}, {2: 52, 3: 487}),
    amount.rest(2, {9: 2019}, {4: 138, 6: 130, 9: 1757})])
def test_a_batching_rule_that_opens_calls_loses_rules(
        monkeypatch, derivatives, kept, lost):
    assert slopes_of_the_dye(derivatives) == kept
    monkeypatch.setitem(vmap_rules, custom_jvp_call_p, batch_what_is_inside)
    assert slopes_of_the_dye(derivatives) == lost


def slopes_of_the_dye(derivatives):
    """Count the answers of all orders that have one, by answer."""
    found = Counter()
    for names in orders(2, derivatives, COUNTED, ('jvp', 'grad')):
        with contextlib.suppress(TypeError):
            found[round(float(composed(dye, names)(0.0)))] += 1
    return found


# A copy of the draft, as the appendix on publishing makes it.

NEW_NAMES = {'autodiff_mini.draft': 'postcard', 'tests.draft.laws': 'laws'}


@pytest.mark.rest
def test_a_copy_with_a_new_name_keeps_the_laws(tmp_path):
    shutil.copytree(Path(draft.__file__).parent, tmp_path / 'postcard')
    for name in 'laws.py', 'test_draft_laws.py':
        text = (Path(__file__).parent / name).read_text()
        for old, new in NEW_NAMES.items():
            text = text.replace(old, new)
        (tmp_path / name).write_text(text)
    said = subprocess.run(
        [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider'],
        check=False, cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stdout
    assert f'{len(ROWS) * 7} passed' in said.stdout
