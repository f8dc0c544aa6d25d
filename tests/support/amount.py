"""How much is tested: a part by `make test`, all of it by `make test-all`.

`each` parametrizes a test by programs, and `examples` says how many random
programs test a law. The conftest.py in the root folder adds the
command-line options.
"""

import re
from zlib import crc32

import pytest
from hypothesis import settings

WHOLE = False   # --all: every program
ROW = ''        # --row: the tests of a primitive, or of other words
TIMES = 1       # --examples: a multiple of the random examples
SHARE = 1       # --share: one test in this many
LEFT_OUT = 0    # how many cases `make test` leaves out of the files it reads

TABLES = re.compile(r'\btests\.tables\.(\w+\.)?(\w*programs|hard_points)\b')

law = settings(derandomize=True, deadline=None, database=None)


def examples(n):
    """Return the settings of a law: `n` random examples, or a multiple."""
    return settings(law, max_examples=n * TIMES)


def each(programs, composed=False):
    """Parametrize a test by programs.

    `make test` runs the first program for each primitive and kind of numbers.
    If a test composes transformations that other tests run alone, it runs
    only the first for each primitive.  `make test-all` runs the rest.  From
    the wing `more_numpy`, `make test` runs fewer programs, and `make test-all`
    composes only the first for each primitive and kind of numbers.
    """
    def is_first(program):
        if program.is_of_a_wing:
            return program.leads and not composed
        return program.leads if composed else program.represents

    def is_wanted(program):
        return program.represents or not (composed and program.is_of_a_wing)

    def is_about_it(program):
        return says(ROW, program.name) or (
            is_first(program) and uses(ROW, program))

    choose = is_about_it if ROW else is_wanted if WHOLE else is_first
    chosen = list(filter(choose, programs))
    leave_out(len(list(filter(is_wanted, programs))) - len(chosen))
    return pytest.mark.parametrize('program', [
        program if is_first(program) else rest(program)
        for program in chosen], ids=str)


def leave_out(count):
    """Count cases that `make test` leaves out."""
    global LEFT_OUT
    LEFT_OUT += count


def rest(*case):
    """Return a case of a parametrized test that `make test` skips."""
    return pytest.param(*case, marks=pytest.mark.rest)


def is_chosen(item):
    """Return whether the command line selects a collected test.

    A share always selects the same tests.
    """
    if crc32(item.nodeid.encode()) % SHARE:
        return False
    if not ROW:
        return WHOLE or not item.get_closest_marker('rest')
    params = item.callspec.params if hasattr(item, 'callspec') else {}
    return says(ROW, item.name) or uses(ROW, params.get('program'))


def is_read(path):
    """Return whether a file can have a test of the row.

    Such a file has the row's name, or it runs the programs of a table.
    Importing all files would take longer than running the tests of a row.
    """
    if path.suffix != '.py' or not ROW:
        return True
    text = path.read_text()
    return says(ROW, text) or TABLES.search(text)


def uses(words, program):
    """Return whether a program binds one of the primitives."""
    return bool(set(words.split(',')) & getattr(program, 'primitives', set()))


def says(word, text):
    """Return whether a text has this word: exp_float has exp, exp2 doesn't.

    If the word is a list with commas, one match is enough.
    """
    words = re.escape(word).replace(',', '|')
    return re.search(rf'(?<![^\W_])({words})(?![^\W_])', text)
