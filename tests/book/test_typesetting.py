"""The HTML of a page is finished: formulas are typeset, names are linked."""

import markdown
import pytest

from book.tools.typesetting import finished


def page(text):
    """Return the HTML of a text, with the extensions that matter here."""
    return finished(markdown.markdown(
        text, extensions=['tables', 'pymdownx.arithmatex',
                          'pymdownx.superfences'],
        extension_configs={'pymdownx.arithmatex': {'generic': True}}))


def test_a_formula_is_typeset():
    html = page(r'As $x < \frac12$.')
    assert '<mfrac><mn>1</mn><mn>2</mn></mfrac>' in html   # to be heard
    assert 'class="mfrac"' in html                         # to be seen
    assert '<mo>&lt;</mo>' in html and 'katex-display' not in html


def test_a_formula_can_be_displayed_or_in_code():
    assert '<span class="katex-display">' in page('$$\nx^2\n$$')
    assert page('`$x$`') == '<p><code>$x$</code></p>'


def test_a_wrong_formula_ends_the_build():
    with pytest.raises(ValueError, match=r'wrong: \\frac: .*end of input'):
        page(r'$\frac$')


def test_words_in_the_color_of_text_have_no_element():
    html = page('```python\ndef f(x):\n    return x + 1\n```')
    assert '</span>(x):\n' in html
    assert 'x + <span class="mi">1</span>' in html


def test_names_on_a_fold_are_code():
    html = page('<details markdown="1">\n<summary>What `a.py` says</summary>'
                '\n\n`b`\n\n</details>\n')
    assert '<summary>What <code>a.py</code> says</summary>' in html


def test_an_empty_heading_of_a_table_is_a_cell():
    html = page('| | a |\n|--|--|\n| 1 | 2 |')
    assert '<td></td>\n<th>a</th>' in html


def test_a_term_has_an_address():
    assert finished('<dt>a <em>b</em></dt>') == (
        '<dt id="a-b">a <em>b</em></dt>')
