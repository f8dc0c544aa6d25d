"""Render: what a chapter's cells do stands on its page, or fails it."""

import json
import re
import socket

import jupytext
import pytest
from jupyter_client.connect import LocalPortCache

from book.tools import render
from tests.amount import rest

CHAPTER = '''---
title: Not for the page
---

# A chapter

A word with `code` and $x^2$.

```python title="autodiff_mini/core.py" hl_lines="1"
import numpy as np
import sys, warnings
```

> A note.

```py title="autodiff_mini/static.py"
this_never_runs()
```

```python
print('<first>')
print()
print('    second')
6 * 7
```

```python
warnings.warn('take care')
print(sys.prefix, object(), '\\x1b[31mred')
```

```python tags=["raises-exception"]
def f(x):
    raise ValueError('bad\\nworse')
f(1)
```

```python alt="A line that rises <steeply>" tags=["hide-input"]
import matplotlib.pyplot as plt
plt.plot([1, 2])
plt.title('Rising')
plt.show()
```

```python
class Table:
    def _repr_html_(self):
        return '<table><tr><td>cell</td></tr></table>'
Table()
```

```python tags=["hide-output"]
print('unseen')
```

```python tags=["imports"]
import math
print(math.pi)
```

```python
"```"
```
'''


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """Returns the page of CHAPTER; all tests share one run of it."""
    with pytest.MonkeyPatch.context() as patch:
        directory = tmp_path_factory.mktemp('book')
        patch.setattr(render, 'CACHE', directory / 'cache')
        yield render.build(chapter(directory, CHAPTER))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(render, 'CACHE', tmp_path / 'cache')


def chapter(directory, text, name='01_chapter.md'):
    (directory / name).write_text(text)
    return directory / name


# The page.

@pytest.mark.parametrize('text', [
    '\n\n> A note.\n\n',
    '\n```python title="autodiff_mini/core.py" hl_lines="1"\n'
    'import numpy as np\nimport sys, warnings\n```\n\n> A note.',
    '```py title="autodiff_mini/static.py"\nthis_never_runs()\n```',
    '6 * 7\n```\n\n<div class="output">\n'
    '<pre class="stdout" tabindex="0">&lt;first&gt;\n\n    second</pre>\n'
    '<pre class="result" tabindex="0">42</pre>\n</div>',
    '<pre class="stderr" tabindex="0">UserWarning: take care</pre>',
    '<pre class="error" tabindex="0">ValueError: bad\nworse</pre>',
    '<div class="rich"><table><tr><td>cell</td></tr></table></div>',
    "print('unseen')", '````python\n"```"\n````', '&#96;&#96;&#96;',
    '```python\nimport math\nprint(math.pi)\n```\n\n</details>\n\n'
    '<div class="output">\n<pre class="stdout" tabindex="0">3.14'])
def test_the_page_has_what_its_cells_say_and_do(page, text):
    assert text in page.markdown


def test_the_page_has_no_front_matter_and_nothing_hidden(page):
    assert page.markdown.startswith('# A chapter\n\nA word with `code` and '
                                    '$x^2$.\n\n```python')
    for text in 'tags=', 'Traceback', 'plt.plot', '>unseen<':
        assert text not in page.markdown


def test_a_plot_is_an_svg_in_the_colour_of_the_page(page):
    [svg] = re.findall('(?s)<svg.*?</svg>', page.markdown)
    assert 'aria-label="A line that rises &lt;steeply&gt;"' in svg
    assert '>Rising</text>' in svg
    assert 'currentColor' in svg and render.GREY not in svg
    assert '\n\n' not in svg and '<style' not in svg


@pytest.mark.parametrize('text', ['markdown', 'notebook'])
def test_nothing_tells_of_the_machine(page, text):
    text = getattr(page, text)
    assert not re.search(r'(/home|/root|/tmp|/usr|/var|/work)/', text)
    assert not re.search(r'0x[0-9a-f]{4}|ipykernel_|\x1b|u001b', text)
    assert 'object at 0x…' in text


def test_the_notebook_has_the_outputs_and_runs_in_python(page):
    notebook = json.loads(page.notebook)
    assert notebook['metadata']['kernelspec']['name'] == 'python3'
    assert '42' in str(notebook['cells'])


# What ends the build.

@pytest.mark.parametrize('cell, line, words', [
    rest('x + y', 1, "NameError: name 'y' is not defined"),
    rest('x\n\nx + y', 3, "NameError: name 'y' is not defined"),
    ('x\nf()\nx', 2, "NameError: name 'z' is not defined"),
    ('x\nx = = 1', 2, 'SyntaxError: invalid syntax'),
])
def test_a_failing_cell_is_named_by_file_and_line(tmp_path, cell, line,
                                                  words):
    path = chapter(tmp_path, '# Title\n\n```python\nx = 1\ndef f():\n'
                             f'    z\n```\n\n```python\n{cell}\n```\n')
    with pytest.raises(render.ChapterError) as error:
        render.build(path)
    assert str(error.value).startswith(f'{path}:{9 + line}: {words}')


@pytest.mark.parametrize('text, words', [
    ('\n<!-- table: of nothing -->\n',
     "2: <!-- table: of nothing -->: KeyError: 'of nothing'"),
    ('\n```python tags=["raises-exception"]\n1\n```\n',
     '2: the cell is tagged raises-exception, and raised none')])
def test_what_cannot_be_made_is_named(tmp_path, text, words):
    path = chapter(tmp_path, text)
    with pytest.raises(render.ChapterError) as error:
        render.build(path)
    assert str(error.value) == f'{path}:{words}'


def test_a_plot_needs_words(tmp_path):
    cell = jupytext.reads('```python\n1\n```', fmt='md').cells[0]
    with pytest.raises(render.ChapterError, match=r'a\.md:1: .*needs an alt'):
        render.alt(cell, 'a.md:1')


def test_a_kernel_needs_no_port_that_another_program_may_take(tmp_path,
                                                               monkeypatch):
    path = chapter(tmp_path, "```python\nprint('reached')\n```\n")
    with socket.create_server(('127.0.0.1', 0)) as server:
        taken = server.getsockname()[1]
        monkeypatch.setattr(
            LocalPortCache, 'find_available_port', lambda *_: taken)
        assert 'reached' in render.build(path).markdown


# The cache.

def test_a_second_build_takes_the_outputs_from_the_cache(page, tmp_path,
                                                         monkeypatch):
    path = chapter(tmp_path, '```python\n1 + 1\n```\n')
    assert '>2<' in render.build(path).markdown
    monkeypatch.setattr(render, 'run', None)
    path.write_text('New prose.\n\n```python\n1 + 1\n```\n')
    again = render.build(path)
    assert again.seconds == 0
    assert again.markdown.startswith('New prose.') and '>2<' in again.markdown


def key(text):
    return render.key(jupytext.reads(text, fmt='md'))


def test_the_key_depends_on_code_and_tags_and_not_on_prose():
    plain = key('```python\n1\n```')
    assert key('prose\n\n```python\n1\n```\n') == plain
    assert key('```python\n2\n```') != plain
    assert key('```python tags=["raises-exception"]\n1\n```') != plain


def test_the_key_depends_on_every_module_and_the_benchmarks(tmp_path,
                                                            monkeypatch):
    monkeypatch.setattr(render, 'ROOT', tmp_path)
    monkeypatch.setattr(render, 'TOOLS', tmp_path)
    keys = set()
    for name, text in (('autodiff_mini/deep/core.py', 'a = 1'),
                       ('autodiff_mini/deep/core.py', 'a = 2'),
                       ('autodiff_mini/deep/core.py', 'a = 1'),
                       ('book/benchmarks.json', '{}')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        keys.add(key('```python\n1\n```'))
    assert len(keys) == 3


# The benchmarks.

def test_a_marker_becomes_its_table(tmp_path, monkeypatch):
    monkeypatch.setattr(render.benchmark_tables, 'benchmarks',
                        lambda name: f'The table of {name}.')
    path = chapter(tmp_path, 'A.\n\n<!-- benchmarks: first calls -->\n\nB.\n')
    assert render.build(path).markdown == 'A.\n\nThe table of first calls.\n\nB.\n'
