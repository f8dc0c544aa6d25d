"""Claims of the book that no other test shows; CLAIMS.md lists them."""

import math
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from mpmath import mp
from scipy.integrate import quad
from scipy.optimize import curve_fit, least_squares

import autodiff_mini as ad
from autodiff_mini import draft
from autodiff_mini.core import memory
from autodiff_mini.core.jaxprs import drop_dead
from autodiff_mini.draft.checkpoint import checkpoint_p
from autodiff_mini.draft.programs import linear_p
from autodiff_mini.interpreters.lowering import Lowered
from autodiff_mini.interpreters.partial_eval import PartialEvalTrace
from book.tools import exercises, mainline, weave
from tests.support.numerical import assert_close
from tests.support.wings import needs

ROOT = Path(__file__).parents[2]
near = np.testing.assert_allclose


# Chapter 20

def test_the_library_has_seventeen_thousand_lines():
    """Without comments and docstrings, and besides the draft."""
    lines = {path: mainline.code_lines(path.read_text())
             for path in (ROOT / weave.PACKAGE).rglob('*.py')}
    draft = sum(count for path, count in lines.items()
                if 'draft' in path.parts)
    assert 950 < draft <= 1000
    assert 17_000 <= sum(lines.values()) - draft < 18_000


def test_caught_refusals_of_chapter_22_are_silent():
    """A captured value, and an argument in `nondiff_argnums`."""
    def captured(x):
        f = ad.custom_vjp(lambda y: 2 * y * x)
        f.defvjp(lambda y: (f(y), None), lambda _, ct: (3 * ct,))
        return f(1.0)

    marked = ad.custom_vjp(lambda a, x: 2 * a, nondiff_argnums=(0,))
    marked.defvjp(lambda a, x: (marked(a, x), None), lambda a, _, ct: (ct,))

    for f in captured, lambda x: marked(x, 1.0):
        with pytest.raises(TypeError, match='is being differentiated'):
            ad.grad(f)(1.0)

        def hers(x):
            try:
                return f(x)
            except TypeError:
                return 2 * x
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            assert ad.grad(hers)(1.0) == 2


# Chapter 24

def test_a_write_into_a_view_reads_parts_that_jit_drops():
    def bump(u):
        u = u * 1.0
        inner, tail = u[1:-1], u[2:]
        inner += 10.0
        return u, tail

    program = ad.make_jaxpr(bump)(np.ones(5)).jaxpr
    names = [eqn.primitive.name for eqn in program.eqns]
    assert names == [
        'mul', 'index', 'index', 'add', 'index', 'scatter', 'index']
    del names[4], names[2]
    assert [eqn.primitive.name for eqn in drop_dead(program).eqns] == names


def test_an_argument_is_copied_once_and_a_result_never(monkeypatch):
    copied, call = [], memory.Snapshot.__call__

    def noted(self, x):
        before = len(self.copies)
        y = call(self, x)
        copied.append(len(self.copies) - before)
        return y
    monkeypatch.setattr(memory.Snapshot, '__call__', noted)
    ad.vjp(lambda x: np.sum(x * x), np.ones(3))
    assert sum(copied) == 1 and len(copied) > 1
    copied.clear()
    ad.vjp(lambda x: np.sum(np.sin(x) * np.cos(x)), np.ones(3))
    assert not sum(copied)


# Chapter 21

def test_autograd_loses_float32_in_a_mean():
    autograd = pytest.importorskip('autograd', reason='`make bench` has it')
    from autograd import numpy as anp
    for f, dtype in (anp.sum, np.float32), (anp.mean, np.float64):
        slope = autograd.grad(lambda x: f(2.0 * x))(np.ones(3, np.float32))
        assert slope.dtype == dtype


# Chapter 25

def test_a_rule_for_code_outside_numpy_only_gives_derivatives():
    @ad.custom_jvp
    def erf(x):
        return np.vectorize(math.erf, otypes=[float])(x)
    erf.defjvp(lambda p, t: (
        erf(*p), 2 / np.sqrt(np.pi) * np.exp(-p[0] ** 2) * t[0]))

    x = np.array([0.0, 0.5, 1.0])
    slopes = [float(mp.diff(mp.erf, v)) for v in x.tolist()]
    assert_close(ad.jvp(erf, (x,), (np.ones(3),))[1], np.array(slopes))
    assert_close(ad.grad(erf)(0.5), slopes[1])
    for f in ad.jit(erf), ad.vmap(erf):
        with pytest.raises(ad.TracerArrayConversionError):
            f(x)


# Chapter 16

def newton(system):
    return lambda a: system.while_loop(
        lambda x: (x * x / a - 1) ** 2 > 1e-24, lambda x: (x + a / x) / 2, a)


def test_the_loop_of_the_root_ends_for_numbers_of_any_size():
    for a in 10.0 ** np.arange(-100, 101, 10):
        assert_close(newton(draft)(a) / np.sqrt(a), 1.0)


# Chapter 17


def test_no_layer_computes_more_than_two_sines():
    """No layer computes more than two."""
    def ten(f):
        def run(x):
            for _ in range(10):
                x = f(x)
            return x
        return run

    sine, seen = ad.Primitive('sine'), []
    sine.def_impl(lambda x: (seen.append(x), np.sin(x))[1])
    sine.def_abstract_eval(lambda x: x)
    sine.def_jvp(lambda p, t: (sine.bind(*p), np.cos(p[0]) * t[0]))
    for layers, count in [
            (ten(ten(sine.bind)), 100),
            (ten(ad.checkpoint(ten(sine.bind))), 190),
            (ad.checkpoint(ten(ten(sine.bind))), 199)]:
        ad.grad(layers)(0.5)        # after everything that happens only once
        seen.clear()
        ad.grad(layers)(0.5)
        assert len(seen) == count


# Chapter 18

def test_bounds_of_an_operation_with_one_program_take_a_line():
    cliff = lambda x: np.tanh(1000 * (x - 0.3337))
    with exercises.loaded('e18_4_cond', exercises.solution(
            'e18_4_cond')) as column:
        row = lambda *intervals, fun: map(
            list, zip(*column.bounds(fun)(*intervals)))
        column.bounds_rules.update({checkpoint_p: row, linear_p: row})
        for f in draft.checkpoint(cliff), draft.jit(cliff):
            assert column.bounds(draft.grad(f))((0.0, 1.0)) == (0, 2000)


# Chapter 19

def swing_in_air(speed, angle, push):
    velocity = push
    for _ in range(1000):
        drag = 0.05 * speed(velocity) * velocity
        velocity = velocity - 0.01 * (9.81 * np.sin(angle) + drag)
        angle = angle + 0.01 * velocity
    return angle


@pytest.mark.filterwarnings('ignore:(divide|invalid):RuntimeWarning')
def test_without_its_rule_a_speed_spoils_a_row_of_the_picture():
    pushes = np.linspace(-9.0, 9.0, 7)
    worth = draft.vmap(lambda push: draft.jvp(
        lambda push: swing_in_air(lambda v: np.sqrt(v * v), 1.0, push),
        (push,), (1.0,))[1])(pushes)
    assert np.array_equal(np.isnan(worth), pushes == 0)


def test_a_stripe_of_the_picture_is_where_the_number_of_turns_changes():
    pushes = np.linspace(-9.0, 9.0, 20_001)
    ends = swing_in_air(np.abs, 0.0, pushes)
    turns = np.round(ends / (2 * np.pi))
    steep = np.abs(np.gradient(ends, pushes)) > 20
    changes = pushes[1:][np.diff(turns) != 0]
    near(changes, [-8.36, -6.80, 6.80, 8.36], atol=0.01)
    for push in pushes[steep]:
        assert np.min(np.abs(push - changes)) < 0.05


def test_defjvps_fills_in_the_zero_that_makes_a_nan():
    """At 0, the term of the exponent is 0² log 0, which is nan."""
    power = ad.custom_jvp(lambda x, n: x ** n)
    by_x = lambda x_dot, x, n: n * x ** (n - 1) * x_dot
    by_n = lambda n_dot, y, x: y * np.log(x) * n_dot

    def rule(primals, tangents):
        (x, n), (x_dot, n_dot) = primals, tangents
        y, y_dot = power(x, n), 0.0
        if not isinstance(x_dot, ad.SymbolicZero):
            y_dot += by_x(x_dot, x, n)
        if not isinstance(n_dot, ad.SymbolicZero):
            y_dot += by_n(n_dot, y, x)
        return y, y_dot

    slope = lambda: ad.jvp(lambda x: power(x, 2.0), (0.0,), (1.0,))[1]
    power.defjvps(lambda x_dot, y, x, n: by_x(x_dot, x, n),
                  lambda n_dot, y, x, n: by_n(n_dot, y, x))
    with np.errstate(divide='ignore', invalid='ignore'):
        assert np.isnan(slope())
    power.defjvp(rule, symbolic_zeros=True)
    assert slope() == 0


# Chapter 26

def test_a_formula_that_adds_positive_numbers_loses_no_digits():
    slope = lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2
    with mp.workdps(400):
        for x in np.linspace(-340.0, 700.0, 60).tolist():
            e = mp.exp(-mp.mpf(x))
            assert abs(slope(x) / (e / (1 + e) ** 2) - 1) < 1e-15


# Chapter 27

@needs('applications')
def test_an_almost_singular_slope_of_a_root_is_only_huge(recwarn):
    sqrt = lambda a: ad.root(lambda a, x: x * x - a, a, 1.0)
    assert abs(sqrt(0.0)) < 1e-7 and abs(ad.grad(sqrt)(0.0)) > 1e6
    assert not recwarn


@needs('applications')
def test_repeated_steps_that_shrink_are_enough():
    """S first enlarges some arrays, and so does its transpose."""
    s = np.array([[0.5, 100.0], [0.0, 0.5]])
    solution = lambda b: ad.fixed_point(
        lambda b, x: b + s @ x, b, np.zeros(2))
    for jacobian in ad.jacfwd, ad.jacrev:
        near(jacobian(solution)(np.array([1.0, 2.0])),
             np.linalg.inv(np.eye(2) - s), 1e-8)


@needs('applications')
def test_a_tangent_solve_with_a_while_loop_has_only_forward_mode():
    def root(a):
        far = lambda f: lambda x: np.abs(f(x)) > 1e-13
        return ad.custom_root(
            lambda x: x * x - a, 1.5, lambda f, x: 2 ** 0.5,
            lambda g, y: ad.while_loop(
                far(lambda x: y - g(x)), lambda x: x + (y - g(x)) / 10, y))

    near(ad.jvp(root, (2.0,), (1.0,))[1], 0.5 / np.sqrt(2.0), 1e-9)
    with pytest.raises(TypeError, match='while_loop'):
        ad.grad(root)(2.0)


def names_of(chapter, *words):
    """Return what a chapter's cells define; the first one of each word."""
    [page] = (ROOT / 'book/chapters').glob(f'{chapter}_*.md')
    cells = [block.text for block in weave.blocks(page) if block.runs]
    names = {'np': np, 'ad': ad, 'draft': draft, 'grad': ad.grad,
             'vmap': ad.vmap, 'tree_map': ad.tree_map, 'odeint': ad.odeint,
             'expit': ad.expit}
    for word in words:
        exec(next(cell for cell in cells if word in cell), names)
    return names


@needs('applications')
@pytest.mark.rest
def test_press_and_its_slope_equal_the_formula():
    """The miss of a linear model's left-out row is r / (1 - h)."""
    names = names_of(27, 'def argmin', 'shares =', 'def press')
    rows = np.column_stack([np.ones(13), names['scaled']])
    weights = np.diag([0.0, 1.0, 1.0, 1.0, 1.0])

    def formula(penalty):
        hat = rows @ np.linalg.solve(rows.T @ rows + penalty * weights,
                                     rows.T)
        misses = names['heat'] - hat @ names['heat']
        return np.sum((misses / (1 - np.diag(hat))) ** 2)

    assert round(formula(0.0), 2) == 110.35
    for penalty in 0.01, 0.1, 1.0:
        near(names['press'](penalty), formula(penalty), 1e-9)
        near(ad.grad(names['press'])(penalty), ad.grad(formula)(penalty),
             1e-8)
    best = ad.root(lambda _, x: ad.grad(names['press'])(x), None, 0.1)
    near(ad.grad(formula)(best), 0.0, atol=1e-7)
    assert formula(best) < min(map(formula, np.logspace(-3, 1, 400)))


# Chapter 28

@needs('applications')
def test_the_slope_of_a_march_is_zero_in_both_systems():
    names = names_of(28, 'def march')
    march = lambda t: names['march'](names['growing'], 0.5, t, 0.01)
    near(march(2.0), ad.expit(2.0), 1e-3)
    assert draft.grad(march)(2.0) == ad.grad(march)(2.0) == 0


@needs('applications')
@pytest.mark.rest
def test_a_flow_that_forgets_has_a_right_value_and_a_wrong_slope():
    exposure = names_of(28, 'def exposure')['exposure']
    for k, wrong in (10.0, 0.4), (12.0, 70.0), (20.0, 1e8):
        near(exposure(k, [0.0, 2.0]), 1 / k, 1e-7)
        with warnings.catch_warnings(), np.errstate(all='raise'):
            warnings.simplefilter('error')
            slope = ad.grad(exposure)(k, [0.0, 2.0])
        assert abs(slope * k ** 2 + 1) > wrong
        near(ad.grad(exposure)(k, np.linspace(0.0, 2.0, 21)), -1 / k ** 2,
             1e-6)
        near(ad.jacfwd(exposure)(k, [0.0, 2.0]), -1 / k ** 2, 1e-6)


def pendulum(y, t):
    return y[1], -9.81 * np.sin(y[0])


@needs('applications')
def test_a_one_meter_pendulum_swings_almost_five_times_in_ten_seconds():
    """It starts at its farthest point and passes the middle twice a swing."""
    angle = ad.odeint(pendulum, (1.0, 0.0), np.linspace(0.0, 10.0, 201))[0]
    assert np.sum(angle[1:] * angle[:-1] < 0) == 9     # 4.25 to 4.75


@needs('applications')
@pytest.mark.rest
def test_a_hundred_swings_leave_four_digits():
    """One swing leaves seven, when the state is the initial one again."""
    swing = float(4 * mp.ellipk(mp.sin(0.5) ** 2) / mp.sqrt(9.81))
    near(swing, 2.139137600558689)

    def error(n):
        angle, speed = ad.odeint(pendulum, (1.0, 0.0), [0.0, n * swing])
        return abs(angle[-1] - 1) + abs(speed[-1])
    assert error(1) < 5e-7
    assert 1e-5 < error(100) < 1e-3


# Chapter 26: a session of the debugger, and a check at a minimum

@pytest.mark.skipif(sys.version_info >= (3, 13),
                    reason='the debugger stops one line earlier')
def test_the_debugger_stops_in_the_reverse_pass(tmp_path):
    """The chapter's program, with the chapter's answers."""
    page = ROOT / 'book/chapters/26_numbers_that_survive.md'
    program, session = [re.search(rf'^```{kind}\n([^`]*{word}[^`]*)^```',
                                  page.read_text(), re.MULTILINE)[1]
                        for kind, word in (('py', 'breakpoint'),
                                           ('text', '[(]Pdb'))]
    (tmp_path / 'energy.py').write_text(program)
    said = re.findall(r'^\(Pdb\) (.*\n)', session, re.MULTILINE)
    ran = subprocess.run(
        [sys.executable, 'energy.py'], input=''.join(said), text=True,
        capture_output=True, cwd=tmp_path, timeout=60, check=True,
        env=os.environ | {'PYTHONPATH': str(ROOT)})
    shown = ran.stdout.replace(f'{tmp_path}/', '')
    wanted = re.sub(r'^(\(Pdb\) ).*\n', r'\1', session, flags=re.MULTILINE)
    assert shown.startswith(wanted), shown


@needs('applications')
@needs('debugging')
def test_check_grads_sees_mostly_rounding_at_a_minimum():
    t = np.linspace(0.0, 1.0, 45)
    y = 1e4 * np.exp(-t) + np.cos(40 * t)
    loss = lambda w: np.sum((y - w[0] * np.exp(-w[1] * t)) ** 2)
    w = np.array([1e4, 1.0])
    for _ in range(20):     # Newton's method
        w = w - np.linalg.solve(ad.hessian(loss)(w), ad.grad(loss)(w))
    with pytest.raises(AssertionError):
        ad.check_grads(loss, (w,), order=1)
    ad.check_grads(loss, (w + 0.1,), order=1)


# Chapter 23: the rule of chapter 22, and a fit that misses a rule

def cells(number):
    [page] = (ROOT / 'book/chapters').glob(f'{number}_*.md')
    return [block.text for block in weave.blocks(page) if block.runs]


def test_grad_hides_the_nan_of_a_power():
    [program] = [text for text in cells(22) if 'symbolic_zeros=ask' in text]
    names = {'np': np, 'ad': ad}
    with np.errstate(all='ignore'):
        exec(program, names)
        square = lambda x: names['power'](x, 2.0)
        names['power'].defjvp(names['power_rule'])
        assert np.isnan(ad.jvp(square, (0.0,), (1.0,))[1])
        assert ad.grad(square)(0.0) == 0


def test_the_first_cell_repeats_the_whole_rule_of_chapter_22():
    [rule] = [text for text in cells(22) if text.startswith('def loop(')]
    assert rule in cells(23)[0]


@needs('applications')
@needs('more_calls')
def test_a_rule_for_batches_that_vanishes_moves_a_fit():
    """One fit finds the minimum of its loss, and the other one finds that of
    the loss without the mean, until forward mode transforms the rule."""
    first, *rest = cells(23)
    start = rest.index(next(text for text in rest if 'batching_p =' in text))
    end = rest.index(next(text for text in rest if 'def push_both' in text))
    names = {}
    with np.printoptions():
        for text in [first, *rest[start:end]]:
            if not text.startswith('watch('):
                exec(text, names)
        x, t = names['points'], names['targets']
        right = np.dot(x - np.mean(x), t) / np.dot(x, x - np.mean(x))
        wrong = np.dot(x, t) / np.dot(x, x)
        slopes = names['slope_of_batch'], names['batch_of_slopes']
        near([slopes[0](right), slopes[1](wrong)], 0.0, atol=1e-12)
        assert slopes[0](wrong) < -1 and names['loss'](wrong) > 1.3
        exec(rest[end], names)
        near([slope(w) for slope in slopes for w in (right, wrong)],
             2 * [0.0, slopes[0](wrong)], atol=1e-12)


# Chapter 29

def orbit(tolerance='1e-10'):
    """Run the cells of chapter 29 up to the first fit, which they name lost.

    Args:
        tolerance: the one of Newton's method, instead of the chapter's.
    """
    [page] = (ROOT / 'book/chapters').glob('29_*.md')
    names = {}
    with np.printoptions():
        for block in weave.blocks(page):
            if block.runs and 'lost' not in names:
                exec(block.text.replace('1e-10', tolerance), names)
    return SimpleNamespace(**names)


@needs('applications')
def test_newton_from_pi_finds_every_position_of_a_planet():
    kepler, M = orbit().by_steps, np.linspace(0.0, 2 * np.pi, 500)
    for e in 0.0, 0.5, 0.9, 0.999:
        E = ad.vmap(kepler, (None, 0, None))(e, M, np.pi)
        near(E - e * np.sin(E), M, atol=1e-9)


@needs('applications')
@pytest.mark.parametrize('tolerance', ['1e-6', '1e-10', '1e-13'])
def test_only_a_warm_start_and_an_exact_jacobian_lose_the_year(tolerance):
    chapter = orbit(tolerance)
    assert chapter.lost.success and chapter.lost.x[0] == 770.0
    assert not chapter.lost.jac[:, :2].any()
    assert chapter.lost.jac[:, 2:].any(axis=0).all()
    for warm, exact in (False, True), (False, False):
        near(chapter.fit(chapter.by_steps, warm, exact).x[0], 796.25, 1e-4)
    if tolerance != '1e-6':      # which hides so small a difference
        near(chapter.fit(chapter.by_steps, True, False).x[0], 796.25, 1e-4)


@needs('applications')
def test_lm_moves_neither_the_year_nor_the_day():
    chapter = orbit()
    values, jacobian = chapter.fit_functions(chapter.by_steps, warm=True)
    found = least_squares(values, chapter.start, jacobian, x_scale='jac',
                          method='lm')
    assert found.success and found.x[:2].tolist() == [770.0, 120.0]
    near(found.cost, 112.5, 1e-2)


@needs('applications')
def test_scipy_asks_for_the_jacobian_where_it_has_the_residuals():
    chapter, asked = orbit(), []
    values, jacobian = chapter.fit_functions(chapter.by_steps, warm=False)

    def noted(f):
        def run(p):
            asked.append((f, p.copy()))
            return f(p)
        return run

    least_squares(noted(values), chapter.start, noted(jacobian),
                  x_scale='jac')
    jacobians = [i for i, (f, _) in enumerate(asked) if f is jacobian]
    assert len(jacobians) > 3
    for i in jacobians:
        before, p = asked[i - 1]
        assert before is values and np.array_equal(p, asked[i][1])


@needs('applications')
def test_curve_fit_is_certain_of_a_year_that_it_never_moved():
    chapter = orbit()
    values, jacobian = chapter.fit_functions(chapter.by_steps, warm=True)
    sigma = chapter.sigma
    found, covariance = curve_fit(
        lambda _, *p: chapter.measured + sigma * values(np.array(p)),
        chapter.days, chapter.measured, chapter.start, sigma,
        absolute_sigma=True, method='trf', x_scale='jac',
        jac=lambda _, *p: sigma[:, None] * jacobian(np.array(p)))
    assert found[0] == 770.0
    assert covariance[0, 0] == 0.0 and covariance[2, 2] > 0
    J = chapter.lost.jac
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(J.T @ J)


# Chapters 31 to 32


@needs('fast')
def test_the_small_compiler_has_the_bits_of_programs_without_a_loop():
    slope = ad.grad(lambda x: np.sum(x * (1 + np.tanh(x * (1 + x * x)))))
    x = np.linspace(-4.0, 4.0, 1000)
    small, = Lowered(ad.make_jaxpr(slope)(x))(x)
    assert np.array_equal(small, slope(x))
    assert np.array_equal(small, ad.jit(slope)(x))


# Chapter 30

def test_some_seventy_functions_run_on_numpys_own_code():
    from autodiff_mini.core.trace import function_table
    from autodiff_mini.wings.more_numpy import more_borrowed  # noqa: F401
    code = lambda f: getattr(f, '__code__', None)
    borrowed = [f for f, copy in function_table.items()
                if code(copy) and
                code(copy) is code(getattr(f, '__wrapped__', None))]
    assert 65 < len(borrowed) < 80
    assert np.trapezoid in borrowed


def test_a_rule_in_front_of_quad():
    def moment(n, rate):
        return quad(lambda t: t**n * np.exp(-rate * t), 0, 1)[0]

    @ad.custom_jvp
    def average(dose, rate):
        return dose * moment(0, rate)

    average.defjvps(
        lambda dose_dot, y, dose, rate: dose_dot * moment(0, rate),
        lambda rate_dot, y, dose, rate: -rate_dot * dose * moment(1, rate))

    near(ad.grad(average, (0, 1))(3.0, 1.0),
         (1 - 1 / np.e, 3 * (2 / np.e - 1)))
    for refused, x in (ad.vmap(average), np.ones(2)), (ad.jit(average), 1.0):
        with pytest.raises(ad.ConcretizationTypeError, match='quad'):
            refused(x, x)


def test_a_slope_with_a_rule_has_a_slope():
    def moment(n):
        @ad.custom_jvp
        def integral(rate):
            return quad(lambda t: t**n * np.exp(-rate * t), 0, 1)[0]

        integral.defjvps(lambda rate_dot, y, rate:
                         -rate_dot * moment(n + 1)(rate))
        return integral

    near(ad.grad(ad.grad(moment(0)))(1.0), 2 - 5 / np.e)
    near(ad.jvp(ad.grad(moment(0)), (1.0,), (1.0,))[1], 2 - 5 / np.e)


# Chapter 32

def a_lie(kind, name):
    """Return a function of 2 * x, and a setter of its slope."""
    if kind == 'primitive':
        p = ad.Primitive(name)
        p.def_impl(lambda x: 2 * x)
        p.def_abstract_eval(lambda x: x)
        p.def_vmap(lambda xs, dims: (p.bind(*xs), dims[0]))
        return p.bind, lambda k: p.def_jvp(
            lambda xs, x_dots: (p.bind(*xs), k * x_dots[0]))
    f = {'jvp': ad.custom_jvp, 'vjp': ad.custom_vjp}[kind](lambda x: 2 * x)
    if kind == 'jvp':
        return f, lambda k: f.defjvp(
            lambda xs, x_dots: (f(*xs), k * x_dots[0]))
    return f, lambda k: f.defvjp(
        lambda x: (f(x), None), lambda _, ct: (k * ct,))


AROUND = {  # {what calls the function: how}
    'nothing': lambda f, x: f(x),
    'a loop': lambda f, x: ad.scan(
        lambda c, _: (f(c), None), x, None, length=1)[0],
    'a branch': lambda f, x: ad.cond(True, f, lambda x: x, x),
    'a checkpoint': lambda f, x: ad.checkpoint(lambda x: f(x))(x)}


@pytest.mark.parametrize('kind', ['jvp', 'vjp', 'primitive'])
@pytest.mark.parametrize('what', AROUND)
def test_a_new_rule_is_called_after_fifty_gradients(what, kind):
    x = 0.0 if what == 'nothing' else np.zeros(3)
    f, lie = a_lie(kind, 'double')
    slope = ad.grad(lambda x: np.sum(np.sin(AROUND[what](f, x))))
    slopes = ad.vmap(slope)
    for k in 7.0, 11.0:
        lie(k)
        for _ in range(50):
            assert np.all(slope(x) == k)
            assert np.all(slopes(np.stack([x, x])) == k)


def test_the_tape_of_the_chapter_is_a_gradient():
    [page] = (ROOT / 'book/chapters').glob('32_*.md')
    names = {}
    with np.printoptions():
        for block in weave.blocks(page):
            if block.runs and any(word in block.text for word in (
                    'import numpy', 'def prepare', 'TapingTrace')):
                text = block.text.split('\nprint(')[0]
                exec(text, names)
    slope = names['tape_grad']
    for f in (lambda x: np.sin(x) * x + np.exp(-x) / (1 + x * x),
              lambda x: np.where(x > 0.3, x * x, np.tanh(x)) + 3,
              lambda x: (np.cos(x), x + x)[1]):
        for x in 0.25, 0.5:
            assert slope(f)(x) == draft.grad(f)(x)
    assert_close(slope(slope(np.sin))(1.0), -np.sin(1.0))


@needs('fast')
def test_a_plain_gradient_stops_running_the_interpreters(monkeypatch):
    from autodiff_mini.wings.fast import tape
    tape.preparations.clear()       # which other tests have filled

    def process(self, *args):
        ran.append(args)
        return original(self, *args)

    def runs(f):
        ran.clear()
        f(np.array([0.5, 1.0]))
        return bool(ran)

    ran, original = [], PartialEvalTrace.process_primitive
    monkeypatch.setattr(PartialEvalTrace, 'process_primitive', process)
    loss = lambda x: np.sum(np.sin(x) * x)
    slope = ad.grad(loss)
    assert [runs(slope) for _ in range(tape.OFTEN)][0]
    assert not runs(slope)
    assert runs(lambda x: ad.vjp(loss, x)[1](1.0))
    assert runs(ad.make_jaxpr(slope))


# The list itself

def test_every_test_that_the_list_names_exists():
    proofs = re.findall(r'([\w/]+\.py)::(\w+)',
                        (ROOT / 'tests/CLAIMS.md').read_text())
    assert len(proofs) > 100
    for path, name in set(proofs):
        text = (ROOT / path).read_text()
        assert re.search(rf'^def {name}\(', text, re.MULTILINE), (path, name)
