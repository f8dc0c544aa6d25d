"""README is short, and its limits and commands are as it says."""

import math
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.linalg

import autodiff_mini as ad
from book.tools.places import ROOT


def test_the_readme_is_short_and_starts_with_what_this_is():
    text = (ROOT / 'README.md').read_text()
    order = [text.index(words) for words in (
        'is a book ', '](book/assets/readme.png)', 'make book ', 'make test ',
        'pip install .', 'import autodiff_mini', '\n## Limits\n',
        '\n| to | run |\n', '\n<!-- benchmarks -->\n')]
    assert order == sorted(order)
    seen = re.sub(r'(?s)<!--.*?-->|!\[[^]]*\]\([^)]*\)', '', text)
    words = re.sub(r'\]\([^)]*\)', ']', seen).split()
    assert len([word for word in words if re.search(r'\w', word)]) <= 600


@pytest.mark.filterwarnings('ignore:the matrix subclass')
def test_the_limits_of_the_readme_are_errors():
    """Otherwise, the README has to say so."""
    absolute = lambda x: x if x > 0 else -x
    for transform, f, x in [
            (ad.grad, lambda x: float(x) * x, 2.0), (ad.grad, math.sin, 2.0),
            (ad.jit, absolute, 2.0), (ad.vmap, absolute, np.ones(2)),
            (ad.grad, lambda x: x * x, 3), (ad.grad, in_a_thread, 2.0),
            (ad.grad, lambda x: scipy.linalg.expm(x).sum(), np.eye(2)),
            (ad.grad, np.sum, np.ma.array([1.0])),
            (ad.grad, np.sum, np.asmatrix(1.0)),
            (ad.jit, np.sum, np.array([None]))]:
        with pytest.raises(TypeError):
            transform(f)(x)


def in_a_thread(x):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: ad.grad(lambda x: x * x)(3.)).result() == 6
        return pool.submit(lambda: 2 * x).result()


def test_jit_freezes_random_numbers_as_the_readme_says():
    f = ad.jit(lambda x: x * np.random.default_rng().random())
    assert f(1.0) == f(1.0)


def test_every_command_of_the_readme_is_one_of_make():
    commands = re.findall(r'(?m)^([a-z-]+): .*## ',
                          (ROOT / 'Makefile').read_text())
    found = re.findall(r'make ([a-z][a-z-]*)',
                       (ROOT / 'README.md').read_text())
    assert found and {*found} <= {*commands, 'help'}
