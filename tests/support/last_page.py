"""The two tables on the book's last page, to compare with the systems."""

from book.tools.places import ROOT

PAGE = ROOT / 'book/chapters/34_one_last_time.md'


def puzzle(system):
    """Return what a system answers: 3, 2, or None where it isn't asked."""
    found, = [numbers for name, numbers in rows(4) if name.startswith(system)]
    return found


def counts(system):
    """Return how many orders there are, and how many have each verdict."""
    found, = [numbers for name, numbers in rows(6) if name == system]
    return found


def rows(width):
    """Return the first cell and the numbers of each row of a table."""
    for line in PAGE.read_text().splitlines():
        name, *cells = [cell.strip(' *`') for cell in line.split('|')[1:-1]
                        ] or ['']
        if len(cells) == width and name and set(name) != {'-'}:
            yield name, [int(cell) if cell else None for cell in cells]
