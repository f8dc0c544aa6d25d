import numpy as np
import pytest

import autodiff_mini as ad

W = np.linspace(0.1, 2.0, 6)
X = W * np.exp(W)
SLOPES = 1 / (np.exp(W) * (1 + W))


def watched(exercise, f, *args):
    """Returns what the compiled `f` returns, its source, and who was asked.

    Of `implementation` and `newton` the calls are noted; but not those that
    abstract evaluation makes, with numbers that are ones.
    """
    calls = []

    def watch(name):
        def noted(x):
            if np.all(x != 1):
                calls.append((name, np.shape(x)))
            return run(x)
        run = getattr(exercise, name)
        return noted

    exercise.newton = watch('newton')
    exercise.lambertw_p.impl = watch('implementation')
    compiled = ad.jit(f)
    out = compiled(*args)
    return out, compiled.source, calls


def test_newton_is_called(exercise):
    out, source, calls = watched(exercise, exercise.lambertw, X)
    assert out == pytest.approx(W, rel=1e-12)
    assert calls == [('newton', (6,))]
    assert source.splitlines()[1].split('#')[0].strip() == 'b = newton(a)'


def test_new_numbers(exercise):
    f = ad.jit(exercise.lambertw)
    for w in W, W / 7, 3 * W:
        assert f(w * np.exp(w)) == pytest.approx(w, rel=1e-12)


def test_numbers_of_python(exercise):
    out, _, calls = watched(exercise, exercise.lambertw, 2.0)
    assert out * np.exp(out) == pytest.approx(2.0)
    assert calls == [('newton', ())]


def test_twice_in_one_program(exercise):
    f = lambda x: exercise.lambertw(exercise.lambertw(x)) + x
    out, source, calls = watched(exercise, f, X)
    assert out == pytest.approx(f(X), rel=1e-12)
    assert source.count('newton') == 2 and calls[0] == ('newton', (6,))


def test_in_a_gradient(exercise):
    slope = ad.grad(lambda x: np.sum(exercise.lambertw(x)))
    out, _, calls = watched(exercise, slope, X)
    assert out == pytest.approx(SLOPES)
    assert calls == [('newton', (6,))]


def test_in_a_batch(exercise):
    f = ad.vmap(ad.grad(exercise.lambertw))
    out, _, calls = watched(exercise, f, X)
    assert out == pytest.approx(SLOPES)
    assert calls == [('newton', (6,))]


def test_in_a_loop(exercise):
    f = lambda x: ad.scan(lambda c, _: (exercise.lambertw(c), None), x,
                          None, length=2)[0]
    out, _, calls = watched(exercise, f, X)
    assert out == pytest.approx(exercise.lambertw(exercise.lambertw(X)))
    assert {name for name, _ in calls[:2]} == {'newton'}
