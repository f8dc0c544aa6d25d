"""The ledger: where a rule can be lost, as far as a chapter has told it.

`book/ledger.toml` has a row for each place.  A chapter of Book Two shows its
own rows where it says `<!-- ledger -->`, and leads back to the earlier ones.
"""

import html
import re
import tomllib
from pathlib import Path

from book.tools import exercises, weave
from book.tools.places import ROOT

DATA = ROOT / 'book/ledger.toml'
TITLES = 'place', "how it's lost", "how you'd notice", 'what keeps it'
COLUMNS = 'lost', 'seen', 'kept'
EARLIER = 'The rows of earlier chapters'


def rows():
    """Return the rows of the whole ledger, in the order of the book."""
    return tomllib.loads(DATA.read_text())['row']


def told(path):
    """Return the rows before a page's own, and its own."""
    number = int(weave.label(Path(path)))
    return ([row for row in rows() if row['chapter'] < number],
            [row for row in rows() if row['chapter'] == number])


def chapter(row):
    """Return the file name of a row's chapter."""
    [found] = (ROOT / 'book/chapters').glob(f'{row["chapter"]:02}_*.md')
    return found.name


# On a page

def page(path):
    """Return the ledger up to a chapter as HTML.

    The chapter's own rows are shown, and of the earlier ones only the places,
    like stations.  Their rows are folded.  A page without a row, after the
    last one, shows the whole ledger.
    """
    before, own = told(path)
    if not own:
        return boxed(table(before, []))
    if not before:
        return boxed(table([], own))
    return boxed(stations(before, own), table([], own), exercises.folded(
        EARLIER, table(before, []), ' class="earlier"'))


def boxed(*parts):
    # Markdown inside, for what is folded; the tables are HTML.
    return '\n\n'.join(['<div class="ledger" markdown="1">', *parts, '</div>'])


def stations(before, own):
    """Return the places up to here, as a list of links."""
    items = [f'<li>{link(row)}</li>' for row in before] + [
        f'<li class="own">{text(row["place"])}</li>' for row in own]
    return ('<ol class="stations" aria-label="The places so far">'
            + '\n'.join(items) + '</ol>')


def table(before, own):
    """Return rows as a table; the page's own are marked."""
    heads = ''.join(f'<th scope="col">{text(title)}</th>' for title in TITLES)
    lines = [f'<tr>{cells(link(row), row)}</tr>' for row in before] + [
        f'<tr class="own">{cells(text(row["place"]), row)}</tr>'
        for row in own]
    return (f'<table class="rows"><thead><tr>{heads}</tr></thead>\n<tbody>\n'
            + '\n'.join(lines) + '\n</tbody></table>')


def cells(place, row):
    """Return the cells of a row; a narrow page names the others."""
    return f'<th scope="row">{place}</th>' + ''.join(
        f'<td>{text(row[key])}</td>' for key in COLUMNS)


def link(row):
    """Return a place as a link to its chapter."""
    name = chapter(row).replace('.md', '.html')
    return (f'<a href="{name}" title="Chapter {row["chapter"]}">'
            f'{text(row["place"])}</a>')


def text(words):
    """Return words as HTML, with code between backquotes."""
    return re.sub('`([^`]*)`', r'<code>\1</code>',
                  html.escape(words, quote=False).replace("'", '’'))


# In a notebook

def markdown(path):
    """Return the ledger up to a chapter as a Markdown table."""
    before, own = told(path)
    lines = [TITLES, ['---'] * len(TITLES)]
    lines += [[f'[{row["place"]}]({chapter(row)})', *map(row.get, COLUMNS)]
              for row in before]
    lines += [[f'**{row["place"]}**', *map(row.get, COLUMNS)] for row in own]
    return '\n'.join(f'| {" | ".join(line)} |' for line in lines)
