"""Errors explained: the page has every error, and its programs raise them."""

import ast
import linecache
import warnings
from pathlib import Path
from traceback import walk_tb

import numpy as np
import pytest

import autodiff_mini as ad
from autodiff_mini.core.lines import is_library
from book.tools.exercises import library_restored
from tests.support.explained import ALL, PAGE

PACKAGE = Path(ad.__file__).parent

# Book One explains the draft's errors. The errors of three wings are
# NumPy's, and the package's own error is Python's.
ELSEWHERE = {*(PACKAGE / 'draft').glob('*.py'),
             *(path for wing in ('more_numpy', 'more_calls', 'writing')
               for path in (PACKAGE / 'wings' / wing).rglob('*.py')),
             PACKAGE / '__init__.py'}

# Users do not see these: another line of the same file catches them or takes
# them out of the traceback, or the wing `messages` has more to say. And
# `flags` refuses machines that we have not met.
CAUGHT = {
    'public.py': ['public_f'], 'errors.py': ['refuse_no_function'],
    'cond.py': ['choose'],
    'custom_jvp.py': ['refuse_without_wing'], 'loops.py': ['stage_body'],
    'memory.py': ['refuse_to_write'], 'native.py': ['flags'],
    'prepared.py': ['__init__', 'flat_function'],
    'rules_on_tape.py': ['arguments', 'parts_of', 'name_of',
                         'record_pullback', 'back', 'fitted', 'answer',
                         'answered', 'apply_function'],
    'tape.py': ['look_at', 'process_index', 'prepare_if_often'],
    'equal_programs.py': ['written_key', 'content_key']}


def raises(elsewhere=ELSEWHERE):
    """Return {(file, line): (last line, file, function)} of each raise."""
    found = {}
    for path in sorted({*PACKAGE.rglob('*.py')} - elsewhere):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Raise) and node.exc:
                        found[str(path), node.lineno] = (
                            node.end_lineno, path.name, function.name)
    return found


def lines_of(error):
    """Yield where an error and its causes were raised."""
    while error is not None:
        for frame, line in walk_tb(error.__traceback__):
            yield frame.f_code.co_filename, line
        error = error.__cause__ or error.__context__


def reached(error, places):
    """Return which raise statements an error went through."""
    return {(file, first) for path, line in lines_of(error)
            for (file, first), (last, *_) in places.items()
            if path == file and first <= line <= last}


def error_of(explained):
    """Return the exception that the program of an entry raises, or None.

    Then run its cure, and restore the library's tables.
    """
    scope = {'np': np, 'ad': ad, 'x': np.arange(3.0)}
    error = None
    with (library_restored(), warnings.catch_warnings(),
          np.errstate(all='ignore')):
        warnings.simplefilter('ignore')
        try:
            run(explained.program, scope)
        except Exception as raised:
            error = raised
        run(explained.cure, scope)
    return error


def run(program, scope):
    # An error reads the lines that it is about.
    linecache.cache['<program>'] = (len(program), None,
                                    program.splitlines(True), '<program>')
    exec(compile(program, '<program>', 'exec'), scope)


@pytest.fixture(scope='module')
def errors():
    """Return {entry: its error}."""
    return {explained: error_of(explained) for explained in ALL}


def test_every_raise_of_the_library_is_explained(errors):
    places = raises()
    found = set().union(*(reached(error, places)
                          for error in errors.values()))
    missing = [f'{Path(file).name}:{line}, in {name}'
               for (file, line), (_, module, name) in places.items()
               if (file, line) not in found and
               name not in CAUGHT.get(module, ())]
    assert missing == [], f'explain these in {PAGE.name}'


def test_the_library_or_numpy_raises_every_error_explained(errors):
    for explained, error in errors.items():
        assert any(path.startswith((np.__path__[0], str(PACKAGE)))
                   for path, _ in lines_of(error)), explained


# These errors do not come from a `public` function, because no function of
# the user is involved, or because Python makes the call.
STEPS_SHOWN = {
    '__array_function__', 'binary', 'refuse', 'register_pytree_node', 'patch',
    'tree_leaves', 'tree_unflatten', 'source', 'defjvps', '__reduce__',
    '__getattr__', 'plain'}


def test_errors_show_no_step_of_the_library(as_users_see_it):
    first = {}
    for explained in ALL:
        trace = error_of(explained).__traceback__
        steps = [frame.f_code.co_name for frame, _ in walk_tb(trace)
                 if is_library[frame.f_code.co_filename]]
        first |= {steps[0]: explained.program} if steps else {}
    assert {name: program for name, program in first.items()
            if name not in STEPS_SHOWN} == {}
    assert first.keys() == STEPS_SHOWN


def test_entries_are_short_and_whole():
    assert len(ALL) == PAGE.read_text().count('\n##### ') > 150
    assert len({explained.program for explained in ALL}) == len(ALL)
    assert sum(bool(explained.cure) for explained in ALL) > 200
    for meaning, *programs, in [(x.meaning, x.program, x.cure) for x in ALL]:
        assert meaning.endswith('.')
        for program in programs:
            assert program.count('\n') < 8
            assert all(len(line) <= 76 for line in program.splitlines())
