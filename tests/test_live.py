"""Live notebooks: an edited cell changes the library, in a real kernel."""

import inspect
import os
from collections import Counter
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from jupyter_client.manager import KernelManager

from autodiff_mini.notebook import live
from book.tools import render, weave
from tests.amount import rest
from tests.programs import PROGRAMS

ROOT = Path(__file__).parents[1]
LISTINGS = weave.modules(ROOT)
PAGES = [page for page in weave.chapters(ROOT)
         if page not in weave.book_one(ROOT)]

# The pages that mean to edit the library.
EDITS = ['how_the_notebooks_edit_the_library']

# What takes long to throw away goes by hand, and in a cell of its own.
GONE = '''
%unload_ext autodiff_mini.notebook
import contextvars
import sys
if live := sys.modules.get('autodiff_mini.notebook.live'):
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
%load_ext autodiff_mini.notebook
'''

IMPORTS = '''
import numpy as np
np.set_printoptions(legacy='1.25')
import autodiff_mini as ad
from autodiff_mini import core, numpy_api, pytree
from autodiff_mini.primitives import elementwise as functions, indexing
from autodiff_mini.core import *
from autodiff_mini.interpreters.jvp import *
from autodiff_mini.primitives.elementwise import sin_p
'''


class CellError(Exception):
    """A cell raised."""


class Kernel:
    """A kernel that runs cells, and returns what they print."""

    def __init__(self, directory):
        paths = [str(ROOT), os.environ.get('PYTHONPATH', '')]
        env = render.environment(directory) | {
            'PYTHONPATH': os.pathsep.join(filter(None, paths))}
        self.manager = KernelManager(config=render.connection(directory))
        self.manager.start_kernel(
            env=env, cwd=directory, extra_arguments=['--log-level=50'])
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=60)

    def __call__(self, cell):
        printed = []

        def hook(message):
            content = message['content']
            if content.get('name') == 'stdout':
                printed.append(content['text'])
            elif message['msg_type'] == 'execute_result':
                printed.append(content['data']['text/plain'])

        reply = self.client.execute_interactive(
            cell, output_hook=hook, timeout=60, allow_stdin=False)['content']
        if reply['status'] == 'error':
            raise CellError(f'{reply["ename"]}: {reply["evalue"]}')
        return ''.join(printed).rstrip()

    def stop(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)


@pytest.fixture(scope='module')
def kernel():
    """Returns the kernel in which all tests run, one after the other."""
    with TemporaryDirectory() as directory:   # a socket's path is short
        kernel = Kernel(directory)
        yield kernel
        kernel.stop()


@pytest.fixture
def run(kernel):
    """Returns the kernel, with the library fresh, live and imported."""
    kernel(GONE)
    kernel(FRESH + IMPORTS)
    return kernel


def listing(module, *names):
    """Returns statements of a module, as a listing in the book has them."""
    return weave.join([LISTINGS[f'autodiff_mini/{module}.py'][name]
                       for name in names])


def edited(text, old, new):
    """Returns `text` with `old` replaced, which has to be in it."""
    assert text.count(old) == 1
    return text.replace(old, new)


JVP = 'interpreters/jvp'
SLOPE_OF_SIN = 'ad.jvp(np.sin, (0.0,), (1.0,))[1]'


# Functions.

def test_an_edited_function_is_replaced_wherever_it_was_imported(run):
    run('def typeof(x):\n    return 7')
    assert run('[m.typeof is typeof for m in (core, numpy_api, ad)]'
               ) == '[True, True, True]'


def test_an_edited_rule_changes_jvp(run):
    run(listing(JVP, 'defjvp'))
    assert run(SLOPE_OF_SIN) == '1.0'
    run('defjvp(sin_p, lambda x_dot, y, x: 3 * x_dot)')
    assert run(SLOPE_OF_SIN) == '3.0'


@pytest.mark.rest
def test_a_rule_uses_what_the_reader_has_edited(run):
    run('from autodiff_mini.arrays import convert')
    run(edited(listing(JVP, 'match'), 'return x_dot\n', 'return 5 * x_dot\n'))
    # Once in the rule of addition, and once at the edge.
    assert run('ad.jvp(lambda x: x + 1, (1.0,), (1.0,))') == '(2.0, 25.0)'


def test_a_function_is_replaced_in_a_table_too(run):
    run('def where_jvp(primals, tangents):\n    return 1.0, 2.0')
    assert run('ad.jvp(lambda x: np.where(True, x, 0.0), (0.0,), (1.0,))'
               ) == '(1.0, 2.0)'


@pytest.mark.rest
def test_a_cached_function_is_replaced(run):
    run('from functools import lru_cache\n' + edited(
        listing('core', 'array_type'), 'return', 'print("!"); return'))
    assert run('core.array_type is array_type') == 'True'
    assert run('typeof(np.ones(3)); typeof(np.ones(3));') == '!'


@pytest.mark.rest
def test_what_a_cell_defines_in_a_block_counts(run):
    run('if True:\n    def typeof(x):\n        return 7')
    assert run('numpy_api.typeof(0)') == '7'


@pytest.mark.rest
def test_what_a_function_defines_does_not_count(run):
    run('def experiment():\n    def typeof(x):\n        return 7')
    assert run('core.typeof(0).ndim') == '0'


# Classes.

def test_bind_redefined_twice_is_the_one_that_numpy_reaches(run):
    bind = listing('core', 'Primitive')
    for word in 'one', 'two':
        run(edited(bind, 'trace = current_trace()',
                   f'print({word!r}, self)\n        trace = current_trace()'))
        assert run('ad.jvp(np.sin, (0.0,), (1.0,));').splitlines() == [
            f'{word} sin', f'{word} sin']   # jvp is asked, and its parent
    assert run('Primitive is core.Primitive is type(sin_p)') == 'True'


@pytest.mark.rest
def test_an_operator_of_a_live_tracer(run):
    run('kept = []\nad.jvp(lambda x: kept.append(x), (3.0,), (1.0,));')
    run('Tracer.__pow__ = lambda self, n: ("power", n)')
    assert run('kept[0] ** 2') == "('power', 2)"
    run('from autodiff_mini.errors import *\n' + edited(
        listing('core', 'Tracer'), 'def __repr__',
        '__pow__ = lambda self, n: ("body", n)\n\n    def __repr__'))
    assert run('kept[0] ** 2') == "('body', 2)"
    assert run('isinstance(kept[0], Tracer), issubclass(JVPTracer, Tracer)'
               ) == '(True, True)'
    assert run('kept[0].shape, len(JVPTracer.__mro__)') == '((), 4)'


def test_a_method_that_is_left_out_is_gone(run):
    text = listing(JVP, 'JVPTracer')
    method = text[text.index('    def __bool__'):text.index('    def __form')]
    run(edited(text, method, ''))
    with pytest.raises(CellError, match='^TracerBoolConversionError'):
        run('ad.jvp(lambda x: x if x else x, (1.0,), (1.0,))')
    assert run('ad.jvp(lambda x: x + x, (1.0,), (1.0,))') == '(2.0, 2.0)'


@pytest.mark.rest
def test_a_property_that_is_left_out_is_gone(run):
    text = listing('zeros', 'Zero')
    aval = text[text.index('    @property'):text.index('    def __repr__')]
    run(edited(text, aval, ''))
    assert run('hasattr(Zero, "aval"), hasattr(Zero, "like")'
               ) == '(False, True)'


@pytest.mark.rest
def test_what_is_set_on_a_class_from_outside_stays(run):
    run('from autodiff_mini.errors import *')
    run(listing('core', 'Tracer') + '\n' + listing('core', 'Trace'))
    assert run('ad.jvp(lambda x: x[0] * x[0], (np.full(1, 3.0),), '
               '(np.ones(1),))') == '(9.0, 6.0)'


@pytest.mark.rest
def test_super_finds_the_class_that_stays(run):
    run('from autodiff_mini.errors import *')
    run(edited(listing('errors', 'ConcretizationTypeError'),
               'Abstract tracer value', 'An abstract value'))
    with pytest.raises(CellError, match='^ConcretizationTypeError: An abstr'):
        run('ad.jvp(lambda x: float(x), (1.0,), (1.0,))')


@pytest.mark.rest
def test_a_class_with_slots_keeps_its_instances(run):
    run('from autodiff_mini.jaxprs import *\nold = Literal(2.0)')
    run(edited(listing('jaxprs', 'Literal'), 'Literal({', 'Literal<{'))
    assert run('old, type(old) is Literal') == '(Literal<2.0), True)'
    assert run(SLOPE_OF_SIN) == '1.0'


@pytest.mark.rest
def test_a_class_can_get_another_base(run):
    run('from itertools import repeat\nfrom autodiff_mini.errors import *\n'
        'old = JVPTrace(core.Trace.base, None)\n'
        'class Loud:\n    def lift(self, x):\n        return "loud"')
    run(edited(listing(JVP, 'JVPTrace'), '(Trace)', '(Loud, Trace)'))
    assert run('old.lift(1), isinstance(old, JVPTrace)') == "('loud', True)"


def test_a_class_cannot_get_other_slots(run):
    with pytest.raises(CellError, match='^TypeError: .*Zero.*__slots__'):
        run(edited(listing('zeros', 'Zero'), "('like',)", "('like', 'size')"))
    assert run('ad.Zero(1.0)') == 'Zero(float64[])'
    assert run('Zero is ad.Zero') == 'True'


# All else.

def test_a_table_that_is_defined_again_is_not_emptied(run):
    run('ufunc_table = {}\nufunc_table[np.sin] = lambda x: 2 * x')
    assert run('len(ufunc_table) > 20, len(function_table) > 3, '
               'type(ufunc_table).__name__') == "(True, True, 'NumPyTable')"
    run(listing('core', 'ufunc_table', 'function_table')
        .join(['from autodiff_mini.errors import NumPyTable\n', '']))
    assert run('ad.jvp(lambda x: np.sum(np.sin(x)), (0.0,), (1.0,))'
               ) == '(0.0, 2.0)'


@pytest.mark.rest
def test_a_table_takes_over_the_entries_of_a_new_one(run):
    run('PYTHON_NUMBERS = {str: typeof(1)}')
    assert run('len(core.PYTHON_NUMBERS)') == '5'


def test_a_primitive_stays_and_takes_over_what_is_new(run):
    run('old = sin_p\nsin_p = Primitive("sinus", np.cos)')
    assert run('sin_p is old is functions.sin_p') == 'True'
    assert run('ad.jvp(np.sin, (0.0,), (1.0,))') == '(1.0, 1.0)'
    assert run('sin_p') == 'sinus'


def test_a_context_variable_keeps_its_value(run):
    run('from contextvars import ContextVar\n'
        + listing('errors', 'trace_at_work') + '\n'
        + listing('core', 'set_current_trace', 'current_trace'))
    run('from autodiff_mini import errors')
    assert run('trace_at_work is errors.trace_at_work') == 'True'
    assert run(SLOPE_OF_SIN) == '1.0'


@pytest.mark.rest
def test_a_constant_is_replaced(run):
    run('from autodiff_mini import errors\nLIBRARY = "elsewhere"')
    assert run('LIBRARY, errors.LIBRARY') == "('elsewhere', 'elsewhere')"


# What is none of the library's business.

def test_an_imported_name_does_not_count(run):
    run('from operator import index as index_array, mul as typeof')
    assert run('indexing.index_array is index_array, core.typeof is typeof'
               ) == '(False, False)'


@pytest.mark.rest
def test_a_thing_of_another_kind_does_not_count(run):
    run('index = 3\ntypeof = type("typeof", (), {})\ndef Trace(): pass\n'
        'def sin_p(): pass')
    assert run('index, type(Trace).__name__, type(sin_p).__name__'
               ) == "(3, 'function', 'function')"
    assert run(SLOPE_OF_SIN) == '1.0'


@pytest.mark.rest
def test_what_the_library_imports_is_not_its_own(run):
    run('def repeat(*xs):\n    raise ValueError\nnp = math = operator = None')
    run('import numpy as np')
    assert run(SLOPE_OF_SIN) == '1.0'


# What a reader sees.

@pytest.mark.rest
def test_a_function_called_like_an_application_is_no_edit(run):
    assert run('def expit(x):\n    return 7') == ''
    assert run('ad.expit(0.0)') == '0.5'


def test_what_the_library_imports_later_can_be_edited(run):
    assert run('def scan(f, init, xs):\n    return 7') == (
        'edited: autodiff_mini.higher_order.loops.scan')
    assert run('ad.scan(None, None, None)') == '7'
    assert run('def is_large(v):\n    return True') == (
        'edited: autodiff_mini.fast.plan.is_large')
    assert run('def place_text(line):\n    return "here"') == (
        'edited: autodiff_mini.notebook.drawing.place_text')


def test_what_only_imports_others_is_not_edited(run):
    """So a page with functions of these names left the extension on."""
    assert run('def unload_ipython_extension(shell):\n    pass\n'
               'def fast_program(jaxpr):\n    pass') == ''
    run('%unload_ext autodiff_mini.notebook')
    assert run('def typeof(x):\n    return 7') == ''
    assert run('core.typeof(0) == 7') == 'False'


def test_an_edit_is_announced_and_an_unchanged_listing_is_not(run):
    text = listing('pytree', 'tree_leaves')
    run('from autodiff_mini.pytree import *')
    assert run(text) == ''
    assert run(edited(text, '[0]', '[0][:1]')) == (
        'edited: autodiff_mini.pytree.tree_leaves')
    assert run('ad.tree_leaves([1, 2])') == '[1]'
    assert run(text) == ''
    assert run('ad.tree_leaves([1, 2])') == '[1, 2]'
    assert run('typeof = lambda x: 7\n3 * 4').endswith('12')


def test_unloading_stops_the_replacing(run):
    run('def typeof(x):\n    return 7')
    run('%unload_ext autodiff_mini.notebook')
    run('def typeof(x):\n    return 8')
    assert run('typeof(0), core.typeof(0)') == '(8, 7)'
    run('%load_ext autodiff_mini.notebook')
    assert run('core.typeof(0)') == '7'
    run('def typeof(x):\n    return 9')
    assert run('core.typeof(0)') == '9'


@pytest.mark.rest
def test_it_survives_a_reset_of_the_notebook(run):
    run('%reset -f')
    run('def typeof(x):\n    return 7')
    assert run('import autodiff_mini as ad; ad.typeof(0)') == '7'
    assert run('[name for name in globals() if "live" in name]') == '[]'


@pytest.mark.rest
def test_a_cell_that_fails_has_done_what_stands_above_the_failure(run):
    with pytest.raises(CellError, match='^ZeroDivisionError'):
        run('def add_tangents(s, t):\n    return 100.0\n'
            'ufunc_table = {}\n'
            '1 / 0\n'
            'def typeof(x):\n    return 7\n')
    assert run('ad.jvp(lambda x: x * x, (3.0,), (1.0,))') == '(9.0, 100.0)'
    assert run('core.typeof is typeof, len(ufunc_table) > 20'
               ) == '(True, True)'
    with pytest.raises(CellError, match='^SyntaxError'):
        run('def typeof(x):\n    return 7\n=')
    assert run(SLOPE_OF_SIN) == '1.0'


@pytest.mark.rest
def test_an_error_points_at_its_statement(run):
    with pytest.raises(CellError, match='^TypeError'):
        run('x = 1\n\nclass Zero:\n    pass\n\nad.typeof(3)')
    assert run('import sys, traceback\n[frame.lineno for frame in '
               'traceback.extract_tb(sys.last_value.__traceback__)][1]'
               ) == '3'


# The book.

def test_each_name_has_one_home_in_the_library():
    """Or live would not know which of the two a cell means."""
    homes = Counter(
        name for path, module in LISTINGS.items()
        if not path.startswith(weave.DRAFT) and not path.endswith('seams.py')
        for name in {name for found in module.values()
                     for name in live.defined(found.node)}
        if hasattr(import_module(weave.dotted(path)), name))
    assert {name for name, count in homes.items() if count > 1} <= {'rules'}


def every_program(names):
    """Prints the values and tangents of these programs of the table."""
    from functools import partial
    import numpy as np
    import autodiff_mini as ad
    from tests.programs import PROGRAMS, is_inexact
    results = []
    for program in [p for p in PROGRAMS if p.name in names]:
        tangents = [x if is_inexact(x) else np.zeros(np.shape(x), ad.float0)
                    for x in program.args]
        try:
            y = ad.jvp(partial(program.function, np), program.args, tangents)
        except Exception as error:
            y = error
        with np.printoptions(precision=15, suppress=False, legacy='1.25'):
            results.append(f'{program}: {y}')
    print('\nRAN', *results, sep='\n')


def run_every_program(kernel):
    kernel(inspect.getsource(every_program))
    names = {program.name for program in PROGRAMS if (
        program.leads if program.is_of_a_wing else program.represents)}
    return kernel(f'every_program({names})').rpartition(
        '\nRAN\n')[2].splitlines()


@pytest.fixture(scope='module')
def results(kernel):
    """Returns what the table of programs gives, with a library untouched."""
    kernel(GONE)
    kernel(FRESH + '%unload_ext autodiff_mini.notebook')
    return run_every_program(kernel)


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
    assert len(results) > 400 and run_every_program(kernel) == results
