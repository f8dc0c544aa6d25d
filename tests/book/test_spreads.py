"""spreads: a function of the draft beside the library's, line by line."""

import re
from pathlib import Path

import pytest

from book.tools import downloads, pages, render, spreads, weave
from book.tools.places import ROOT

FILES = {
    'autodiff_mini/draft/mode.py': '''def back(xs):
    """Go back."""
    return [x for x in xs]
''',
    'autodiff_mini/mode.py': '''import numpy as np

table = {}


class Program:
    """A program."""

    @property
    def back(self):
        """Go back.

        Args:
            none.
        """
        if not self.xs:
            raise ValueError
        found = []
        for x in self.xs:

            found.append(x)
        return found


def keep(x):
    """Keep it
    for a while.

    Not for long.
    """
    return x
'''}
BACK = """draft = 'draft/mode.py back'
library = ['mode.py Program.back, keep', 'mode.py table']

[[reason]]
name = 'errors'
says = "it's `empty`"
lines = ['''
    if not self.xs:
        raise ValueError''']

[[reason]]
name = 'memory'
lines = ['return x']
"""
NOTEBOOK = '''**Then**, in 3 lines:

```python
# autodiff_mini/draft/mode.py
def back(xs):
    """Go back."""
    return [x for x in xs]
```

**Now**, in 14 lines:

```python
# autodiff_mini/mode.py
@property
def back(self):
    """Go back."""
    if not self.xs:       # e
        raise ValueError  # e
    found = []
    for x in self.xs:

        found.append(x)
    return found

def keep(x):
    """Keep it
    for a while."""
    return x              # m

# autodiff_mini/mode.py
table = {}
```

- **errors** (`# e`), 2 lines: it's `empty`
- **memory** (`# m`), 1 line
- **the idea**, 11 lines'''
NAMES = sorted(path.stem for path in (ROOT / spreads.FOLDER).glob('*.toml'))


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book with one spread, in the current directory."""
    monkeypatch.chdir(tmp_path)
    for path, text in FILES.items():
        write(path, text)
    write('autodiff_mini/__init__.py', '')
    write(spreads.FOLDER / 'back.toml', BACK)


def write(path, text):
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)


def test_each_reason_of_the_book_is_that_of_one_line():
    assert NAMES and spreads.check(ROOT) == []


def test_each_spread_is_on_one_page():
    text = ''.join(path.read_text() for path in weave.chapters(ROOT))
    assert sorted(re.findall('<!-- then and now: (.*) -->', text)) == NAMES


def test_a_notebook_marks_lines_with_letters(book):
    path = Path('book/chapters/20_a.md')
    write(path, '# A\n\n<!-- then and now: back -->\n')
    [cell] = downloads.alone(render.read(path), path).cells
    assert cell.source == f'# A\n\n{NOTEBOOK}'


def test_a_page_marks_lines_with_colors_and_letters(book):
    match = render.DIRECTIVE.search('<!-- then and now: back -->')
    text = render.directed(match, Path('book/chapters/20_a.md'))
    code = re.sub('<(?!abbr|/abbr)[^>]*>', '', text)
    for marked in ('<abbr title="errors">e</abbr>    if not self.xs:\n',
                   '<abbr title="errors">e</abbr>        raise ValueError\n',
                   '<abbr title="memory">m</abbr>    return x\n',
                   '"""Keep it\n    for a while."""\n<abbr',
                   '</abbr>errors, 2 lines: it’s empty'):
        assert marked in code
    assert code.count('<abbr') == 3 + 2      # lines, and the legend
    assert 'Args' not in text and 'Not for long' not in text
    assert '<span class="errors"><abbr' in text
    assert 'href="../modules/mode.html#L9">autodiff_mini/mode.py<' in text
    # The longest lines are as wide as the columns.
    assert 'style="--then: 26; --now: 24"' in text


def test_names_in_a_spread_lead_to_their_definitions(book):
    write('autodiff_mini/mode.py', FILES['autodiff_mini/mode.py'].replace(
        'return found', 'return keep(found)'))
    text = spreads.page('back', Path('book/chapters/20_a.md'))
    assert 'href="../modules/mode.html#L25">keep</a>(found)' in text


@pytest.mark.parametrize('old, new, line, words', [
    ("'return x'", "'return y'", 13, '`return y` is 0 times on the'),
    ("'return x'", "'x'", 13, '`x` is 0 times on the'),
    ("'return x'", "'if not self.xs:'", 13, 'has a reason already'),
    ("'memory'", "'beauty'", 12, '`beauty` is no reason, such as zeros'),
    ('.back', '.forth', 1, 'no `Program.forth` in autodiff_mini/mode.py'),
    ('.py table', '.py tables', 1, 'no `tables` in autodiff_mini/mode.py'),
    ('.py table', 's.py table', 1, 'no module `autodiff_mini/modes.py`'),
    ('draft =', 'drafts =', 1, "has no 'draft'"),
    ("name = 'memory'", '', 1, "has no 'name'"),
    ('[[reason]]', '[[reason]', 1, 'Expected')])
def test_a_wrong_line_or_name_is_a_problem(book, old, new, line, words):
    path = spreads.FOLDER / 'back.toml'
    path.write_text(BACK.replace(old, new))
    problems = spreads.check(Path())
    assert problems[0].path == path and problems[0].line == line
    assert words in str(problems[0])
    with pytest.raises(ValueError, match='back.toml:'):
        spreads.page('back', Path('book/chapters/20_a.md'))


def test_a_line_that_is_there_twice_needs_its_neighbor(book):
    write('autodiff_mini/mode.py', FILES['autodiff_mini/mode.py'].replace(
        'return found', 'found.append(x)'))
    path = spreads.FOLDER / 'back.toml'
    for entry, count in (
            ("'found.append(x)'", 1), ("'found.append(x)\\nfound.append(x)'", 0)):
        path.write_text(BACK.replace("'return x'", entry.replace("'", '"')))
        assert len(spreads.check(Path())) == count


def test_the_pages_are_not_made_with_a_wrong_spread(monkeypatch, capsys):
    wrong = weave.Problem(Path('a.toml'), 3, '`x` is no line')
    monkeypatch.setattr(spreads, 'check', lambda root: [wrong])
    monkeypatch.setattr(pages, 'put_pages', lambda made: 1 / 0)
    assert pages.make()
    assert str(wrong) in capsys.readouterr().out
