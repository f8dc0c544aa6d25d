"""The short road of a gradient equals the usual one."""

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.wings.fast import short_road as short, tape
from tests.wings.fast.both_ways import check_both_ways

X, Y = np.array([0.5, -1.0, 2.0]), np.float64(0.5)

pytestmark = pytest.mark.usefixtures('prepare_at_once')


@pytest.fixture
def taken(monkeypatch):
    """Return a list of what the short road returned."""
    found, original = [], short.short_gradient

    def note(*args):
        found.append(original(*args))
        return found[-1]
    monkeypatch.setattr(ad.core.seams.short_gradient, 'taken', note)
    return found


def cube(x):
    return x * x * x


def write(x):
    x[...] = 2.0
    return x


def norm(tree):
    return sum(np.sum(np.sin(x) * x) for x in ad.tree_leaves(tree))


USUAL = {
    'float': (ad.grad(cube), 2.0),
    'identity': (ad.grad(lambda x: x), 2.0),
    'negated': (ad.grad(lambda x: -x), 2.0),
    'scalar': (ad.grad(cube), Y),
    'an array without axes': (ad.grad(cube), np.array(0.5)),
    'an identity, without axes': (ad.value_and_grad(lambda x: x),
                                  np.array(0.5)),
    'float32': (ad.grad(cube), np.float32(0.1)),
    'long double': (ad.grad(cube), np.longdouble(0.1)),
    'array': (ad.grad(norm), X),
    'in Fortran order': (ad.grad(norm), np.asfortranarray(np.outer(X, X))),
    'value': (ad.value_and_grad(norm), X),
    'tree': (ad.value_and_grad(norm), {'a': X, 'b': (1.5, [Y])}),
    'the same array twice': (ad.grad(norm), [X, X]),
    'other arguments': (ad.grad(lambda x, y: np.sum(x * y)), X, X),
    'a keyword': (lambda x, y: ad.grad(
        lambda x, y: np.sum(x * y))(x, y=y), X, X),
    'argnums': (ad.grad(lambda x, n, y: np.sum(x * y) * n, (2, 0)), X, 3, X),
    'argnums of one': (ad.grad(cube, (0,)), 2.0),
    'a negative argnum': (ad.grad(lambda x, y: np.sum(x * y), -1), X, X),
    'not used': (ad.grad(lambda x, y: np.sum(x), (0, 1)), X, Y),
    'aux': (ad.grad(lambda x: (np.sum(x * X), {'x': x, 'n': 3}),
                    has_aux=True), X),
    'value and aux': (ad.value_and_grad(lambda x: (x * x, [x, X]),
                                        has_aux=True), 2.0),
    'a copy is returned': (ad.grad(lambda x: np.sum(x)), X),
    'examples': (ad.vmap(ad.grad(norm)), np.outer(X, X)),
    'numbers': (ad.vmap(ad.value_and_grad(cube)), X),
    'number itself': (ad.vmap(ad.value_and_grad(lambda x: x)), X),
    'shared': (ad.vmap(ad.grad(lambda x, y: np.sum(x * y)), (None, 0)),
               X, np.outer(X, X)),
    'a shared number': (ad.vmap(ad.grad(
        lambda x, y: np.sum(x * y), (0, 1)), (None, 0)), 2.0, X),
    'trees': (ad.vmap(ad.grad(norm), ({'a': 0, 'b': None},)),
              {'a': X, 'b': (1.5, [Y])}),
    'aux of examples': (ad.vmap(ad.grad(
        lambda x: (np.sum(x * X), {'x': x, 'n': 3}), has_aux=True)),
        np.outer(X, X)),
}


@pytest.mark.parametrize('name', USUAL)
def test_usual_gradients_take_the_short_road(name, taken):
    f, *args = USUAL[name]
    check_both_ways(f, *args)
    [found] = taken
    assert type(found) is tuple


# Each returns something that the short road hands over, or refuses.
SURPRISES = {
    'a constant': (ad.grad(lambda x: 3.0), 2.0),
    'another argument': (ad.grad(lambda x, y: x, 1), 1.0, 2.0),
    'an array': (ad.grad(lambda x: x * X), X),
    'an array of no axes': (ad.grad(lambda x: np.asarray(np.sum(x))), X),
    'a tree': (ad.grad(lambda x: (x, x)), 2.0),
    'None': (ad.grad(lambda x: None), 2.0),
    'a string': (ad.grad(lambda x: 'x'), 2.0),
    'an integer': (ad.grad(lambda x: np.sign(x).astype(int)), 2.0),
    'a complex number': (ad.grad(lambda x: x * 1j), 2.0),
    'no pair': (ad.grad(lambda x: x, has_aux=True), 2.0),
    'a list for a pair': (ad.grad(lambda x: [x, x], has_aux=True), 2.0),
    'a pair of an array': (ad.grad(lambda x: (x, x), has_aux=True), X),
    'integers': (ad.grad(cube), 3),
    'complex numbers': (ad.grad(cube), 2.0 + 1j),
    'an argument too few': (ad.grad(cube, 1), 2.0),
    'no argument': (ad.grad(cube),),
    'an object': (ad.grad(cube), object()),
    'an array of objects': (ad.grad(cube), np.array([None])),
    'one argument twice': (ad.grad(cube, (0, 0)), 2.0),
    'a write': (ad.grad(lambda x, y: y.fill(0.0)), 2.0, X),
    'an error': (ad.grad(lambda x: 1 // 0), 2.0),
    'an escaped tracer': (ad.grad(lambda x: ESCAPED[0] * x), 2.0),
    'an old tracer': (ad.grad(lambda x: ESCAPED[0]), 2.0),
    'holomorphic': (ad.grad(cube, holomorphic=True), 2.0 + 1j),
    'not holomorphic': (ad.grad(cube, holomorphic=True), 2.0),
    'integers allowed': (ad.grad(lambda n: 2.0, allow_int=True), 3),
    'no numbers': (ad.vmap(ad.grad(lambda x: x * X)), np.outer(X, X)),
    'constants': (ad.vmap(ad.grad(lambda x: 3.0)), X),
    'vectors': (ad.vmap(ad.grad(lambda x: x)), np.outer(X, X)),
    'an example that is written into': (ad.vmap(ad.grad(
        lambda x, y: y.fill(0.0))), X, np.outer(X, X)),
    'examples of integers': (ad.vmap(ad.grad(cube)), np.arange(3)),
    'truth of an example': (ad.vmap(ad.grad(
        lambda x: x if -x else x)), X),
    'a value that is written into': (ad.vmap(lambda x: write(
        ad.value_and_grad(lambda x: x)(x)[0])), X),
    'an argument that is written into': (ad.vmap(lambda x: write(
        ad.grad(lambda x, y: write(y) * x)(x, x))), X),
}
ESCAPED = []
ad.grad(lambda x: ESCAPED.append(x) or x)(1.0)


@pytest.mark.parametrize('name', SURPRISES)
def test_a_surprise_has_the_outcome_of_the_general_road(name):
    f, *args = SURPRISES[name]
    check_both_ways(f, *args)


@pytest.mark.parametrize('out', [
    lambda x: x, lambda x: x * X, lambda x: (x, x), lambda x: None])
def test_the_function_runs_once(out):
    runs = []
    try:
        ad.grad(lambda x: runs.append(x) or out(x))(2.0)
    except TypeError:
        pass
    assert len(runs) == 1


def test_transformations_outside_take_the_general_road(taken):
    nested = [ad.grad(ad.grad(cube)),
              lambda x: ad.make_jaxpr(ad.grad(cube))(x).eqns and 0.0,
              lambda x: ad.jvp(ad.grad(cube), (x,), (1.0,)),
              lambda x: ad.vmap(ad.vmap(ad.grad(cube)))(np.array([[x]])),
              lambda x: ad.jvp(ad.vmap(ad.grad(cube)), (X * x,), (X,)),
              lambda x: ad.jvp(lambda x: ad.grad(cube)(2.0) * x, (x,), (x,))]
    for f in nested:
        taken.clear()
        check_both_ways(f, 2.0)
        assert tape.record_flat in taken
    with ad.plain():
        taken.clear()
        ad.grad(cube)(2.0)
        assert taken == []


def test_results_belong_to_the_caller():
    x = np.ones(3)
    slope, aux = ad.grad(
        lambda x: (np.sum(x * X), x), has_aux=True)(x)
    slope[:], aux[:] = 7.0, 8.0
    assert np.all(x == 1.0) and X[0] == 0.5
    first, second = ad.grad(lambda x, y: np.sum(x + y), (0, 1))(x, x)
    first[:] = 7.0
    assert np.all(second == 1.0)


def test_a_trace_that_ends_in_an_error_is_left():
    for error in KeyError, KeyboardInterrupt:
        def f(x):
            raise error
        with pytest.raises(error):
            ad.grad(f)(2.0)
        assert type(np).__name__ == 'module'
        assert ad.core.trace.current_trace() is ad.core.trace.Trace.base
