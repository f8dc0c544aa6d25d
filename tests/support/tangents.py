"""Tangents and cotangents for the programs of a table, with a seed."""

import numpy as np

import autodiff_mini as ad
from tests.tables.programs import is_inexact


def tangents_for(program, seed=0):
    """Return a seeded tangent for each argument: float0 for integers."""
    rng = np.random.default_rng(seed)
    return [random_tangent(rng, x) for x in program.args]


def random_tangent(rng, x):
    shape, dtype = np.shape(x), np.result_type(x)
    if not is_inexact(x):
        return np.zeros(shape, ad.float0)
    t = rng.uniform(0.5, 1.5, shape)
    if dtype.kind == 'c':
        t = t + 1j * rng.uniform(0.5, 1.5, shape)
    return type(x)(t) if isinstance(x, (float, complex)) else \
        np.asarray(t, dtype)[()]


def coarsest(program, y):
    """Return the least precise dtype that the numbers pass through."""
    narrow = [x for x in (y, *program.args) if is_inexact(x)]
    kinds = [np.result_type(x) for x in narrow]
    if program.step != 1e-3:
        kinds.append(np.dtype(np.float32))
    return min(kinds, key=lambda dtype: np.finfo(dtype).precision)


def cotangent_for(y, seed=1):
    """Return a seeded cotangent for an output."""
    return random_tangent(np.random.default_rng(seed), y)


def inexact_only(program):
    """Return the program of its inexact arguments, and these arguments."""
    where = program.perturbed()

    def f(*xs):
        args = list(program.args)
        for i, x in zip(where, xs, strict=True):
            args[i] = x
        return program.function(np, *args)
    return f, [program.args[i] for i in where]
