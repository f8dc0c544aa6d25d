"""The gallery: gradients of programs that users might bring.

The arrays are small, so the times measure the systems and not NumPy.
The gallery has the programs whose functions autograd supports.
"""

from functools import partial
from time import process_time
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

import autodiff_mini as ad
from tests.benchmarks.measure import seconds
from tests.benchmarks.peers import anp, autograd
from tests.tables.gallery import GALLERY

TURNS, TURN = 7, 0.005  # seconds
WARM = 40   # calls, after which operations are prepared
NAMED = {'gaussian_processes': 'Gaussian processes',
         'hidden_markov': 'hidden Markov models'}


def gallery():
    """Return the theme, the label, and {column: seconds} of each program."""
    return [{'theme': NAMED.get(piece.theme, piece.theme.replace('_', ' ')),
             'label': str(piece), 'seconds': found}
            for piece in GALLERY if autograd and (found := measured(piece))]


def measured(piece):
    """Return {column: seconds}, or None if autograd cannot do it."""
    from autograd.scipy import special
    theirs = {'np': anp, 'sc': special, 'ad': SimpleNamespace(
        grad=autograd.grad, logsumexp=special.logsumexp)}
    numbers = tuple(range(len(piece.args)))
    ours = ad.value_and_grad(piece.function, numbers)
    calls = {'eager': (partial(ours, *piece.args), {}),
             'autograd': (partial(autograd.value_and_grad(
                 piece.function, numbers), *piece.args), theirs)}
    if not piece.branches:
        calls['jit'] = partial(ad.jit(ours), *piece.args), {}
    best, values = {}, {}
    for turn in range(TURNS):
        for name, (call, globals) in calls.items():
            with patch.dict(piece.function.__globals__, globals):
                try:
                    for _ in range(1 if turn else WARM):
                        values[name] = call()
                except Exception:
                    if name == 'autograd':
                        return None
                    raise
                start = process_time()
                call()
                repeat = max(1, round(TURN / (process_time() - start)))
                took = seconds(call, repeat) / repeat
            best[name] = min(took, best.get(name, took))
    return best if agree(values) else None


def agree(values):
    """Return whether the values are equal, and the gradients nearly so.

    If a program has a tie, autograd chooses other slopes.
    """
    (y, ours), (z, theirs) = values['eager'], values['autograd']
    return np.allclose(y, z) and all(
        np.allclose(a, b, 1e-6, 1e-6 * np.max(np.abs(a), initial=0))
        for a, b in zip(ad.tree_leaves(ours), ad.tree_leaves(theirs)))
