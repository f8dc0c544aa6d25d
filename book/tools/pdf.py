"""Print the whole book with the browser that the tests use.

    python -m book.tools.pdf [file]     from the site, which must be built

Folded text is not printed, except for the errors on the page *Errors
explained*, and neither are the pages of the modules. Chromium makes the pages
and the outline. A first print, which is thrown away, gives the page numbers
for the table of contents.
"""

import base64
import sys
import tempfile
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path

import pypdf
from mkdocs.config import load_config
from mkdocs.structure.files import get_files
from mkdocs.structure.nav import get_navigation
from pypdf.generic import NameObject, TextStringObject, TreeObject

from book.tools.pages import RELEASE
from book.tools.places import ROOT
from tests.support.browser import browsing, installed, serving

HERE = Path(__file__).parent / 'print'
CONFIG = load_config(str(ROOT / 'mkdocs.yml'))
NUMBERS = '''
  const pages = arguments[0];
  for (const link of document.querySelectorAll(".contents a"))
    link.querySelector("b").textContent =
      pages[link.getAttribute("href").slice(1)];
'''
HEADINGS = '''
  return [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")]
    .map(it => it.textContent.trim());
'''


def squeezed(title):
    """Return a title without its spaces."""
    return ''.join(title.split())


def parts():
    """Return [(part, [(page, title)])] of the site's navigation.

    A nested part has both names, and a page outside of any part has none. A
    title is empty if the page itself has it.
    """
    pages = get_navigation(get_files(CONFIG), CONFIG).pages
    return [(part, [(page.url, page.title or '') for page in inside])
            for part, inside in groupby(pages, lambda page: ' · '.join(
                part.title for part in reversed(page.ancestors)))]


@contextmanager
def composed(site):
    """Yield a browser that shows all pages of a site, one after another."""
    with (tempfile.TemporaryDirectory() as profile, serving(site) as home,
          browsing(*installed(), profile) as browser):
        browser.command_executor.client_config.timeout = 1200
        browser.set_script_timeout(300)
        browser.get(f'{home}/index.html')
        missing = browser.execute_async_script(
            (HERE / 'compose.js').read_text(), parts(),
            (HERE / 'cover.html').read_text().format(
                **CONFIG, release=RELEASE), styles(site))
        if missing:
            raise ValueError(f'missing from the print: {missing}')
        yield browser


def pdf(browser):
    """Return the PDF of the book that a `composed` browser shows."""
    first = pypdf.PdfReader(BytesIO(printed(browser)))
    browser.execute_script(NUMBERS, {
        name.lstrip('/'): first.get_destination_page_number(place) + 1
        for name, place in first.named_destinations.items()})
    book = pypdf.PdfWriter(clone_from=BytesIO(printed(browser)))
    book.add_metadata({'/Title': CONFIG.site_name,
                       '/Author': CONFIG.site_author,
                       '/Subject': CONFIG.site_description})
    headings = browser.execute_script(HEADINGS)
    # Chromium joins the lines of a broken heading without a space, and
    # repeats a heading that it moved to the next page.
    titles = {squeezed(title): title for title in headings}
    for entry in entries(book.get_outline_root()):
        title = squeezed(entry['/Title'])
        found = titles.get(title) or titles.get(title[:len(title) // 2])
        entry[NameObject('/Title')] = TextStringObject(
            found or entry['/Title'].strip())
    file = BytesIO()
    book.write(file)
    return file.getvalue()


def entries(node):
    """Yield the entries of an outline, from the top."""
    for entry in TreeObject(node).children():
        yield entry
        yield from entries(entry)


def styles(site):
    """Return the styles for printing, including the formulas' styles."""
    katex = (site / 'assets/katex/katex.min.css').read_text('utf-8')
    return katex.replace('url(fonts', 'url(assets/katex/fonts') + (
        HERE / 'print.css').read_text('utf-8')


def printed(browser):
    """Return the open page as a PDF."""
    answer = browser.execute_cdp_cmd('Page.printToPDF', {
        'preferCSSPageSize': True, 'printBackground': True,
        'generateTaggedPDF': True, 'generateDocumentOutline': True})
    return base64.b64decode(answer['data'])


if __name__ == '__main__':
    if not installed():
        sys.exit('There is no browser that prints the book: install Chromium '
                 'and chromedriver, or set CHROME and CHROMEDRIVER to their '
                 'paths.')
    to = Path(*sys.argv[1:] or ['book.pdf'])
    with composed(ROOT / 'site') as browser:
        to.write_bytes(pdf(browser))
    print(f'{to}: {len(pypdf.PdfReader(to).pages)} pages')
