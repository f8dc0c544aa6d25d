"""The whole book as one print, made and read.

`make test-site` builds the site that it is made of, and runs this.
"""

import re
from io import BytesIO
from pathlib import Path

import pytest

from tests.explained import ALL

ROOT = Path(__file__).parents[1]
WIDTH = 590    # px: that of the text on a page


@pytest.fixture(scope='module')
def pdf(request):
    if request.config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        pytest.skip('only `make test-site` prints the book')
    for package in 'selenium', 'pypdf':
        pytest.importorskip(package, reason='`make test-site` installs it')
    from tests.browser import installed
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


def outline(book, entries=None):
    """Returns [(title, page, [...])] of a book, pages counted from 1."""
    found = []
    for entry in book.outline if entries is None else entries:
        if isinstance(entry, list):
            found[-1][2].extend(outline(book, entry))
        else:
            found.append((entry['/Title'],
                          book.get_destination_page_number(entry) + 1, []))
    return found


def words(text):
    """Returns a text without what Python's Markdown makes of quotes."""
    return re.sub(r'\W+', ' ', text).strip()


@pytest.fixture(scope='module')
def chapters(book):
    """Returns [(title, page)] of the pages of the site in a print."""
    return [entry[:2] for title, page, inside in outline(book)
            for entry in (inside if re.match('Book|Reference', title)
                          else [(title, page)])]


def test_every_page_is_in_the_outline_in_its_part(pdf, book, chapters):
    parts = pdf.parts(pdf.settings()['nav'])
    assert [title for title, *_ in outline(book)
            if re.match('Book|Reference', title)] == [
        part for part, _ in parts if part]
    titles = [re.search('(?m)^# (.*)', (
        ROOT / 'pages' / page).with_suffix('.md').read_text())[1]
        for _, pages in parts for page, _ in pages]
    assert [words(title) for title, _ in chapters] == [*map(words, titles)]
    assert len(titles) == len([
        page for page in (ROOT / 'pages').rglob('*.md')
        if page.stem == 'index' or 'modules' not in page.parts])


def test_the_outline_says_each_heading_once(book):
    def titles(entries):
        for title, _, inside in entries:
            yield title
            yield from titles(inside)

    said = [*titles(outline(book))]
    assert len(said) > 400
    assert [title for title in said
            if title == 2 * title[:len(title) // 2]] == []


def test_the_contents_and_the_pages_have_the_same_numbers(book, chapters):
    first = chapters[0][1]
    contents = [line for page in book.pages[1:first - 1]
                for line in page.extract_text().splitlines()]
    for title, number in chapters[1:]:
        [line] = [line for line in contents if re.fullmatch(
            re.escape(words(title)) + r' \d+', words(line))]
        assert line.endswith(f' {number}')
        text = book.pages[number - 1].extract_text().splitlines()
        assert text[:3] == [title, str(number), title]


def test_links_lead_to_places_in_the_print(book):
    inside, elsewhere = [], []
    for page in book.pages:
        for link in page.get('/Annots', []):
            link = link.get_object()
            inside += [link['/Dest']] if '/Dest' in link else []
            elsewhere += [link['/A']['/URI']] if '/A' in link else []
    assert len(inside) > 400
    assert {*inside} <= {*book.named_destinations}
    assert [link for link in elsewhere if '127.0.0.1' in link] == []


def test_the_print_says_what_it_is_and_who_wrote_it(pdf, book):
    said = pdf.settings()
    assert book.metadata.title == said['site_name']
    assert book.metadata.author == said['site_author']
    assert book.metadata.subject == said['site_description']


def test_errors_are_not_folded(browser):
    said = browser.execute_script(
        'return document.getElementById("appendix_errors_explained_html")'
        '  .textContent')
    for explained in ALL:
        assert explained.program in said and explained.cure in said
    assert said.count('Cure.') == len(ALL)


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
    assert browser.execute_script('''
        return [...document.querySelectorAll("img, figure svg")]
          .filter(it => it.checkVisibility() && !it.getBoundingClientRect()
            .height).length
          + document.querySelectorAll("details").length
    ''') == 0
