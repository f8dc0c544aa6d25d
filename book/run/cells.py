"""Run the cells of a page, with as much of IPython as the book needs.

The worker sets `say(kind, text)` and calls `fresh`, `run`, and `attempt`.
This module doesn't know about the browser, so a test can run it anywhere.
"""

import ast
import importlib
import inspect
import io
import linecache
import logging
import os
import re
import sys
import time
import timeit
import traceback
import types
import warnings
from contextlib import contextmanager

import numpy
from numpy._core import fromnumeric, overrides

MOST = 100_000          # characters that one cell may print
WIDTH = 79
LIBRARY = 'autodiff_mini', 'tests.support.jaxpr_checks'    # and what uses it
SITE = next(path for path in sys.path if path.endswith('site-packages')) + '/'
PRINT, ERRORS = numpy.get_printoptions(), numpy.geterr()
say = print             # the worker puts its own here
main = None
logging.getLogger('matplotlib').setLevel(logging.ERROR)


class Stream:
    """Send what a cell prints, at most twenty times a second."""

    encoding, errors = 'utf-8', 'replace'

    def __init__(self, kind):
        self.kind, self.text, self.sent, self.at = kind, '', 0, 0

    def write(self, text):
        if self.sent < MOST:
            self.text += text
            if time.monotonic() - self.at > 0.05 or len(self.text) > 4000:
                self.flush()
        return len(text)

    def flush(self):
        if self.text:
            self.sent += len(self.text)
            more = '' if self.sent < MOST else '\n... and more'
            say(self.kind, clean(self.text) + more)
        self.text, self.at = '', time.monotonic()

    def isatty(self):
        return False


class Shell:
    """What `get_ipython()` returns: extensions add their transformers."""

    ast_transformers = []


def clean(text):
    """Return text without paths and addresses, as the book prints it."""
    text = re.sub(r'(?m)^.*:\d+: (\w*Warning: .*\n)(?:  .*\n)?', r'\1', text)
    return re.sub(r'\b0x[0-9a-f]{4,}', '0x…', text.replace(SITE, ''))


def pretty(x, indent=0):
    """Return a value as text, as IPython prints it."""
    kind, name = type(x), getattr(x, '__name__', '')
    if isinstance(x, types.FunctionType):
        own = f'{x.__module__}.{x.__qualname__}'
        return f'<function {own}{inspect.signature(x)}>'
    if isinstance(x, type):
        own = '' if x.__module__ == 'builtins' else x.__module__ + '.'
        return own + x.__qualname__
    ends = {list: '[]', tuple: '()', dict: '{}', set: '{}'}.get(kind)
    if not ends or not x:
        return repr(x).replace('\n', '\n' + ' ' * indent) if indent else repr(x)
    if kind is dict:
        parts = []
        for key, value in x.items():
            parts.append(pretty(key) + ': ' + pretty(value, indent + 1))
    else:
        every = sorted(x, key=repr) if kind is set else x
        parts = [pretty(y, indent + 1) for y in every]
    tail = ',' if kind is tuple and len(x) == 1 else ''
    line = ', '.join(parts)
    if len(line) + indent + 2 > WIDTH or '\n' in line:
        line = (',\n' + ' ' * (indent + 1)).join(parts)
    return ends[0] + line + tail + ends[1]


def display(*values):
    """Show values, as HTML if they have that form."""
    for x in values:
        flush()
        html = getattr(x, '_repr_html_', None)
        html = html() if html and not isinstance(x, type) else None
        if html is None:
            say('result', clean(pretty(x)))
        else:
            say('html', re.sub(r'(?s)<script>.*?</script>', '', html))


def flush():
    sys.stdout.flush(), sys.stderr.flush()


class Nothing(types.ModuleType):
    """A stand-in for matplotlib until a reader asks for it."""

    __path__ = ()
    called = False          # since the last cell began

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Nothing(name)

    def __call__(self, *args, **named):
        Nothing.called = True
        return Nothing('_')

    __getitem__ = __call__

    def __iter__(self):
        return iter((Nothing('_'), Nothing('_')))


def fresh(pictures=False):
    """Start a new namespace, with the library as the book has it."""
    global main
    for name in [*sys.modules]:
        if name.startswith(LIBRARY):
            del sys.modules[name]
    numpy.set_printoptions(**PRINT), numpy.seterr(**ERRORS)
    Shell.ast_transformers.clear()
    main = sys.modules['__main__'] = types.ModuleType('__main__')
    vars(main).update(display=display, get_ipython=Shell)
    for name in 'matplotlib', 'matplotlib.pyplot':
        if not pictures:
            sys.modules[name] = Nothing(name)
        elif isinstance(sys.modules.get(name), Nothing):
            del sys.modules[name]


def python(source):
    """Return the source of a cell with its magics as Python."""
    return re.sub(r'(?m)^%load_ext +(\S+)', '__import__("importlib")'
                  r'.import_module("\1").load_ipython_extension(get_ipython())',
                  source)


def run(source, number):
    """Run a cell, and return what it raised and where, or an empty list."""
    file = f'<cell {number + 1}>'
    source = python(source)
    lines = source.splitlines(True)
    linecache.cache[file] = len(source), None, lines, file
    sys.stdout, sys.stderr = Stream('stdout'), Stream('stderr')
    warnings.resetwarnings()
    vars(main).pop('__warningregistry__', None)
    try:
        tree = ast.parse(source, file)
        last = tree.body and tree.body[-1]
        shown = isinstance(last, ast.Expr) and not re.search(
            r';\s*(#.*)?$', source[-200:].rstrip().split('\n')[-1])
        for transformer in Shell.ast_transformers:
            tree = ast.fix_missing_locations(transformer.visit(tree))
        if shown:
            tree.body, last = tree.body[:-1], tree.body[-1]
        exec(compile(tree, file, 'exec'), vars(main))
        if shown:
            value = eval(compile(ast.Expression(last.value), file, 'eval'),
                         vars(main))
            if value is not None and not isinstance(value, Nothing):
                main._ = value
                display(value)
        draw()
        return []
    except BaseException as error:
        return told(error)
    finally:
        flush()
        if Nothing.called:
            say('undrawn', '')
        Nothing.called = False


def told(error, file='<cell ', above=0):
    """Return the text of an error, and its lines in cells or a file.

    Args:
        error: the error.
        file: what the names of these files begin with.
        above: how many lines of the file the reader doesn't see.
    """
    def cell(name):
        return int(name[6:-1]) - 1 if file == '<cell ' else -1

    frames, at = [], error.__traceback__
    while at:
        name = at.tb_frame.f_code.co_filename
        if name.startswith(file):
            frames.append([cell(name), at.tb_lineno - above])
        at = at.tb_next
    said = str(error)
    if isinstance(error, SyntaxError):
        said = error.msg
        if (error.filename or '').startswith(file):
            frames = [[cell(error.filename), (error.lineno or 1) - above]]
    elif isinstance(error, KeyError):
        said = repr(error.args[0]) if error.args else ''
    text = type(error).__name__ + ': ' + said
    notes = getattr(error, '__notes__', [])
    return [clean('\n'.join([text, *notes])), frames]


def draw():
    """Show the figures that a cell has drawn."""
    plt = sys.modules.get('matplotlib.pyplot')
    if plt and not isinstance(plt, Nothing):
        for n in plt.get_fignums():
            file = io.StringIO()
            plt.figure(n).savefig(file, format='svg')
            flush(), say('html', svg(file.getvalue()))
        plt.close('all')


def svg(text):
    """Return an SVG for use in a page, in the page's text color."""
    text = re.sub(r'(?s)<(metadata|style).*?</\1>|<!--.*?-->', '', text)
    text = re.sub(r'<g id="[^"]*"', '<g', text)     # ids aren't unique
    return text[text.index('<svg'):].replace('#7f7f7f', 'currentColor')


def newer():
    """Give NumPy 2.0 what 2.1 has: `np.reshape(x, shape=…)`, and more."""
    old = fromnumeric.reshape

    @overrides.array_function_dispatch(
        lambda a, /, shape=None, order=None: (a,), module='numpy')
    def reshape(a, /, shape=None, order='C'):
        return old(a, shape, order)
    numpy.reshape = fromnumeric.reshape = reshape

    def unstack(x, /, *, axis=0):
        return tuple(numpy.moveaxis(x, axis, 0))

    def cumulative_sum(x, /, *, axis=None):
        return numpy.cumsum(x, axis)

    def cumulative_prod(x, /, *, axis=None):
        return numpy.cumprod(x, axis)

    for new in unstack, cumulative_sum, cumulative_prod:
        setattr(numpy, new.__name__, overrides.array_function_dispatch(
            lambda x, /, *, axis=None: (x,), module='numpy')(new))
    numpy.matvec = lambda x, y: (x @ y[..., None])[..., 0]
    numpy.vecmat = lambda x, y: (x[..., None, :] @ y)[..., 0, :]


if numpy.__version__ < '2.1':
    newer()


def timed(statement, number=1):
    """Return the time that a function takes, as `timeit.timeit` does.

    A browser's clock ticks only ten thousand times a second, so a fast
    function runs more often than it was asked to.
    """
    runs, began = 0, time.perf_counter()
    while True:
        for _ in range(number):
            statement()
        runs += 1
        spent = time.perf_counter() - began
        if spent > 0.002:
            return spent / runs


if sys.platform == 'emscripten':
    timeit.timeit = timed
    os.environ['MATPLOTLIBRC'] = SITE       # the book's is there


# Exercises.

class Approx:
    """A number, or a tree of numbers, that another is nearly equal to."""

    __array_ufunc__ = None

    def __init__(self, expected, rel=1e-6, abs=1e-12, nan_ok=False):
        self.expected, self.rel, self.abs = expected, rel, abs
        self.nan_ok = nan_ok

    def __eq__(self, actual):
        expected = self.expected
        if isinstance(expected, dict):
            return actual.keys() == expected.keys() and all(
                self.like(expected[key]) == actual[key] for key in expected)
        if isinstance(expected, (list, tuple)):
            return len(actual) == len(expected) and all(
                self.like(x) == y for x, y in zip(expected, actual))
        return numpy.shape(actual) == numpy.shape(expected) and bool(
            numpy.allclose(actual, expected, self.rel, self.abs, self.nan_ok))

    def like(self, x):
        return Approx(x, self.rel, self.abs, self.nan_ok)

    def __repr__(self):
        return f'{self.expected!r} ± {self.rel:g}'


@contextmanager
def raises(kind, match=''):
    """Expect an error, as `pytest.raises` does."""
    try:
        yield
    except kind as error:
        assert re.search(match, str(error)), str(error)
    else:
        raise AssertionError(f'{kind.__name__} was not raised')


pytest = types.ModuleType('pytest')
pytest.approx, pytest.raises = Approx, raises


def attempt(name, source, lines, tests):
    """Try an exercise: run its tests, each on a new module of its file.

    Args:
        name: the name of the exercise.
        source: the reader's file.
        lines: how many of its lines are above those that the reader sees.
        tests: the file with the tests.

    Returns:
        The first error and its lines, and whether all tests passed.
    """
    fresh()
    sys.modules['pytest'] = pytest
    if 'import autodiff_mini' in source + tests:
        # What the library defines on demand must be there before `restore`.
        library = importlib.import_module('autodiff_mini')
        for public in library.__all__:
            getattr(library, public)
        on_demand = importlib.import_module(
            'autodiff_mini.wings.more_numpy.on_demand')
        on_demand.bring_all()
        importlib.import_module('autodiff_mini.wings.fast.fission')
    linecache.cache[FILE] = len(source), None, source.splitlines(True), FILE
    first, passed, before = None, True, {}
    for test in re.findall(r'(?m)^(?:def )?(test_\w+)', tests):
        sys.stdout, sys.stderr = Stream('stdout'), Stream('stderr')
        restore(before)
        error, ran = None, False
        try:
            module, checks = types.ModuleType(name), types.ModuleType(test)
            exec(compile(source, FILE, 'exec'), vars(module))
            ran = True
            exec(compile(tests, '<tests>', 'exec'), vars(checks))
            vars(checks)[test](module)
        except BaseException as raised:
            error = raised
        if ran:
            words = test.removeprefix('test_').replace('__', ': ')
            print('fails ' if error else 'passes', words.replace('_', ' '))
        flush()
        passed = passed and error is None
        if error and first is None:
            hidden = 'prediction' in source and isinstance(
                error, AssertionError)
            first = ['', []] if hidden else told(error, FILE, lines)
            if first[0] == 'AssertionError: ':
                first[0] += untrue(error, tests)
        if not ran:
            break           # no test would
    restore(before)
    return [*(first or ['', []]), passed]


FILE = '<exercise>'


def untrue(error, tests):
    """Return the line of the tests that isn't true."""
    *_, line = [line for frame, line in traceback.walk_tb(error.__traceback__)
                if frame.f_code.co_filename == '<tests>']
    return tests.splitlines()[line - 1].strip()


def restore(before):
    """Make the library's tables what they were when first seen."""
    for name, module in [*sys.modules.items()]:
        if name.startswith('autodiff_mini.'):
            for key, table in vars(module).items():
                if isinstance(table, dict) and key.endswith(
                        ('rules', '_table', 'node_types')):
                    kept = before.setdefault((name, key), (table, {**table}))
                    kept[0].clear()
                    kept[0].update(kept[1])
