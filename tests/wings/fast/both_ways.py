"""Run a program in the interpreters and on the tape, and compare."""

import re
import warnings
from contextlib import nullcontext

import numpy as np

import autodiff_mini as ad
from tests.support.identical import assert_identical


def both_ways(f, *args):
    """Return the outcome of `f` in the interpreters and on the tape.

    An outcome is the result or the error, and the warnings.
    """
    ways = []
    for way in ad.plain(), nullcontext():
        with way, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter('always')
            try:
                out = f(*args)
            except Exception as error:
                out = type(error), str(error), getattr(
                    error, '__notes__', None)
            ways.append((out, {str(w.message) for w in said}))
    return ways


def check_both_ways(f, *args, places=True):
    """Assert the same bits or error, and the same warnings.

    Without `places`, an error can name another line where a tracer was made,
    because the tape knows where a value comes from that the interpreters meet
    first in a rule.
    """
    (expected, said), (actual, heard) = both_ways(f, *args)
    assert ad.tree_structure(actual) == ad.tree_structure(expected)
    if isinstance(expected, tuple) and isinstance(expected[0], type):
        assert cut(actual, places) == cut(expected, places)
    else:
        assert_identical(actual, expected)
        assert all(y.flags.writeable for y in ad.tree_leaves(actual)
                   if np.ndim(y))
    assert heard == said
    return actual


def cut(outcome, places):
    """Return an error's outcome, with or without where a tracer was made."""
    kind, text, notes = outcome
    return kind, text if places else re.sub(r'made at \S+ ', '', text), notes
