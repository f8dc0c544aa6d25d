"""Writes into README where the book is read; `make publish` runs it."""

import re
import sys

from book.tools.places import ROOT

MARKS = re.compile(r'(<!-- online -->\n).*?(<!-- end online -->)', re.DOTALL)
README = ROOT / 'README.md'


def with_address(text, address):
    """Returns the text of README with a link to the book between its marks.

    Raises:
        ValueError: the text has no marks, or has them more than once.
    """
    if len(MARKS.findall(text)) != 1:
        raise ValueError('README.md must have one line <!-- online --> and '
                         'one line <!-- end online --> after it, where the '
                         'link to the book is')
    line = f'\n**[Read the book online]({address})**\n\n' if address else ''
    return MARKS.sub(lambda found: found[1] + line + found[2], text)


if __name__ == '__main__':
    README.write_text(with_address(README.read_text(encoding='utf-8'),
                                   sys.argv[1]), encoding='utf-8')
