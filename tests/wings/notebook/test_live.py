"""live.py: an edited cell changes the library, in a real kernel."""

import os
from collections import Counter
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from jupyter_client.manager import KernelManager

from autodiff_mini.wings.notebook import live
from book.tools import render, weave
from tests.support.amount import rest

ROOT = Path(__file__).parents[3]
LISTINGS = weave.modules(ROOT)
PAGES = [page for page in weave.chapters(ROOT)
         if page not in weave.book_one(ROOT)]

# The pages that edit the library on purpose.
EDITS = ['how_the_notebooks_edit_the_library']

# Large objects are deleted explicitly, in their own cell.
GONE = '''
%unload_ext autodiff_mini
import contextvars
import sys
if live := sys.modules.get('autodiff_mini.wings.notebook.live'):
    live.definitions.cache_clear()
for name in list(sys.modules):
    if name.partition('.')[0] in ('autodiff_mini', 'tests'):
        del sys.modules[name]
for variable in contextvars.copy_context():
    if variable.name == 'current_trace':
        variable.set(None)      # or the library that is gone stays in memory
'''

FRESH = '''
%reset -f
__spec__ = None     # a process that starts another needs it
%load_ext autodiff_mini
__import__('sys').modules['autodiff_mini.wings.notebook.live'].ast = (
    __import__('kept_ast'))
'''

# A fresh library has the modules of the one before it, and parsing them takes
# longest.  They begin with a docstring, unlike the other code that live
# parses.
KEPT_AST = '''
import ast
import sys
from functools import cache
from types import ModuleType

def parse(text, parse=ast.parse, parsed=cache(ast.parse)):
    return parsed(text) if text.startswith('"""') else parse(text)

sys.modules['kept_ast'] = ModuleType('kept_ast')
vars(sys.modules['kept_ast']).update(vars(ast), parse=parse)
'''

IMPORTS = '''
import numpy as np
np.set_printoptions(legacy='1.25')
import autodiff_mini as ad
from autodiff_mini.core import trace as core, trees as pytree, types
from autodiff_mini.numpy_functions import table as numpy_api
from autodiff_mini.primitives import elementwise as functions, indexing
from autodiff_mini.core.trace import *
from autodiff_mini.core.types import *
from autodiff_mini.interpreters.jvp import *
from autodiff_mini.primitives.elementwise import sin_p
'''


class CellError(Exception):
    """An error in a cell."""


def run_cell(client, cell):
    """Run a cell in a kernel, and return what it prints."""
    printed = []

    def hook(message):
        content = message['content']
        if content.get('name') == 'stdout':
            printed.append(content['text'])
        elif message['msg_type'] == 'execute_result':
            printed.append(content['data']['text/plain'])

    reply = client.execute_interactive(
        cell, output_hook=hook, timeout=60, allow_stdin=False)['content']
    if reply['status'] == 'error':
        raise CellError(f'{reply["ename"]}: {reply["evalue"]}')
    return ''.join(printed).rstrip()


@pytest.fixture(scope='module')
def kernel():
    """Return a function that runs a cell; all tests share its kernel."""
    with TemporaryDirectory() as directory:   # a socket's path is short
        path = os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')])
        manager = KernelManager(config=render.connection(directory))
        manager.start_kernel(
            env=render.environment(directory) | {'PYTHONPATH': path},
            cwd=directory, extra_arguments=['--log-level=50'])
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=60)
        run_cell(client, KEPT_AST)
        yield partial(run_cell, client)
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def run(kernel):
    """Return the kernel, with a fresh library imported and live."""
    kernel(GONE)
    kernel(FRESH + IMPORTS)
    return kernel


def listing(module, *names):
    """Return statements of a module, as a listing in the book."""
    return weave.join([LISTINGS[f'autodiff_mini/{module}.py'][name]
                       for name in names])


def edited(text, old, new):
    """Return `text` with `old` replaced, which must be in it."""
    assert text.count(old) == 1
    return text.replace(old, new)


JVP = 'interpreters/jvp'
SLOPE_OF_SIN = 'ad.jvp(np.sin, (0.0,), (1.0,))[1]'


# Each case is some cells, an expression, and what it prints afterwards.
JVP_OF_SQUARE = 'ad.jvp(lambda x: x * x, (3.0,), (1.0,))'
EDIT_TYPEOF = 'def typeof(x):\n    return 7'
CASES = {
    'a function is replaced wherever it was imported': (
        EDIT_TYPEOF, '[m.typeof is typeof for m in (types, numpy_api, ad)]',
        '[True, True, True]'),
    'a rule changes jvp': (
        listing(JVP, 'defjvp')
        + '\ndefjvp(sin_p, lambda x_dot, y, x: 3 * x_dot)',
        SLOPE_OF_SIN, '3.0'),
    'a cached function is replaced': (
        'from functools import lru_cache\n' + edited(
            listing('core/types', 'array_type'), 'return', 'print("!"); return'),
        'typeof(np.ones(3)); typeof(np.ones(3));', '!'),
    'what is set on a class from outside stays': (
        'from autodiff_mini.core.errors import *\n' + listing('core/trace', 'Tracer')
        + '\n' + listing('core/trace', 'Trace'),
        'ad.jvp(lambda x: x[0] * x[0], (np.full(1, 3.0),), (np.ones(1),))',
        '(9.0, 6.0)'),
    'a class can get another base': (
        'from itertools import repeat\nfrom autodiff_mini.core.errors import *\n'
        'old = JVPTrace(core.Trace.base, None)\n'
        'class Loud:\n    def lift(self, x):\n        return "loud"\n'
        + edited(listing(JVP, 'JVPTrace'), '(Trace)', '(Loud, Trace)'),
        'old.lift(1), isinstance(old, JVPTrace)', "('loud', True)"),
    'a primitive takes over what is new': (
        'old = sin_p\nsin_p = Primitive("sinus", np.cos)',
        'sin_p is old is functions.sin_p, sin_p, '
        'ad.jvp(np.sin, (0.0,), (1.0,))', '(True, sinus, (1.0, 1.0))'),
    'a context variable keeps its value': (
        'from contextvars import ContextVar\nfrom autodiff_mini.core import errors\n'
        + listing('core/errors', 'trace_at_work') + '\n'
        + listing('core/trace', 'set_current_trace', 'current_trace'),
        f'trace_at_work is errors.trace_at_work, {SLOPE_OF_SIN}',
        '(True, 1.0)'),
}


@pytest.mark.parametrize('name', CASES)
def test_a_cell_replaces_the_definitions_of_the_library(run, name):
    cell, expression, printed = CASES[name]
    run(cell)
    assert run(expression) == printed


def test_bind_redefined_twice_is_the_one_that_numpy_reaches(run):
    bind = listing('core/trace', 'Primitive')
    for word in 'one', 'two':
        run(edited(bind, 'trace = current_trace',
                   f'print({word!r}, self)\n        trace = current_trace'))
        assert run('ad.jvp(np.sin, (0.0,), (1.0,));').splitlines() == [
            f'{word} sin', f'{word} sin']   # jvp processes it, and its parent
    assert run('Primitive is core.Primitive is type(sin_p)') == 'True'


def test_a_live_tracer_gets_the_methods_of_the_new_class(run):
    run('kept = []\nad.jvp(lambda x: kept.append(x), (3.0,), (1.0,));')
    run('Tracer.__pow__ = lambda self, n: ("power", n)')
    assert run('kept[0] ** 2') == "('power', 2)"
    run('from autodiff_mini.core.errors import *\n' + edited(
        listing('core/trace', 'Tracer'), 'def __repr__',
        '__pow__ = lambda self, n: ("body", n)\n\n    def __repr__'))
    assert run('kept[0] ** 2, isinstance(kept[0], Tracer)') == (
        "(('body', 2), True)")
    text = listing(JVP, 'JVPTracer')
    method = text[text.index('    def __bool__'):text.index('    def __form')]
    run(edited(text, method, ''))
    with pytest.raises(CellError, match='^TracerBoolConversionError'):
        run('ad.jvp(lambda x: x if x else x, (1.0,), (1.0,))')
    assert run('ad.jvp(lambda x: x + x, (1.0,), (1.0,))') == '(2.0, 2.0)'


def test_a_class_cannot_get_other_slots(run):
    text = listing('core/jaxprs', 'Literal')
    slots = text[text.index('__slots__'):].partition('\n')[0]
    with pytest.raises(CellError, match='^TypeError: .*Literal.*__slots__'):
        run('from autodiff_mini.core.jaxprs import *\n' + edited(
            text, slots, '__slots__ = ("other",)'))


# What a reader sees.

def test_modules_that_are_imported_later_can_be_edited(run):
    assert run('def scan(f, init, xs):\n    return 7').startswith(
        'edited: autodiff_mini.calls.')
    assert run('ad.scan(None, None, None)') == '7'
    assert run('def expit(x):\n    return 7') == ''     # an application
    assert run('ad.expit(0.0)') == '0.5'
    run('def repeat(*xs):\n    raise ValueError\n'    # without its own name
        'np = math = operator = None\nimport numpy as np')
    assert run(SLOPE_OF_SIN) == '1.0'


def test_an_edit_is_announced_and_an_unchanged_listing_is_not(run):
    text = listing('core/trees', 'tree_leaves')
    run('from autodiff_mini.core.trees import *')
    assert run(text) == ''
    assert run(edited(text, '[0]', '[0][:1]')) == (
        'edited: autodiff_mini.core.trees.tree_leaves')
    assert run('ad.tree_leaves([1, 2])') == '[1]'
    assert run(text) == ''
    assert run('ad.tree_leaves([1, 2])') == '[1, 2]'
    # Defining a function with the extension's name does not edit it.
    run(f'{EDIT_TYPEOF}\ndef unload_ipython_extension(shell):\n    pass')
    run('%unload_ext autodiff_mini')
    run('def typeof(x):\n    return 8')
    assert run('typeof(0), types.typeof(0)') == '(8, 7)'
    run('%load_ext autodiff_mini')
    run('def typeof(x):\n    return 9')
    assert run('types.typeof(0)') == '9'


def test_a_failing_cell_has_run_the_lines_above_the_failure(run):
    with pytest.raises(CellError, match='^ZeroDivisionError'):
        run('def match(x_dot, y):\n    return 50.0\n1 / 0\n'
            'def typeof(x):\n    return 7\n')
    assert run('import sys\nsys.modules["autodiff_mini.interpreters.jvp"]'
               '.match(1.0, 2.0)') == '50.0'
    assert run('types.typeof is typeof') == 'True'
    assert run('import sys, traceback\n[frame.lineno for frame in '
               'traceback.extract_tb(sys.last_value.__traceback__)][1]'
               ) == '3'


# The book.

def test_each_name_that_a_chapter_shows_is_in_one_module():
    """Otherwise, live would not know which one a cell means."""
    homes = Counter(
        name for path, module in LISTINGS.items()
        if not path.startswith(weave.DRAFT) and not path.endswith('seams.py')
        for name in {name for found in module.values()
                     for name in live.defined(found.node)})
    shown = {name for page in PAGES for block in weave.woven(page)
             for found in weave.parsed(block) if block.runs
             for name in live.defined(found.node)}
    assert {name for name in shown if homes[name] > 1} <= {'rules'}


SOME_PROGRAMS = """
from functools import partial
import numpy as np
import autodiff_mini as ad
from tests.tables.programs import PROGRAMS, is_inexact
results = []
for program in PROGRAMS[::9]:
    tangents = [x if is_inexact(x) else np.zeros(np.shape(x), ad.float0)
                for x in program.args]
    try:
        y = ad.jvp(partial(program.function, np), program.args, tangents)
    except Exception as error:
        y = error
    with np.printoptions(precision=15, suppress=False, legacy='1.25'):
        results.append(f'{program}: {y}')
print('\\nRAN', *results, sep='\\n')
"""


def run_some_programs(kernel):
    return kernel(SOME_PROGRAMS).rpartition('\nRAN\n')[2].splitlines()


@pytest.fixture(scope='module')
def results(kernel):
    """Return the results of some programs with an unedited library."""
    kernel(GONE)
    kernel(FRESH + '%unload_ext autodiff_mini')
    return run_some_programs(kernel)


@pytest.mark.parametrize('page', [
    page if page.stem in EDITS else rest(page) for page in PAGES],
                         ids=lambda page: page.stem)
def test_the_library_works_after_a_live_chapter(page, kernel, results):
    kernel(GONE)
    kernel(FRESH)
    for number, cell in enumerate(render.code_cells(render.read(page))):
        place = render.place(page, number)
        fails = 'raises-exception' in render.tags(cell)
        try:
            announced = 'edited:' in kernel(cell.source)
        except CellError as error:
            assert fails, f'{place}: {error}'
        else:
            assert not fails, f'{place}: raised nothing'
            assert not announced or page.stem in EDITS, (
                f'{place}: a function of the library has the same name')
    assert len(results) > 50 and run_some_programs(kernel) == results
