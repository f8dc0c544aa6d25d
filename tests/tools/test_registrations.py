"""Who fills a cell: the statements at work when a rule is registered."""

import subprocess

import pytest

from book.tools import whole_grid
from book.tools.registrations import Registration, registrations

CORE = '''
class Table(dict):
    def __init__(self, name):
        self.name = name

    def __missing__(self, primitive):
        raise KeyError(self.name)


class Kind:
    def __init__(self):
        self.members, self.definitions = [], []

    def add(self, primitive):
        self.members.append(primitive)
        for definition in self.definitions:
            definition(primitive)
        return primitive

    def define(self, definition):
        self.definitions.append(definition)
        for primitive in self.members:
            definition(primitive)
        return definition


elementwise = Kind()
neg_p = elementwise.add('neg, before its column')
'''
JVP = '''
from autodiff_mini.core import Table

jvp_rules = Table('jvp')


def defjvp(primitive, *rules):
    jvp_rules[primitive] = rules

try:
    jvp_rules['nothing']
except KeyError as error:
    assert error.args == ('jvp',)
'''
VMAP = '''
from autodiff_mini.core import elementwise

vmap_rules: dict = {}


@elementwise.define
def defelementwise(primitive):
    def rule(*xs):
        return primitive
    vmap_rules[primitive] = rule
'''
ROWS = '''
from collections import ChainMap
from autodiff_mini.core import elementwise, neg_p
from autodiff_mini.interpreters.jvp import defjvp, jvp_rules
from autodiff_mini.interpreters.vmap import vmap_rules

sin_p = elementwise.add('sin')
# Its tangent.
defjvp(sin_p,
       lambda x_dot: x_dot)
cos_p = elementwise.add('cos')
tan_p = elementwise.add('tan')
for p in (cos_p,
          tan_p):
    jvp_rules[p] = None
jvp_rules['a primitive without a name'] = None
dce_rules = {sin_p: None}
all_rules = ChainMap({}, dce_rules)
vmap_rules[neg_p] = 'another than its kind has'
'''
MODULES = {'core': CORE, 'interpreters/jvp': JVP, 'interpreters/vmap': VMAP,
           'primitives/rows': ROWS}


@pytest.fixture
def root(tmp_path):
    """Returns a folder with a library in which a kind says what holds."""
    files = {f'autodiff_mini/{name}.py': text
             for name, text in MODULES.items()}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def names(statements):
    return [name for _, name in statements]


def test_a_registration_has_the_statements_that_were_at_work(root):
    found = [(row, column, names(at_work))
             for row, column, at_work in registrations(root)]
    assert found == [
        ('neg', 'vmap', ['defelementwise', 'Kind', 'defelementwise']),
        ('sin', 'vmap', ['defelementwise', 'Kind', 'sin_p']),
        ('sin', 'jvp', ['defjvp', 'defjvp(sin_p']),
        ('cos', 'vmap', ['defelementwise', 'Kind', 'cos_p']),
        ('tan', 'vmap', ['defelementwise', 'Kind', 'tan_p']),
        ('cos', 'jvp', ['for p in (cos_p,']),
        ('tan', 'jvp', ['for p in (cos_p,']),
        ('sin', 'dce', ['dce_rules']),
        ('neg', 'vmap', ['vmap_rules[neg_p]']),
    ]


def test_a_registration_names_the_module_of_each_statement(root):
    assert Registration('sin', 'jvp', [
        ('autodiff_mini/interpreters/jvp.py', 'defjvp'),
        ('autodiff_mini/primitives/rows.py', 'defjvp(sin_p'),
    ]) in registrations(root)


def test_a_cell_links_to_what_says_its_rule(root):
    """And not to the line that only says of which kind a primitive is."""
    found = whole_grid.rules(root)
    assert dict(zip(found, names(found.values()))) == {
        ('neg', 'evaluate'): 'neg_p',
        ('sin', 'evaluate'): 'sin_p',
        ('cos', 'evaluate'): 'cos_p',
        ('tan', 'evaluate'): 'tan_p',
        ('sin', 'jvp'): 'defjvp(sin_p',
        ('cos', 'jvp'): 'for p in (cos_p,',
        ('tan', 'jvp'): 'for p in (cos_p,',
        ('neg', 'vmap'): 'vmap_rules[neg_p]',
        ('sin', 'vmap'): 'defelementwise',
        ('cos', 'vmap'): 'defelementwise',
        ('tan', 'vmap'): 'defelementwise',
    }


def test_a_library_that_does_not_run_is_an_error(root, capfd):
    (root / 'autodiff_mini/core.py').write_text('wrong = 1 / 0\n')
    with pytest.raises(subprocess.CalledProcessError):
        registrations(root)
    assert 'ZeroDivisionError' in capfd.readouterr().err
