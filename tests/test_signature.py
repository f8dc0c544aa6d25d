"""signature.py: keywords to positions, trees to flat lists."""

import functools

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.pytree import FlatFunction, map_leaves
from autodiff_mini.signature import resolve_kwargs


def plain(x, y, n=2):
    return x * y ** n


def starred(x, *rest, scale=1.0):
    return x


def positional(x, y, /, n=2):
    return x


def keyword_only(x, *, scale):
    return x


def several(x, *, a, b=2, c=4):
    return x


def catch_all(x, **options):
    return x


class Model:
    def __call__(self, x, n=2):
        return x

    def method(self, x, n=2):
        return x

    @classmethod
    def made(cls, x, n=2):
        return x

    @staticmethod
    def free(x, n=2):
        return x


@functools.wraps(plain)
def wrapped(*args, **kwargs):
    return plain(*args, **kwargs)


@pytest.mark.parametrize('f, args, kwargs, expected', [
    (plain, (1, 2), {}, (1, 2, 2)),
    (plain, (1, 2, 3), {}, (1, 2, 3)),
    (plain, (1,), {'y': 5}, (1, 5, 2)),
    (plain, (), {'n': 3, 'y': 5, 'x': 1}, (1, 5, 3)),
    (positional, (1, 2), {'n': 3}, (1, 2, 3)),
    (wrapped, (1,), {'y': 5}, (1, 5, 2)),
    (functools.partial(plain, 1), (5,), {}, (5, 2)),
    (functools.partial(plain, 1), (), {'y': 5}, (5, 2)),
    (Model(), (1,), {'n': 3}, (1, 3)),
    (Model().method, (1,), {'n': 3}, (1, 3)),
    (Model.made, (), {'x': 1}, (1, 2)),
    (Model.free, (), {'x': 1}, (1, 2)),
    (catch_all, (1,), {}, (1,)),
    (lambda x, y=3: x, (1,), {}, (1, 3)),
])
def test_keywords_find_their_positions(f, args, kwargs, expected):
    """D11; D18: 1938 and 2069, keywords, defaults, functools.wraps."""
    assert resolve_kwargs(f, args, kwargs) == (expected, {})


@pytest.mark.parametrize('f, args, kwargs, expected', [
    (keyword_only, (1,), {'scale': 2.0}, ((1,), {'scale': 2.0})),
    (keyword_only, (), {'scale': 2.0, 'x': 1}, ((1,), {'scale': 2.0})),
    (starred, (1, 2, 3), {}, ((1, 2, 3), {'scale': 1.0})),
    (starred, (1,), {'scale': 2.0}, ((1,), {'scale': 2.0})),
    (several, (1,), {'c': 5, 'a': 3}, ((1,), {'a': 3, 'b': 2, 'c': 5})),
    (functools.partial(several, b=7), (1,), {'a': 3},
     ((1,), {'a': 3, 'c': 4})),
    (functools.partial(plain, y=7), (1,), {'n': 3}, ((1,), {'n': 3})),
    (functools.wraps(several)(lambda *args, **kwargs: None), (1,), {'a': 3},
     ((1,), {'a': 3, 'b': 2, 'c': 4})),
])
def test_keyword_only_arguments_keep_their_names(f, args, kwargs, expected):
    found = resolve_kwargs(f, args, kwargs)
    assert found == expected and [*found[1]] == [*expected[1]]


@pytest.mark.parametrize('f, args, kwargs, words', [
    (plain, (), {}, r'plain\(x, y, n=2\): missing .*x'),
    (plain, (1, 2, 3, 4), {}, r'plain\(x, y, n=2\): too many positional'),
    (plain, (1,), {'z': 1}, r'plain\(x, y, n=2\).*y'),
    (plain, (1, 2), {'z': 1}, "unexpected keyword argument 'z'"),
    (plain, (1, 2), {'x': 1}, "multiple values for argument 'x'"),
    (positional, (1,), {'y': 2}, 'positional'),
    (keyword_only, (1, 2), {}, r'keyword_only\(x, \*, scale\)'),
    (several, (1,), {'b': 2.0}, "several.*'a'"),
    (functools.partial(several, b=7), (1,), {'a': 3, 'b': 2},
     'not be resolved to positions: b'),
    (keyword_only, (1,), {}, 'scale'),
    (catch_all, (1,), {'a': 2, 'b': 3}, 'positions: a, b'),
    (catch_all, (1,), {'a': 2}, 'functools.partial'),
    (max, (1,), {'key': abs}, 'of max, whose .* positions: key'),
])
def test_calls_that_cannot_be_resolved_name_the_function(
        f, args, kwargs, words):
    with pytest.raises(TypeError, match=words):
        resolve_kwargs(f, args, kwargs)


def test_functions_without_a_signature_take_positions():
    assert resolve_kwargs(max, (1, 2), {}) == ((1, 2), {})
    assert resolve_kwargs(max, [1, 2], {}) == ((1, 2), {})
    assert resolve_kwargs(np.sin, (1,), {}) == ((1,), {})


def test_flat_function_keeps_aux_apart():
    in_tree = ad.tree_structure((1,))
    f = FlatFunction(lambda x: ((x, x), {'log': [x, 'text']}), in_tree, True)
    outs = f(3)
    assert outs == [3, 3, 3, 'text']
    assert f.split(outs) == ([3, 3], {'log': [3, 'text']})
    assert f.out_tree == ad.tree_structure((1, 1))


def positive(x, y=0):
    if x < 0:
        raise ValueError(f'{x} is negative')
    return x + y


def names():
    return ['args[0]', 'args[1]', 'args[2]']


def test_map_leaves_names_the_leaf_that_fails():
    with pytest.raises(ValueError, match=r"^args\[1\]: -2 is negative$"):
        map_leaves(positive, names, [1, -2, -3])


def test_map_leaves_asks_for_names_only_in_need():
    def no_names():
        raise AssertionError('not needed')

    assert map_leaves(positive, no_names, [1]) == [1]
