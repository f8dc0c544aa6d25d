"""weave: chapters show the modules' code, and Book One the draft in order."""

import shutil
import subprocess
from pathlib import Path

import pytest

from book.tools import mainline, weave

CORE, JVP = 'autodiff_mini/draft/core.py', 'autodiff_mini/draft/jvp.py'
FIRST, SECOND = 'book/chapters/01_core.md', 'book/chapters/02_jvp.md'
SAMPLES = Path(__file__).parent / 'samples'
FILES = {
    'autodiff_mini/__init__.py': 'from .core import bind\n',
    CORE: '''"""The core."""

import numpy as np

# Each primitive has
# a rule here.
rules = {}


def defrule(primitive, rule):
    rules[primitive] = rule


# Sine, by NumPy.
defrule('sin', np.sin)
defrule('cos', np.cos)

for name in 'add', 'mul':
    defrule(name, getattr(np, name, None))


def bind(primitive, x):
    return rules[primitive](x)
''',
    JVP: '''"""Forward mode."""

import numpy as np

from .core import bind


def jvp(f, x, t):
    return bind(f, x), np.zeros(t)
''',
}


@pytest.fixture(autouse=True)
def book(tmp_path, monkeypatch):
    """A book of two woven chapters, in the current directory."""
    monkeypatch.chdir(tmp_path)
    for path, text in FILES.items():
        write(path, text)
    for path in FIRST, SECOND:
        write(path, (SAMPLES / Path(path).name).read_text())
    weave.weave(Path())


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def change(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def problems():
    return '\n'.join(map(str, weave.check(Path())))


def test_ranges_and_lists_are_expanded_in_order():
    woven = Path(FIRST).read_text()
    assert weave.join(weave.statements(FILES[CORE])[1:6]) in woven
    assert '\nThen the heart.\n' in woven
    weave.weave(Path())
    assert Path(FIRST).read_text() == woven and problems() == ''


def test_an_edited_module_is_drift_and_weaving_refreshes_the_listing():
    for old, new in ('rules[primitive](x)', 'rules[x]'), ('# a rule', '# one'):
        change(CORE, old, new)
        found = problems()
        assert found.startswith(f'{FIRST}:') and 'differs' in found
        assert old in found and new in found
        weave.weave(Path())
        assert problems() == '' and new in Path(FIRST).read_text()


def test_a_listing_edited_in_its_chapter_is_not_overwritten():
    for old, new in ('np.sin', 'np.tan'), ('np.tan', 'np.exp'):
        change(CORE, old, new)      # a module, again and again
        weave.weave(Path())
    before = Path(FIRST).read_text()
    change(FIRST, '[primitive](x)', '[primitive](-x)')
    change(JVP, 'np.zeros(t)', 't')
    assert weave.main(['']) == 1
    assert problems().startswith(f'{FIRST}:27: differs from its module.')
    assert ('-    return rules[primitive](-x)\n'
            '+    return rules[primitive](x)') in problems()
    assert '(-x)' in Path(FIRST).read_text()
    assert ', t\n' in Path(SECOND).read_text()
    assert weave.main(['--anyway']) == 0
    assert Path(FIRST).read_text() == before


def test_a_listing_of_the_last_commit_is_not_an_edit():
    for words in ['init'], ['add', 'book'], ['commit', '-m', 'One']:
        subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=b',
                        *words], check=True, capture_output=True)
    shutil.rmtree('.cache')
    change(CORE, 'np.sin', 'np.tan')
    weave.weave(Path())
    assert problems() == ''


LISTING = '```python title="autodiff_mini/draft/core.py"\n{}\n```\n'


@pytest.mark.parametrize('path, old, new, said', [
    (CORE, 'def bind(', 'def bind_to(',
     f'{FIRST}:28: no statement `bind` in {CORE}; did you mean `bind_to`?'),
    (SECOND, 'jvp.py"', 'jpv.py"', f'{SECOND}:3: no module '),
    (SECOND, '\n', '\n' + LISTING.format('''\
def bind(primitive, x):
    return rules[primitive](x)'''),
     f'{SECOND}:2: shows `bind`; next in its module is `nothing`'),
    (CORE, "defrule('cos'", "defrule('tan', np.tan)\ndefrule('cos'",
     f"{CORE}:16: no chapter shows `defrule('tan'`"),
    (CORE, "defrule('cos', np.cos)", "defrule('sin', np.cos)",
     f"{CORE}:16: ambiguous address `defrule('sin'`, also of line 14"),
    (CORE, '\n\ndef bind', '\n# A remark.\n\ndef bind',
     f'{CORE}:21: this comment has no statement'),
    (FIRST, 'def bind(primitive, x):', 'def bind(', f'{FIRST}:28: not Python')])
def test_problems_are_reported_with_their_place(path, old, new, said):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new, 1))
    assert said in problems()


def test_the_library_can_be_shown_twice_or_not_at_all():
    write('autodiff_mini/api.py', 'def one():\n    return 1\n\n\n'
          'def two():\n    return 2\n')
    write('book/chapters/20_more.md', '# More\n\n' + 2 * (
        '```py title="autodiff_mini/api.py"\n# weave: one\n```\n\n'))
    weave.weave(Path())
    assert problems() == ''
    change('autodiff_mini/api.py', 'return 1', 'return 3')
    assert problems().count('differs from its module') == 2


def test_the_command_reports_problems_and_fails(capsys):
    assert weave.main(['--check']) == 0
    change(CORE, 'np.sin)', 'np.sin')
    for option in '', '--check':
        weave.main([option])
        [said] = capsys.readouterr().out.splitlines()
        assert said.endswith("not Python: '(' was never closed")


# Names that come too early, in the main line.

EARLY = f'''# Here are SAID, `np.rules` and ad.jvp.

```text
`defrule` is not said twice
```

```python title="{JVP}"
# weave: """ .. jvp
```
'''


def test_a_name_is_early_unless_the_prose_has_introduced_it():
    assert not list(mainline.early_names(Path()))
    write(SECOND, '')
    for said, early in (('`bind(x)`', 0), ('`ad.bind`', 0), ('bind', 2),
                        ('`np.bind`', 2), ('`binds`', 2)):
        write('book/chapters/00_first.md', EARLY.replace('SAID', said))
        weave.weave(Path())
        assert [problem.text for problem in mainline.early_names(Path())] == (
            early * ['`bind` comes too early'])
