"""Guard bodies that close over views: they compute what NumPy computes.

The body belongs to a loop, a branch, a compiled function, or a custom
function. It reads a view that was made outside, makes a view of it, or
writes.
"""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.errors import ReadOnlyError
from tests.support import amount
from tests.tables import random_writing

X = np.arange(1., 10.).reshape(3, 3)
FIRST = (       # of y, which has the shape (3, 3)
    'y', 'y.T', 'y[1:]', 'y[:, ::2]', 'y[::-1]', 'y[0]', 'y[None]',
    'np.moveaxis(y, 0, -1)', 'np.flip(y)', 'np.real(y)',
    'np.split(y, [1])[1]', 'list(y)[1]', 'y.reshape(9, 1)', 'np.ravel(y)',
    'np.squeeze(y)', 'np.diagonal(y)', 'y.flat',
    'np.broadcast_to(y, (2, 3, 3))', 'np.einsum("ij->ji", y)')
SECOND = (      # of v, which is the first view
    'v', 'v[0]', 'v[..., 0]', 'v[::-1]', 'v[None]', 'v[[0, 0]]', 'v.T',
    'v.ravel()', 'v.flat[0]', 'next(iter(v[:]))',
    'v[np.argmax(v[..., 0]) % len(v)]', 'np.moveaxis(v, 0, -1)')
MAYBE = FIRST[FIRST.index('y.reshape(9, 1)'):]      # views or copies
PROGRAM = '''def program(x):
    y = x * 2
    v = {first}
    c = x[0, :2] * 0.3
    held = []
    def g(t):
        w = {second}
        {inside}
        return t * 0.5 + np.sum(w * weights(w))
    {outside}
    return np.sum(np.sin(r)) + np.sum(v)'''
READING = {     # the uses of the view, in the body and outside
    'read': ('pass', 'r = {G}(c)'),
    'copy': ('w = np.array(w, like=t); w *= t[0]; w[...] += 1', 'r = {G}(c)'),
    'before': ('pass', 'y[0] = x[1] * x[0]; r = {G}(c)'),
    'after': ('pass', 'r = {G}(c); y[0] = x[1] * x[0]; r += {G}(c)'),
    'view': ('pass', 'v *= 0.5; r = {G}(c); v[...] = 0.3; r += {G}(c)'),
    'twice': ('pass', 'r = {G}(lambda t: {G}(t) * 0.5)(c)'),
}
WRITING = {
    'held': ('held.append(w)', 'r = {G}(c); y[0] = x[1]; r += {G}(c)'),
    'part': ('w[...] = 0.5', 'r = {G}(c)'),
    'more': ('w += t[0]', 'r = {G}(c)'),
    'whole': ('v[...] = 0.5', 'r = {G}(c)'),
    'base': ('y[0] = 0.5', 'r = {G}(c)'),
}
PURE = 'read', 'copy', 'twice'
# By design, rules cover only arguments, and a while_loop has no reverse mode.
RULED = 'custom_jvp', 'custom_vjp', 'while_loop'


def programs(tasks, body):
    """Yield programs with this body; with `--all`, for every first view."""
    start = random_writing.TRANSFORMS.index(body)
    for i, first in enumerate(FIRST):
        if amount.WHOLE or (i + start) % len(FIRST) < 2:
            task = list(tasks)[(7 * start + i) % len(tasks)]
            inside, outside = tasks[task]
            source = PROGRAM.format(
                first=first, second=SECOND[(start + i) % len(SECOND)],
                inside=inside, outside=outside.replace(
                    '{G}(c)', '{G}(g)(c)').replace(
                    '{G}(t)', '{G}(g)(t)').replace('{G}', f'T.{body}'))
            yield first, task, source


@pytest.mark.parametrize('body', random_writing.TRANSFORMS)
def test_a_body_reads_a_view_of_a_view_that_it_closes_over(body):
    for first, task, source in programs(READING, body):
        wrong, _, refused = random_writing.wrongs_of(source)
        assert wrong == [], source
        if body not in RULED and (task in PURE or first not in MAYBE):
            assert refused == 0, source


@pytest.mark.parametrize('body', random_writing.TRANSFORMS)
def test_a_body_writes_into_a_closed_over_view_or_is_refused(body):
    for _, _, source in programs(WRITING, body):
        wrong, _, _ = random_writing.wrongs_of(source)
        # If no array is traced, Python writes when the body is recorded, and
        # not each time that it runs.
        wrong = [line for line in wrong if not line.startswith('value:')]
        assert wrong == [], source


def test_a_view_by_a_mapped_index_is_not_written_while_in_use():
    """Each example sees another part of memory that all of them share."""
    def f(x):
        def g(t):
            u = np.floor(x)
            row = u[np.argmax(t)]
            before = np.sum(row)
            del row
            u[...] = 1.0
            return before * np.sum(u[np.argmax(t)])

        def seen(t):
            u = np.floor(x)
            row = u[np.argmax(t)]
            u[...] = 1.0
            return np.sum(row)
        with pytest.raises(ReadOnlyError, match='may share memory'):
            ad.vmap(seen)(x)
        return np.sum(ad.vmap(g)(x))
    assert ad.jit(f)(X) == 3 * 3 * (7 + 8 + 9)
