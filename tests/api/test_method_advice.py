"""Guard the advice for habits from PyTorch, JAX, and other systems.

Where the advice is a program, it runs, and it returns what the habit would.
"""

import ast
import functools
import json
import linecache
import random
import re
import statistics
import traceback

import numpy as np
import pytest
import scipy.special

import autodiff_mini as ad
from autodiff_mini.core.names import fun_name
from autodiff_mini.wings.messages import name_advice as names
from autodiff_mini.wings.messages import method_advice as habits

X = np.array([0.5, 2.0, 1.0])
SCOPE = {'np': np, 'ad': ad, 'scipy': scipy, 'random': random, 'json': json,
         'statistics': statistics, 'rng': np.random.default_rng(1)}
WAYS = {    # by name: f of a traced array like X, or of a number
    'grad': lambda f: ad.grad(f),
    'jvp': lambda f: lambda x: ad.jvp(f, (x,), (x,)),
    'vmap': lambda f: lambda x: ad.vmap(f)(np.stack([x, x])),
    'jit': lambda f: ad.jit(f),
    'grad of jit': lambda f: ad.grad(ad.jit(f)),
    'jit of grad': lambda f: ad.jit(ad.grad(f)),
    'vmap of grad': lambda f: lambda x: ad.vmap(ad.grad(f))(
        np.stack([x, x])),
    'jvp of grad': lambda f: lambda x: ad.jvp(ad.grad(f), (x,), (x,)),
    'grad of checkpoint': lambda f: ad.grad(ad.checkpoint(f)),
    'grad of scan': lambda f: ad.grad(lambda x: ad.scan(
        lambda c, _: (f(c), None), x, length=1)[0]),
}
# These draw random numbers anew in each call.
EAGER = 'grad', 'jvp', 'jvp of grad', 'grad of checkpoint'


def function(program, file='/habit.py'):
    """Return a function of x, whose lines can be read."""
    text = f'def f(x):\n    return {program}\n'
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope = dict(SCOPE)
    exec(compile(text, file, 'exec'), scope)
    return scope['f']


def said(call):
    """Return what the error of a call says, with its notes."""
    with pytest.raises(Exception) as e:
        call()
    text = ''.join(traceback.format_exception_only(e.value))
    assert 'Did you mean' not in text
    return text.strip()


def advised(text):
    """Return the program that an error tells the user to write."""
    return re.search(r'[Ww]rite (?!into)(.*)\.$', text)[1]


METHODS = {     # a habit, and what it means
    'x.clone()': 'x', 'x.detach()': 'x', 'x.unsqueeze(0)': 'x[None]',
    'x.permute(0)': 'x', 'x.view(-1)': 'x', 'x.view(3, 1)': 'x[:, None]',
    'x.numel()': '3', 'x.dim()': '1', 'x.t()': 'x', 'x.size(0)': '3',
    'x.size()': '3', 'x.shape()': '(3,)', 'x.pow(2)': 'x * x',
    '(x + 1).pow(2)': '(x + 1) * (x + 1)', 'x.mm(x + 1)': 'x @ (x + 1)',
    'x.mul(x + 1)': 'x * (x + 1)', 'x.masked_fill(x > 1, 0)':
    'np.array([0.5, 0, 1])', 'x.norm()': 'np.sqrt(x @ x)', 'x.exp()':
    'np.exp(x)', '(x - 1).relu()': 'np.array([0, 1, 0])',
    'x.sigmoid()': '1 / (1 + np.exp(-x))', 'x.rsqrt()': 'x ** -0.5',
    'x.softmax(0)': 'np.exp(x) / np.sum(np.exp(x))',
    'x.log_softmax(-1)': 'x - np.log(np.sum(np.exp(x)))',
    'x.logsumexp(0)': 'np.log(np.sum(np.exp(x)))', 'x.float()': 'x',
    'x.type(float)': 'x', 'x.long()': 'np.array([0, 2, 1])',
    'x.expand(2, 3)': 'np.stack([x, x])', 'x.clamp(0.6, 1.5)':
    'np.array([0.6, 1.5, 1])', 'x.index_select(0, [1])': 'x[[1]]',
    'x.gather(0, np.array([1, 1]))': 'x[[1, 1]]',
    'x.lgamma()': 'scipy.special.gammaln(x)',
    'x.sum(dim=0)': '3.5', 'np.sum(x, dim=0)': '3.5',
    'np.mean(x, dim=0, keepdim=True)': 'np.array([3.5 / 3])',
    'np.relu(x - 1)': 'np.array([0, 1, 0])', 'np.unsqueeze(x, 0)': 'x[None]',
    'np.mean(x, 0, True)': 'np.array([3.5 / 3])',
    'np.zeros(2, 3)': 'np.zeros((2, 3))', 'np.ndarray.sum(x)': '3.5',
    'np.concatenate(x, x)': 'np.append(x, x)', 'x.at[1].get()': 'x[1]',
    'x(0)': 'x[0]', 'x.T()': 'x', 'x.T.clone()': 'x',
    'np.cat([x, x])': 'np.append(x, x)', 'np.clamp(x, 0, 1)':
    'np.clip(x, 0, 1)', 'np.tensor([x[0], 1.0])': 'np.array([0.5, 1.0])',
    'statistics.mean(x)': '3.5 / 3', 'statistics.stdev(x)':
    'np.std(x, ddof=1)', 'np.fromiter((2 * y for y in x), float)': '2 * x',
    'np.fromiter(x, float)': 'x', '[*np.nditer(x)]': '[*x]',
    '[y * z for y, z in np.nditer([x, x])]': '[*(x * x)]',
}


@pytest.mark.parametrize('way', WAYS)
def test_the_advice_for_a_habit_is_the_same_in_all_transformations(way):
    for habit in METHODS:
        text = said(lambda: WAYS[way](function(habit))(X))
        assert program_for(habit, text) == advice_of(habit), (habit, text)


@functools.cache
def advice_of(habit):
    return program_for(habit, said(lambda: ad.grad(function(habit))(X)))


def program_for(habit, text):
    """Return the habit as an error tells the user to write it."""
    new, _, old = advised(text).partition(' instead of ')
    habit = ast.unparse(ast.parse(habit))
    new = new.removesuffix(' instead')
    if 'nditer' in habit:
        return habit.replace(old or 'np.nditer(x)', new)
    return new


@pytest.mark.parametrize('habit', METHODS)
def test_the_advice_for_a_habit_is_a_program_that_does_the_same(habit):
    f = function(advice_of(habit))
    wanted = eval(METHODS[habit], SCOPE | {'x': X})
    np.testing.assert_allclose(f(X), wanted, atol=1e-12)
    np.testing.assert_allclose(ad.jit(f)(X), wanted, atol=1e-12)


AT = {
    'x.at[0].set(9.)': 'y[0] = 9.0', 'x.at[1:].add(x[0])': 'y[1:] += x[0]',
    'x.at[i].add(1.)': 'np.add.at(y, i, 1.0)',
    'x.at[-1].multiply(2)': 'y[-1] *= 2', 'x.at[0].max(0)': 'y[i] = value',
}


def test_a_write_by_at_becomes_a_write_into_a_copy():
    for habit, write in AT.items():
        for way in WAYS.values():
            text = said(lambda: way(function(habit))(X))
            assert text.endswith(
                f'Write into a copy: y = np.copy(x), then {write}.')
    i = np.array([0, 0])
    for write, wanted in zip(AT.values(), (
            [9, 2, 1], [0.5, 2.5, 1.5], [2.5, 2, 1], [0.5, 2, 2])):
        def f(x):
            y = np.copy(x)
            exec(write, {'np': np, 'y': y, 'x': x, 'i': i})
            return y
        np.testing.assert_allclose(ad.jit(f)(X), wanted)


NOTES = {       # habits whose advice is not a program
    'x.grad': 'Write ad.grad(f)(x), which returns the gradient.',
    'np.sum(x).backward()': 'Write ad.grad(f)(x), which returns the gradi',
    'x.requires_grad_()': 'ad.grad(f)(x) differentiates f with respect to x.',
    'x.numpy()': 'Leave it out, because NumPy accepts x.',
    "x.to('cuda')": 'Leave it out, because NumPy arrays are in main memory.',
    'x._value': 'Return it from the function, with has_aux=True, and read it',
    'x.tofile(0)': 'Return x from the function, and write it outside.',
    'x.register_hook(0)': 'a rule for the reverse pass, with ad.custom_vjp.',
    'x.ndim()': 'Leave the parentheses out: write x.ndim.',
    'np.ones(3, requires_grad=True)': 'Leave requires_grad out.',
    'X.clone() * x': 'X is a NumPy array. Write np.copy(X).',
    'X.view(3, 1)': 'Write X.reshape(3, 1).',
    'json.dumps(x)': 'Return x from the function, and call json.dumps outs',
    'np.testing.assert_allclose(x, x)':
        'beside another result, and call np.testing.assert_allclose outside.',
    'np.testing.assert_equal(x, 1.0)': 'call np.testing.assert_equal outside',
    'np.arange(0, x[0])': 'Write np.linspace(0, x[0], n, endpoint=False), ',
    'np.arange(0, x[0], 0.1)': 'Write 0 + 0.1 * np.arange(n), with a plain',
    '[i for i, _ in np.ndenumerate(x)]': 'Write np.ndindex(np.shape(x))',
    'random.randint(0, x[0])': 'Draw the numbers outside of the function, ',
    'rng.poisson(x)': 'Draw the numbers outside of the function, and pass',
    'rng.permutation(x)': 'Write x[rng.permutation(len(x))].',
    'np.random.multivariate_normal(x, np.eye(3))': 'Draw the numbers outside',
}


@pytest.mark.parametrize('way', WAYS)
def test_a_habit_that_has_no_equal_gets_advice(way, monkeypatch):
    monkeypatch.setitem(SCOPE, 'X', X)
    for habit, words in NOTES.items():
        text = said(lambda: WAYS[way](function(habit))(X))
        assert words in text, (habit, text)


def test_the_advice_says_what_is_traced_and_python_suggests_no_other_name():
    def loss(x):
        return x.clone()

    linecache.checkcache()
    with pytest.raises(AttributeError) as e:
        ad.grad(ad.jit(loss))(X)
    assert e.value.__notes__ == [
        f'x is a NumPy array, traced by jit of {fun_name(loss)}. Write '
        'np.copy(x).']
    assert e.value.name is None     # Python would suggest `conj`

    def no_habit(x):
        return x.shpae

    with pytest.raises(AttributeError) as e:
        ad.grad(no_habit)(X)
    assert e.value.name == 'shpae' and not hasattr(e.value, '__notes__')


OURS = {
    'ad.grad(np.sin, argnum=0)': 'Write argnums.',
    'ad.vmap(np.sin, in_dims=0)': 'Write in_axes.',
    'ad.jit(np.sin, static_argnum=0)': 'Write static_argnums.',
    'ad.grad(np.sin, create_graph=True)':
        'Leave it out, because each derivative can be differentiated again.',
    'ad.vmap(np.sin, chunk_size=3)':
        'Leave it out, because it has no equal here.',
    'ad.grad(np.sin)(x, requires_grad=True)':
        'Leave it out: ad.grad(f)(x) differentiates f with respect to x.',
    'ad.odeint(np.subtract, x, x, method="rk4")': 'Leave it out, because',
}


def test_a_keyword_of_another_system_is_refused_with_a_cure():
    for call, words in OURS.items():
        assert words in said(lambda: function(call)(X))


def test_a_size_is_to_be_made_static():
    for f in (lambda x, n: np.tile(x, n), lambda x, n: np.split(x, n),
              lambda x, n: np.roll(x, n), lambda x, n: x[:n]):
        assert "Make n static: ad.jit(f, static_argnames='n')." in said(
            lambda: ad.jit(f)(X, 3))
        ad.jit(f, static_argnames='n')(X, 3)


def test_the_call_with_too_few_arguments_is_named():
    for f, args in ((lambda x, y: x, (1.0,)), (lambda x: x, (1.0, 2.0))):
        for way in ad.grad, ad.jit, lambda f: ad.jit(ad.grad(f)):
            assert re.search(r' of the .*lambda in line .* calls it with '
                             f'{len(args)} arg', said(lambda: way(f)(*args)))


def test_the_attribute_is_assigned():
    def f(x):
        x.requires_grad = True

    def g(x):
        x.shape = (3, 1)

    assert 'Leave it out' in said(lambda: ad.grad(f)(X))
    assert 'Write x = x.reshape(shape).' in said(lambda: ad.grad(g)(X))


def test_the_advice_names_only_what_exists():
    for text in [*names.INSTEAD.values(), *habits.METHODS.values(),
                 *habits.FUNCTIONS.values()]:
        for owner, name in re.findall(r'\b(ad|np)\.(\w+)', text):
            assert hasattr(SCOPE[owner], name), text
    assert not {*names.INSTEAD} & {*ad.__all__}


def test_a_name_of_another_system_says_what_to_write():
    for name, words in names.INSTEAD.items():
        with pytest.raises(AttributeError) as e:
            getattr(ad, name)
        assert str(e.value) == ("module 'autodiff_mini' has no attribute "
                                f"'{name}'. {words}.")
    for name, words in {'array': 'Use NumPy itself: write np.array.',
                        'value_and_gradd': 'Write ad.value_and_grad.',
                        'jacreb': 'Write ad.jacrev.'}.items():
        with pytest.raises(AttributeError, match=re.escape(words)):
            getattr(ad, name)
        with pytest.raises(ImportError, match=re.escape(words)):
            exec(f'from autodiff_mini import {name}')
    for name in 'xyz', '_grad':
        with pytest.raises(AttributeError, match=f"no attribute '{name}'$"):
            getattr(ad, name)
        assert not hasattr(ad, name)


DRAWN = {   # in terms of s, a number or an array
    'rng.normal(0, s)': 's * {}', 'rng.normal(s, 2.0)': 's + 2.0 * {}',
    'rng.normal(scale=s)': 's * {}',
    'rng.uniform(-s, s)': '-s + (s - -s) * {}',
    'rng.uniform(0, s + 1)': '(s + 1) * {}',
    'rng.exponential(s)': 's * {}', 'rng.laplace(1, s)': '1 + s * {}',
}


def test_random_numbers_depend_on_a_parameter_by_a_formula():
    for habit, formula in DRAWN.items():
        name = habit.partition('(')[0]
        for x, size in ((2.0, ''), (X, r'size=np.shape\([s1 +-]*\)')):
            for way, transform in WAYS.items():
                f = function(f'(lambda s: {habit})(x)')
                text = said(lambda: transform(f)(x))
                draw = fr'{re.escape(name)}\({size}\)'
                if way in EAGER:
                    assert re.search(re.escape(f'Write {formula}.').replace(
                        r'\{\}', draw), text), text
                else:
                    assert re.search(f'Draw noise = {draw} outside', text)
                    assert f'write {formula.format("noise")}.' in text


def test_the_formulas_of_random_numbers_are_right():
    for habit, formula in DRAWN.items():
        name = habit.partition('(')[0]
        draws = []
        for program in habit, formula.format(f'{name}()'):
            scope = SCOPE | {'rng': np.random.default_rng(3), 's': 1.5}
            draws.append(eval(program, scope))
        np.testing.assert_allclose(*draws)


# Arguments

def two(x, y):
    return np.sum(x * y)


POSITIONS = {   # by position: what is said of two(x, y)
    2: 'argnums is 2, but two takes two arguments (0 and 1).',
    -3: 'argnums is -3, but two takes two arguments (0 and 1).',
    (0, 7): 'argnums is 7, but two takes two arguments (0 and 1).',
}


def test_argnums_out_of_range_say_how_many_arguments_there_are():
    for transform in (ad.grad, ad.value_and_grad, ad.jacfwd, ad.jacrev,
                      ad.hessian, lambda f, i: ad.jit(ad.grad(f, i)),
                      lambda f, i: ad.vmap(ad.grad(f, i)),
                      lambda f, i: ad.grad(ad.jit(f), i)):
        for argnums, words in POSITIONS.items():
            text = said(lambda: transform(two, argnums)(X, X))
            assert text.endswith(words), text
        transform(two, -1)(X, X)
    for f, words in {lambda x: x: 'the lambda takes one argument (0).',
                     lambda a, b, c: a: 'the lambda takes three arguments (0 '
                     'to 2).'}.items():
        assert said(lambda: ad.grad(f, 3)(X)).endswith(words)
    for call, words in {
            lambda: ad.grad(two, 1)(X, y=X): 'Pass y by position, not by k',
            lambda: ad.grad(two, 1)(X): 'Pass y by position.',
            lambda: ad.grad(two)(): 'Pass the arguments.',
            lambda: ad.grad(np.sin, 1)(1.0): 'Pass the argument by position.',
            lambda: ad.grad(lambda *x: x[0], 1)(1.0):
                'Pass the argument by position.'}.items():
        assert words in said(call)


def test_static_positions_out_of_range_name_the_arguments():
    for use in (lambda i: ad.jit(two, static_argnums=i),
                lambda i: ad.make_jaxpr(two, static_argnums=i),
                lambda i: ad.checkpoint(two, static_argnums=(i,)),
                lambda i: ad.custom_jvp(two, nondiff_argnums=(i,)),
                lambda i: ad.custom_vjp(two, nondiff_argnums=(i,))):
        for i in 2, -3:
            assert said(lambda: use(i)).endswith(
                f"two has no argument {i}. Its arguments are "
                "{0: 'x', 1: 'y'}.")
        use(-2)


def test_which_asks_for_the_arguments():
    for f in np.sin, ad.grad(np.sin), lambda x: x:
        assert said(lambda: ad.which(f)).endswith(
            'with the arguments that follow it, but got none. Write '
            'ad.which(f, x).')
    assert ad.which(lambda: 1) == []
    assert "argument: 'y'" in said(lambda: ad.which(two, X))


def test_a_slope_in_a_list_is_to_be_made_an_array():
    t = np.arange(2.0)
    for way in (lambda f, y: ad.odeint(f, y, t),
                lambda f, y: ad.jit(lambda y: ad.odeint(f, y, t))(y),
                lambda f, y: ad.jacrev(lambda y: ad.odeint(f, y, t))(y)):
        for y, words in {1.0: 'Return a number.',
                         (1.0, 1.0): 'Return an array: np.array([...]).',
                         ((1.0, 1.0), (1.0, 1.0)):
                             'Return an array: np.stack([...]).'}.items():
            for kind in list, tuple:
                text = said(lambda: way(lambda y, t: kind([y, y]),
                                        np.array(y)))
                assert text.endswith(words)
