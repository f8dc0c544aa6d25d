"""What the documents ask for, with the definitions and the tests that answer.

`<!-- table: documents -->` becomes a table for each of the documents.  A
test belongs to a row if its name says so: `test_d13_…` asserts row D13.
"""

import re
from collections import Counter
from functools import cache

from book.tools import modules
from book.tools.benchmark_tables import markdown
from book.tools.places import ROOT

TESTS = ROOT / 'tests'
NAMED = re.compile(r'^(?:    )?def test_([dprb]\d+)_', re.MULTILINE)

# The title of a table, then its rows: what is asked for, and the definitions
# in the library that do it.
DOCUMENTS = {
    'The design document of custom rules': {
        'D1': ('`vmap`, `jit`, `scan`, `cond`, and `checkpoint` keep the rule',
               'higher_order.custom_jvp.custom_jvp_vmap',
               'higher_order.staged_calls.stage_call'),
        'D2': ('the old mechanism can be built, and fails in three ways',
               'api.primitive.UserPrimitive'),
        'D3': ('Python branches on values, and an error says where it can’t',
               'errors.ConcretizationTypeError',
               'interpreters.partial_eval.PartialEvalTrace'),
        'D4': ('print, debug, and look for NaN inside a rule',
               'tools.debugging.debug_nans'),
        'D5': ('the equations of `call` and of the call with a rule',
               'higher_order.call.call_jvp', 'higher_order.call.call_vmap',
               'higher_order.custom_jvp.custom_jvp_jvp'),
        'D6': ('a call is staged with its rule, which runs only when needed',
               'higher_order.staged_calls.StagedRule'),
        'D7': ('`custom_jvp`, `defjvp`, `defjvps`',
               'higher_order.custom_jvp.custom_jvp'),
        'D8': ('`custom_vjp`, `defvjp`',
               'higher_order.custom_vjp.custom_vjp'),
        'D9': ('derivatives of any order through a rule that calls its own '
               'function', 'higher_order.custom_jvp.apply_rule'),
        'D10': ('trees as arguments, results, and residuals',
                'signature.FlatFunction',
                'higher_order.custom_vjp.FlatForward'),
        'D11': ('arguments passed by keyword', 'signature.resolve_kwargs'),
        'D12': ('arguments that aren’t differentiated',
                'signature.hold_arguments'),
        'D13': ('`custom_lin`: reverse mode is forward mode, linearized and '
                'transposed', 'higher_order.custom_vjp.custom_lin',
                'interpreters.partial_eval.linearize_flat'),
        'D14': ('`logit`, `expit`, `log1pexp`, `logsumexp`',
                'applications.special.logit', 'applications.special.expit',
                'applications.special.log1pexp',
                'applications.special.logsumexp'),
        'D15': ('users can build `fixed_point`, `root`, and `odeint`',
                'applications.implicit.fixed_point',
                'applications.implicit.root', 'applications.ode.odeint'),
        'D16': ('`odeint`, with any tree as its state',
                'applications.ode.odeint'),
        'D17': ('functions that close over traced values',
                'higher_order.closures.closure_convert',
                'signature.UserFunction'),
        'D18': ('the problems that the document lists stay solved',
                'higher_order.custom_jvp.custom_jvp',
                'higher_order.custom_vjp.custom_vjp'),
    },
    'The tutorial on primitives': {
        'P1': ('a primitive of your own, with a decorator for each rule',
               'api.primitive.UserPrimitive'),
        'P2': ('the tutorial’s example, with its numbers',
               'api.primitive.UserPrimitive'),
        'P3': ('a tangent can be a symbolic zero', 'zeros.SymbolicZero'),
        'P4': ('a missing rule is an error that says how to add it',
               'api.primitive.missing_rule'),
        'P5': ('`check_grads`', 'tools.checking.check_grads'),
        'P6': ('such a primitive works with all transformations',
               'api.primitive.differentiate', 'api.primitive.call_rule'),
    },
    'The reference page of `defvjp`': {
        'R1': ('the page’s example: 1.68, and a gradient of 1.08',
               'higher_order.custom_vjp.custom_vjp.defvjp'),
        'R2': ('`symbolic_zeros`', 'higher_order.custom_vjp.CustomVJPPrimal',
               'zeros.zero_from_primal'),
        'R3': ('what `bwd` can return, and the errors for the rest',
               'higher_order.custom_vjp.fit_bwd'),
        'R4': ('`optimize_remat`',
               'higher_order.optimize_remat.RematForward'),
        'R5': ('integers have tangents of the dtype `float0`',
               'core.float0', 'zeros.tangent_type'),
    },
    'Beyond the documents': {
        'B1': ('both rules on one function',
               'higher_order.custom_vjp.PullBothWays'),
        'B2': ('arguments that aren’t differentiated can hold arrays',
               'signature.hold_arguments'),
        'B3': ('plain NumPy is the language, so other arrays can speak it',
               'arrays.is_foreign'),
        'B4': ('every statement of the draft is in Book One, once', 'draft'),
        'B5': ('what the book shows was executed, and checked against JAX',),
    },
}
ROWS = {row: entry for rows in DOCUMENTS.values()
        for row, entry in rows.items()}


@cache
def tests() -> dict:
    """Return {row: {file: how many tests}} of the rows named by tests."""
    found = {}
    for path in sorted(TESTS.rglob('test_*.py')):
        for name, count in Counter(NAMED.findall(path.read_text())).items():
            file = path.relative_to(ROOT).as_posix()
            found.setdefault(name.upper(), {})[file] = count
    return found


def places(row):
    """Return the Places of the definitions that do what a row asks for."""
    library = modules.library()
    return [modules.place_of(modules.within(library, f'autodiff_mini.{name}'))
            for name in ROWS[row][1:]]


def table(page):
    """Return the tables as Markdown, with links as seen from `page`."""
    return '\n\n'.join(f'## {title}\n\n{of_document(rows, page)}'
                       for title, rows in DOCUMENTS.items())


def of_document(rows, page):
    lines = [['', 'what is asked for', 'where it is defined',
              'what asserts it { tabindex="0" }']]
    for row, (what, *names) in rows.items():
        links = ', '.join(f'[`{name}`]({place.link(page)})'
                          for name, place in zip(names, places(row)))
        asserted = ', '.join(f'`{file}` ({count})'
                             for file, count in tests()[row].items())
        lines.append([row, what, links, asserted])
    return markdown(lines, '---')
