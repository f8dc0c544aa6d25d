"""Guard signature.py: keywords to positions, trees to flat lists.

D11 and D18 are rows of the page what_the_documents_ask.
"""

import functools

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.signature import exact_count, resolve_kwargs
from autodiff_mini.core.trees import FlatFunction, map_leaves


def plain(x, y, n=2):
    return x * y ** n


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


@functools.wraps(plain)
def wrapped(*args, **kwargs):
    return plain(*args, **kwargs)


def test_keywords_are_resolved_to_positions():
    """D11; D18: 1938 and 2069, keywords, defaults, functools.wraps."""
    for f, args, kwargs, expected in (
            (plain, (1, 2), {}, (1, 2, 2)),
            (plain, (), {'n': 3, 'y': 5, 'x': 1}, (1, 5, 3)),
            (positional, (1, 2), {'n': 3}, (1, 2, 3)),
            (wrapped, (1,), {'y': 5}, (1, 5, 2)),
            (functools.partial(plain, 1), (), {'y': 5}, (5, 2)),
            (Model(), (1,), {'n': 3}, (1, 3)),
            (Model().__call__, (1,), {'n': 3}, (1, 3)),
            (catch_all, (1,), {}, (1,))):
        assert resolve_kwargs(f, args, kwargs) == (expected, {})


def test_keyword_only_arguments_keep_their_names():
    for f, args, kwargs, positions, names in (
            (keyword_only, (), {'scale': 2.0, 'x': 1}, (1,), {'scale': 2.0}),
            (lambda *xs, k=1: xs, (1, 2, 3), {}, (1, 2, 3), {'k': 1}),
            (several, (1,), {'c': 5, 'a': 3}, (1,), {'a': 3, 'b': 2, 'c': 5}),
            (functools.partial(several, b=7), (1,), {'a': 3},
             (1,), {'a': 3, 'c': 4}),
            (functools.partial(plain, y=7), (1,), {'n': 3}, (1,), {'n': 3}),
            (functools.wraps(several)(lambda *args, **kwargs: None), (1,),
             {'a': 3}, (1,), {'a': 3, 'b': 2, 'c': 4})):
        found = resolve_kwargs(f, args, kwargs)
        assert found == (positions, names) and [*found[1]] == [*names]


CALLS = {    # words of the error: a function, arguments
    r'plain\(x, y, n=2\): missing .*x': (plain, (), {}),
    r'plain\(x, y, n=2\): too many positional': (plain, (1, 2, 3, 4), {}),
    "unexpected keyword argument 'z'": (plain, (1, 2), {'z': 1}),
    "multiple values for argument 'x'": (plain, (1, 2), {'x': 1}),
    'positional': (positional, (1,), {'y': 2}),
    r'keyword_only\(x, \*, scale\)': (keyword_only, (1, 2), {}),
    "several.*'a'": (several, (1,), {'b': 2.0}),
    'not be resolved to positions: b':
        (functools.partial(several, b=7), (1,), {'a': 3, 'b': 2}),
    'positions: a, b': (catch_all, (1,), {'a': 2, 'b': 3}),
    'functools.partial': (catch_all, (1,), {'a': 2}),
    'of max, whose .* positions: key': (max, (1,), {'key': abs}),
}


def test_calls_that_cannot_be_resolved_name_the_function():
    for words, (f, args, kwargs) in CALLS.items():
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


def test_map_leaves_names_the_leaf_that_fails():
    def positive(x):
        if x < 0:
            raise ValueError(f'{x} is negative')
        return x

    names = lambda: ['args[0]', 'args[1]', 'args[2]']
    with pytest.raises(ValueError, match=r"^args\[1\]: -2 is negative$"):
        map_leaves(positive, names, [1, -2, -3])
    unnamed = lambda: pytest.fail('names are asked for without need')
    assert map_leaves(positive, unnamed, [1]) == [1]


def test_jit_without_static_arguments_reads_no_signature(monkeypatch):
    """Reading it three times took longer than all else that `jit(f)` does."""
    def refuse(f):
        raise AssertionError('the signature is read')
    monkeypatch.setattr('autodiff_mini.core.signature.signature_of', refuse)
    assert ad.jit(lambda x: x * 2)(3.0) == 6.0


def test_the_number_of_arguments_of_a_plain_function_is_known():
    partial, count = functools.partial, exact_count
    assert count(plain) == count(positional) == 3
    assert count(partial(plain, 1)) == count(partial(positional, 1)) == 2
    assert count(partial(partial(plain, 1), 2)) == 1
    for f in (partial(plain, n=3), partial(Model(), 1), keyword_only,
              catch_all, partial(catch_all, 1), Model(), np.sin):
        assert count(f) is None


def test_the_rule_of_a_partial_gets_its_other_arguments():
    f = ad.custom_jvp(functools.partial(plain, 3.0))
    f.defjvp(lambda primals, tangents: (f(*primals), 7.0 * tangents[0]))
    assert ad.grad(f)(2.0, 2) == ad.grad(f)(2.0) == 7.0
    assert f(2.0, 2) == f(2.0) == 12.0
    with pytest.raises(TypeError, match='too many'):
        f(1.0, 2, 3)
