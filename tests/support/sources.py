"""The source of a lowered program, as a test writes it."""

import re


def without_lines(source):
    """Return the source of a program without the user's lines."""
    return re.sub(r' +# line \d+$', '', source, flags=re.M)


def text(*lines):
    """Return the source of a program with these lines."""
    first, *rest = lines
    return '\n'.join([f'def program({first}):',
                      *[f'    {line}' for line in rest]])
