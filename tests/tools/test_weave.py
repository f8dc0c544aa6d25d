"""The weave: Book One shows each line of the draft once, in its order."""

import shutil
import subprocess
from pathlib import Path

import pytest

from book.tools import weave

ROOT = Path(__file__).parents[2]

CORE = '''"""The core."""

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
'''

JVP = '''"""Forward mode."""

import numpy as np

from .core import bind


def jvp(f, x, t):
    return bind(f, x), np.zeros(t)
'''

CHAPTER = '''# The core

```py title="autodiff_mini/draft/core.py"
# weave: """
```

```python title="autodiff_mini/draft/core.py"
# weave: import numpy .. defrule, defrule('sin' .. for name in 'add','mul':
```

Then the heart.

```python title="autodiff_mini/draft/core.py"
# weave: bind
```
'''

SECOND = '''# Forwards

```python title="autodiff_mini/draft/jvp.py"
# weave: """ .. jvp
```
'''


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Returns a book of two woven chapters, in the current directory."""
    monkeypatch.chdir(tmp_path)
    write('autodiff_mini/__init__.py', 'from .core import bind\n')
    write('autodiff_mini/draft/core.py', CORE)
    write('autodiff_mini/draft/jvp.py', JVP)
    write('book/chapters/01_core.md', CHAPTER)
    write('book/chapters/02_jvp.md', SECOND)
    assert weave.weave(Path()) == []
    return Path()


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def change(path, old, new):
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


def problems(book):
    return '\n'.join(map(str, weave.check(book)))


def test_the_book_shows_its_modules(monkeypatch):
    monkeypatch.chdir(ROOT)
    if found := problems(Path()):
        pytest.fail(found, pytrace=False)


def test_a_woven_book_has_no_problems(book):
    assert problems(book) == ''


def test_ranges_and_lists_are_expanded_in_order(book):
    text = Path('book/chapters/01_core.md').read_text()
    assert text == '''# The core

```py title="autodiff_mini/draft/core.py"
"""The core."""
```

```python title="autodiff_mini/draft/core.py"
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
```

Then the heart.

```python title="autodiff_mini/draft/core.py"
def bind(primitive, x):
    return rules[primitive](x)
```
'''


def test_weaving_again_changes_nothing(book):
    before = Path('book/chapters/01_core.md').read_text()
    weave.weave(book)
    assert Path('book/chapters/01_core.md').read_text() == before


def test_an_edited_module_is_drift_and_weaving_mends_it(book):
    change('autodiff_mini/draft/core.py', 'rules[primitive](x)', 'rules[x]')
    found = problems(book)
    assert found.startswith('book/chapters/01_core.md:27: differs')
    assert '-    return rules[primitive](x)\n+    return rules[x]' in found
    weave.weave(book)
    assert problems(book) == ''


def test_a_module_may_be_edited_and_woven_again_and_again(book):
    for old, new in ('np.sin', 'np.tan'), ('np.tan', 'np.exp'):
        change('autodiff_mini/draft/core.py', old, new)
        assert weave.weave(book) == []
    assert 'np.exp' in Path('book/chapters/01_core.md').read_text()


def test_a_listing_edited_in_its_chapter_is_shown_and_not_overwritten(book):
    change('book/chapters/01_core.md', '[primitive](x)', '[primitive](-x)')
    change('autodiff_mini/draft/jvp.py', 'np.zeros(t)', 't')
    [problem] = weave.weave(book)
    assert str(problem).startswith(
        'book/chapters/01_core.md:28: `bind` was edited here, and not in its '
        'module.')
    assert ('-    return rules[primitive](x)\n'
            '+    return rules[primitive](-x)') in problem.text
    assert '(-x)' in Path('book/chapters/01_core.md').read_text()
    assert ', t\n' in Path('book/chapters/02_jvp.md').read_text()


def test_an_edit_in_a_chapter_is_given_up_when_one_says_so(book):
    before = Path('book/chapters/01_core.md').read_text()
    change('book/chapters/01_core.md', '[primitive](x)', '[primitive](-x)')
    assert weave.main(['']) == 1
    assert weave.main(['--anyway']) == 0
    assert Path('book/chapters/01_core.md').read_text() == before


def test_what_the_last_commit_says_is_no_edit(book):
    def git(*words):
        subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=b',
                        *words], check=True, capture_output=True)
    git('init')
    git('add', 'autodiff_mini')
    git('commit', '-m', 'The core')
    shutil.rmtree('.cache')
    change('autodiff_mini/draft/core.py', 'np.sin', 'np.tan')
    assert weave.weave(book) == []
    assert problems(book) == ''


def test_a_listing_that_moves_may_change_its_blank_lines(book):
    change('book/chapters/01_core.md', 'rules = {}\n\n', 'rules = {}\n')
    assert weave.weave(book) == []
    assert problems(book) == ''


def test_a_comment_travels_with_its_statement(book):
    change('autodiff_mini/draft/core.py', '# a rule here.', '# one rule.')
    assert '-# a rule here.\n+# one rule.' in problems(book)
    weave.weave(book)
    assert '# one rule.\nrules = {}' in Path(
        'book/chapters/01_core.md').read_text()


def test_a_missing_name_is_reported_with_the_nearest(book):
    change('autodiff_mini/draft/core.py', 'def bind(', 'def bind_to(')
    assert ('book/chapters/01_core.md:28: no statement `bind` in '
            'autodiff_mini/draft/core.py; did you mean `bind_to`?'
            ) in problems(book)


def test_weaving_leaves_a_block_with_a_missing_name_alone(book):
    change('book/chapters/01_core.md', 'def bind(', 'def bond(')
    [problem] = weave.weave(book)
    assert 'did you mean `bind`?' in problem.text
    assert 'def bond(' in Path('book/chapters/01_core.md').read_text()


def test_an_unknown_module_is_reported(book):
    change('book/chapters/02_jvp.md', 'jvp.py"', 'jpv.py"')
    assert ('book/chapters/02_jvp.md:3: no module '
            '`autodiff_mini/draft/jpv.py`; did you mean '
            '`autodiff_mini/draft/jvp.py`?') in problems(book)


def test_a_repeat_is_reported_with_both_places(book):
    write('book/appendix/a_more.md', '\n```python title="autodiff_mini/'
          'draft/core.py"\ndef bind(primitive, x):\n'
          '    return rules[primitive](x)\n```\n')
    assert problems(book) == (
        'book/appendix/a_more.md:2: shows `bind` again, after '
        'book/chapters/01_core.md:27')


def test_an_unshown_statement_is_reported_in_its_module(book):
    change('autodiff_mini/draft/core.py', "defrule('cos'",
           "defrule('tan', np.tan)\ndefrule('cos'")
    assert ("autodiff_mini/draft/core.py:16: no chapter shows `defrule('tan'`"
            in problems(book))


def test_an_ambiguous_address_is_reported(book):
    change('autodiff_mini/draft/core.py', "defrule('cos', np.cos)",
           "defrule('sin', np.cos)")
    assert ("autodiff_mini/draft/core.py:16: ambiguous address `defrule('sin'`, "
            'also of line 14') in problems(book)


@pytest.mark.parametrize('line, problem', [
    ('_ = 1', 'nothing may be named `_`'),
    ('a = 1; b = 2', 'a second statement on one line'),
    ('# A remark.', 'this comment belongs to no statement'),
])
def test_what_no_block_can_ask_for_is_reported(book, line, problem):
    write('autodiff_mini/draft/core.py', f'{CORE}\n{line}\n\nlast = 1\n')
    assert f'autodiff_mini/draft/core.py:25: {problem}' in problems(book)


def test_a_line_not_yet_expanded_is_reported(book):
    write('book/chapters/02_jvp.md', SECOND)
    assert problems(book) == (
        'book/chapters/02_jvp.md:4: `make weave` has to expand '
        '`# weave: """ .. jvp`')


def test_a_block_that_is_not_python_is_reported(book):
    change('book/chapters/01_core.md', 'def bind(primitive, x):', 'def bind(')
    assert '01_core.md:28: not Python' in problems(book)


def test_a_block_that_shows_nothing_is_reported(book):
    write('book/appendix/a_more.md',
          '\n```python title="autodiff_mini/draft/core.py"\n\n```\n')
    assert 'a_more.md:2: shows nothing' in problems(book)


def test_a_fence_within_a_fence_is_no_block(book):
    write('book/appendix/a_how.md',
          '````text\n```python title="autodiff_mini/no.py"\n```\n````\n')
    assert problems(book) == ''


# Imports of what the chapter builds must not run.

def test_an_import_of_what_the_chapter_builds_must_not_run(book):
    change('book/chapters/01_core.md', 'Then the heart.',
           '```python\nfrom autodiff_mini.draft.core import bind\n```')
    assert problems(book) == (
        'book/chapters/01_core.md:26: imports autodiff_mini.draft.core.bind, '
        'which this chapter builds: show it in a `py` fence')


def test_an_import_of_the_module_that_a_chapter_builds_must_not_run(book):
    change('book/chapters/01_core.md', 'Then the heart.',
           '```python\nimport autodiff_mini.draft.core\n```')
    assert ('book/chapters/01_core.md:26: imports autodiff_mini.draft.core, '
            'which this chapter builds') in problems(book)


# The library: what is shown is kept equal to it, and that is all.

def test_the_library_can_be_shown_twice_or_not_at_all(book):
    write('autodiff_mini/api.py', 'def one():\n    return 1\n\n\n'
          'def two():\n    return 2\n')
    listing = '```py title="autodiff_mini/api.py"\n# weave: one\n```\n\n'
    write('book/chapters/18_more.md', '# More\n\n' + 2 * listing)
    weave.weave(book)
    assert problems(book) == ''
    change('autodiff_mini/api.py', 'return 1', 'return 3')
    assert problems(book).count('differs from its module') == 2


def test_the_draft_is_told_in_its_order(book):
    change('autodiff_mini/draft/core.py', '"""The core."""', '"""The core."""\n'
           '\n\ndef last():\n    pass')
    with open('book/chapters/02_jvp.md', 'a') as page:
        page.write('\n```python title="autodiff_mini/draft/core.py"\n'
                   '# weave: last\n```\n')
    weave.weave(book)
    assert problems(book) == (
        'autodiff_mini/draft/core.py:9: `rules` is shown before the '
        'statement above it')


# Names that come too early.

FIRST = '''# Here are `bind(x)`, `np.rules` and ad.jvp.

```text
`defrule` is not said twice
```

```python title="autodiff_mini/draft/jvp.py"
# weave: """ .. jvp
```
'''


def early(book):
    return [(problem.path.name, problem.line, problem.text)
            for problem in weave.early_names(book)]


def read_jvp_first(book, text):
    write('book/chapters/02_jvp.md', '')
    write('book/chapters/00_first.md', text)
    assert weave.weave(book) == []


def test_no_name_of_book_one_comes_too_early():
    assert weave.early_names(ROOT) == []


def test_what_earlier_listings_define_is_not_too_early(book):
    assert early(book) == []


def test_what_the_same_listing_defines_further_below_is_not(book):
    write('autodiff_mini/draft/more.py', 'def twice(x):\n    return 2 * one(x)\n'
          '\n\ndef one(x):\n    return x\n')
    write('book/chapters/03_more.md', '```python title="autodiff_mini/draft/more.py"'
          '\n# weave: twice, one\n```\n')
    weave.weave(book)
    assert early(book) == []


def test_a_name_that_a_later_listing_defines_is_too_early(book):
    read_jvp_first(book, FIRST.replace('`bind(x)`', 'binds'))
    assert early(book) == [
        ('00_first.md', 7, '`bind` of autodiff_mini/draft/core.py')]


@pytest.mark.parametrize('said', ['`bind(x)`', '`ad.bind`', '`bind`'])
def test_a_name_that_the_prose_has_said_is_not(book, said):
    read_jvp_first(book, FIRST.replace('`bind(x)`', said))
    assert early(book) == []


@pytest.mark.parametrize('said', ['bind', '`np.bind`', '`binds`', '```bind'])
def test_what_only_looks_like_the_name_has_not_said_it(book, said):
    read_jvp_first(book, FIRST.replace('`bind(x)`', said))
    assert len(early(book)) == 1


def test_each_page_counts_a_name_once_where_it_is_first_used(book):
    write('autodiff_mini/draft/more.py', '''from .core import bind as b


def twice(x):
    return b(b(x))


def local(rules):
    return rules
''')
    for page in '00_a', '00_b':
        write(f'book/chapters/{page}.md', '''
```python title="autodiff_mini/draft/more.py"
# weave: from .core
```

```python title="autodiff_mini/draft/more.py"
# weave: twice, local
```
''')
    weave.weave(book)
    assert early(book) == [
        ('00_a.md', 2, '`bind` of autodiff_mini/draft/core.py'),
        ('00_b.md', 2, '`bind` of autodiff_mini/draft/core.py')]


def test_a_name_of_the_same_module_may_come_too_early(book):
    listing = '```python title="autodiff_mini/draft/core.py"\n# weave: {}\n```\n'
    write('book/chapters/01_core.md', ''.join(map(listing.format, [
        '"""', 'import numpy', 'bind', 'rules', "defrule .. for name in "
        "'add','mul':"])))
    weave.weave(book)
    assert [text for *_, text in early(book)] == [
        '`rules` of autodiff_mini/draft/core.py']


# The command, and what other tools ask.

def test_the_command_says_what_is_wrong_and_fails(book, capsys):
    assert weave.main(['--check']) == 0
    assert capsys.readouterr().out == (
        'names shown before they are defined or said: 0\n')
    change('autodiff_mini/draft/core.py', 'np.sin', 'np.tan')
    assert weave.main(['--check']) == 1
    assert "+defrule('sin', np.tan)" in capsys.readouterr().out


def test_a_module_that_is_not_python_is_said_in_one_line(book, capsys):
    change('autodiff_mini/draft/core.py', 'np.sin)', 'np.sin')
    for option in '', '--check', '--names':
        weave.main([option])
        [said] = capsys.readouterr().out.splitlines()
        assert said.endswith("not Python: '(' was never closed")


def test_the_command_lists_and_counts_the_names(book, capsys):
    read_jvp_first(book, FIRST.replace('`bind(x)`', ''))
    capsys.readouterr()
    assert weave.main(['--names']) == 0
    assert capsys.readouterr().out == (
        'book/chapters/00_first.md:7: `bind` of autodiff_mini/draft/core.py\n'
        'names shown before they are defined or said: 1 (chapter 0: 1)\n')
