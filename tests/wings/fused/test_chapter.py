"""What *How fast is it?* says about the fused backend, in no cell."""

import re
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad
from book.tools import weave

pytest.importorskip('numba', reason='numba compiles the kernels')

from autodiff_mini.wings.fused import native  # noqa: E402

PAGE = Path(weave.__file__).parents[1] / 'appendix/how_fast.md'
FENCE = re.compile(r'(?ms)^```(?:python|py) *\n(.*?)^```$')


def test_the_page_shows_the_source_of_the_gradient():
    text = PAGE.read_text()
    imports = re.search(r'(?ms)^```\w+ tags=\["imports"\]\n(.*?)^```', text)
    [program] = [x for x in FENCE.findall(text) if "backend='fused'" in x]
    scope = {}
    with np.printoptions():     # which the chapter sets
        exec(imports[1], scope)
        exec(program.replace('print', 'str'), scope)
    [shown] = [x for x in FENCE.findall(text) if '@kernel' in x]
    plain = lambda text: re.sub(
        r'took \S+|  +# line \d+|(?<=# line )\d+', '', text)
    source = plain(scope['slope'].source)
    for piece in plain(shown).strip().split('\n\n'):
        assert piece in source


def test_kernels_of_arrays_contain_no_powers_and_no_sines():
    f = ad.jit(lambda x: np.sin(x) * x ** 2.5 + x ** 3 - x ** 2 * x,
               backend='fused')
    f(np.linspace(0.0, 1.0, 100_000))
    assert '@kernel' in f.source
    assert 'sin: only NumPy' in f.source or 'pow' in f.source
    kernels = re.findall(r'(?s)@kernel.*?\n\n', f.source)
    assert not any(word in kernel for kernel in kernels
                   for word in ('sin(', '**', 'power('))


def test_llvm_loses_the_flag_of_a_value_that_is_not_chosen():
    """Or a kernel would not have to keep its bits."""
    @native.kernel('d', 'd')
    def lost(x, y):
        clear(ALL)
        for i in range(x.size):
            y[i] = choose(x[i] != 0.0, 1.0 / x[i], 0.0)
        return raised(ALL, 0)

    @native.kernel('d', 'd')
    def kept(x, y):
        clear(ALL)
        kept = 0
        for i in range(x.size):
            z = 1.0 / x[i]
            kept |= bits(z)
            y[i] = choose(x[i] != 0.0, z, 0.0)
        return raised(ALL, kept)

    for n in 1, 7, 8, 40:
        x, y = np.zeros(n), np.ones(n)
        assert kept(x, y) == native.flags()['divide'] and not y.any()
        assert lost(x, y) == 0
