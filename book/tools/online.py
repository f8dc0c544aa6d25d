"""Write the book's address into README; `make publish` runs it."""

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / 'README.md'


def between_marks(text, name, part):
    """Return README with new text between the marks of this name.

    Raises:
        ValueError: the marks are missing, or appear more than once.
    """
    marks = re.compile(rf'(<!-- {name} -->\n).*?(<!-- end {name} -->)',
                       re.DOTALL)
    if len(marks.findall(text)) != 1:
        raise ValueError(f'README.md needs one line <!-- {name} -->, and '
                         f'after it one line <!-- end {name} -->')
    return marks.sub(lambda found: found[1] + part + found[2], text)


def with_address(text, address):
    """Return README with a link to the book, or without one."""
    return between_marks(text, 'online', (
        f'\n**[Read the book online]({address})**\n\n' if address else ''))


if __name__ == '__main__':
    README.write_text(with_address(README.read_text(encoding='utf-8'),
                                   sys.argv[1]), encoding='utf-8')
