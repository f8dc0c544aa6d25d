"""What the documents ask for, with the chapters and the tests that answer.

`<!-- table: documents -->` becomes a table for each of the documents.  A
test belongs to a row if its name says so: `test_d13_…` asserts row D13.
"""

import re
from collections import Counter
from functools import cache

from book.tools.benchmark_tables import markdown
from book.tools.places import ROOT, chapter

TESTS = ROOT / 'tests'
NAMED = re.compile(r'^(?:    )?def test_([dprb]\d+)_', re.MULTILINE)

# The title of a table, then its rows: what is asked for, and where the book
# shows it, a chapter and perhaps a heading.
DOCUMENTS = {
    'The design document of custom rules': {
        'D1': ('vmap keeps the rule; so do jit, scan, cond and checkpoint',
               (6, 'A second function beside it'), (11, 'One weight for all'),
               (16, 'The rule in the loop'), 19),
        'D2': ('the old mechanism is built, and fails in three ways',
               5, (8, 'Why not always?'), (11, 'The old way')),
        'D3': ('Python branches on values, and says so where it cannot',
               (6, 'Python stays Python'), (8, 'Why not always?'),
               (9, 'Python stays Python, again')),
        'D4': ('print, debug and look for nan inside of a rule',
               (11, 'Python, at the right moment'),
               (20, 'A debugger on the way back')),
        'D5': ('the equations of `call` and of the call with a rule',
               (6, 'A primitive that carries a function'),
               (6, 'A second function beside it'),
               (13, 'It vanishes again')),
        'D6': ('a call is written down with its rule, and the rule waits',
               (8, 'Writing a call down'), (8, 'The second function')),
        'D7': ('`custom_jvp`, `defjvp`, `defjvps`',
               (6, 'What users write'),
               (6, 'Zeros, and one rule for each argument')),
        'D8': ('`custom_vjp`, `defvjp`', (11, 'What users write')),
        'D9': ('derivatives of any order through a rule that calls its own '
               'function', (6, 'The rule that forgot its function'),
               (8, 'The second function')),
        'D10': ('trees in, out, and as residuals',
                (3, 'Trees'), (6, 'What users write'), (12, 'Trees')),
        'D11': ('arguments given by keyword',
                (3, 'Copies, constants, keywords'), (12, 'Keywords')),
        'D12': ('arguments that are not differentiated',
                (6, 'Arguments that are not numbers'),
                (12, 'What is no number')),
        'D13': ('`custom_lin`: reverse mode is forward mode, cut and turned '
                'round', (9, 'Cutting a derivative in two'),
                (11, 'An envelope')),
        'D14': ('`logit`, `expit`, `log1pexp`, `logsumexp`',
                (20, 'The slope of expit'), (20, 'A sum of exponentials')),
        'D15': ('users can build `fixed_point`, `root` and `odeint`',
                (21, 'Until nothing moves'), (21, 'Newton\'s method'),
                (22, 'The rule')),
        'D16': ('`odeint`, with any tree for its state',
                (22, 'A better step'), (22, 'The pendulum')),
        'D17': ('functions that close over traced values',
                (6, 'A primitive that carries a function'),
                (8, 'What a rule may use'),
                (11, 'What a rule may close over'),
                (12, 'What a function closes over')),
        'D18': ('the problems that the document lists stay solved',
                5, (10, 'What people ask'),
                (12, 'A rule that is made on the spot')),
    },
    'The tutorial on primitives': {
        'P1': ('a primitive of one\'s own, a decorator for each rule',
               (15, 'A row, filled by hand')),
        'P2': ('the tutorial\'s example, with its numbers',
               (15, 'A row is a file')),
        'P3': ('a tangent may be a symbolic zero',
               (2, 'Zeros that are never made'),
               (15, 'A row, filled by hand')),
        'P4': ('a missing rule is an error that says how to add it',
               (15, 'A row, filled by hand'), 'E'),
        'P5': ('`check_grads`', (10, 'Going there and looking')),
        'P6': ('such a primitive goes with everything else',
               (15, 'What a custom rule had saved us')),
    },
    'The reference page of `defvjp`': {
        'R1': ('the page\'s example: 1.68, and a gradient of 1.08',
               (11, 'What users write')),
        'R2': ('`symbolic_zeros`', (11, 'Symbolic zeros'),
               (12, 'Zeros that nobody computes')),
        'R3': ('what bwd may return, and what it is told otherwise',
               (11, 'What users write'), (12, 'None')),
        'R4': ('`optimize_remat`', (19, 'Rules in a checkpoint')),
        'R5': ('integers have tangents that hold nothing',
               (2, 'What the program sees'), (11, 'What users write')),
    },
    'Beyond the documents': {
        'B1': ('both rules on one function', (11, 'Both ways')),
        'B2': ('arguments that are not differentiated may hold arrays',
               (6, 'Arguments that are not numbers'), 14),
        'B3': ('plain NumPy is the language, so other arrays may speak it',
               (1, 'In the library'), 23),
        'B4': ('every line of the library is in the book, once',
               (0, 'How to use this book'), 'K'),
        'B5': ('what the book shows was executed, and checked against JAX',
               (0, 'How to use this book'),
               (16, 'The rule in the loop')),
    },
}
ROWS = {row: entry for rows in DOCUMENTS.values()
        for row, entry in rows.items()}


@cache
def tests() -> dict:
    """Returns {row: {file: how many tests}} of the rows named by tests."""
    found = {}
    for path in sorted(TESTS.rglob('test_*.py')):
        for name, count in Counter(NAMED.findall(path.read_text())).items():
            file = path.relative_to(ROOT).as_posix()
            found.setdefault(name.upper(), {})[file] = count
    return found


def places(row):
    """Returns the Places where the book shows a row."""
    _, *where = ROWS[row]
    return [chapter(*place) if isinstance(place, tuple) else chapter(place)
            for place in where]


def table(page):
    """Returns the tables as Markdown, with links as seen from `page`."""
    return '\n\n'.join(f'## {title}\n\n{of_document(rows, page)}'
                       for title, rows in DOCUMENTS.items())


def of_document(rows, page):
    lines = [['', 'what is asked for', 'where it is shown',
              'what asserts it { tabindex="0" }']]
    for row, (what, *_) in rows.items():
        links = ', '.join(f'[{numbered(place)}]({place.link(page)})'
                          for place in places(row))
        asserted = ', '.join(f'`{file}` ({count})'
                             for file, count in tests()[row].items())
        lines.append([row, what, links, asserted])
    return markdown(lines, '---')


def numbered(place):
    """Returns the title of a section behind the number of its chapter."""
    number = f'{place.label}. '
    return number + place.title.removeprefix(number)
