"""Mistakes, and what is said to those who make them.

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

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.optimize
import scipy.special
import scipy.stats

import autodiff_mini as ad
from autodiff_mini.core import fun_name
from autodiff_mini.errors import RuleTable, full_name
from autodiff_mini.primitives.elementwise import sin_p
from tests.slips import ASKED, FIRST, SECOND, STATEMENTS

A = np.arange(4.)


def sees(error, words):
    """Return a check of an error, or of what caused it.

    NumPy puts a ValueError of its own above ours where an assignment fails.
    """
    def check(raised):
        seen = []
        while raised is not None:
            seen.append(f'{type(raised).__name__}: {raised}')
            if isinstance(raised, error) and words in str(raised):
                return
            raised = raised.__cause__ or raised.__context__
        raise AssertionError(f'{error}, {words!r} not in {seen}')
    return check


def refused(f, x, check):
    for transform in (
            lambda: ad.jvp(f, (x,), (np.ones_like(x)[()],)),
            lambda: ad.vjp(f, x), lambda: ad.linearize(f, x),
            lambda: ad.vjp(lambda y: ad.vjp(f, y), x)):
        with pytest.raises(Exception) as info:
            transform()
        check(info.value)
    # and afterwards everything works
    assert ad.jvp(np.sin, (0.5,), (1.0,)) == (np.sin(0.5), np.cos(0.5))
    assert ad.grad(np.sin)(0.5) == np.cos(0.5)


# What traced programs do not find under these names of np.
ARRAY, FULL = np.array, np.full
ZERO, PAIR = np.zeros(()), np.zeros(2)


def assign(x):
    PAIR[0] = x


def assign_through_index(x):
    PAIR[np.array([0])] = x


def fill(x):
    PAIR.fill(x)


# Every one of these would drop the derivative if it went through.
DROPS = {
    'float': (float, ad.ConcretizationTypeError, 'no longer'),
    'item': (lambda x: x.item(), ad.ConcretizationTypeError, '`item`'),
    'math.sin': (math.sin, ad.ConcretizationTypeError, 'Write np.sin.'),
    'math.fsum': (lambda x: math.fsum([x, x]), ad.ConcretizationTypeError,
                  '`float`'),
    'percent_format': (lambda x: '%f' % x, ad.ConcretizationTypeError,
                       '`float`'),
    'struct': (lambda x: struct.pack('d', x), struct.error, 'not a float'),
    'decimal': (decimal.Decimal, TypeError, 'Decimal'),
    'assign': (assign, (ad.ConcretizationTypeError,
                        ad.TracerArrayConversionError), 'no longer'),
    'assign_through_index': (assign_through_index,
                             ad.TracerArrayConversionError, 'no longer'),
    'np.float64': (np.float64, ad.TracerArrayConversionError, 'no longer'),
    'np.array': (np.array, ad.TracerArrayConversionError, 'no longer'),
    'np.array_of_list': (lambda x: ARRAY([x, x]),
                         ad.TracerArrayConversionError,
                         'Write np.array instead of ARRAY.'),
    'np.array_of_objects': (lambda x: np.array([x, x], dtype=object),
                            TypeError, 'dtype object cannot be traced'),
    'np.full': (lambda x: FULL(2, x), ad.TracerArrayConversionError,
                'Write np.full instead of FULL.'),
    'np.arange': (lambda x: np.arange(x), ad.TracerArrayConversionError,
                  'no longer'),
    'np.vectorize': (lambda x: np.vectorize(lambda y: 2 * y)(x),
                     ad.TracerArrayConversionError, 'Write ad.vmap'),
    'range': (range, ad.TracerIntegerConversionError, 'Python integer'),
    'list_index': (lambda x: [1, 2][x], ad.TracerIntegerConversionError,
                   'ad.asarray([1, 2])[x]'),
    'np.ones': (lambda x: np.ones(x), TypeError, 'JVPTracer'),
    'index': (lambda x: A[x], TypeError, 'Write ad.asarray(A)[x].'),
    'np.repeat': (lambda x: np.repeat(A, x), TypeError,
                  'Write np.repeat(ad.asarray(A), x).'),
}


@pytest.mark.parametrize('name', DROPS)
def test_no_derivative_is_dropped_in_silence(name):
    f, error, words = DROPS[name]
    refused(f, 2.0, sees(error, words))


@pytest.mark.parametrize('name', DROPS)
def test_no_input_becomes_a_constant_in_silence(name):
    """In a jaxpr there is not even a value to forget."""
    f, _, _ = DROPS[name]
    for transform in (ad.make_jaxpr, lambda f: ad.make_jaxpr(ad.grad(f)),
                      lambda f: lambda x: ad.eval_shape(f, x)):
        with pytest.raises((TypeError, ValueError, struct.error)):
            transform(f)(2.0)
    assert ad.make_jaxpr(np.sin)(0.5).eqns[0].primitive is sin_p


def iadd(x):
    a = ZERO
    a += x


FILLED = 'Write into a copy made by np.copy: y = np.copy('
INTO_PLAIN_ARRAYS = {
    'iadd': iadd,
    'out': lambda x: np.sin(x, out=ZERO),
    'positional_out': lambda x: np.add(x, 1, ZERO),
    'stack_out': lambda x: np.stack([x, x], out=PAIR),
    'ufunc_at': lambda x: np.add.at(PAIR, 0, x),
    'copyto': lambda x: np.copyto(ZERO, x),
}


@pytest.mark.parametrize('name', INTO_PLAIN_ARRAYS)
def test_nothing_traced_is_written_into_a_plain_array(name):
    refused(INTO_PLAIN_ARRAYS[name], 2.0, sees(TypeError, FILLED))


UNSUPPORTED = {
    'function': (lambda x: np.packbits(x), 'numpy.packbits is not'),
    'ufunc': (lambda x: np.isnat(x), 'numpy.isnat is not supported'),
    'made_by_frompyfunc': (lambda x: np.frompyfunc(abs, 1, 1)(x),
                           'not supported'),
    'ufunc_where': (lambda x: np.add(x, 1, where=[True]), 'numpy.add with '),
    'method_says_how': (lambda x: np.hypot.at(x, [0], x), 'np.sum'),
    'reshape_order': (lambda x: np.reshape(x, -1, order='A'), "'A'"),
    'sort_order': (lambda x: np.sort(x, order='a'), 'sort with order='),
    'pad_mode': (lambda x: np.pad(x, 1, mode='mean'), "not 'mean'"),
}


@pytest.mark.parametrize('name', UNSUPPORTED)
def test_what_is_not_supported_says_so(name):
    f, words = UNSUPPORTED[name]
    refused(f, np.ones(2), sees(NotImplementedError, words))


def test_an_array_to_write_into_is_named():
    for f in (lambda x: np.mean(x, 0, None, A), lambda x: np.dot(x, x, A),
              lambda x: np.clip(x, 0, 1, A), lambda x: x.round(1, A)):
        refused(f, np.ones(4), sees(TypeError, 'as a keyword: write out=a'))
    refused(lambda x: np.cumsum(x, out=A[0]), np.ones(4),
            sees(ValueError, 'but out= has'))


def test_a_function_is_named_with_its_module():
    assert full_name(np.sum) == 'numpy.sum'
    assert full_name(np.sin) == 'numpy.sin'
    assert full_name(np.linalg.qr) == 'numpy.linalg.qr'
    assert full_name(scipy.special.erf) == 'scipy.special.erf'


SCIPYS = {
    'logsumexp': (lambda x: scipy.special.logsumexp(x),
                  'scipy.special.logsumexp converts its input'),
    'decorated': (lambda x: scipy.linalg.cho_factor(x[None])[0],
                  'scipy.linalg.cho_factor converts its input'),
    'unknown': (lambda x: scipy.linalg.expm(x[None]),
                'Write it with NumPy functions, or define an operation with '
                'its own derivative: see ad.custom_jvp'),
}


@pytest.mark.parametrize('name', SCIPYS)
def test_an_error_names_the_function_of_scipy(name):
    f, words = SCIPYS[name]
    refused(f, np.ones(1), sees(ad.TracerArrayConversionError, words))


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
        assert len(e.value.__notes__) == 1
        assert 'np.copy(a)' in e.value.__notes__[0]
        words = traceback.format_exception(e.value)
        assert 'np.copy(a)' in words[-1]
        assert ''.join(words).count('np.copy(a)') == 1
        assert isinstance(e.value.__context__, ad.ConcretizationTypeError)


# What the error of a mistyped program says (tests/slips.py).

def run(program, name='slip'):
    """Run a program as if it were a file; its lines can be shown."""
    file = f'/{name}.py'
    linecache.cache[file] = (len(program), None, program.splitlines(True),
                             file)
    exec(compile(program, file, 'exec'),
         {'np': np, 'ad': ad, 'math': math, 'partial': functools.partial})


@pytest.mark.parametrize('slip', [
    pytest.param(slip, id=name)
    for name, slip in [*FIRST.items(), *SECOND.items()]])
def test_the_error_of_a_slip_names_the_program_and_one_cure(
        as_users_see_it, slip):
    with pytest.raises(slip.error) as e:
        run(slip.program)
    said = ''.join(traceback.format_exception_only(e.value))
    assert slip.cure in said
    lines = [frame.name for frame in traceback.extract_tb(
        e.value.__traceback__) if frame.filename == '/slip.py']
    assert re.search(r'\bf\b|/slip.py:', said) or lines[-1] in ('f', 'rule') or (
        slip in (SECOND['lax'], SECOND['options']))
    assert len(said) < 700


def asked(lines):
    return ('def int_of(x):\n    return x.astype(int)\n\n@ad.jit\n'
            f'def f(x, y, n):\n    {lines}\n\nf(2.0, 1.0, 1)\n')


@pytest.mark.parametrize('lines, cure', [
    *((f'return {line}', cure) for line, cure in ASKED.items()),
    *STATEMENTS.items()])
def test_the_line_that_asks_a_tracer_decides_the_cure(lines, cure):
    with pytest.raises((TypeError, ValueError, AttributeError)) as e:
        run(asked(lines))
    assert cure in ''.join(traceback.format_exception_only(e.value))


@pytest.mark.parametrize('lines, words', [
    ('return x if x > 0 else -x', r'np\.where\(condition, a, b\)'),
    ('return range(n)', "static_argnames='n'"),
    ('return float(x)', 'Use the traced value directly'),
    ('a[0] = x', r'np\.copy\(x\)')])
def test_a_program_without_its_source_is_told_less(lines, words):
    with pytest.raises((TypeError, ValueError)) as e:
        exec(asked(lines), {'ad': ad, 'np': np, 'a': np.zeros(2)})
    assert re.search(words, ''.join(traceback.format_exception_only(e.value)))


def test_vmap_says_that_a_size_is_one_for_all():
    with pytest.raises(TypeError, match='entry in in_axes must be None'):
        run('def f(n):\n    return range(n)\n\nad.vmap(f)(np.arange(3))\n')


# Where it was: the frames of a traceback.

def reshaped(x):
    return np.sum(np.reshape(x, 5))


def ruled(rule):
    """Return a custom function of which a rule is wrong."""
    f = ad.custom_jvp(lambda x: x) if rule == 'jvp' else (
        ad.custom_vmap(lambda x: x) if rule == 'vmap' else
        ad.custom_vjp(lambda x: x))

    def fails(*args):
        return reshaped(np.ones(3))

    def passes(x):
        return x, None
    if rule == 'jvp':
        f.defjvp(fails)
    elif rule == 'vmap':
        f.def_vmap(fails)
    else:
        f.defvjp(*((fails, passes) if rule == 'fwd' else (passes, fails)))
    return f


def own_operation():
    p = ad.Primitive('p')
    p.def_impl(reshaped)
    return p.bind


STEPS = {   # (program, the user's functions on the way down)
    'jvp': (lambda x: ad.jvp(reshaped, (x,), (x,)), ['reshaped']),
    'vmap': (lambda x: ad.vmap(reshaped)(x[None]), ['reshaped']),
    'pullback': (lambda x: ad.vjp(np.sin, x)[1](1.0), []),
    'grad': (lambda x: ad.grad(reshaped)(x), ['reshaped']),
    'jit': (lambda x: ad.jit(reshaped)(x), ['reshaped']),
    'eval_jaxpr': (lambda x: ad.eval_jaxpr(
        ad.make_jaxpr(np.linalg.inv)(np.ones((2, 2))), [],
        np.zeros((2, 2))), []),
    'scan': (lambda x: ad.scan(lambda c, x: (reshaped(A * x), c), 0.0, x),
             ['<lambda>', 'reshaped']),
    'cond': (lambda x: ad.cond(True, reshaped, np.sum, x), ['reshaped']),
    'bwd': (lambda x: ad.vjp(ruled('bwd'), x)[1](x), ['fails', 'reshaped']),
    'custom_vmap': (lambda x: ad.vmap(ruled('vmap'))(x),
                    ['fails', 'reshaped']),
    'primitive': (lambda x: own_operation()(x), ['reshaped']),
    'called by NumPy': (lambda x: ad.grad(lambda x: np.apply_along_axis(
        reshaped, 0, A).sum() * x[0])(x), ['<lambda>', 'reshaped']),
}


def steps_of(error):
    """Return the names of the functions in a traceback, but for pytest's."""
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
    'matrix': np.eye(1).view(np.matrix),
    'masked': np.ma.array([1.0]),
    'objects': np.array([1.0], object),
    'strings': np.array(['a']),
    'fraction': fractions.Fraction(1, 2),
    'dict': {},
}


@pytest.mark.parametrize('name', STRANGERS)
@pytest.mark.parametrize('f', [
    lambda c, x: x * c, lambda c, x: c * x, lambda c, x: np.add(x, c),
    lambda c, x: np.maximum(x, c), lambda c, x: np.stack([x, c]),
    lambda c, x: np.where(True, x, c), lambda c, x: np.equal(x, c),
    lambda c, x: x @ c,
])
def test_strangers_beside_a_tracer_are_refused(name, f):
    """np.matrix gave a wrong tangent in silence (DESIGN)."""
    c = STRANGERS[name]
    refused(lambda x: f(c, x), np.ones(1), sees(TypeError, ''))


@pytest.mark.parametrize('name', [n for n in STRANGERS
                                  if n not in ('none', 'dict')])
def test_strangers_as_primals_are_refused_by_name(name):
    x = STRANGERS[name]
    with pytest.raises(TypeError, match=(
            r"jvp of f: primals\[1\]\['w'\].* cannot be traced")):
        ad.jvp(f_of_two, (1.0, {'w': x}), (1.0, {'w': x}))


def f_of_two(x, y):
    return x


f_of_two.__qualname__ = 'f'

# The words of jvp's own checks.  (primals, tangents, error, words)

CALLS = {
    'no_tuple': (1.0, (1.0,), TypeError, 'must be tuples or lists'),
    'too_few': ((1.0, 2.0), (1.0,), TypeError, 'same tree structure'),
    'other_tree': (({'a': 1.0},), ({'b': 1.0},), TypeError,
                   r"\{'a': \*\}.*\{'b': \*\}"),
    'shape': ((A,), (A[:3],), ValueError,
              r'primals\[0\].*float64\[4\].*float64\[3\]'),
    'dtype': ((A,), (A.astype(np.float32),), TypeError,
              'float64.4. and the tangent is float32.4.'),
    'tangent_of_int': ((1,), (1,), TypeError, 'float0 if the primal is'),
    'float0_of_float': ((1.0,), (np.zeros((), ad.float0),), TypeError,
                        'float0'),
    'string': (('a',), ('a',), TypeError, r'primals\[0\].*type str'),
    'symbolic_zero': ((1.0,), (ad.Zero(1.0),), TypeError, 'type Zero'),
    
}


@pytest.mark.parametrize('name', CALLS)
def test_wrong_primals_and_tangents_are_named(name):
    primals, tangents, error, words = CALLS[name]

    def f(*args):
        raise AssertionError('f must not be called')

    f.__qualname__ = 'f'
    with pytest.raises(error, match=words):
        ad.jvp(f, primals, tangents)


@pytest.mark.parametrize('use', [
    lambda z: z + 1, lambda z: 1 - z, lambda z: A * z, lambda z: z @ A,
    lambda z: -z, lambda z: z[0], lambda z: np.sin(z), lambda z: np.sum(z),
    lambda z: np.asarray(z, float), lambda z: float(z), lambda z: z < 1,
])
def test_arithmetic_on_a_symbolic_zero_names_the_cure(use):
    """P3: a rule that ignores zeros is told so by name."""
    with pytest.raises(TypeError, match=r'Zero\(float64\[4\]\).*'
                                        r'ad\.instantiate_zeros'):
        use(ad.Zero(A))


def test_a_tracer_is_described_by_type_line_and_transformation():
    with pytest.raises(ad.ConcretizationTypeError) as info:
        ad.jvp(doubles_as_float, (np.ones(2),), (np.ones(2),))
    line = doubles_as_float.__code__.co_firstlineno + 1
    assert (f'JVPTracer<float64[2]>, made at {__file__}:{line} in jvp of '
            'doubles_as_float') in str(info.value)


def doubles_as_float(x):
    y = 2 * x
    return float(y)


def test_error_names_are_those_of_jax():
    names = ['ConcretizationTypeError', 'TracerArrayConversionError',
             'TracerBoolConversionError', 'TracerIntegerConversionError',
             'UnexpectedTracerError']
    for name in names:
        assert issubclass(getattr(ad, name), TypeError)


def test_rule_table_names_what_is_missing():
    rules = RuleTable('Colour rule', 'define colour_rules[primitive]')
    with pytest.raises(NotImplementedError, match=(
            r"Colour rule for 'sin' not implemented: define colour_rules")):
        rules[sin_p]


def test_fun_name_is_what_users_call_a_function():
    class Callable:
        def __call__(self):
            pass

    assert fun_name(np.sin) == 'sin'
    assert fun_name(test_fun_name_is_what_users_call_a_function) == (
        'test_fun_name_is_what_users_call_a_function')
    assert fun_name(functools.partial(np.sin)) == 'sin'
    assert fun_name(functools.partial(functools.partial(sum), [])) == 'sum'
    assert fun_name(Callable()).endswith('Callable')
    assert fun_name(Callable().__call__).endswith('Callable.__call__')




# A tracer that has escaped is caught where it is used, also at the top.

def escaped(transform):
    """Return what a function has left outside of its transformation."""
    left = []

    def f(x):
        left.append(x * 2)
        return np.sum(x)
    transform(f)
    return left[-1]


ESCAPES = {
    'grad': lambda f: ad.grad(f)(X),
    'vmap': lambda f: ad.vmap(f)(np.ones((2, 3))),
    'jit': lambda f: ad.jit(f)(X),
}


def same(x):
    return x


X = np.ones(3)
USES = {
    'add': lambda t: t + 1, 'jit': ad.jit(same), 'jit_returns': lambda t: ad.jit(lambda x: t)(1.0),
    'jvp': lambda t: ad.jvp(same, (t,), (t,)),
    'grad_returns': lambda t: ad.grad(lambda x: t[0])(1.0),
    'vjp': lambda t: ad.vjp(same, t),
    'pullback': lambda t: ad.vjp(same, X)[1](t),
    'pushforward': lambda t: ad.linearize(same, X)[1](t),
    'vmap_returns': lambda t: ad.vmap(lambda x: t)(X),
    'scan': lambda t: ad.scan(lambda c, x: (c, x), t, np.ones(2)),
    'cond': lambda t: ad.cond(True, same, same, t),
}


@pytest.mark.parametrize('use', USES)
@pytest.mark.parametrize('escape', ESCAPES)
def test_a_tracer_that_has_escaped_is_caught_where_it_is_used(escape, use):
    tracer = escaped(ESCAPES[escape])
    with pytest.raises(ad.UnexpectedTracerError, match='had returned'):
        USES[use](tracer)


# What cannot be differentiated is named by its position in the call.

@pytest.mark.parametrize('argnums', [2, -1, (0, 2), (2, 0)])
@pytest.mark.parametrize('transform', [
    ad.grad, ad.value_and_grad, ad.jacfwd, ad.jacrev, ad.hessian])
def test_an_integer_is_named_by_its_position_in_the_call(transform, argnums):
    def f(a, b, c):
        pytest.fail('f must not be called')
    with pytest.raises(TypeError, match=r': argument 2: .*int64\[\]'):
        transform(f, argnums)(1.0, 2.0, 3)
    with pytest.raises(TypeError, match=r": argument 2\['n'\]: .*int64"):
        transform(f, argnums)(1.0, 2.0, {'n': 3})
