"""Guard the route: the Python calls and files that a gradient takes."""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import autodiff_mini as ad

PACKAGE = Path(ad.__file__).parent
WINGS = 'fast', 'elsewhere', 'more', 'tools'


def loss(x):
    return np.sum(np.sin(x) * x)


def route(call, *args):
    """Return the calls of library functions, as (file, name)."""
    steps = []

    def note(frame, event, arg):
        code = frame.f_code
        if event == 'call' and code.co_filename.startswith(f'{PACKAGE}/'):
            steps.append((code.co_filename[len(f'{PACKAGE}/'):],
                          code.co_qualname))

    with ad.plain(*WINGS):
        call(*args)     # fill the caches
        sys.setprofile(note)
        try:
            call(*args)
        finally:
            sys.setprofile(None)
    return steps


def compiled_gradients(xs):
    return ad.jit(ad.vmap(ad.grad(loss)))(xs)


@pytest.mark.parametrize('call, args, most_calls, most_files', [
    (ad.grad(loss), np.arange(3.0), 156, 13),
    (compiled_gradients, np.ones((4, 3)), 680, 25),
], ids=['grad', 'jit_vmap_grad'])
def test_a_value_passes_few_frames(call, args, most_calls, most_files):
    steps = route(call, args)
    files = {file for file, _ in steps}
    assert len(steps) <= most_calls, Counter(steps).most_common(20)
    assert len(files) <= most_files, sorted(files)
