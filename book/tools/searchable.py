"""Leave out of a page what a search shouldn't find.

The search shows where a page or a section begins, so what stands before the
first sentence is left out: links for downloads, and the first cell.  So are
the parts that give an answer away, and words that are repeated or are no
text: the lines of a module, the steps of a player, and the numbers of a plot.
"""

import re
from html.parser import HTMLParser

TAGS = {'annotation', 'summary', 'svg', 'trace-player'}
CLASSES = {'notebook', 'imports', 'question', 'filename', 'module',
           'katex-html', 'stations', 'spread'}
OPEN = {'error', 'way'}     # the classes of details that aren't answers
DEFINED = re.compile('<p>Defined in .*?</p>')     # in the reference
TERM = re.compile('<dt (id="[^"]*")>(.*?)</dt>')  # in the glossary


def searchable(html):
    """Return the part of a page's HTML that the search reads.

    A term of the glossary becomes a heading, so that the search finds it.
    """
    reader = Reader()
    reader.feed(TERM.sub(r'<h3 \1>\2</h3>', DEFINED.sub('', html)))
    reader.close()
    return ''.join(reader.kept)


def left_out(tag, classes):
    """Return whether an element is left out."""
    return bool(tag in TAGS or classes & CLASSES
                or tag == 'details' and not classes & OPEN)


class Reader(HTMLParser):
    """Keep the HTML of a page, without the elements that are left out."""

    def __init__(self):
        super().__init__(convert_charrefs=False)
        self.kept = []
        self.inside = None      # the tag of an element that is left out
        self.depth = 0          # how many elements with this tag are open

    def handle_starttag(self, tag, attrs):
        classes = {*(dict(attrs).get('class') or '').split()}
        if self.inside:
            self.depth += tag == self.inside
        elif left_out(tag, classes):
            self.inside, self.depth = tag, 1
        else:
            self.kept.append(self.get_starttag_text())

    def handle_startendtag(self, tag, attrs):
        self.keep(self.get_starttag_text())

    def handle_endtag(self, tag):
        self.keep(f'</{tag}>')
        self.depth -= tag == self.inside
        if not self.depth:
            self.inside = None

    def handle_data(self, data):
        self.keep(data)

    def handle_entityref(self, name):
        self.keep(f'&{name};')

    def handle_charref(self, name):
        self.keep(f'&#{name};')

    def keep(self, text):
        if not self.inside:
            self.kept.append(text)
