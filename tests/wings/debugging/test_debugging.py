"""Guard `debug_nans`: it names the user's line that makes the first NaN."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import dask.array as da
import numpy as np
import pytest

import autodiff_mini as ad
from tests.support.numerical import assert_same

X = np.array([1.0, 0.0])


@pytest.fixture(autouse=True)
def numpy_is_quiet():
    """Silence NumPy, whose warning would come before the error."""
    with np.errstate(all='ignore'):
        yield


def rooted(x):
    y = x * 2.0
    return np.sum(np.where(y > 0, np.sqrt(y), 0.0))     # the root


def length(x):
    root = np.sqrt(np.sum(x ** 2))      # the square, in the reverse pass
    return root


def step(c, x):
    c = c + x
    return np.sqrt(
        c - 1.0), c     # a root, in a loop


ruled = ad.custom_jvp(lambda x: np.log(x - 1.0))    # inside a function
ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0]))


@ad.custom_vjp
def bwd_ruled(x):
    return x * 1.0


def bwd_ruled_bwd(x, ct):
    return (np.log(x) * 0.0 * ct,)      # the bwd rule


bwd_ruled.defvjp(lambda x: (x * 1.0, x), bwd_ruled_bwd)


def looped(x):
    return ad.scan(step, x, np.arange(3.0))[0]


def chosen(x):
    return ad.cond(x > 0, np.sin, lambda x: np.log(x), x)     # a branch


# The program; the operation; is it in the reverse pass; the line.
FOUND = {
    'grad': (lambda: ad.grad(rooted)(X), 'mul', True, 'the root'),
    'jit_of_grad': (lambda: ad.jit(ad.grad(rooted))(X),
                    'mul', True, 'the root'),
    'jvp': (lambda: ad.jvp(length, (0 * X,), (X,)),
            'sqrt as its tangent', False, 'the square'),
    'a_scan': (lambda: looped(0.5), 'sqrt', False, 'return np.sqrt('),
    'a_branch': (lambda: ad.jit(chosen)(-1.0), 'log', False, 'a branch'),
    'a_function_with_a_rule': (lambda: ad.grad(ruled)(0.0), 'log', False,
                               '# inside a function'),
    'a_bwd_rule_under_jit': (lambda: ad.jit(ad.grad(bwd_ruled))(-1.0), 'log',
                             False, 'the bwd rule'),
}


@pytest.mark.parametrize('name', FOUND)
def test_debug_nans_names_the_line_of_the_first_nan(name):
    program, operation, backwards, words = FOUND[name]
    with pytest.raises(FloatingPointError) as e, ad.debug_nans():
        program()
    first, *rest = str(e.value).splitlines()
    assert first.startswith(f'invalid value (nan) encountered in {operation}')
    assert (', in the reverse pass,' in first) == backwards
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if words in line)
    assert f'{__file__}:{number}' in first
    assert not hasattr(e.value, '__notes__') or 'jit' not in name
    if name == 'jit_of_grad':
        assert first.endswith('in rooted')
        assert rest[:2] == ['    np.sqrt(y)', 'mul(0, inf) returned nan.']
        assert 'np.sqrt(np.where(x > 0, x, 1.0))' in rest[2]


HINTS = {
    'a_logarithm': (lambda x: np.log(x - 2.0),
                    'np.log(np.where(ok, x, 1.0))'),
    'a_power': (lambda x: (x - 2.0) ** 0.5, 'pow(-1, 0.5) returned nan'),
    'an_overflow': (lambda x: np.exp(1e3 * x) / np.exp(1e3 * x),
                    'subtract the largest exponent'),
    'x_log_x': (lambda x: (x - 1.0) * np.log(x - 1.0),
                'The infinity is log(0)'),
    'a_product': (lambda x: np.full((2, 2), np.inf) @ np.stack([x, -x]),
                  'matmul(float64[2,2], float64[2]) returned nan'),
    'complex_numbers': (lambda x: np.abs(np.exp(x * 1e3 + 1j) * 0.0),
                        '0 * inf is nan'),
}


def test_debug_nans_says_what_to_write():
    for f, words in HINTS.values():
        for program in (ad.jit(f), ad.grad(lambda x: np.sum(f(x)))):
            with pytest.raises(ad.NaNError) as e, ad.debug_nans():
                program(np.float64(1.0))
            assert words in str(e.value)


def test_debug_nans_names_the_line_of_a_pickled_program():
    jaxpr = pickle.loads(pickle.dumps(ad.make_jaxpr(ad.grad(rooted))(X)))
    with pytest.raises(ad.NaNError) as e, ad.debug_nans():
        ad.eval_jaxpr(jaxpr, jaxpr.consts, X)
    assert 'np.sqrt(y), 0.0))     # the root' in str(e.value)


def test_debug_nans_checks_arrays_of_other_libraries():
    with pytest.raises(ad.NaNError, match=r'mul\(0, inf\) returned nan'):
        with ad.debug_nans():
            ad.jit(ad.grad(rooted))(da.from_array(X))


def test_debug_nans_names_the_calls_that_lead_to_the_line():
    with pytest.raises(ad.NaNError) as e, ad.debug_nans():
        ad.grad(ad.jit(rooted))(X)
    [note] = e.value.__notes__
    assert note.startswith("in the operation 'jit'")
    assert e.value.place.startswith(f'{__file__}:')


def test_debug_nans_is_off_after_the_block_and_outside_its_thread():
    f = ad.jit(ad.grad(rooted))
    with ad.debug_nans():
        with ThreadPoolExecutor(1) as pool:
            elsewhere = pool.submit(
                np.errstate(all='ignore')(f), X).result()
        with ad.debug_nans():
            ad.grad(np.sin)(1.0)
        with pytest.raises(ad.NaNError):
            f(X)
    assert np.isnan(f(X)).tolist() == np.isnan(elsewhere).tolist() == [
        False, True]


def test_debug_nans_ignores_programs_without_nan():
    data = np.array([1.0, np.nan, 3.0])
    whole = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)),
                                      0.0)) / 0.0
    for program, x in ((np.nanmean, data), (whole, X), (looped, 2.0),
                       (lambda x: ad.jit(lambda x: (x, x))(x)[0][0], X)):
        expected = ad.value_and_grad(program)(x)
        with ad.debug_nans():
            result = ad.value_and_grad(program)(x)
        ad.tree_map(assert_same, result, expected)


def test_debug_nans_returns_arrays_that_belong_to_the_caller():
    x = np.ones(2)
    with ad.debug_nans():
        y, z = ad.jit(lambda x: (x, x))(x)
        c, _ = ad.scan(lambda c, _: (c, None), x, length=0)
    for a, b in ((x, y), (x, z), (y, z), (x, c)):
        assert not np.shares_memory(a, b)


def test_debug_nans_cannot_start_inside_a_transformation():
    def f(x):
        with ad.debug_nans():
            return np.sin(x)
    with pytest.raises(RuntimeError, match='debug_nans was entered inside '
                       'grad of .*f, which is running already'):
        ad.grad(f)(1.0)
