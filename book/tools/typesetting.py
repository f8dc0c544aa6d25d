"""Finish the HTML of a page.

Formulas are typeset here, so that a reader's browser has only to show them,
and so that a wrong formula fails the build. Removing needless markup leaves a
few hundred elements in a listing of a thousand words, not two thousand. In a
listing of the library, names link to their definitions.
"""

import html
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import quickjs
from markdown.extensions.toc import slugify

from book.tools import modules

KATEX = Path(__file__).parents[1] / 'assets' / 'katex' / 'katex.min.js'
FORMULA = re.compile(
    r'(?s)(?<=class="arithmatex">)\\([(\[])(.*?)\\[)\]](?=</(?:span|div)>)')

LISTING = re.compile(
    r'(?s)(<a class="filename" href="((?:\.\./)*modules/)[^>]*>([^<]*)</a></p>'
    r'\s*<div class="[^"]*"><pre><span></span><code>)(.*?)(?=</code>)')


def finished(text):
    """Return the finished HTML of a page."""
    text = FORMULA.sub(formula, text)
    text = LISTING.sub(listing, modules.PLAIN.sub(r'\1', text))
    # Markdown does not process the text of a <summary>.
    text = re.sub('<summary>.*?</summary>', lambda fold: re.sub(
        '`(.*?)`', r'<code>\1</code>', fold[0]), text)
    # A term of the glossary has an address.
    text = re.sub('<dt>(.*?)</dt>', lambda term: '<dt id="{}">{}</dt>'.format(
        slugify(re.sub('<[^>]*>', '', term[1]), '-'), term[1]), text)
    # An empty cell is not a heading.
    return re.sub(r'<th( [^>]*)?></th>', '<td></td>', text)


def listing(match):
    """Return the HTML of a listing, whose title names a module, with links."""
    opening, home, title, code = match.groups()
    text = html.unescape(re.sub('<[^>]*>', '', code))
    return opening + modules.linked(
        code, modules.links_shown(title, text, home),
        ' tabindex="-1" contenteditable="false"')


def formula(match):
    """Return the HTML of a formula; its text is \\(…\\) or \\[…\\]."""
    return typeset(html.unescape(match[2]).strip(), match[1] == '[')


def typeset(text, on_its_own):
    """Return the HTML of a formula, inline or on a line of its own."""
    try:
        return unquote(katex()(text, on_its_own))
    except quickjs.JSException as error:
        what = str(error).partition('\n')[0]
        raise ValueError(f'a formula is wrong: {text}: {what}') from None


@cache
def katex():
    """Return KaTeX as a function of a formula."""
    engine = quickjs.Context()
    engine.eval(KATEX.read_text('utf-8') + '; null')
    # quickjs does not return a string built from pieces unchanged.
    return engine.eval(
        '(text, displayMode) => encodeURIComponent('
        'katex.renderToString(text, { displayMode }))')
