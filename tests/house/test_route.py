"""Guard the route: the Python calls and files that a gradient takes."""

import sys
from pathlib import Path

import numpy as np

import autodiff_mini as ad

PACKAGE = Path(ad.__file__).parent
WINGS = ('fast', 'array_libraries', 'more_numpy', 'more_calls', 'writing',
         'messages')


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


def test_a_gradient_takes_few_calls_and_files():
    for call, x, most_calls, most_files in (
            (ad.grad(loss), np.arange(3.0), 150, 15),
            (lambda x: ad.jit(ad.vmap(ad.grad(loss)))(x), np.ones((4, 3)),
             640, 27)):
        steps = route(call, x)
        files = {file for file, _ in steps}
        assert len(steps) <= most_calls, '\n'.join(map(': '.join, steps))
        assert len(files) <= most_files, sorted(files)
