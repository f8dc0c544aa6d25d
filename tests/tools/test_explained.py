"""Every error explained: the page has all of them, and they are raised."""

import ast
import re
from pathlib import Path
from traceback import walk_tb

import pytest

import autodiff_mini
from autodiff_mini.errors import is_library
from book.tools import render
from book.tools.explained import ERRORS, Explained, entry, error_of
from book.tools.places import ROOT

PACKAGE = Path(autodiff_mini.__file__).parent
PAGE = ROOT / 'book/appendix/errors_explained.md'
ALL = [explained for entries in ERRORS.values() for explained in entries]

# The draft's errors are explained where it is written; those of the wing
# `more` are NumPy's, in NumPy's words; and the package's own is Python's.
ELSEWHERE = {*(PACKAGE / 'draft').glob('*.py'),
             *(PACKAGE / 'more').glob('*.py'),
             PACKAGE / '__init__.py'}

# Nobody sees these: another line of the same file catches them, or the wing
# `tools` has more to say.
CAUGHT = {('guard.py', 'check_key'), ('guard.py', 'compare'),
          ('errors.py', 'refuse_no_function'),
          *[('prepared.py', name) for name in (
              'meet', '__init__', 'run')],
          *[('tape.py', name) for name in (
              'process_primitive', 'look_at', 'process_index')],
          *[('twins.py', name) for name in (
              'written_key', 'content_key')]}


def raises():
    """Returns {(file, line): (last line, file, function)} of each raise."""
    found = {}
    for path in sorted({*PACKAGE.rglob('*.py')} - ELSEWHERE):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.Raise) and node.exc:
                        found[str(path), node.lineno] = (
                            node.end_lineno, path.name, function.name)
    return found


def lines_of(error):
    """Yields where an error, and what it came of, was raised."""
    while error is not None:
        trace = error.__traceback__
        while trace is not None:
            yield trace.tb_frame.f_code.co_filename, trace.tb_lineno
            trace = trace.tb_next
        error = error.__cause__ or error.__context__


def reached(error, places):
    """Returns which raise statements an error went through."""
    return {(file, first) for path, line in lines_of(error)
            for (file, first), (last, *_) in places.items()
            if path == file and first <= line <= last}


def test_every_raise_of_the_library_is_explained():
    places = raises()
    found = set().union(*(reached(error_of(explained.program), places)
                          for explained in ALL))
    missing = [f'{Path(file).name}:{line}, in {name}'
               for (file, line), (_, module, name) in places.items()
               if (file, line) not in found and (module, name) not in CAUGHT]
    assert missing == [], 'explain these in book/tools/explained.py'


def test_every_error_explained_is_the_librarys():
    places = raises()
    for explained in ALL:
        assert reached(error_of(explained.program), places), explained


# What raises these is no `public` function: it takes no function of the
# user's, and runs none.  Or it is Python that calls it, and nobody above.
STEPS_SHOWN = {
    '__array_function__', 'binary', 'refuse', 'register_pytree_node',
    'tree_leaves', 'tree_unflatten', 'source', 'defjvps', 'primitive_place',
    'patch'}


def test_errors_show_no_step_of_the_library(as_users_see_it):
    first = {}
    for explained in ALL:
        trace = error_of(explained.program).__traceback__
        steps = [frame.f_code.co_name for frame, _ in walk_tb(trace)
                 if is_library[frame.f_code.co_filename]]
        first |= {steps[0]: explained.program} if steps else {}
    assert {name: program for name, program in first.items()
            if name not in STEPS_SHOWN} == {}
    assert first.keys() == STEPS_SHOWN


def test_entries_are_short_and_whole():
    assert len(ALL) > 150
    assert len({explained.program for explained in ALL}) == len(ALL)
    for meaning, program, cure in ALL:
        assert meaning.endswith('.') and cure.endswith('.')
        assert max(map(len, program.splitlines())) <= 76
        assert program.count('\n') < 8


def test_a_program_that_raises_nothing_is_a_fault():
    with pytest.raises(ValueError, match='raises nothing:\npass'):
        error_of('pass')


def test_an_entry_has_the_program_what_it_raised_and_the_cure():
    explained = Explained('It is no `a`.', f"float('<a>{'!' * 90}')", 'Do not.')
    names = set()
    text = entry(explained, names)
    program = f"\n```py\nfloat('<a>{'!' * 90}')\n```\n"
    assert program in text and '\n\n*Cure.* Do not.\n\n</details>' in text
    said = f'ValueError: could not convert string to float: {"&#x27;"}&lt;a&gt;'
    assert f'>{said}{"!" * 90}&#x27;</pre>' in text
    assert ('<summary>It is no <code>a</code>.<br><code>ValueError: could not '
            'convert string to float: …</code></summary>') in text
    assert '<h5 id="it-is-no-a" aria-level="4">It is no <code>a' in text
    assert '<h5 id="it-is-no-a_1"' in entry(explained, names)


def test_the_page_has_all_of_them_and_no_path_of_this_machine():
    text = render.back_matter('errors', PAGE)
    assert text.count('*Cure.*') == text.count('</details>') == len(ALL)
    assert text.count('<h5 id=') == len({*re.findall('<h5 id="(.*?)"', text)})
    assert [line[4:] for line in text.splitlines()
            if line.startswith('### ')] == list(ERRORS)
    assert str(ROOT) not in text
    assert '<!-- table: errors -->' in PAGE.read_text()
