"""Guard mistakes, and what the errors tell the users who make them.

Each row names words that a user needs.  After each, the library still works.
"""

import decimal
import fractions
import functools
import linecache
import math
import re
import struct
import traceback
from importlib import import_module

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.special

import autodiff_mini as ad
from autodiff_mini.core.errors import (
    RuleTable, TracerError, full_name, last_refusal)
from autodiff_mini.core.names import fun_name
from autodiff_mini.primitives.elementwise import sin_p
from tests.tables.slips import ASKED, CALLS, SLIPS, STATEMENTS

A = np.arange(4.)


def refused(f, x, error, words):
    """Assert that `f` is refused with these words, and all works afterwards.

    NumPy puts a ValueError of its own above ours where an assignment fails.
    """
    for transform in (
            lambda: ad.jvp(f, (x,), (np.ones_like(x)[()],)),
            lambda: ad.vjp(f, x), lambda: ad.linearize(f, x),
            lambda: ad.vjp(lambda y: ad.vjp(f, y), x)):
        with pytest.raises(Exception) as info:
            transform()
        said = info.value
        while not (isinstance(said, error) and words in str(said)):
            said = said.__cause__ or said.__context__
            assert said, (words, info.value)
    assert ad.jvp(np.sin, (0.5,), (1.0,)) == (np.sin(0.5), np.cos(0.5))
    assert ad.grad(np.sin)(0.5) == np.cos(0.5)


# What traced programs do not find under these names of np.
ARRAY = np.array
ZERO, PAIR = np.zeros(()), np.zeros(2)


def assign(x):
    PAIR[0] = x


def assign_through_index(x):
    PAIR[np.array([0])] = x


# Each of these calls would drop the derivative if it were accepted.
DROPS = {
    'float': (float, 'no longer'), 'item': (lambda x: x.item(), '`item`'),
    'math.sin': (math.sin, 'Write np.sin.'),
    'struct': (lambda x: struct.pack('d', x), 'not a float'),
    'decimal': (decimal.Decimal, 'Decimal'),
    'assign': (assign, 'no longer'), 'np.array': (np.array, 'no longer'),
    'assign_through_index': (assign_through_index, 'no longer'),
    'np.float64': (np.float64, 'no longer'),
    'np.array_of_list': (lambda x: ARRAY([x, x]),
                         'Write np.array instead of ARRAY.'),
    'np.array_of_objects': (lambda x: np.array([x, x], dtype=object),
                            'dtype object cannot be traced'),
    'np.arange': (lambda x: np.arange(x), 'no longer'),
    'np.vectorize': (lambda x: np.vectorize(lambda y: 2 * y)(x),
                     'Write ad.vmap'),
    'range': (range, 'Python integer'),
    'list_index': (lambda x: [1, 2][x], 'ad.asarray([1, 2])[x]'),
    'np.ones': (lambda x: np.ones(x), 'JVPTracer'),
    'index': (lambda x: A[x], 'Write ad.asarray(A)[x].'),
    'np.repeat': (lambda x: np.repeat(A, x),
                  'Write np.repeat(ad.asarray(A), x).'),
}


@pytest.mark.parametrize('name', DROPS)
def test_no_derivative_is_dropped_in_silence(name):
    f, words = DROPS[name]
    refused(f, 2.0, (TypeError, struct.error), words)


def test_no_input_becomes_a_constant_in_silence():
    """In a jaxpr there is not even a value to forget."""
    for f, _ in DROPS.values():
        for transform in (ad.make_jaxpr, lambda f: ad.make_jaxpr(ad.grad(f))):
            with pytest.raises((TypeError, ValueError, struct.error)):
                transform(f)(2.0)
    assert ad.make_jaxpr(np.sin)(0.5).eqns[0].primitive is sin_p


def test_no_rule_is_dropped_in_silence():
    """Chapter 20: the refusal of a call is caught, and another road taken."""
    class Ball:
        def __init__(self, height):
            self.height = height

    def doubled(ball):
        return 2 * ball.height

    ruled = ad.custom_jvp(doubled)
    ruled.defjvp(lambda primals, tangents: (ruled(*primals), tangents[0]))

    def either(height):
        try:
            return ruled(Ball(height))
        except TypeError:
            return doubled(Ball(height))

    assert either(1.0) == 2     # there is no rule to lose
    for transform in ad.grad, ad.jit, lambda f: ad.linearize(f, 1.0)[1]:
        with pytest.warns(UserWarning, match='its rule is lost') as warned:
            assert transform(either)(1.0) == 2
        assert [w.filename for w in warned] == [__file__]
    with pytest.raises(TypeError, match='a value of type Ball'):
        ad.grad(lambda height: ruled(Ball(height)))(1.0)
    assert ad.grad(np.sin)(0.5) == np.cos(0.5)  # and it is forgotten


def iadd(x):
    a = ZERO
    a += x


INTO_PLAIN_ARRAYS = [
    iadd, lambda x: np.sin(x, out=ZERO), lambda x: np.add(x, 1, ZERO),
    lambda x: np.stack([x, x], out=PAIR), lambda x: np.add.at(PAIR, 0, x),
    lambda x: np.copyto(ZERO, x)]


def test_nothing_traced_is_written_into_a_plain_array():
    for f in INTO_PLAIN_ARRAYS:
        refused(f, 2.0, TypeError,
                'Write into a copy made by np.copy: y = np.copy(')


UNSUPPORTED = {
    'numpy.packbits is not': lambda x: np.packbits(x),
    'numpy.isnat is not supported': lambda x: np.isnat(x),
    'not supported': lambda x: np.frompyfunc(abs, 1, 1)(x),
    'numpy.add with ': lambda x: np.add(x, 1, where=[True]),
    'np.sum': lambda x: np.hypot.at(x, [0], x),
    "'A'": lambda x: np.reshape(x, -1, order='A'),
    'sort with order=': lambda x: np.sort(x, order='a'),
    "not 'mean'": lambda x: np.pad(x, 1, mode='mean'),
    'Choose with np.where afterwards.': lambda x: np.add(x, 1, where=[True]),
    'Convert with astype.': lambda x: np.einsum('i->', x, dtype='f'),
    'and call np.array2string outside.': lambda x: np.array2string(x),
    'and call np.save outside.': lambda x: np.save('never.npy', x),
    'no memory of its own, so leave the call out':
        lambda x: np.shares_memory(x, x),
    'supported, or define an operation': lambda x: np.packbits(x),
}


def test_unsupported_calls_are_refused():
    for words, f in UNSUPPORTED.items():
        refused(f, np.ones(2), NotImplementedError, words)


def test_an_array_to_write_into_is_named():
    for f in (lambda x: np.mean(x, 0, None, A), lambda x: np.dot(x, x, A),
              lambda x: np.clip(x, 0, 1, A), lambda x: x.round(1, A)):
        refused(f, np.ones(4), TypeError, 'as a keyword: write out=a')
    refused(lambda x: np.cumsum(x, out=A[0]), np.ones(4),
            ValueError, 'but out= has')


def test_an_error_names_the_function_of_scipy():
    for f, words in (
            (scipy.special.logsumexp,
             'scipy.special.logsumexp converts its input'),
            (lambda x: scipy.linalg.cho_factor(x[None])[0],     # decorated
             'scipy.linalg.cho_factor converts its input'),
            (lambda x: scipy.linalg.logm(x[None]),              # no equal
             'Write it with NumPy functions, or define an operation with '
             'its own derivative: see ad.custom_jvp')):
        refused(f, np.ones(1), ad.TracerArrayConversionError, words)


ROOT, LOSS = ('ad.root(f, a, x_guess)', 'ad.root(ad.grad(f, 1), a, x_gue')
SOLVERS = {     # of a function that closes over `a`, or of `a`
    'optimize.brentq': (lambda f, a: f(lambda x: x * x - a, 0, 3), ROOT),
    'optimize.brenth': (lambda f, a: f(lambda x: x * x - 2, 0, a), ROOT),
    'optimize.bisect': (lambda f, a: f(lambda x: x * x - a, 0, 3), ROOT),
    'optimize.ridder': (lambda f, a: f(lambda x: x * x - a, 0, 3), ROOT),
    'optimize.toms748': (lambda f, a: f(lambda x: x * x - a, 0, 3), ROOT),
    'optimize.newton': (lambda f, a: f(lambda x: x * x - 2, a), ROOT),
    'optimize.root_scalar': (
        lambda f, a: f(lambda x: x * x - a, bracket=(0, 3)).root, ROOT),
    'optimize.root': (lambda f, a: f(lambda x: x * x - a, 1.).x[0], ROOT),
    'optimize.fsolve': (lambda f, a: f(lambda x: x * x - a, 1.)[0], ROOT),
    'optimize.minimize': (
        lambda f, a: f(lambda x: np.sum((x - a)**2), 1.).x[0], LOSS),
    'optimize.minimize_scalar': (
        lambda f, a: f(lambda x: (x - a)**2).x, LOSS),
    'optimize.least_squares': (lambda f, a: f(lambda x: x - a, 1.), LOSS),
    'optimize.leastsq': (lambda f, a: f(lambda x: x - a, 1.)[0], LOSS),
    'optimize.curve_fit': (
        lambda f, a: f(lambda t, p: p * t, np.ones(3), np.ones(3) * a), LOSS),
    'integrate.solve_ivp': (
        lambda f, a: f(lambda t, y: -a * y, (0, 1), [1.]), 'ad.odeint'),
    'integrate.odeint': (
        lambda f, a: f(lambda y, t: -y, a, [0, 1.]), 'ad.odeint'),
    'integrate.quad': (
        lambda f, a: f(lambda t: a * t, 0, 1)[0], 'np.trapezoid(f(t), t)'),
    'integrate.quad_vec': (
        lambda f, a: f(lambda t: a * t, 0, 1)[0], 'np.trapezoid(f(t), t)'),
    'linalg.expm': (lambda f, a: f(a * np.eye(2))[0, 0], 'expm_frechet'),
    'interpolate.CubicSpline': (
        lambda f, a: f(np.arange(3.0), np.arange(3.0) * a)(1.5), 'np.interp'),
}


@pytest.mark.parametrize('name', SOLVERS)
@pytest.mark.filterwarnings('ignore')
def test_a_solver_of_scipy_cannot_hide_the_refusal(name):
    """In C, some of them call on, until Python raises a SystemError."""
    module, function = name.split('.')
    call, cure = SOLVERS[name]
    solver = getattr(import_module(f'scipy.{module}'), function)
    f = lambda a: call(solver, a)
    for way in (ad.grad(f), ad.jit(f), ad.jit(ad.grad(f)),
                lambda a: ad.vmap(f)(np.array([a, a])),
                lambda a: ad.jvp(f, (a,), (a,)), ad.grad(ad.checkpoint(f))):
        with pytest.raises(TracerError, match=re.escape(cure)) as e:
            way(1.5)
        assert f'scipy.{name} converts its input' in str(e.value)
        assert e.value.__cause__ is None and e.value.__suppress_context__ or (
            e.value.__context__ is None)
        assert ad.grad(np.sin)(0.5) == np.cos(0.5)
        assert last_refusal.get() is None


def test_a_refusal_that_python_takes_for_a_missing_operator_is_raised():
    """With an error set, Python sometimes finds no operator of a tracer."""
    scope = {'__name__': 'scipy.pretended'}
    exec('def solve(f, a):\n'      # calls on, like brentq in C
         '    try:\n        return float(f(a, True))\n'
         '    except Exception:\n        return f(a, False)', scope)

    def f(a, at_first):
        if at_first:
            return a
        raise TypeError(f"unsupported operand type(s) for -: 'float' and "
                        f"'{type(a).__name__}'")

    for way in ad.grad, ad.jit:
        with pytest.raises(ad.ConcretizationTypeError):
            way(lambda a: scope['solve'](f, a))(1.5)
    with pytest.raises(TypeError, match='unsupported operand'):
        ad.grad(lambda a: f(a, False))(1.5)


def test_a_solver_of_scipy_works_in_a_function_with_a_rule():
    """The error advised ad.custom_root, which refuses the solver again."""
    brentq = import_module('scipy.optimize').brentq

    @functools.partial(ad.custom_jvp, nondiff_argnums=(0,))
    def between(f, a):
        return brentq(lambda x: f(a, x), 0.0, 4.0)

    @between.defjvp
    def rule(f, primals, tangents):
        (a,), (a_dot,), x = primals, tangents, between(f, *primals)
        f_dot = ad.jvp(lambda a: f(a, x), (a,), (a_dot,))[1]
        return x, -f_dot / ad.grad(f, 1)(a, x)

    cube = lambda a: between(lambda a, x: x ** 3 - a, a)
    for way, slope in (ad.grad(cube), 1 / 12), (
            ad.grad(ad.grad(cube)), -1 / 144), (ad.jacfwd(cube), 1 / 12):
        np.testing.assert_allclose(way(8.0), slope)
    with pytest.raises(TracerError) as e:
        ad.grad(lambda a: ad.custom_root(
            lambda x: x ** 3 - a, 1.0, lambda f, x: brentq(f, 0.0, 4.0),
            lambda g, y: y / g(1.0)))(8.0)
    assert 'see ad.custom_jvp' in str(e.value)


def test_the_cures_for_solvers_of_scipy_are_right():
    expm = ad.custom_vjp(scipy.linalg.expm)
    expm.defvjp(
        lambda a: (scipy.linalg.expm(a), a),
        lambda a, ct: (scipy.linalg.expm_frechet(
            a.T, ct, compute_expm=False),))
    ad.check_grads(expm, (np.array([[0.1, 0.5], [-0.3, 0.2]]),), order=1,
                   modes=['rev'])
    loss = lambda a, x: np.sum((x - a) ** 2 + x ** 4)
    best = lambda a: ad.root(ad.grad(loss, 1), a, np.ones(2))
    a = np.array([1.3, 2.0])
    np.testing.assert_allclose(
        ad.jacrev(best)(a), np.diag(1 / (1 + 6 * best(a) ** 2)))


def test_the_root_of_a_custom_vjp_function_asks_for_a_forward_rule():
    @ad.custom_vjp
    def cube(a, x):
        return x ** 3 - a

    cube.defvjp(lambda a, x: (cube(a, x), x),
                lambda x, ct: (-ct, 3 * x * x * ct))
    root = lambda a: ad.root(cube, a, 1.0)
    for way in (root, ad.grad(root),
                lambda a: ad.vmap(root)(np.array([a, a]))):
        with pytest.raises(TypeError, match='The steps of ad.root need '
                           'forward mode, even for the value.*cube.defjvp'):
            way(8.0)
    cube.defjvps(lambda a_dot, y, a, x: -a_dot,
                 lambda x_dot, y, a, x: 3 * x * x * x_dot)
    np.testing.assert_allclose([root(8.0), ad.grad(root)(8.0)], [2, 1 / 12])


def test_a_container_that_looks_at_its_children_is_named():
    class Positive:
        def __init__(self, x):
            if x < 0:
                raise ValueError('negative')
            self.x = x

    ad.register_pytree_node(Positive, lambda p: ((p.x,), None),
                            lambda _, children: Positive(*children))
    double = ad.custom_vjp(lambda p: 2 * p.x)
    double.defvjp(lambda p: (2 * p.x.value, None), lambda _, ct: (ct,),
                  symbolic_zeros=True)
    for program, kind in (
            (lambda: ad.grad(lambda x: double(Positive(x)))(2.0),
             'CustomVJPPrimal'),
            (lambda: ad.scan(lambda p, _: (Positive(p.x * 2), None),
                             Positive(1.0), length=2), 'ShapedArray'),
            (lambda: ad.jit(lambda p: p.x)(Positive(1.0)), 'JaxprTracer'),
            (lambda: ad.grad(lambda p: -p.x)(Positive(1.0)), 'float')):
        with pytest.raises((TypeError, ValueError)) as e:
            program()
        [note] = e.value.__notes__
        assert note.startswith(f'Positive was rebuilt around {kind}. ')
        assert note.count('object.__new__(Positive)') == 1


def test_the_cause_of_an_error_of_numpys_is_read_last():
    a = np.zeros(2)

    def fill(x):
        a[0] = x
        return a

    for transform in (lambda: ad.grad(lambda x: fill(x)[0])(1.0),
                      lambda: ad.jit(fill)(1.0),
                      lambda: ad.grad(ad.jit(lambda x: fill(x)[0]))(1.0)):
        with pytest.raises(ValueError, match='setting an array') as e:
            transform()
        words = traceback.format_exception(e.value)
        assert 'np.copy(a)' in words[-1]
        assert ''.join(words).count('np.copy(a)') == 1
        assert isinstance(e.value.__context__, ad.ConcretizationTypeError)


# What the error of a program with a slip says (slips.py).

def run(program):
    """Run a program as if it were a file, so that its lines can be shown."""
    file = '/slip.py'
    linecache.cache[file] = (len(program), None, program.splitlines(True),
                             file)
    exec(compile(program, file, 'exec'),
         {'np': np, 'ad': ad, 'math': math, 'partial': functools.partial})


@pytest.mark.parametrize('name', SLIPS)
def test_the_error_of_a_slip_names_the_program_and_one_cure(
        as_users_see_it, name):
    slip = SLIPS[name]
    with pytest.raises(slip.error) as e:
        run(slip.program)
    said = ''.join(traceback.format_exception_only(e.value))
    assert slip.cure in said
    lines = [frame.name for frame in traceback.extract_tb(
        e.value.__traceback__) if frame.filename == '/slip.py']
    assert re.search(r'\bf\b|/slip.py:', said) or lines[-1] in ('f', 'rule')
    assert len(said) < 700


def asked(lines):
    return ('def int_of(x):\n    return x.astype(int)\n\n@ad.jit\n'
            f'def f(x, y, n):\n    {lines}\n\nf(2.0, 1.0, 1)\n')


def test_a_wrong_call_names_the_cure():
    for call, cure in CALLS.items():
        assert_says(f'def f(w, x=1.0):\n    return np.sum(w * x)\n\n{call}\n',
                    cure)


def test_the_line_that_asks_a_tracer_decides_the_cure():
    returned = {f'return {line}': cure for line, cure in ASKED.items()}
    for lines, cure in (returned | STATEMENTS).items():
        assert_says(asked(lines), cure)


def assert_says(program, cure):
    """Assert that the error of a program has these words."""
    with pytest.raises((TypeError, ValueError, AttributeError)) as e:
        run(program)
    said = ''.join(traceback.format_exception_only(e.value))
    assert cure in said, (program, said)


def test_a_program_without_source_gets_less_advice():
    for lines, words in {
            'return x if x > 0 else -x': r'np\.where\(condition, a, b\)',
            'return range(n)': "static_argnames='n'",
            'return float(x)': 'Use the traced value directly',
            'a[0] = x': r'np\.copy\(x\)'}.items():
        with pytest.raises((TypeError, ValueError)) as e:
            exec(asked(lines), {'ad': ad, 'np': np, 'a': np.zeros(2)})
        assert re.search(words, ''.join(
            traceback.format_exception_only(e.value))), lines


# Where it was: the frames of a traceback.

def reshaped(x):
    return np.sum(np.reshape(x, 5))


def fails(*args):
    return reshaped(np.ones(3))


by_vjp = ad.custom_vjp(lambda x: x)
by_vjp.defvjp(lambda x: (x, None), fails)
by_vmap = ad.custom_vmap(lambda x: x)
by_vmap.def_vmap(fails)
own_operation = ad.Primitive('own')
own_operation.def_impl(reshaped)

STEPS = {   # (program, the user's functions on the way down)
    'vmap': (lambda x: ad.vmap(reshaped)(x[None]), ['reshaped']),
    'grad': (lambda x: ad.grad(reshaped)(x), ['reshaped']),
    'jit': (lambda x: ad.jit(reshaped)(x), ['reshaped']),
    'pullback': (lambda x: ad.vjp(np.sin, x)[1](1.0), []),
    'scan': (lambda x: ad.scan(lambda c, x: (reshaped(A * x), c), 0.0, x),
             ['<lambda>', 'reshaped']),
    'cond': (lambda x: ad.cond(True, reshaped, np.sum, x), ['reshaped']),
    'bwd': (lambda x: ad.vjp(by_vjp, x)[1](x), ['fails', 'reshaped']),
    'custom_vmap': (lambda x: ad.vmap(by_vmap)(x),
                    ['fails', 'reshaped']),
    'primitive': (lambda x: own_operation.bind(x), ['reshaped']),
    'called by NumPy': (lambda x: ad.grad(lambda x: np.apply_along_axis(
        reshaped, 0, A).sum() * x[0])(x), ['<lambda>', 'reshaped']),
}


def steps_of(error):
    """Return the names of the functions in a traceback, except pytest's."""
    return [frame.f_code.co_name
            for frame, _ in traceback.walk_tb(error.__traceback__)][1:]


@pytest.mark.parametrize('program, names', STEPS.values(), ids=STEPS)
def test_a_traceback_has_the_users_frames_and_no_others(
        as_users_see_it, program, names):
    with pytest.raises((ValueError, TypeError, AttributeError,
                        NotImplementedError)) as e:
        program(A[:3])
    assert steps_of(e.value) == ['<lambda>', *names]


def test_the_switch_shows_every_frame(as_users_see_it, monkeypatch):
    def frames():
        with pytest.raises(ValueError) as e:
            ad.grad(reshaped)(A)
        return [frame.f_code.co_filename for frame, _ in
                traceback.walk_tb(e.value.__traceback__)]

    assert set(frames()) == {__file__}
    monkeypatch.setenv('AUTODIFF_MINI_TRACEBACK', 'full')
    shown = frames()
    assert [name for name in shown if name == __file__] == [__file__] * 2
    assert any(name.endswith('derivatives.py') for name in shown)


def test_errors_before_an_error_show_the_users_frames_too(as_users_see_it):
    def f(x):
        try:
            return reshaped(x)
        except ValueError as error:
            raise KeyError('shape') from error

    with pytest.raises(KeyError) as e:
        ad.grad(f)(A)
    assert steps_of(e.value)[-1:] == ['f']
    assert [frame.f_code.co_name for frame, _ in
            traceback.walk_tb(e.value.__cause__.__traceback__)
            ] == ['f', 'reshaped']


STRANGERS = {
    'matrix': (np.eye(1).view(np.matrix), 'with np.asarray'),
    'masked': (np.ma.array([1.0]), 'np.ma.filled'),
    'objects': (np.array([1.0], object), 'must be boolean, integer'),
    'sparse': (scipy.sparse.eye_array(1), 'with .toarray'),
    'fraction': (fractions.Fraction(1, 2), 'with float'),
}
BESIDE = (
    lambda c, x: x * c, lambda c, x: c * x, lambda c, x: np.maximum(x, c),
    lambda c, x: np.stack([x, c]), lambda c, x: np.where(True, x, c),
    lambda c, x: np.equal(x, c), lambda c, x: x @ c)


@pytest.mark.parametrize('name', STRANGERS)
def test_foreign_objects_are_refused(name):
    """np.matrix gave a wrong tangent in silence."""
    c, words = STRANGERS[name]
    for f in BESIDE:
        refused(lambda x: f(c, x), np.ones(1), TypeError, '')
    with pytest.raises(TypeError, match=(
            rf"jvp of f: primals\[1\]\['w'\].* cannot be traced: .*{words}")):
        ad.jvp(f_of_two, (1.0, {'w': c}), (1.0, {'w': c}))


def f_of_two(x, y):
    return x


f_of_two.__qualname__ = 'f'

JVPS = {    # words of the error: its type, primals, tangents
    'must be tuples or lists': (TypeError, 1.0, (1.0,)),
    'same tree structure': (TypeError, (1.0, 2.0), (1.0,)),
    r"\{'a': \*\}.*\{'b': \*\}": (TypeError, ({'a': 1.0},), ({'b': 1.0},)),
    r'primals\[0\].*float64\[4\].*float64\[3\]':
        (ValueError, (A,), (A[:3],)),
    'float64.4. and the tangent is float32.4.':
        (TypeError, (A,), (A.astype(np.float32),)),
    'float0 if the primal is': (TypeError, (1,), (1,)),
    'float0': (TypeError, (1.0,), (np.zeros((), ad.float0),)),
    r'primals\[0\].*type str': (TypeError, ('a',), ('a',)),
    'type Zero': (TypeError, (1.0,), (ad.Zero(1.0),)),
}


def test_wrong_primals_and_tangents_are_named():
    for words, (error, primals, tangents) in JVPS.items():
        with pytest.raises(error, match=words):
            ad.jvp(lambda x: pytest.fail('called'), primals, tangents)


def test_arithmetic_on_a_symbolic_zero_names_the_cure():
    """P3: a rule that ignores zeros is told so by name."""
    for use in (lambda z: z + 1, lambda z: A * z, lambda z: z @ A,
                lambda z: -z, lambda z: z[0], np.sin, np.sum, float,
                lambda z: np.asarray(z, float), lambda z: z < 1):
        for zero in ad.Zero, ad.SymbolicZero:
            with pytest.raises(TypeError, match=(
                    r'Zero\(float64\[4\]\).*ad\.instantiate_zeros')):
                use(zero(A))


def test_errors_have_the_names_of_jax():
    for name in ('ConcretizationTypeError', 'TracerArrayConversionError',
                 'TracerBoolConversionError', 'UnexpectedTracerError',
                 'TracerIntegerConversionError'):
        assert issubclass(getattr(ad, name), TypeError)


def test_rule_table_names_the_missing_rule():
    rules = RuleTable('Color rule', 'define color_rules[primitive]')
    with pytest.raises(NotImplementedError, match=(
            r"Color rule for 'sin' not implemented: define color_rules")):
        rules[sin_p]


def test_functions_are_named_as_users_call_them():
    assert fun_name(np.sin) == 'sin'
    assert fun_name(reshaped) == 'reshaped'
    assert fun_name(functools.partial(functools.partial(sum), [])) == 'sum'
    assert fun_name(np.poly1d([1.0])).endswith('poly1d')
    assert full_name(np.sum) == 'numpy.sum'
    assert full_name(np.linalg.qr) == 'numpy.linalg.qr'
    assert full_name(scipy.special.erf) == 'scipy.special.erf'
    assert full_name(scipy.special.sinc) == 'numpy.sinc'    # SciPy has it, too


def test_an_integer_is_named_by_its_position_in_the_call():
    def f(a, b, c):
        pytest.fail('f must not be called')

    for transform in (
            ad.grad, ad.value_and_grad, ad.jacfwd, ad.jacrev, ad.hessian):
        for argnums in (2, -1, (0, 2), (2, 0)):
            with pytest.raises(TypeError, match=r': argument 2: .*int64\[\]'):
                transform(f, argnums)(1.0, 2.0, 3)
            with pytest.raises(TypeError,
                               match=r": argument 2\['n'\]: .*int64"):
                transform(f, argnums)(1.0, 2.0, {'n': 3})
