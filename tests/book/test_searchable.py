"""searchable: what the search reads of a page."""

import pytest

from book.tools.searchable import searchable


@pytest.mark.parametrize('html', [
    '<a class="notebook" href="x">Open as notebook</a>',
    '<a class="filename" href="x">core.py</a>',
    '<details class="imports"><summary>The first cell</summary>x</details>',
    '<details><summary>Hint</summary><details>x</details> y</details>',
    '<div class="question"><p>How many?</p><div>x</div> <p>y</p></div>',
    '<div class="highlight module"><div>x</div> y</div>',
    '<div class="spread"><div><p>Then</p></div> <div>x</div></div>',
    '<ol class="stations"><li>x</li></ol>',
    '<svg><path/><text>100</text></svg>',
    '<trace-player><ol><li>x</ol></trace-player>',
    '<span class="katex-html"><span>x</span>&gt;<span>y</span></span>',
    '<p>Defined in <a href="x"><code>core.py</code></a>. Explained.</p>'])
def test_what_gives_answers_or_is_no_text_is_left_out(html):
    assert searchable(f'<p>A</p>{html}<p>B</p>') == '<p>A</p><p>B</p>'


@pytest.mark.parametrize('html', [
    '<h1 id="a">It&rsquo;s &#96;x&#96; &lt; <code>1</code></h1><img src="x"/>',
    '<details class="error"><h5 id="b">An error</h5><br></details>',
    '<div class="highlight"><pre><span></span><code>x\n</code></pre></div>'])
def test_the_rest_is_kept_as_it_is(html):
    assert searchable(html) == html


def test_a_term_becomes_a_heading():
    assert searchable('<dl><dt id="a-b">a <em>b</em></dt><dd>c</dd></dl>') == (
        '<dl><h3 id="a-b">a <em>b</em></h3><dd>c</dd></dl>')
