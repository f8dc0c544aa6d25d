"""pdf: the whole book in one PDF, made and read.

`make test-site` builds the site for it, and runs this.
"""

import re
from io import BytesIO
from pathlib import Path

import pytest

from book.tools import questions
from tests.support.explained import ALL

ROOT = Path(__file__).parents[2]
WIDTH = 590    # px: the width of the text on a page


@pytest.fixture(scope='module')
def pdf(request):
    if request.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip('only `make test-site` prints the book')
    for package in 'selenium', 'pypdf':
        pytest.importorskip(package, reason='`make test-site` installs it')
    from tests.support.browser import installed
    if not installed() or not (ROOT / 'site/index.html').exists():
        pytest.skip('there is no browser, or no site: see `make test-site`')
    from book.tools import pdf
    return pdf


@pytest.fixture(scope='module')
def browser(pdf):
    with pdf.composed(ROOT / 'site') as browser:
        yield browser


@pytest.fixture(scope='module')
def book(pdf, browser):
    from pypdf import PdfReader
    return PdfReader(BytesIO(pdf.pdf(browser)))


def outline(book, entries):
    """Yield (title, page) of an outline, where pages count from 1."""
    for entry in entries:
        if isinstance(entry, list):
            yield from outline(book, entry)
        else:
            yield (entry['/Title'],
                   book.get_destination_page_number(entry) + 1)


def words(text):
    """Return a text without quotes and without spaces at line ends."""
    return re.sub(r'\W+', '', text)


def test_the_outline_the_contents_and_the_pages_agree(pdf, book):
    titles = [re.search('(?m)^# (.*)', (
        ROOT / 'pages' / page).with_suffix('.md').read_text())[1]
        for _, pages in pdf.parts() for page, _ in pages]
    headings = [(words(title), page)
                for title, page in outline(book, book.outline)]
    contents = [words(line) for page in book.pages[1:12]
                for line in page.extract_text().splitlines()]
    for title in map(words, titles[1:]):
        [page] = [page for heading, page in headings
                  if heading == title and f'{title}{page}' in contents]
        assert title in words(book.pages[page - 1].extract_text())


def test_links_lead_to_places_in_the_print(pdf, book):
    inside, elsewhere = [], []
    for page in book.pages:
        for link in page.get('/Annots', []):
            link = link.get_object()
            inside += [link['/Dest']] if '/Dest' in link else []
            elsewhere += [link['/A']['/URI']] if '/A' in link else []
    assert len(inside) > 400
    assert {*inside} <= {*book.named_destinations}
    assert [link for link in elsewhere if '127.0.0.1' in link] == []
    assert book.metadata.title == pdf.CONFIG.site_name


def test_nothing_is_cut_off_or_folded(browser, book):
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'media': 'print'})
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': WIDTH, 'height': 900, 'deviceScaleFactor': 1,
        'mobile': False})
    assert browser.execute_script('''
        const wide = [...document.querySelectorAll(
            ".print :is(pre, code, table, img, svg, figure, .katex)")]
          .filter(it => it.checkVisibility()
            && (it.getBoundingClientRect().right > innerWidth + 1
                || it.matches("pre, .output pre")
                   && it.scrollWidth > it.clientWidth + 1));
        return wide.map(it => it.closest("article").id + ": "
                        + it.outerHTML.slice(0, 200));
    ''') == []
    assert browser.execute_script(
        'return document.querySelectorAll("details").length') == 0
    said = browser.execute_script(
        'return document.getElementById("appendix_errors_explained_html")'
        '  .textContent')
    for explained in ALL:
        assert explained.program in said and explained.cure in said


def test_a_question_is_printed_before_its_output_and_answered_after_it(
        browser):
    """The answers are listed once before the output, and once with reasons.
    """
    boxes = browser.execute_script('''
        return [...document.querySelectorAll("#chapters_05_your_own_derivative"
                                             + "_html .question")]
          .map(it => [it.nextElementSibling.className,
            [...it.querySelectorAll("li")].map(it => it.textContent)]);
    ''')
    asked = questions.of_page(Path('chapters/05_your_own_derivative.md'))
    assert len(boxes) == 2 * len(asked)
    for before, after in zip(boxes[::2], boxes[1::2]):
        assert before[0] == 'output' and len(before[1]) == len(after[1])
        assert sorted(why.partition('.')[0] for why in after[1]) == (
            ['No'] * (len(after[1]) - 1) + ['Right'])
