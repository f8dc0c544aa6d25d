"""render: a chapter's page has the outputs of its cells, or the build fails.
"""

import html
import json
import re
from pathlib import Path

import jupytext
import nbformat
import pytest

from book.tools import render

CHAPTER = Path(__file__).parent / 'samples/chapter.md'


@pytest.fixture(scope='module')
def page(tmp_path_factory):
    """Return the page of CHAPTER; all tests share one run of it."""
    with pytest.MonkeyPatch.context() as patch:
        directory = tmp_path_factory.mktemp('book')
        patch.setattr(render, 'CACHE', directory / 'cache')
        yield render.build(chapter(directory, CHAPTER.read_text()))


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(render, 'CACHE', tmp_path / 'cache')


def chapter(directory, text, name='01_chapter.md'):
    (directory / name).write_text(text)
    return directory / name


# The page.

def test_the_page_has_the_text_and_outputs_of_its_cells(page):
    for text in (
            '\n```python title="autodiff_mini/core/trace.py"\nimport numpy as np\n'
            'import sys, warnings\n```\n\n> A note.\n\n',
            '```py title="autodiff_mini/static.py"\nthis_never_runs()\n```',
            '6 * 7\n```\n\n<div class="output">\n<pre class="stdout" '
            'tabindex="0">&lt;first&gt;\n\n    second</pre>\n'
            '<pre class="result" tabindex="0">42</pre>\n</div>',
            '<pre class="stderr" tabindex="0">UserWarning: take care</pre>',
            '<pre class="error" tabindex="0">ValueError: bad\nworse</pre>',
            '<div class="rich"><table><tr><td>cell</td></tr></table></div>',
            '````python\n"```"\n````', '&#96;&#96;&#96;',
            'import math\nprint(math.pi)\n```\n\n</details>\n\n'
            '<div class="output">\n<pre class="stdout" tabindex="0">3.14',
            # An error of the page *Errors explained*.
            '<details class="error" markdown="1"><summary>An `a` is no '
            'number.<br><code>ValueError: could not convert string to float: '
            '…</code></summary>\n\n##### An `a` is no number. '
            '{ aria-level="4" }\n\n```python\n'):
        assert text in page.markdown


def test_the_page_has_no_front_matter_and_nothing_hidden(page):
    assert page.markdown.startswith('# A chapter\n\nA word with `code` and '
                                    '$x^2$.\n\n```python')
    for text in 'tags=', 'Traceback', 'plt.plot':
        assert text not in page.markdown


def test_a_plot_is_an_svg_in_the_color_of_the_page(page):
    [svg] = re.findall('(?s)<svg.*?</svg>', page.markdown)
    assert 'aria-label="A line that rises &lt;steeply&gt;"' in svg
    assert '>Rising</text>' in svg
    assert 'currentColor' in svg and render.GREY not in svg
    assert '\n\n' not in svg and '<style' not in svg


@pytest.mark.parametrize('text, colored', [
    ('def program(a):\n    return [a]',
     '<span class="k">def</span><span class="w"> </span>'
     '<span class="nf">program</span>'),
    ('two ways\nx = 1.5\n\ndef f():\n\n    """`x`"""\nwith 7',
     '"""&#96;x&#96;"""</span>\nwith 7</pre>'),
    ('{ lambda ; a:float64[3] . let\n    b:float64 = sin a\n  in (b,) }',
     '<span class="k">let</span>\n    <span class="n">b</span>')])
def test_a_printed_program_is_colored(text, colored):
    made = render.pre(text, 'stdout')
    assert made.startswith('<pre class="stdout highlight" tabindex="0">')
    assert colored in made
    assert 'class="ow"' not in made
    assert html.unescape(re.sub('<[^>]*>', '', made)) == text


@pytest.mark.parametrize('text, kind', [
    ('we define what\n  in (a) let means: lambda', 'stdout'),
    ('def f(): is not supported', 'error')])
def test_printed_words_are_not_colored(text, kind):
    assert render.pre(text, kind) == (
        f'<pre class="{kind}" tabindex="0">{text}</pre>')


def test_the_output_does_not_mention_the_machine(page):
    for text in page.markdown, page.notebook:
        assert not re.search(r'(/home|/root|/tmp|/usr|/var|/work)/', text)
        assert not re.search(r'0x[0-9a-f]{4}|ipykernel_|\x1b|u001b', text)
        assert 'object at 0x…' in text and '42' in text
    assert render.clean_text('jit of the lambda in line 3 of cell 7: no') == (
        'jit of the lambda in line 3: no')


# Errors that end the build.

@pytest.mark.parametrize('text, words', [
    ('\n```python\nx = 1\ndef f():\n    z\n```\n\n```python\nx\nf()\nx\n```\n',
     "10: NameError: name 'z' is not defined"),
    ('\n<!-- table: of nothing -->\n',
     "2: <!-- table: of nothing -->: KeyError: 'of nothing'"),
    ('\n```python tags=["raises-exception"]\n1\n```\n',
     '2: the cell is tagged raises-exception, but it raised no exception')])
def test_build_errors_name_file_and_line(tmp_path, text, words):
    path = chapter(tmp_path, text)
    with pytest.raises(render.ChapterError) as error:
        render.build(path)
    assert str(error.value) == f'{path}:{words}'


def test_a_plot_needs_a_description():
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output(
        'display_data', {'image/svg+xml': '<svg/>'})])
    with pytest.raises(render.ChapterError, match=r'a\.md:1: .*needs alt'):
        render.check(cell, 'a.md:1')


# The cache.

def test_a_second_build_takes_the_outputs_from_the_cache(tmp_path,
                                                         monkeypatch):
    path = chapter(tmp_path, '```python\n1 + 1\n```\n')
    assert '>2<' in render.build(path).markdown
    monkeypatch.setattr(render, 'run', None)
    path.write_text('New prose.\n\n```python\n1 + 1\n```\n')
    again = render.build(path)
    assert again.markdown.startswith('New prose.') and '>2<' in again.markdown
    assert again.seconds == 0 and '1 + 1' in json.loads(
        again.notebook)['cells'][1]['source']


def key(text):
    return render.key(jupytext.reads(text, fmt='md'))


def test_the_key_depends_on_code_tags_modules_and_benchmarks(tmp_path,
                                                             monkeypatch):
    monkeypatch.setattr(render, 'ROOT', tmp_path)
    monkeypatch.setattr(render, 'TOOLS', tmp_path)
    module, data = 'autodiff_mini/deep/core.py', 'book/benchmarks.json'
    keys = []
    for name, text in ((module, 'a = 1'), (data, '{}'), (module, 'a = 2'),
                       (data, '{"a": 1}')):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        if (tmp_path / data).exists():
            keys.append(key('```python\n1\n```'))
    keys += [key('```python\n2\n```'),
             key('```python tags=["raises-exception"]\n1\n```')]
    assert len({*keys}) == len(keys) == 5
    assert key('prose\n\n```python\n1\n```\n') == keys[2]
